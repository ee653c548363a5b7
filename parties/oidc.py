"""The settings of a sign-in to the dashboard by an institution's own accounts (OpenID Connect)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from commons.settings.bounds import Between
from commons.settings.marks import Key, Length, Matching, Read, UnfitError
from parties.errors import ConfigError

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_WORD: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_ACCOUNTS: Final = {
    "type": "object",
    "additionalProperties": {"type": "string", "pattern": f"^{_WORD.pattern}$"},
    "minProperties": 1,
}


def _read_accounts(value: Any, place: str) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ConfigError(f"{place} names nobody.", 'Write "ACCOUNT" = "WORD" for everybody who may come in.')
    for account, word in value.items():
        if not isinstance(word, str) or not _WORD.fullmatch(word):
            raise ConfigError(
                f"{place}: {account[:60]!r} does not stand for a person.",
                "Write the person's word of persons.toml: up to 32 of a-z, 0-9 and hyphen.",
            )
    return dict(value)


@dataclass(frozen=True, slots=True)
class Oidc:
    """Whose accounts may come in, and as whom.

    Attributes:
        issuer: the address of the provider, as its tokens name it; https, but on this machine.
        client: what the provider calls this dashboard.
        secret_file: a file with the client's secret, readable by its owner only; none for a public client.
        claim: of the token, by which accounts are known; one that its owner cannot change at the provider.
        accounts: by the value of the claim the word for the person, as `persons.toml` has it.
        port: of the dashboard, since the provider sends browsers back to the address that it knows.
    """

    issuer: Annotated[str, Length(8, 300)]
    client: Annotated[str, Key("client_id"), Length(1, 300)]
    accounts: Annotated[Mapping[str, str], Read(_read_accounts, _ACCOUNTS)]
    port: Annotated[int, Between(1024, 65535)]
    secret_file: Path | None = None
    claim: Annotated[
        str,
        Matching(re.compile(r"[a-z][a-z_:/.A-Z0-9-]{0,99}"), "is not the name of a claim", 'Write "sub".'),
    ] = "sub"

    def __post_init__(self) -> None:
        found = urlsplit(self.issuer)
        safe = found.scheme == "https" or (found.scheme == "http" and found.hostname in _LOOPBACK)
        if not safe or not found.hostname or found.query or found.fragment:
            raise UnfitError("issuer", "is not an address with https", "Write https://login.example.")
