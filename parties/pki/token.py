"""The signing key of a party in a token of PKCS#11, such as a hardware security module or a smart card.

    keys/signing.token   in place of keys/signing.key: which library, which token, which key in it

The token signs; the key cannot be read out of it. What is in the file is no secret, and the token asks for
its PIN once in a process. The other private keys of a party stay files, see `parties.pki.protection`.

Reference: PKCS #11 Cryptographic Token Interface, version 3.0, OASIS, 2020; RFC 8410 for the curve's name.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from parties.errors import ConfigError, PairingError, TokenError
from parties.pki import passphrase
from parties.pki.files import PRIVATE, read_private, write_atomically
from parties.pki.signing import key_text, parse_key

FILE: Final = "signing.token"

_CURVE: Final = bytes.fromhex("06032b6570")
"""Ed25519 by its object identifier, 1.3.101.112, in DER."""

_ID_BYTES: Final = 16
_KEY_BYTES: Final = 32
_LOOK: Final = (
    "Plug it in, or start its service, and see the module's own tool, such as `pkcs11-tool --list-slots`."
)
_RESTORE: Final = "Restore the folder keys from a copy of the home."

_open: dict[TokenPlace, TokenKey] = {}
_opening: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Where a signing key is.

    Attributes:
        module: the library of PKCS#11 by which the token is reached.
        token: the token's label.
        id: of the key in the token, hexadecimal.
        public_key: 64 hexadecimal digits.
    """

    module: str
    token: str
    id: str
    public_key: str

    def write(self, folder: Path) -> None:
        """Put it into a folder of keys."""
        write_atomically(folder / FILE, json.dumps(asdict(self)).encode() + b"\n", PRIVATE)


def read_place(folder: Path) -> TokenPlace | None:
    """Where the signing key of a folder of keys is; None if in no token.

    Raises:
        ConfigError: the file is damaged or open to others.
    """
    path = folder / FILE
    if not os.path.lexists(path):
        return None
    try:
        document: Any = json.loads(read_private(path))
        found = TokenPlace(**document)
        if not all(isinstance(value, str) for value in document.values()) or not bytes.fromhex(found.id):
            raise ValueError
        parse_key(found.public_key)
    except (ValueError, TypeError, RecursionError, PairingError):
        raise ConfigError(f"{path} is damaged.", _RESTORE) from None
    return found


class TokenKey:
    """A signing key in a token. Thread-safe; a signature takes as long as the token does.

    Args:
        place: where it is.
        pin: of the token. It is kept, so that the token can be gone for a while.

    Raises:
        ConfigError: the PIN is wrong, the token does not have the key, or as `_library`.
        TokenError: the token cannot be reached.
    """

    def __init__(self, place: TokenPlace, pin: str) -> None:
        self._place = place
        self._pin = pin
        self._public = parse_key(place.public_key)
        self._lock = threading.Lock()
        self._session, self._key = self._connect()
        said = os.urandom(_KEY_BYTES)
        try:
            self._public.verify(self.sign(said), said)
        except InvalidSignature:
            raise ConfigError(
                f"The key {place.id} in the token {place.token!r} is another one than {FILE} says.", _RESTORE
            ) from None

    def sign(self, data: bytes, /) -> bytes:
        """The signature over some bytes, 64 bytes; once more where the session has ended meanwhile.

        Raises:
            TokenError: the token does not sign.
        """
        with self._lock:
            try:
                return self._sign(data)
            except _library().Error:
                with suppress(_library().Error):
                    self._session.close()
            self._session, self._key = self._connect()
            with _explain_errors(self._place.token):
                return self._sign(data)

    def public_key(self) -> Ed25519PublicKey:
        """The public key."""
        return self._public

    def _sign(self, data: bytes) -> bytes:
        return bytes(self._key.sign(data, mechanism=_library().Mechanism.EDDSA))

    def _connect(self) -> tuple[Any, Any]:
        session = _log_in(self._place.module, self._place.token, self._pin, writing=False)
        found = _find(session, self._place.id, _library().ObjectClass.PRIVATE_KEY)
        if found is None:
            raise ConfigError(
                f"The token {self._place.token!r} does not have the key {self._place.id}.",
                "It is another token of that label, or was made anew: bring the right one.",
            )
        return session, found


def open_key(place: TokenPlace, told: str = "") -> TokenKey:
    """The signing key in a token; asks for the PIN once in a process. Raises as `TokenKey`.

    Args:
        place: of the key.
        told: the PIN, where it was asked for already.
    """
    with _opening:
        if place not in _open:
            _open[place] = TokenKey(place, told or passphrase.ask_pin(place.token))
        return _open[place]


