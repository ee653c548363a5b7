"""Whatever bytes a peer sends as a frame: a checked frame comes out, or a `ProtocolViolation`."""

from __future__ import annotations

import contextlib
import re
import threading

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given
from hypothesis import strategies as st

from parties.rpc.codec import read, write
from parties.rpc.packets import PACKET_BYTES, Arrivals, to_frame, to_word
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import PacketStream
from smc.channel.message import ABORT, END, FRAME_BYTES, MAX_LANES, MESSAGE_BYTES, Frame
from smc.errors import ProtocolViolation

counters = st.integers(0, 2**64 - 1) | st.integers(0, 10)
kinds = st.text(max_size=140) | st.sampled_from([END, ABORT, "tree-points", "a-", "A"])


def is_sound(frame: Frame) -> bool:
    return (
        len(frame.kind) <= 40
        and bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", frame.kind))
        and frame.sequence < 2**48
        and frame.depth < 2**48
        and len(frame.data) <= frame.total <= MESSAGE_BYTES
        and len(frame.data) <= FRAME_BYTES
        and frame.lane <= MAX_LANES
        and (frame.kind != END or frame.total == 0)
        and (frame.kind != ABORT or frame.total == len(frame.data) <= 64)
    )


@given(counters, kinds, counters, counters, st.binary(max_size=100), st.integers(0, 20))
@example(0, "k", 0, MESSAGE_BYTES, b"", MAX_LANES)
@example(0, "k", 0, MESSAGE_BYTES, b"", MAX_LANES + 1)
@example(0, "k", 0, MESSAGE_BYTES + 1, b"", 0)
@example(0, END, 0, 0, b"", 0)
@example(0, ABORT, 0, 65, bytes(65), 0)
def test_only_sound_frames_come_out(sequence, kind, depth, total, data, lane):
    frame = Frame(sequence, kind, depth, total, data, lane)
    try:
        wire = write(frame)
    except (ValueError, UnicodeEncodeError):
        return
    try:
        assert to_frame(read(wire)) == frame
    except ProtocolViolation:
        assert not is_sound(frame)
    else:
        assert is_sound(frame)


@given(st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(data):
    try:
        packet = read(data)
    except DecodeError:
        return
    with contextlib.suppress(ProtocolViolation):
        assert is_sound(to_frame(packet))


@given(st.binary(max_size=40), st.integers(0, 60), st.integers(0, 255))
def test_mutated_frames_never_raise_anything_else(data, place, value):
    wire = bytearray(write(Frame(3, "some-kind", 2, 40, data)))
    wire[place % len(wire)] = value
    with contextlib.suppress(ProtocolViolation, DecodeError):
        assert is_sound(to_frame(read(bytes(wire))))


def test_a_frame_over_its_size():
    with pytest.raises(ProtocolViolation, match="more than is allowed"):
        to_frame(Frame(0, "k", 1, 2 * FRAME_BYTES, bytes(FRAME_BYTES + 1)))


@pytest.mark.parametrize("packet", [pb.Packet(), pb.Packet(refusal=pb.Refusal(code="x"))])
def test_other_packets_are_no_frames(packet):
    with pytest.raises(ProtocolViolation, match="A frame was expected"):
        to_frame(packet)


def test_frames_are_no_words_of_the_handshake():
    with pytest.raises(ProtocolViolation, match="before the two sides had agreed"):
        to_word(frame(0))
    assert to_word(WORD) is WORD


def frame(number: int, kind: str = "kind", lane: int = 0) -> Frame:
    return Frame(number, kind, 1, 1, b"x", lane)


WORD = pb.Packet(confirm=pb.Confirm())


@pytest.mark.parametrize(
    "packets",
    [
        [pb.Packet()],
        [frame(0), pb.Packet()],
        [frame(1)],
        [frame(0), frame(0)],
        [frame(0), frame(2)],
        [frame(0, "no kind!")],
        [frame(0, "")],
        [frame(0), WORD],
        [WORD, WORD, WORD],
        [WORD, WORD, frame(0), WORD],
        [frame(0), frame(1, lane=1)],
        [frame(0), frame(0, lane=1), frame(2, lane=1)],
        [frame(0, lane=1), WORD],
        [frame(0, lane=MAX_LANES + 1)],
        [frame(0, lane=2**32 - 1)],
        [frame(0, END, lane=1)],
        [frame(0, ABORT, lane=MAX_LANES)],
    ],
)
def test_packets_out_of_their_place_are_refused_as_they_come(packets):
    arrivals = Arrivals()
    for packet in packets[:-1]:
        arrivals.check(packet)
    with pytest.raises(ProtocolViolation):
        arrivals.check(packets[-1])


def test_packets_in_their_place_pass():
    arrivals = Arrivals()
    lanes = [frame(number, lane=lane) for number in (0, 1) for lane in (MAX_LANES, 1)]
    for packet in (WORD, WORD, frame(0), frame(1), *lanes, frame(2), pb.Packet(refusal=pb.Refusal())):
        arrivals.check(packet)


def flood(packets) -> tuple[PacketStream, int]:
    """A stream that nobody reads, and how many of the packets it has taken when it takes no more."""
    stream = PacketStream("south", timeout=5, inbox_bytes=1 << 20)
    taken, still = 0, threading.Event()

    def incoming():
        nonlocal taken
        for packet in packets:
            yield packet
            taken += 1
            still.set()

    stream.call.start(incoming(), lambda: None)
    while still.wait(0.3):
        still.clear()
    return stream, taken


def test_small_packets_are_bounded_in_number():
    stream, taken = flood(Frame(number, "k", 1, 0, b"") for number in range(1 << 20))
    assert taken <= (1 << 20) // PACKET_BYTES + 1
    assert stream.receive().sequence == 0
    stream.call.abandon()


def test_of_empty_packets_not_even_the_second_is_taken():
    stream, taken = flood(pb.Packet() for _ in range(1 << 20))
    assert taken == 0
    with pytest.raises(ProtocolViolation, match="empty"):
        stream.receive()
    with pytest.raises(ProtocolViolation, match="empty"):
        stream.send(frame(0))
    stream.call.abandon()
