"""The folder of a party: made once by `make`, read by `load_identity`, extended by `add_peer`.

    duetto.toml  policy.toml  catalog.toml  <name>.pair
    keys/    tls.crt  tls.key  signing.key  paillier.json  pool.key  exact-jobs.key
             signing.token   in place of signing.key where a token signs, see `parties.pki.token`
             tls.pem    in place of tls.crt and tls.key once the certificate was renewed
             results.key                                             for no other eyes
             protection.json   only where these are under a passphrase, see `parties.pki.protection`
    peers/   <peer>.pair
    run/     control.sock  daemon.pid
    jobs.sqlite  results/   jobs; this party's results of finished ones, a sealed file each
    ledger.jsonl  heads.json   what was spent; what was seen of the peers' ledgers
    doubts.json   for which ledgers sessions were refused last, see `parties.ledger.doubts`
    closed.json   with which peers nothing is run, see `parties.closed_peers`; made when needed
    exact-jobs.log   who took part in exact jobs, as hashes, see `parties.disclosure.history`
    stamps/   of the heads of ledger and audit log, see `parties.stamps`; made when needed
    notices.json   who is still to be told of what, see `parties.notices`; made when needed
    moved.json   only in a home that was packed to live elsewhere, see `parties.pki.moving`
    pools/   what was prepared for later comparisons, see `parties.session.pools`; made when needed

Nothing of it is ever overwritten, except that pairing adds to `duetto.toml` and to `peers`, that
`renew_pairing` writes the pairing file anew, and that `parties.pki.renewal` writes new TLS keys.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import tomli_w
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from commons.settings.toml import read
from parties.config import Address, Config, Peer, check_name, parse
from parties.errors import ConfigError, PairingError
from parties.pki import certificate, pairing
from parties.pki.files import (
    PRIVATE,
    PRIVATE_FOLDER,
    check_guarded,
    check_private,
    read_private,
    write_atomically,
)
from parties.pki.identity import Identity, PeerIdentity
from parties.pki.pairing import MINIMUM_PAILLIER_BITS, Pairing
from parties.pki.protection import is_protected, read_key
from parties.pki.signing import SigningKey
from parties.pki.token import open_key, read_place
from parties.places import CONFIG_NAME
from smc.ciphers import keys, phe_format
from smc.errors import KeyMaterialError
from smc.numeric.random import Randomness

_SOCKET_PATH_BYTES: Final = 100
_PAIR: Final = re.compile(
    rb"(-----BEGIN PRIVATE KEY-----\n[^-]*-----END PRIVATE KEY-----\n)"
    rb"(-----BEGIN CERTIFICATE-----\n[^-]*-----END CERTIFICATE-----\n)"
)
_RENEW = (
    "Write it anew with `duetto keys renew-pairing --address HOST:PORT`, where HOST:PORT is the address at "
    "which peers reach this party."
)
_GUARDED: Final = (
    "ledger.jsonl",
    "heads.json",
    "exact-jobs.log",
    "jobs.sqlite",
    "audit",
    "stamps",
    "peers",
    "results",
)
_MAKE = "Make the party again with `duetto init`, or restore its keys folder from a copy."


def socket_path(config: Config) -> Path:
    """The Unix socket on which the daemon takes orders.

    Raises:
        ConfigError: the path is longer than the operating system allows.
    """
    path = (config.home / "run" / "control.sock").absolute()
    if len(str(path).encode()) > _SOCKET_PATH_BYTES:
        raise ConfigError(
            f"The path of the control socket is too long: {path}.", "Move the party's home to a shorter path."
        )
    return path


def pid_path(config: Config) -> Path:
    """The file with the process id of the running daemon."""
    return config.home / "run" / "daemon.pid"


def make(
    name: str,
    home: Path,
    address: Address,
    listen: Address,
    key_bits: int,
    *,
    policy: str = "",
    catalog: str = "",
) -> Pairing:
    """Make a party: keys, certificate, configuration, policy, catalog, and its pairing file.

    Args:
        name: the party's name.
        home: a folder that does not exist or is empty.
        address: where peers reach the daemon.
        listen: where the daemon listens.
        key_bits: size of the Paillier key, 2048 or more.
        policy: the text of `policy.toml`; an empty one allows nothing.
        catalog: the text of `catalog.toml`; an empty one declares nothing.

    Returns:
        This party's pairing file's content.

    Raises:
        ConfigError: the name is not a valid one, or the folder holds something already.
        KeyMaterialError: the key size is not allowed for a daemon.
    """
    check_name(name)
    if key_bits < MINIMUM_PAILLIER_BITS:
        raise KeyMaterialError(
            f"A daemon does not use Paillier keys of {key_bits} bits.", f"Choose one of {keys.SIZES}."
        )
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise ConfigError(f"{home} is not empty; nothing was changed.", "Name another folder with --home.")
    paillier = keys.generate(key_bits, Randomness())
    pem, tls_key = certificate.make(name)
    signing = Ed25519PrivateKey.generate()
    identity = Identity(name, pem, tls_key, signing, paillier)
    for folder in (home, home / "keys", home / "peers", home / "run"):
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        folder.chmod(PRIVATE_FOLDER)
    _write_keys(home / "keys", identity, signing)
    own = pairing.describe(identity, address)
    write_atomically(home / f"{name}.pair", own.text.encode() + b"\n")
    write_atomically(home / "policy.toml", policy.encode())
    write_atomically(home / "catalog.toml", catalog.encode())
    document = {"party": {"name": name, "home": "."}, "listen": {"address": str(listen)}}
    write_atomically(home / CONFIG_NAME, tomli_w.dumps(document).encode())
    return own


def load_identity(config: Config) -> Identity:
    """Read this party's keys and check that they are private, whole, strong enough and fit each other.

    Raises:
        ConfigError: a file is missing, malformed, or open to other users.
        KeyMaterialError: the Paillier key is too weak.
    """
    folder = config.home / "keys"
    check_private(folder)
    first, *further = load_tls(folder, config.name)
    signing = load_signing(folder)
    paillier = phe_format.read_private_key(read_key(folder / "paillier.json").decode())
    keys.check_public_key(paillier.public.n, MINIMUM_PAILLIER_BITS)
    return Identity(config.name, *first, signing, paillier, renewed=further[0] if further else None)


def load_signing(folder: Path) -> SigningKey:
    """The signing key of a folder of keys, or what signs with it.

    Raises:
        ConfigError: it is missing, malformed, or open to other users, or the token does not take the PIN.
        TokenError: the token cannot be reached.
    """
    place = read_place(folder)
    return load_signing_file(folder) if place is None else open_key(place)


def load_signing_file(folder: Path) -> Ed25519PrivateKey:
    """The signing key in its file. Raises ConfigError as `load_signing`."""
    path = folder / "signing.key"
    signing = _private_key(path, read_key(path))
    if not isinstance(signing, Ed25519PrivateKey):
        raise ConfigError(f"{path} is not an Ed25519 key.", _MAKE)
    return signing


def own_certificates(config: Config) -> bytes:
    """This party's TLS certificates, PEM, without a question for the passphrase of its keys.

    Raises:
        ConfigError: the keys are not protected, and cannot be read.
        PairingError: they are, and the pairing file is missing or damaged.
    """
    folder = config.home / "keys"
    if is_protected(folder):
        return own_pairing(config).identity.certificates
    return b"".join(pem for pem, _ in load_tls(folder, config.name))


def load_tls(folder: Path, name: str) -> tuple[tuple[bytes, bytes], ...]:
    """A party's TLS certificates with their keys, PEM: the one in use and, if there is one, its successor.

    Raises:
        ConfigError: a file is missing, malformed, or open to other users.
    """
    together = folder / "tls.pem"
    if together.exists():
        pairs = tuple((pem, key) for key, pem in _PAIR.findall(read_key(together)))
        if not 1 <= len(pairs) <= certificate.MAXIMUM:
            raise ConfigError(f"{together} does not hold one or two keys with their certificates.", _MAKE)
        return tuple(_checked_pair(name, *pair, together, together) for pair in pairs)
    pem, key = folder / "tls.crt", folder / "tls.key"
    return (_checked_pair(name, read_private(pem), read_key(key), pem, key),)


def _checked_pair(name: str, pem: bytes, key: bytes, pem_path: Path, key_path: Path) -> tuple[bytes, bytes]:
    try:
        own = certificate.check(pem, name)
    except PairingError as error:
        raise ConfigError(f"{pem_path}: {error.what}", _MAKE) from None
    secret = _private_key(key_path, key)
    if not isinstance(secret, EllipticCurvePrivateKey) or secret.public_key() != own.public_key():
        raise ConfigError(f"{key_path} is not the key of the certificate.", _MAKE)
    return pem, key


def own_pairing(config: Config) -> Pairing:
    """The pairing file of this party.

    Raises:
        PairingError: it is missing or damaged, or made out to another party.
    """
    path = config.home / f"{config.name}.pair"
    try:
        found = pairing.read(path)
    except PairingError as error:
        raise PairingError(error.what, _RENEW) from None
    if found.identity.name != config.name:
        raise PairingError(f"{path} is made out to {found.identity.name!r}, not to this party.", _RENEW)
    return found


def renew_pairing(config: Config, address: Address | None = None) -> Pairing:
    """Write the pairing file of this party anew, with the proof of the Paillier key.

    Peers that have paired already keep what they have; their copy stays valid.

    Args:
        config: of this party.
        address: where peers reach the daemon; that of the old file if None.

    Raises:
        ConfigError: the keys cannot be read.
        PairingError: no address is given, and the old file is missing or damaged.
    """
    counter = 0
    try:
        before = own_pairing(config)
    except PairingError:
        if address is None:
            raise
    else:
        address, counter = address or before.address, before.counter
    renewed = pairing.describe(load_identity(config), address, after=counter)
    write_atomically(config.home / f"{config.name}.pair", renewed.text.encode() + b"\n")
    return renewed


def load_peer(config: Config, peer: Peer) -> PeerIdentity:
    """The public keys of a configured peer. Raises as `load_pairing`."""
    return load_pairing(config, peer).identity


def load_pairing(config: Config, peer: Peer) -> Pairing:
    """Read the pairing file of a configured peer and check it against the pin.

    Raises:
        PairingError: the file is damaged, made out to another name, or not the one that was pinned.
    """
    found = pairing.read(peer.pairing)
    if found.identity.name != peer.name:
        raise PairingError(
            f"{peer.pairing} is made out to {found.identity.name!r}, not to {peer.name!r}.",
            f"Correct the peer in {config.path.name}, or pair again.",
        )
    if not pairing.same_fingerprint(found.fingerprint, peer.pin):
        raise PairingError(
            f"The pin of peer {peer.name!r} in {config.path.name} is not the fingerprint of {peer.pairing}.",
            f"Compare the fingerprint by phone and run `duetto pair` with the file of {peer.name!r} again.",
        )
    return found


def add_peer(config: Config, peer: Pairing) -> Peer:
    """Store a checked and confirmed pairing file, in place of an earlier one of the same name.

    Raises:
        ConfigError: the peer has the name of this party.
        PairingError: the file does not prove the peer's Paillier key, its certificates have ended or are
            valid for too long, or it is older than the one that is paired.
    """
    pairing.require_proof(peer)
    pairing.require_valid(peer)
    name = peer.identity.name
    require_later(config, peer)
    if name == config.name:
        raise ConfigError(
            f"The pairing file is of a party named {name!r}, like this one.", "Give it to the peer instead."
        )
    stored = config.home / "peers" / f"{name}.pair"
    entry = {
        "name": name,
        "address": str(peer.address),
        "pairing": _relative(stored, config.path.parent),
        "pin": peer.fingerprint,
    }
    text = _without_peer(config.path.read_text(encoding="utf-8"), name).rstrip("\n")
    text += "\n\n[[peers]]\n" + tomli_w.dumps(entry)
    changed = parse(tomllib.loads(text), config.path)
    stored.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    write_atomically(stored, peer.text.encode() + b"\n")
    write_atomically(config.path, text.encode())
    return changed.peer(name)


def require_later(config: Config, found: Pairing) -> None:
    """Refuse a file that the peer made before the one that is paired: it would turn back what has changed.

    Raises:
        PairingError: it did (code `old-pairing`).
    """
    name = found.identity.name
    for known in config.peers:
        if known.name != name:
            continue
        try:
            paired = pairing.read(known.pairing)
        except PairingError:  # what is damaged is to be replaced
            continue
        if pairing.is_older(found, paired):
            raise PairingError(
                f"{name!r} made this pairing file before the one that is paired.",
                f"Ask {name!r} for the file that `duetto keys renew-pairing` writes there.",
                code="old-pairing",
            )


def check_config_file(config: Config) -> None:
    """Check that the files that the configuration names can be read, and nobody else may write the home.

    Raises:
        ConfigError: one cannot, or somebody may.
    """
    require_guarded(config)
    for path in (config.policy, config.catalog):
        read(path, ConfigError)


def require_guarded(config: Config) -> None:
    """Refuse a home in which every user of this machine may change what is allowed, or what was spent.

    Raises:
        ConfigError: names the first file or folder, and how to close it.
    """
    for path in (
        config.home,
        config.path,
        config.policy,
        config.catalog,
        *(config.home / name for name in _GUARDED),
    ):
        check_guarded(path)


def _write_keys(folder: Path, identity: Identity, signing: Ed25519PrivateKey) -> None:
    signing_pem = signing.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    paillier = phe_format.write_private_key(identity.paillier).encode()
    for name, data in (
        ("tls.crt", identity.certificate),
        ("tls.key", identity.tls_key),
        ("signing.key", signing_pem),
        ("paillier.json", paillier),
    ):
        write_atomically(folder / name, data, PRIVATE)


def _private_key(path: Path, data: bytes) -> object:
    try:
        return serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigError(f"{path} does not hold a private key.", _MAKE) from None


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path.absolute())


def _without_peer(text: str, name: str) -> str:
    """The configuration without the `[[peers]]` section of that name; comments elsewhere stay."""
    sections = re.split(r"(?m)^(?=\s*\[)", text)
    return "".join(section for section in sections if not _is_peer(section, name))


def _is_peer(section: str, name: str) -> bool:
    if not re.match(r"\s*\[\[\s*peers\s*\]\]", section):
        return False
    try:
        return bool(tomllib.loads(section)["peers"][0].get("name") == name)
    except tomllib.TOMLDecodeError:
        return False
