"""Lines of the audit log about the protection of the keys, signed by the party's key at their place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.audit.lines import KEYS, AuditLine
from parties.audit.writer import Audit
from parties.pki.signing import SigningKey

PROTECTED: Final = "protected"
CHANGED: Final = "passphrase-changed"
UNPROTECTED: Final = "unprotected"
INTO_TOKEN: Final = "into-token"  # noqa: S105 - an action, no password

_DOMAIN: Final = b"duetto record of keys v1\0"
_FIELDS: Final = ("action", "parts", "actor", "uid")


def record(audit: Audit, signing: SigningKey, action: str, parts: int, actor: str, uid: int) -> None:
    """Write what was done with the protection of the keys.

    Args:
        audit: the log, which nobody else writes now.
        signing: the party's key.
        action: one of the above.
        parts: of the passphrase that holds from now on; 0 for none.
        actor: who did it, as they say.
        uid: their account.

    Raises:
        AuditError: it cannot be written.
    """
    about: dict[str, str | int] = {"action": action, "parts": parts, "actor": actor, "uid": uid}
    signature = signing.sign(_statement(audit.head[1], about))
    audit.write(KEYS, **about, signature=signature.hex())


def find_forged(lines: Iterable[AuditLine], key: Ed25519PublicKey) -> list[int]:
    """The numbers of such lines that the holder of a key has not signed at their place."""
    found = []
    for line in lines:
        if line.event == KEYS:
            try:
                signature = bytes.fromhex(str(line.about.get("signature")))
                key.verify(signature, _statement(line.previous, line.about))
            except (ValueError, InvalidSignature):
                found.append(line.sequence)
    return found


def _statement(previous: str, about: Mapping[str, str | int]) -> bytes:
    said = {name: about.get(name) for name in _FIELDS}
    return _DOMAIN + json.dumps({"previous": previous, **said}, sort_keys=True).encode()
