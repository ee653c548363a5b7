"""Packets as bytes: what gRPC is given for the calls of sessions in place of protobuf's functions.

The bytes are those of protobuf, which copies the data of a frame several times. So it is given the other
fields of a frame only, and what stands before and after the data is put around them in one copy, or taken off
without one. All other packets, small frames, and what is not exactly as `write` writes it, protobuf reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError
from typing_extensions import override

from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.channel.message import Frame

Packet = Frame | pb.Packet
"""What a stream carries: a frame, or what protobuf makes of a packet that holds none."""

RUN: Final = "/duetto.v1.Peer/Run"
REVERSE_RUN: Final = "/duetto.v1.Reverse/Run"
"""The methods whose calls carry packets."""

LARGE_BYTES: Final = 1 << 15
"""Below, protobuf reads a packet as fast."""

_DELIMITED: Final = 2
"""The type of fields that begin with their length, in the low three bits of a tag."""

_FRAME_TAG: Final = pb.Packet.FRAME_FIELD_NUMBER << 3 | _DELIMITED
_DATA_TAG: Final = pb.Frame.DATA_FIELD_NUMBER << 3 | _DELIMITED
_VARINT_BYTES: Final = 10

_FIELDS: Final[list[Any]] = sorted(pb.Frame.DESCRIPTOR.fields, key=attrgetter("number"))
_BEFORE: Final = tuple(field.name for field in _FIELDS if field.number < pb.Frame.DATA_FIELD_NUMBER)
_AFTER: Final = tuple(field.name for field in _FIELDS if field.number > pb.Frame.DATA_FIELD_NUMBER)


def write(packet: Packet) -> bytes:
    """The bytes of a packet.

    Raises:
        ValueError: a field of a frame does not fit the type that it has in `peer.proto`.
    """
    if not isinstance(packet, Frame):
        return packet.SerializeToString()
    before, after = _around(packet)
    return b"".join((before, packet.data, after))


def packet_bytes(frame: Frame) -> int:
    """Bytes of the packet that carries a frame."""
    before, after = _around(frame)
    return len(before) + len(frame.data) + len(after)


def read(wire: bytes) -> Packet:
    """The packet in bytes that have come, its fields not checked.

    Raises:
        DecodeError: they are no packet.
    """
    frame = _read_large(wire) if len(wire) >= LARGE_BYTES else None
    if frame is not None:
        return frame
    packet = pb.Packet.FromString(wire)
    return _frame(packet.frame, packet.frame.data) if packet.HasField("frame") else packet


def dialled_run(channel: grpc.Channel, method: str = RUN) -> Callable[[Iterator[bytes]], Any]:
    """A method of the peer that takes packets as bytes and gives a call, which yields `Packet`."""
    return channel.stream_stream(method, request_serializer=None, response_deserializer=read)


class ServedRun(grpc.ServerInterceptor):  # type: ignore[type-arg]
    """Gives the handlers of `RUN` and `REVERSE_RUN` `Packet`, and takes packets as bytes from them."""

    @override
    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Put these functions in place of protobuf's."""
        handler = continuation(handler_call_details)
        carries = handler_call_details.method in (RUN, REVERSE_RUN)
        if handler is None or handler.stream_stream is None or not carries:
            return handler
        return grpc.stream_stream_rpc_method_handler(handler.stream_stream, request_deserializer=read)


def _around(frame: Frame) -> tuple[bytes, bytes]:
    """What stands before the data of a frame in its packet, and what after them."""
    before, after = _others(frame, _BEFORE), _others(frame, _AFTER)
    length = len(frame.data)
    if length:  # protobuf leaves empty fields out
        before += _field(_DATA_TAG, length)
    return _field(_FRAME_TAG, len(before) + length + len(after)) + before, after


def _others(frame: Frame, names: Sequence[str]) -> bytes:
    return pb.Frame(**{name: getattr(frame, name) for name in names}).SerializeToString() if names else b""


def _field(tag: int, length: int) -> bytes:
    """How a field begins that is so long: its tag, and its length in groups of seven bits."""
    begun = bytearray((tag,))
    while length > 127:
        begun.append(length & 127 | 128)
        length >>= 7
    begun.append(length)
    return bytes(begun)


def _read_large(wire: bytes) -> Frame | None:
    """The frame in a packet that is as `write` writes it; its data are a view of the bytes.

    Where the data lie is found by steps that trust the packet; that they lie there is then seen by writing
    the frame that was found.
    """
    try:
        _, first = _varint(wire, 1)
        tag = first
        for _ in _BEFORE:
            if wire[tag] == _DATA_TAG:
                break
            value, after = _varint(wire, tag + 1)
            tag = after + value if wire[tag] & 7 == _DELIMITED else after
        length, start = _varint(wire, tag + 1)
        stop = start + length
        fields = pb.Frame.FromString(wire[first:tag] + wire[stop:])
    except (IndexError, DecodeError):
        return None
    frame = _frame(fields, memoryview(wire)[start:stop])
    return frame if _around(frame) == (wire[:start], wire[stop:]) else None


def _varint(wire: bytes, at: int) -> tuple[int, int]:
    """The number that stands at a place in groups of seven bits, and the place behind it.

    Raises:
        IndexError: it does not end where it has to.
    """
    value = 0
    for place in range(_VARINT_BYTES):
        octet = wire[at + place]
        value |= (octet & 127) << 7 * place
        if octet < 128:
            return value, at + place + 1
    raise IndexError("a number without end")


def _frame(fields: pb.Frame, data: bytes | memoryview) -> Frame:
    return Frame(data=data, **{name: getattr(fields, name) for name in _BEFORE + _AFTER})
