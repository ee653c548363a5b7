"""The move of a home's signing key into a token; what a crash has stopped, the same call finishes."""

from __future__ import annotations

from pathlib import Path

from parties.config import Config
from parties.pki.home import load_signing_file, own_pairing, renew_pairing
from parties.pki.signing import key_text
from parties.pki.token import TokenPlace, make_key, open_key, read_place


def put_into_token(config: Config, module: Path, token: str, *, copied: bool) -> TokenPlace:
    """Let a token sign for a party from now on, and delete the file of its signing key.

    Where the token makes a new key, the party is another one to its peers: the pairing file is written anew.

    Args:
        config: of the party, whose daemon has to be stopped.
        module: the library of PKCS#11.
        token: the token's label.
        copied: whether the party's key is copied into the token; else the token makes one.

    Raises:
        ConfigError: the PIN is wrong, the module is none, or a file cannot be read.
        TokenError: the token cannot be reached, or does not take such a key.
    """
    folder = config.home / "keys"
    place = read_place(folder)
    if place is None:
        place = make_key(module, token, config.name, load_signing_file(folder) if copied else None)
        place.write(folder)
    open_key(place)
    if key_text(own_pairing(config).identity.signing) != place.public_key:
        renew_pairing(config)
    (folder / "signing.key").unlink(missing_ok=True)
    return place
