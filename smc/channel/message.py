"""What travels: messages with typed fields, and the frames that carry them.

A message is a frozen dataclass whose fields can encode themselves. Nothing in the encoding describes the
data: the receiver knows every size from public parameters and says so (`Expected`), so a message that is
too short, too long or of another kind is refused before a byte of it is parsed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)

FRAME_BYTES = 1 << 20
"""The largest piece of a message that one frame carries."""

MESSAGE_BYTES = 1 << 30
"""The largest message that a channel accepts; larger batches are cut by the protocol."""


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
            ProtocolViolation: the bytes are no valid value of this field.
        """
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """Base of all messages; subclasses are frozen dataclasses of `Encodable` fields."""

    @classmethod
    def kind(cls) -> str:
        """The name by which both sides know the message: `module.Class` below `smc`."""
        return f"{cls.__module__.removeprefix('smc.')}.{cls.__qualname__}"

    def encode(self) -> bytes:
        """The fields' bytes, one after the other."""
        return b"".join(getattr(self, field.name).encode() for field in fields(self))


@dataclass(frozen=True, slots=True)
class Frame:
    """One piece of a message, as a transport carries it.

    Attributes:
        sequence: number of the frame in its direction, from 0 without gaps.
        kind: the message's kind, or one of `END` and `ABORT`.
        depth: the length of the longest chain of messages that this one depends on, itself included.
        total: bytes of the whole message.
        data: this piece.
    """

    sequence: int
    kind: str
    depth: int
    total: int
    data: bytes


END = "end"
"""Kind of the last frame of a direction: a stream that stops without it was cut."""

ABORT = "abort"
"""Kind of the frame that ends a session with an error code, which is its data."""
