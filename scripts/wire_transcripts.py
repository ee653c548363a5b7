"""What each side sends in a run under fixed seeds, for `scripts/gen_wire`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.session import Session
from tests.support.fixed_kem import fixed_kem
from tests.support.keys import toy

KEYS = toy(Role.ALICE), toy(Role.BOB)
LISTED = 24
"""So many steps of each direction are written out; the hash covers all of them."""


@dataclass
class Transcript:
    """What one side sent in a run."""

    steps: list[tuple[str, int]] = field(default_factory=list)
    hashed: Any = field(default_factory=hashlib.sha256)

    def add(self, kind: str, body: bytes) -> None:
        """Take one message in."""
        self.steps.append((kind, len(body)))
        self.hashed.update(len(kind).to_bytes(1, "big") + kind.encode() + len(body).to_bytes(8, "big") + body)

    def described(self) -> dict[str, Any]:
        """The first messages in their order, messages and bytes of each kind, and the hash of all bytes."""
        steps = [(kind, size, len(list(run))) for (kind, size), run in groupby(self.steps)]
        lines = [f"{kind} {size}" + (f" x {times}" if times > 1 else "") for kind, size, times in steps]
        if len(lines) > LISTED:
            lines = [*lines[:LISTED], f"and {sum(times for *_, times in steps[LISTED:])} more"]
        kinds = {
            kind: [len(sizes := [size for each, size in self.steps if each == kind]), sum(sizes)]
            for kind in sorted({kind for kind, _ in self.steps})
        }
        return {"messages": lines, "kinds": kinds, "sha256": self.hashed.hexdigest()}


class Tap:
    """A channel whose messages are written down on their way out."""

    def __init__(self, channel: Channel, transcript: Transcript) -> None:
        self._channel = channel
        self._transcript = transcript

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def send(self, message: Message) -> None:
        """Send a message, encoded once, as a ciphertext can leave only once."""
        self._channel.send(self._written(message))

    def _written(self, message: Message) -> Any:
        body, kind = message.encode(), message.kind()
        self._transcript.add(kind, body)
        return _Encoded(kind, body)


@dataclass(frozen=True)
class _Encoded:
    name: str
    body: bytes

    def kind(self) -> str:
        return self.name

    def is_hidden(self) -> bool:
        return True

    def encode(self) -> bytes:
        return self.body


Side = Callable[[Session], object]


@dataclass(frozen=True)
class Run:
    """A run of both sides.

    Attributes:
        name: of the run, from which its randomness follows.
        side: called with each side's session.
    """

    name: str
    side: Side

    def transcripts(self, workers: int = 1) -> dict[str, Transcript]:
        """What each side sends, with so many threads for the arithmetic."""
        found = {role: Transcript() for role in Role}

        def tapped(session: Session) -> object:
            session.channel = Tap(session.channel, found[session.role])  # type: ignore[assignment]
            return self.side(session)

        sources = tuple(Randomness.from_seed(self.name.encode(), role.value) for role in Role)
        with fixed_kem():
            run_pair(tapped, tapped, keys=KEYS, randomness=(sources[0], sources[1]), workers=workers)
        return {role.value: found[role] for role in Role}
