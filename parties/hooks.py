"""Who is told of events, and how: the sections `[[on_event]]` of the configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import SplitResult, urlsplit

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Key, Length, Matching, Repeated, UnfitError
from parties.errors import ConfigError
from parties.servers import check_url, is_loopback

if TYPE_CHECKING:
    from commons.settings.table import StrictTable

MAX_HOOKS: Final = 16
_NAME: Final = Matching(
    re.compile(r"[a-z][a-z0-9-]{0,31}"),
    "is not a valid name",
    "Use up to 32 of a-z, 0-9 and hyphen, beginning with a letter.",
)
_ADDRESS: Final = Matching(
    re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,255}"),
    "is not a mail address",
    "Write it as steward@hospital.example.",
)
_HOST: Final = Matching(
    re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,39}"),
    "is not the name or address of a host",
    "Write the host alone, such as mail.hospital.example.",
)


class EventKind(Enum):
    """Of what somebody can be told."""

    WAITING = "waiting"
    DECIDED = "decided"
    FINISHED = "finished"
    FAILED = "failed"
    EXPIRING = "expiring"
    BUDGET = "budget"
    CERTIFICATE = "certificate"
    PEER = "suspicious-peer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What all ways have in common.

    Attributes:
        name: what `duetto notice test` and the log call it.
        events: of what it tells; everything unless given.
    """

    name: Annotated[str, _NAME]
    events: Annotated[tuple[EventKind, ...], Length(1)] = tuple(EventKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandHook(Hook):
    """A program that gets the notice as JSON on its standard input.

    Attributes:
        command: the program's full path, and its arguments. No shell reads them.
        seconds: after which the program is ended.
    """

    command: Annotated[tuple[str, ...], Length(1, 64), Repeated()]
    seconds: Annotated[int, Between(1, 300)] = 30

    def __post_init__(self) -> None:
        if not Path(self.command[0]).is_absolute():
            raise UnfitError(
                "command", f"begins with {self.command[0][:200]!r}", "Write the full path of the program."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MailHook(Hook):
    """A mail.

    Attributes:
        to: who gets it.
        sender: from which address it comes.
        server: the host that takes mail.
        port: where that host listens.
        tls: `starttls`, `tls` from the first byte on, or, on this machine alone, `off`.
        login: a file that nobody else may read, with name and password on a line each; none to send without.
        seconds: how long sending may take.
    """

    to: Annotated[tuple[str, ...], _ADDRESS, Length(1, 20)]
    sender: Annotated[str, Key("from"), _ADDRESS]
    server: Annotated[str, _HOST]
    port: Annotated[int, Between(1, 65535)] = 587
    tls: Annotated[str, OneOf(("starttls", "tls", "off"))] = "starttls"
    login: Path | None = None
    seconds: Annotated[int, Between(1, 300)] = 30

    def __post_init__(self) -> None:
        if self.tls == "off" and not is_loopback(self.server):
            raise UnfitError(
                "tls",
                f"is off, and {self.server} is another machine",
                'Write tls = "starttls" or "tls", or send by a server at localhost.',
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHook(Hook):
    """A signed POST to a server.

    Attributes:
        url: of the server; https, or http to this machine.
        secret: a file that nobody else may read, with 16 bytes or more by which the notice is signed.
        seconds: how long sending may take.
    """

    url: Annotated[str, Length(1, 2000)]
    secret: Path
    seconds: Annotated[int, Between(1, 300)] = 30

    def __post_init__(self) -> None:
        check_url(self.url, "https://chat.hospital.example/hooks/7")

    @property
    def split(self) -> SplitResult:
        """The parts of the address."""
        return urlsplit(self.url)


AnyHook = CommandHook | MailHook | WebhookHook

KINDS: Final[dict[str, type[Hook]]] = {"command": CommandHook, "server": MailHook, "url": WebhookHook}
"""The ways, by the key that only they have."""


def choose(table: StrictTable) -> str:
    """By which way a section tells.

    Raises:
        ConfigError: it has the keys of none or of several.
    """
    found = [key for key in KINDS if table.has(key)]
    if len(found) != 1:
        raise table.fail(
            "name",
            "needs exactly one of the keys command, server and url",
            "Give command for a program, server for mail, or url for a webhook.",
        )
    return found[0]


def check_hooks(hooks: Sequence[Hook]) -> None:
    """Check that names are unique.

    Raises:
        UnfitError: one is there twice.
    """
    names = [hook.name for hook in hooks]
    for name in names:
        if names.count(name) > 1:
            raise UnfitError("on_event", f"has the name {name!r} twice", "Give each section its own name.")


def find_hook(hooks: Sequence[AnyHook], name: str) -> AnyHook:
    """The section of that name.

    Raises:
        ConfigError: there is none.
    """
    for hook in hooks:
        if hook.name == name:
            return hook
    known = ", ".join(hook.name for hook in hooks) or "none"
    raise ConfigError(
        f"No section [[on_event]] is named {name!r}; there are: {known}.",
        "Add one to duetto.toml, as docs/operations.md shows.",
    )
