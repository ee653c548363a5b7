"""What travels: messages with typed fields, and the frames that carry them.

A message is a frozen dataclass whose fields can encode themselves. Nothing in the encoding describes the
data: the receiver knows every size from public parameters and says so (`Expected`), so a message that is
too short, too long or of another kind is refused before a byte of it is parsed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, TypeVar, cast

from typing_extensions import override

T_co = TypeVar("T_co", covariant=True)

FRAME_BYTES = 1 << 20
"""The largest piece of a message that one frame carries."""

MESSAGE_BYTES = 1 << 30
"""The largest message that a channel accepts; larger batches are cut by the protocol."""


MAX_LANES = 16
"""Lanes that a session may have besides its own."""

END = "end"
"""Kind of the last frame of a direction: a stream that stops without it was cut."""

ABORT = "abort"
"""Kind of the frame that ends a session with an error code, which is its data."""


class Encodable(Protocol):
    """A field of a message."""

    def encode(self) -> bytes:
        """The field's bytes; their number follows from public parameters alone."""
        ...


class Expected(Protocol[T_co]):
    """What the receiver of a field demands of it."""

    @property
    def size(self) -> int:
        """The exact number of bytes."""
        ...

    def decode(self, data: bytes) -> T_co:
        """Parse and check `size` bytes.

        Raises:
            ProtocolViolation: the bytes are not a valid value of this field.
        """
        ...


_KIND = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KIND_CHARACTERS = 40

KINDS: dict[str, str] = {}
"""The kind of every message that was imported, with the class that has it."""


def is_kind(name: str) -> bool:
    """Whether a message could have this kind: lower-case words joined by hyphens, 40 characters at most."""
    return len(name) <= _KIND_CHARACTERS and _KIND.fullmatch(name) is not None


class Message:
    """Base of all messages; subclasses are frozen dataclasses of `Encodable` fields.

    A subclass names its kind, `class Counts(Message, kind="row-counts")`: the name by which both sides know
    the message (`is_kind`), which no other message has. It is part of the wire: renaming the class or its
    module changes nothing, renaming the kind does. It says `hidden=True` where all that it tells is public,
    or hidden by oblivious transfers, also from a peer that deviates.

    Raises:
        TypeError: on making a subclass whose kind is missing, malformed or taken.
    """

    __slots__ = ()
    _kind: ClassVar[str]
    _hidden: ClassVar[bool]

    @override
    def __init_subclass__(cls, *, kind: str = "", hidden: bool = False) -> None:
        """Register the kind."""
        # a dataclass with slots is made twice, the second time from the attributes of the first
        kind = kind or cls.__dict__.get("_kind", "")
        name = f"{cls.__module__}.{cls.__name__}"
        if not is_kind(kind) or kind in (END, ABORT):
            raise TypeError(f"{name} needs a kind of its own: class {cls.__name__}(Message, kind=...).")
        if KINDS.setdefault(kind, name) != name:
            raise TypeError(f"{name} has the kind {kind!r} of {KINDS[kind]}.")
        cls._kind = kind
        cls._hidden = hidden or cls.__dict__.get("_hidden", False)

    @classmethod
    def is_hidden(cls) -> bool:
        """Whether it tells nothing before transfers are checked, see `Channel.set_unchecked`."""
        return cls._hidden

    @classmethod
    def kind(cls) -> str:
        """The name by which both sides know the message."""
        return cls._kind

    def encode(self) -> bytes:
        """The fields' bytes, one after the other."""
        return b"".join(getattr(self, each.name).encode() for each in fields(cast(Any, self)))


@dataclass(frozen=True, slots=True)
class Frame:
    """One piece of a message, as a transport carries it.

    Attributes:
        sequence: number of the frame in its direction and lane, from 0 without gaps.
        kind: the message's kind, or one of `END` and `ABORT`.
        depth: the length of the longest chain of messages that this one depends on, itself included.
        total: bytes of the whole message.
        data: this piece; may be a view of the whole message, or of what came by a network.
        lane: of which conversation it is part, see `smc.channel.lanes`; 0 for the session itself.
    """

    sequence: int
    kind: str
    depth: int
    total: int
    data: bytes | memoryview
    lane: int = 0
