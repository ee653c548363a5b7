"""Packets as bytes: `write` writes what protobuf would write, and `read` reads what protobuf would read."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given
from hypothesis import strategies as st

from parties.rpc import codec
from parties.rpc.codec import LARGE_BYTES, Packet, packet_bytes, read, write
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.channel.message import FRAME_BYTES, Frame

counters = {bits: st.integers(0, 300) | st.integers(0, 2**bits - 1) for bits in (32, 64)}
kinds = st.text(max_size=140) | st.sampled_from(["", "end", "abort", "tree-points"])
lengths = st.sampled_from([0, 1, 127, 128, 16383, 16384, LARGE_BYTES - 40, LARGE_BYTES, FRAME_BYTES])
datas = st.builds(lambda length, some: (some * length)[:length], lengths, st.binary(min_size=1, max_size=9))
NUMBERS = {
    field.name: counters[32 if field.type == field.TYPE_UINT32 else 64]
    for field in pb.Frame.DESCRIPTOR.fields
    if field.name not in ("kind", "data")
}
frames = st.builds(Frame, kind=kinds, data=datas, **NUMBERS)

SMALL = Frame(7, "tree-points", 3, 1 << 20, b"some data")
LARGE = replace(SMALL, data=bytes(range(256)) * (LARGE_BYTES // 256))


def protobuf_writes(frame: Frame) -> bytes:
    given = {field.name: getattr(frame, field.name) for field in fields(Frame)}
    return pb.Packet(frame=pb.Frame(**{**given, "data": bytes(frame.data)})).SerializeToString()


def protobuf_reads(wire: bytes) -> Packet | None:
    """None for bytes that are no packet."""
    try:
        packet = pb.Packet.FromString(wire)
    except DecodeError:
        return None
    if not packet.HasField("frame"):
        return packet
    return Frame(**{field.name: getattr(packet.frame, field.name) for field in fields(Frame)})


def agrees(wire: bytes) -> bool:
    """See that `read` does what protobuf does; returns whether it needs no protobuf for the data."""
    due = protobuf_reads(wire)
    short = codec._read_large(wire)
    if due is None:
        assert short is None
        with pytest.raises(DecodeError):
            read(wire)
        return False
    assert read(wire) == due
    assert short in (None, due)
    assert short is None or wire == protobuf_writes(short)
    return short is not None


def test_a_frame_has_the_fields_of_the_wire():
    assert {field.name for field in fields(Frame)} == set(pb.Frame.DESCRIPTOR.fields_by_name)


@given(frames)
@example(SMALL)
@example(LARGE)
def test_frames_are_written_and_read_as_by_protobuf(frame):
    wire = write(frame)
    assert wire == protobuf_writes(frame)
    assert packet_bytes(frame) == len(wire)
    assert read(wire) == frame
    assert agrees(wire) == bool(frame.data)
    assert write(replace(frame, data=memoryview(frame.data))) == wire


def test_the_data_of_a_large_frame_are_not_copied():
    wire = write(LARGE)
    assert read(wire).data.obj is wire


@given(st.binary(max_size=200))
@example(b"")
@example(b'"')
@example(b'"\x80')
@example(b'"\x00')
def test_random_bytes(wire):
    agrees(wire)


@given(st.sampled_from([SMALL, LARGE]), st.data())
def test_spoilt_frames(frame, choose):
    """Bytes changed, left out or put in; most of them where the fields stand."""
    wire = bytearray(write(frame))
    for _ in range(choose.draw(st.integers(1, 3))):
        place = choose.draw(st.integers(0, 40) | st.integers(0, len(wire))) % len(wire)
        value = choose.draw(st.integers(0, 255))
        match choose.draw(st.sampled_from(["change", "drop", "insert", "cut"])):
            case "change":
                wire[place] = value
            case "drop":
                del wire[place]
            case "insert":
                wire.insert(place, value)
            case "cut":
                del wire[max(place, 9) :]
    agrees(bytes(wire))


def varint(value: int, length: int = 0) -> bytes:
    """A number in groups of seven bits, of which there are `length` at least."""
    groups = [value >> 7 * place & 127 for place in range(max(length, -(-value.bit_length() // 7), 1))]
    return bytes(group | 128 for group in groups[:-1]) + bytes(groups[-1:])


def delimited(number: int, content: bytes, length: int = 0) -> bytes:
    return varint(number << 3 | 2) + varint(len(content), length) + content


def packet(*parts: bytes) -> bytes:
    return delimited(pb.Packet.FRAME_FIELD_NUMBER, b"".join(parts))


SEQUENCE, DEPTH, TOTAL = b"\x08\x07", b"\x18\x03", b"\x20" + varint(1 << 20)
KIND, DATA = delimited(2, b"tree-points"), delimited(5, LARGE.data)
ALL = (SEQUENCE, KIND, DEPTH, TOTAL, DATA)

ODD = {
    "out of order": packet(KIND, SEQUENCE, DEPTH, TOTAL, DATA),
    "data first": packet(DATA, SEQUENCE, KIND, DEPTH, TOTAL),
    "a field after the data": packet(KIND, DEPTH, TOTAL, DATA, SEQUENCE),
    "a number twice": packet(SEQUENCE, *ALL),
    "a number again after the data": packet(*ALL, b"\x08\x09"),
    "data twice": packet(*ALL, delimited(5, b"other")),
    "data, then none": packet(*ALL, delimited(5, b"")),
    "kind twice": packet(SEQUENCE, delimited(2, b"other"), KIND, DEPTH, TOTAL, DATA),
    "a default written": packet(b"\x08\x00", KIND, DEPTH, TOTAL, DATA),
    "an empty kind written": packet(SEQUENCE, delimited(2, b""), DEPTH, TOTAL, DATA),
    "a long number": packet(b"\x08" + varint(7, 2), KIND, DEPTH, TOTAL, DATA),
    "a number of ten bytes": packet(b"\x08" + varint(7, 10), KIND, DEPTH, TOTAL, DATA),
    "a number of eleven bytes": packet(b"\x08" + varint(7, 11), KIND, DEPTH, TOTAL, DATA),
    "a number of 65 bits": packet(b"\x08" + varint(1 << 64), KIND, DEPTH, TOTAL, DATA),
    "a number without end": packet(b"\x08" + b"\xff" * LARGE_BYTES),
    "a long length of the data": packet(SEQUENCE, KIND, DEPTH, TOTAL, delimited(5, LARGE.data, 5)),
    "a long length of the frame": delimited(4, b"".join(ALL), 6),
    "a long tag": packet(b"\x88\x00\x07", KIND, DEPTH, TOTAL, DATA),
    "an unknown number": packet(*ALL[:-1], b"\x78\x01", DATA),
    "an unknown number after the data": packet(*ALL, b"\x78\x01"),
    "an unknown group": packet(b"\x7b\x08\x01\x7c", *ALL),
    "a number of fixed width": packet(b"\x09" + bytes(8), *ALL),
    "an unknown string before": packet(delimited(15, DATA), *ALL),
    "a kind that is no text": packet(SEQUENCE, delimited(2, b"\xff\xfe"), DEPTH, TOTAL, DATA),
    "a kind with half a character": packet(SEQUENCE, delimited(2, b"\xed\xa0\x80"), DEPTH, TOTAL, DATA),
    "data longer than the frame": packet(*ALL[:-1], b"\x2a" + varint(LARGE_BYTES + 1) + LARGE.data),
    "a frame longer than the packet": b"\x22" + varint(1 << 20) + b"".join(ALL),
    "a frame shorter than its data": b"\x22" + varint(100) + b"".join(ALL),
    "data of 2 ** 63 bytes": packet(*ALL[:-1], b"\x2a" + varint(1 << 63) + LARGE.data),
    "two frames": packet(*ALL) + packet(SEQUENCE, DATA),
    "two frames, one content": packet(*ALL[:-1]) + packet(DATA),
    "a frame, then another word": packet(*ALL) + pb.Packet(refusal=pb.Refusal(code="x")).SerializeToString(),
    "another word, then a frame": pb.Packet(refusal=pb.Refusal(code="x")).SerializeToString() + packet(*ALL),
    "something unknown behind": packet(*ALL) + b"\x78\x01",
    "an unknown packet": delimited(15, b"".join(ALL)),
    "a blob of bytes": LARGE.data,
    "zeros": bytes(LARGE_BYTES),
    "many small fields": packet(b"\x08\x07" * LARGE_BYTES),
}


@pytest.mark.parametrize("wire", ODD.values(), ids=ODD)
def test_what_is_not_as_it_is_written_is_read_by_protobuf(wire):
    assert len(wire) >= LARGE_BYTES
    assert not agrees(wire)


def test_the_parts_make_a_frame():
    assert packet(*ALL) == write(LARGE)
    assert agrees(packet(*ALL))


WORDS = [
    pb.Packet(),
    pb.Packet(opening=pb.Opening(nonce=bytes(LARGE_BYTES))),
    pb.Packet(refusal=pb.Refusal(code="policy")),
    pb.Packet(receipt=pb.Receipt(received=1 << 40)),
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: str(word.WhichOneof("content")))
def test_all_else_is_protobuf(word):
    assert write(word) == word.SerializeToString()
    assert read(write(word)) == word
    assert not agrees(write(word))


@pytest.mark.parametrize("change", [{"sequence": -1}, {"depth": 1 << 64}, {"kind": "\ud800"}])
def test_a_frame_that_does_not_fit_is_not_written(change):
    with pytest.raises(ValueError):  # protobuf's words
        write(replace(SMALL, **change))