def make_key(module: Path, token: str, party: str, existing: Ed25519PrivateKey | None = None) -> TokenPlace:
    """Make a signing key in a token, which cannot be read out of it; asks for the PIN.

    Args:
        module: the library of PKCS#11.
        token: the token's label.
        party: by whose name the key is labelled.
        existing: a key that is copied into the token; None for one that the token makes itself.

    Raises:
        ConfigError: the PIN is wrong, the token has no keys of this kind, or as `_library`.
        TokenError: the token cannot be reached, or does not make the key.
    """
    library, key_id = _library(), os.urandom(_ID_BYTES)
    pin = passphrase.ask_pin(token)
    session = _log_in(str(module), token, pin, writing=True)
    about = {
        library.Attribute.ID: key_id,
        library.Attribute.LABEL: f"duetto {party}",
        library.Attribute.TOKEN: True,
    }
    try:
        with _explain_errors(token):
            public = _generate(session, about) if existing is None else _copy_into(session, about, existing)
    finally:
        session.close()
    place = TokenPlace(str(module), token, key_id.hex(), key_text(public))
    _open[place] = TokenKey(place, pin)
    return place


def _generate(session: Any, about: dict[Any, Any]) -> Ed25519PublicKey:
    library = _library()
    curve = session.create_domain_parameters(
        library.KeyType.EC_EDWARDS, {library.Attribute.EC_PARAMS: _CURVE}, local=True
    )
    made, _ = curve.generate_keypair(
        mechanism=library.Mechanism.EC_EDWARDS_KEY_PAIR_GEN,
        store=True,
        public_template=about,
        private_template={**about, **_secret(library)},
    )
    return Ed25519PublicKey.from_public_bytes(bytes(made[library.Attribute.EC_POINT])[-_KEY_BYTES:])


def _copy_into(session: Any, about: dict[Any, Any], key: Ed25519PrivateKey) -> Ed25519PublicKey:
    library = _library()
    seed = key.private_bytes(
        serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
    )
    session.create_object(
        {
            **about,
            **_secret(library),
            library.Attribute.CLASS: library.ObjectClass.PRIVATE_KEY,
            library.Attribute.KEY_TYPE: library.KeyType.EC_EDWARDS,
            library.Attribute.EC_PARAMS: _CURVE,
            library.Attribute.VALUE: seed,
        }
    )
    return key.public_key()


def _secret(library: _Library) -> dict[Any, bool]:
    """Of a private key: it signs, and nobody reads it."""
    said = library.Attribute
    return {said.PRIVATE: True, said.SENSITIVE: True, said.EXTRACTABLE: False, said.SIGN: True}


def _find(session: Any, key_id: str, kind: object) -> Any:
    library = _library()
    wanted = {library.Attribute.CLASS: kind, library.Attribute.ID: bytes.fromhex(key_id)}
    return next(iter(session.get_objects(wanted)), None)


def _log_in(module: str, token: str, pin: str, *, writing: bool) -> Any:
    """A session with a token, as its user.

    Raises:
        ConfigError: the PIN is wrong, or the module is not a PKCS#11 library.
        TokenError: the token cannot be reached.
    """
    library = _library()
    try:
        loaded = library.load(module)
    except (library.Error, OSError, RuntimeError) as problem:
        raise ConfigError(
            f"{module} cannot be used as a module of PKCS#11 ({type(problem).__name__}).",
            "Name the library that came with the token, such as /usr/lib/softhsm/libsofthsm2.so.",
        ) from None
    try:
        with _explain_errors(token):
            found = loaded.get_token(token_label=token)
            try:
                return found.open(user_pin=pin, rw=writing)
            except library.LoggedIn:  # this process has given the PIN already, which holds for all sessions
                return found.open(rw=writing)
    except library.wrong_pin as problem:
        raise ConfigError(
            f"The token {token!r} does not take the PIN ({type(problem).__name__}).",
            "Try again, not too often: a token locks itself after some wrong PINs.",
        ) from None


@contextmanager
def _explain_errors(token: str) -> Iterator[None]:
    """Errors of a token but for a wrong PIN, as an error with a hint."""
    library = _library()
    try:
        yield
    except library.wrong_pin:
        raise
    except library.Error as problem:
        raise TokenError(
            f"The token {token!r} does not answer as it should ({type(problem).__name__}).", _LOOK
        ) from None


class _Library:
    """What is used of python-pkcs11."""

    def __init__(self) -> None:
        import pkcs11
        from pkcs11 import exceptions

        self.load: Callable[[str], Any] = pkcs11.lib
        self.Attribute = pkcs11.Attribute
        self.KeyType = pkcs11.KeyType
        self.Mechanism = pkcs11.Mechanism
        self.ObjectClass = pkcs11.ObjectClass
        self.Error = exceptions.PKCS11Error
        self.LoggedIn = exceptions.UserAlreadyLoggedIn
        self.wrong_pin = (
            exceptions.PinIncorrect,
            exceptions.PinInvalid,
            exceptions.PinLenRange,
            exceptions.PinLocked,
            exceptions.PinExpired,
        )


def _library() -> _Library:
    try:
        return _Library()
    except ImportError:
        raise ConfigError(
            "Keys in a token need python-pkcs11, which is not installed.", "Run pip install 'duetto[token]'."
        ) from None
