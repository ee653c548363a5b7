from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.channel.channel import Channel
from smc.channel.memory import MemoryTransport, memory_pair
from smc.channel.message import END, FRAME_BYTES, MESSAGE_BYTES, Frame, Message
from smc.channel.vectors import (
    Bits,
    ByteRows,
    ExpectedBits,
    ExpectedByteRows,
    ExpectedResidues,
    ExpectedWords,
    Residues,
    Words,
)
from smc.errors import PeerAborted, PeerLost, ProtocolViolation


@dataclass(frozen=True, slots=True)
class Numbers(Message, kind="test-numbers"):
    values: Residues


@dataclass(frozen=True, slots=True)
class Mixed(Message, kind="test-mixed"):
    bits: Bits
    rows: ByteRows
    words: Words


@dataclass(frozen=True, slots=True)
class Block(Message, kind="test-block"):
    rows: ByteRows


def pair(timeout: float = 0.2) -> tuple[Channel, Channel, MemoryTransport]:
    left, right = memory_pair(timeout)
    return Channel(left), Channel(right), left


@given(st.integers(2, 2**130), st.data())
def test_residues_come_back(modulus: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, modulus - 1), max_size=20))
    alice, bob, _ = pair()
    alice.send(Numbers(Residues(values, modulus)))
    assert bob.recv(Numbers, ExpectedResidues(modulus, len(values))) == values
    assert alice.traffic.sent == bob.traffic.received == ExpectedResidues(modulus, len(values)).size


@given(st.lists(st.integers(0, 1), max_size=40), st.lists(st.integers(0, 2**64 - 1), max_size=10))
def test_arrays_come_back(bits: list[int], words: list[int]) -> None:
    alice, bob, _ = pair()
    rows = np.arange(12, dtype=np.uint8).reshape(3, 4)
    alice.send(Mixed(Bits(np.array(bits, np.uint8)), ByteRows(rows), Words(np.array(words, np.uint64))))
    got = bob.recv(Mixed, ExpectedBits(len(bits)), ExpectedByteRows(3, 4), ExpectedWords(len(words)))
    assert got[0].tolist() == bits
    assert (got[1] == rows).all()
    assert got[2].tolist() == words


def test_large_messages_travel_in_frames() -> None:
    alice, bob, _ = pair()
    rows = (
        np.arange(3 * FRAME_BYTES + 5, dtype=np.uint64).view(np.uint8)[: 3 * FRAME_BYTES + 5].reshape(1, -1)
    )
    alice.send(Block(ByteRows(rows)))
    assert (bob.recv(Block, ExpectedByteRows(1, rows.size)) == rows).all()


def test_rounds_count_chains_and_not_messages() -> None:
    alice, bob, _ = pair()
    one = Numbers(Residues([1], 3))
    due = ExpectedResidues(3, 1)
    alice.send(one)
    alice.send(one)
    bob.recv(Numbers, due)
    bob.recv(Numbers, due)
    assert alice.traffic.rounds == bob.traffic.rounds == 1
    bob.send(one)
    alice.send(one)  # crosses Bob's message: no longer chain
    alice.recv(Numbers, due)
    bob.recv(Numbers, due)
    assert alice.traffic.rounds == bob.traffic.rounds == 2
    alice.send(one)
    bob.recv(Numbers, due)
    assert alice.traffic.rounds == bob.traffic.rounds == 3
    assert alice.traffic.messages == bob.traffic.messages == 5


def frames_of(message: Message) -> list[Frame]:
    left, right = memory_pair(0.2)
    Channel(left).send(message)
    frames = [right.receive()]
    while sum(len(f.data) for f in frames) < frames[0].total:
        frames.append(right.receive())
    return frames


ONE = frames_of(Numbers(Residues([1, 2], 1000)))[0]
TWO = frames_of(Block(ByteRows(np.zeros((1, FRAME_BYTES + 10), np.uint8))))


@pytest.mark.parametrize(
    "frames",
    {
        "wrong kind": [replace(ONE, kind="other")],
        "ended": [replace(ONE, kind=END)],
        "gap in sequence": [replace(ONE, sequence=1)],
        "negative sequence": [replace(ONE, sequence=-1)],
        "too long": [replace(ONE, total=5, data=b"12345")],
        "too short": [replace(ONE, total=3, data=b"123")],
        "announces more than it has": [ONE, replace(ONE, sequence=1)],
        "short piece": [replace(ONE, data=b"1")],
        "impossible depth": [replace(ONE, depth=2)],
        "out of range": [replace(ONE, data=b"\xff\xff\xff\xff")],
    }.items(),
    ids=lambda item: item[0],
)
def test_wrong_frames_end_the_session(frames: tuple[str, list[Frame]]) -> None:
    left, right = memory_pair(0.05)
    for frame in frames[1]:
        left.send(frame)
    bob = Channel(right)

    def listen() -> None:
        for _ in range(2):
            bob.recv(Numbers, ExpectedResidues(1000, 2))
        bob.finish()

    with pytest.raises((ProtocolViolation, PeerLost)) as caught:
        listen()
    assert "1000" not in str(caught.value)


@pytest.mark.parametrize("change", ["swap", "drop", "repeat", "oversized", "empty"])
def test_pieces_of_a_message_must_be_whole_and_in_order(change: str) -> None:
    first, second = TWO
    frames = {
        "swap": [second, first],
        "drop": [second],
        "repeat": [first, first],
        "oversized": [replace(first, data=bytes(first.data) + b"x")],
        "empty": [first, replace(second, data=b"")],
    }[change]
    left, right = memory_pair(0.05)
    for frame in frames:
        left.send(frame)
    with pytest.raises(ProtocolViolation):
        Channel(right).recv(Block, ExpectedByteRows(1, FRAME_BYTES + 10))


@pytest.mark.parametrize("piece", [0, 1, 2, FRAME_BYTES - 1])
def test_a_message_in_frames_that_are_not_full_is_refused_at_once(piece: int) -> None:
    """Two mebibytes in frames of two bytes would take some fifty times the memory of the message."""
    size = 2 * FRAME_BYTES
    left, right = memory_pair(0.05)
    kind = Block.kind()
    for sequence in range(2):
        left.send(Frame(sequence, kind, 1, size, bytes(piece)))
    with pytest.raises(ProtocolViolation, match=f"{FRAME_BYTES} bytes was expected, but one of {piece} came"):
        Channel(right).recv(Block, ExpectedByteRows(1, size))
    assert right.receive().sequence == 1  # the first frame was enough


def test_a_message_over_the_limit_is_not_waited_for() -> None:
    _, right = memory_pair(0.05)
    with pytest.raises(ProtocolViolation, match="more than the limit"):
        Channel(right).recv(Block, ExpectedByteRows(1, MESSAGE_BYTES + 1))


@given(st.binary(max_size=40))
def test_any_bytes_are_numbers_below_the_modulus_or_a_violation(data: bytes) -> None:
    due = ExpectedResidues(1000, 4)
    if len(data) != due.size:
        return
    try:
        values = due.decode(data)
    except ProtocolViolation:
        return
    assert all(0 <= v < 1000 for v in values)


def test_padding_of_bits_must_be_zero() -> None:
    with pytest.raises(ProtocolViolation):
        ExpectedBits(3).decode(b"\x01")


def test_abort_tells_a_code_and_nothing_else() -> None:
    alice, bob, _ = pair()
    alice.abort("budget\n<script>" + "x" * 100)
    with pytest.raises(PeerAborted, match="'budgetscript") as caught:
        bob.recv(Numbers, ExpectedResidues(3, 1))
    assert len(caught.value.what) < 150


def test_finish_needs_both_sides() -> None:
    alice, bob, _ = pair(0.05)
    with pytest.raises(PeerLost):
        alice.finish()
    bob.finish()


def test_a_closed_channel_wakes_who_waits() -> None:
    _, bob, left = pair(30)
    left.close()
    with pytest.raises(PeerLost, match="closed"):
        bob.recv(Numbers, ExpectedResidues(3, 1))
