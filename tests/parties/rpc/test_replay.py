"""What a stream does when its call is cut, packet by packet and without a network; also to a hostile peer."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.rpc.call import Call
from parties.rpc.codec import Packet, read
from parties.rpc.packets import PACKET_BYTES
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import RECEIPT_BYTES, WINDOW_BYTES, PacketStream
from parties.session import resuming
from parties.session.resuming import Redialler, Resumable
from smc.channel.message import END, FRAME_BYTES, Frame
from smc.errors import DuettoError, PeerLost, ProtocolViolation

TOKEN, SESSION = bytes(range(32)), bytes(32)
LONG = 600.0
"""Seconds that no test waits, however slow the machine is."""


def frame(number: int, size: int = 1, kind: str = "kind") -> Frame:
    return Frame(number, kind, 1, size, bytes([number % 256]) * size)


def stream(endures: bool = True, timeout: float = LONG) -> PacketStream:
    made = PacketStream("south", timeout, 1 << 30, LONG)
    if endures:
        made.endure()
    return made


def given_out(one: PacketStream, call: Call) -> list[bytes]:
    """What gRPC would take now."""
    found = []
    while not one._replay.is_empty or one._receipt_due:
        found.append(one.next_packet(call))
    return found


def cut(one: PacketStream, call: Call) -> None:
    assert one.end_of(call, PeerLost("cut"))


def again(one: PacketStream, received: int, **how: bool) -> Call:
    """Let a stream go on over a new call."""
    fresh = stream(endures=False)
    call = fresh.call
    one.carry_on(fresh, received, **how)
    return call


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12), st.integers(1, 40))
def test_whatever_is_lost_the_peer_gets_each_packet_once_and_in_order(cuts, count):
    """At each cut the peer has got some of what was given to the call, and the rest is lost."""
    one, other = stream(), stream()
    call, far = one.call, other.call
    packets = [frame(number) for number in range(count)]
    queue = iter(packets)
    for new, lost in cuts:
        for packet in [packet for _, packet in zip(range(new), queue, strict=False)]:
            one.send(packet)
        on_the_way = given_out(one, call)
        for packet in on_the_way[: max(0, len(on_the_way) - lost)]:
            assert other.take(far, read(packet))
        cut(one, call)
        cut(other, far)
        call = again(one, other.received)
        far = again(other, one.received)
    for packet in queue:
        one.send(packet)
    for packet in given_out(one, call):
        assert other.take(far, read(packet))
    assert other.received == count
    assert [other.receive() for _ in range(count)] == packets


def test_what_is_sent_again_is_what_was_sent():
    one = stream()
    packets = [frame(number, 100) for number in range(5)]
    for packet in packets:
        one.send(packet)
    call = one.call
    first = given_out(one, call)
    cut(one, call)
    second = given_out(one, again(one, 2))
    assert [id(packet) for packet in second] == [id(packet) for packet in first[2:]]


def test_packets_that_an_earlier_call_delivers_late_are_not_taken():
    one = stream()
    old = one.call
    assert one.take(old, frame(0))
    new = again(one, 0)
    assert one.take(old, frame(1))
    assert one.received == 1
    assert one.take(new, frame(1))
    assert one.received == 2
    assert one.next_packet(old) is None


@pytest.mark.parametrize(("before", "number"), [(1, 0), (1, 2), (0, 1), (3, 1)])
def test_packets_twice_or_out_of_order_end_the_session(before, number):
    one = stream()
    for each in range(before):
        one.take(one.call, frame(each))
    with pytest.raises(ProtocolViolation, match=f"frame {before} was expected, but frame {number} came"):
        one.take(one.call, frame(number))


def test_a_frame_of_before_the_cut_is_refused_after_it():
    one = stream()
    one.take(one.call, frame(0))
    cut(one, one.call)
    new = again(one, 0)
    with pytest.raises(ProtocolViolation, match="frame 1 was expected, but frame 0 came"):
        one.take(new, frame(0))


@pytest.mark.parametrize("claims", [(3,), (1, 1), (2, 1), (0,), (1 << 60,)])
def test_receipts_for_what_was_not_sent_end_the_session(claims):
    one = stream()
    for number in range(4):
        one.send(frame(number))
    for _ in range(2):
        one.next_packet(one.call)
    for claim in claims[:-1]:
        one.take(one.call, pb.Packet(receipt=pb.Receipt(received=claim)))
    with pytest.raises(ProtocolViolation, match="acknowledged"):
        one.take(one.call, pb.Packet(receipt=pb.Receipt(received=claims[-1])))


def test_a_receipt_before_the_session_is_a_violation():
    one = stream(endures=False)
    one.send(frame(0))
    one.next_packet(one.call)
    with pytest.raises(ProtocolViolation, match="acknowledged"):
        one.take(one.call, pb.Packet(receipt=pb.Receipt(received=1)))


def test_the_buffer_is_bounded_and_empties_by_receipts_only():
    one = stream(timeout=0.05)
    call, number = one.call, WINDOW_BYTES // FRAME_BYTES
    for each in range(number):
        one.send(frame(each, FRAME_BYTES))
        given_out(one, call)  # gRPC takes all at once, and still nothing is forgotten
    with pytest.raises(PeerLost, match="read nothing"):
        one.send(frame(number, FRAME_BYTES))
    assert WINDOW_BYTES <= one._replay.waiting < WINDOW_BYTES + FRAME_BYTES + PACKET_BYTES + 100
    one.take(call, pb.Packet(receipt=pb.Receipt(received=number)))
    assert one._replay.waiting == 0
    one.send(frame(number, FRAME_BYTES))


def test_one_receipt_for_every_four_mebibytes_and_one_at_the_end():
    one = stream()
    sent = []
    assert 4 * FRAME_BYTES == RECEIPT_BYTES == WINDOW_BYTES // 4
    for number in range(8):
        one.take(one.call, frame(number, FRAME_BYTES))
        sent += given_out(one, one.call)
    assert [read(packet).receipt.received for packet in sent] == [4, 8]
    one.take(one.call, frame(8, 0, END))
    assert [read(packet).receipt.received for packet in given_out(one, one.call)] == [9]


def test_waiting_receives_no_end_by_a_cut_and_a_typed_one_past_the_limit():
    one = stream()
    cut(one, one.call)
    assert one.outage.limit == LONG
    passes = one._limit
    threading.Thread(target=lambda: passes.function(*passes.args)).start()
    with pytest.raises(PeerLost, match=r"did not come back within 600 seconds"):
        one.receive()
    passes.cancel()
    assert one.outage is None


def test_time_without_connection_is_not_time_that_the_peer_was_silent():
    one = stream(timeout=0.3)
    cut(one, one.call)

    def come_back():
        with one._changed:  # at once: how soon the frame follows is not the question
            one.take(again(one, 0), frame(0))

    timer = threading.Timer(0.8, come_back)
    timer.start()
    assert one.receive().sequence == 0
    timer.join()


def test_without_a_limit_a_cut_is_the_end():
    one = PacketStream("south", 5, 1 << 20, 0)
    one.endure()
    assert one.end_of(one.call, PeerLost("The stream broke."))
    with pytest.raises(PeerLost, match="broke"):
        one.receive()


# What a peer may ask for


def asked(**changes: object) -> pb.Resume:
    fields = {"session_id": SESSION, "token": TOKEN, "epoch": 1, "received": 0}
    return pb.Resume(**{**fields, **changes})


def resume(resumable: Resumable, peer: str = "south", **changes: object) -> tuple[PacketStream, str]:
    """A stream on which the peer wants to resume, and the code of the refusal; empty if there is none."""
    fresh = PacketStream(peer, 1, 1 << 20, 5)
    code = ""
    try:
        resumable.resume(fresh, asked(**changes))
    except DuettoError as error:
        code = error.stable_code
    said = "" if not code else read(fresh.next_packet(fresh.call)).refusal.code
    assert said == code
    return fresh, code


@pytest.fixture
def held():
    """A session of three packets, of which the peer has acknowledged one; and the room that holds it."""
    resumable, one = Resumable(), stream()
    for number in range(3):
        one.send(frame(number))
        one.next_packet(one.call)
    one.take(one.call, pb.Packet(receipt=pb.Receipt(received=1)))
    with resumable.hold(SESSION, TOKEN, "job", one):
        yield resumable, one


@pytest.mark.parametrize(
    "change",
    [
        {"token": bytes(32)},
        {"token": b""},
        {"token": TOKEN + b"\0"},
        {"session_id": bytes(31) + b"\1"},
        {"session_id": b""},
        {"peer": "west"},
    ],
)
def test_only_the_peer_with_the_token_of_the_session_goes_on_with_it(held, change):
    resumable, one = held
    call = one.call
    _, code = resume(resumable, **change)
    assert code == "no-session"
    assert one.call is call
    one.send(frame(3))


def test_the_peer_goes_on_with_what_it_lacks(held):
    resumable, one = held
    old = one.call
    fresh, code = resume(resumable, received=2)
    assert code == ""
    with pytest.raises(PeerLost):
        assert fresh.call
    assert one.call is not old
    first, second = map(read, given_out(one, one.call))
    assert first.resumed.received == 0
    assert second.sequence == 2


@pytest.mark.parametrize("received", [0, 4, (1 << 64) - 1])
def test_a_peer_that_counts_wrongly_ends_its_session(held, received):
    """Too few: it has acknowledged more. Too many: they were never sent."""
    resumable, one = held
    _, code = resume(resumable, received=received)
    assert code == "protocol-violation"
    with pytest.raises(ProtocolViolation):
        one.receive()
    assert resume(resumable, received=2, epoch=2)[1] == "no-session"


def test_an_attempt_that_is_overtaken_by_a_later_one_is_refused(held):
    resumable, one = held
    assert resume(resumable, received=1, epoch=7)[1] == ""
    call = one.call
    for epoch in (7, 6, 0):
        assert resume(resumable, received=1, epoch=epoch)[1] == "late-resume"
    assert one.call is call
    assert resume(resumable, received=1, epoch=8)[1] == ""


def test_a_peer_that_resumes_for_ever_ends_its_session(held, monkeypatch):
    monkeypatch.setattr(resuming, "MAX_RESUMES", 5)
    resumable, one = held
    for epoch in range(1, 6):
        assert resume(resumable, received=1, epoch=epoch)[1] == ""
        given_out(one, one.call)
        assert one._replay.waiting < 3 * (PACKET_BYTES + 100)
    assert resume(resumable, received=1, epoch=6)[1] == "protocol-violation"
    with pytest.raises(ProtocolViolation, match="more than 5 times"):
        one.receive()


def test_a_session_that_is_over_is_not_resumed(held):
    resumable, one = held
    one.close()
    assert resume(resumable, received=1)[1] == "no-session"


# What a listener may answer


def redial(answer: Packet | None) -> PacketStream:
    """A stream whose call is cut, after one attempt that gets an answer, or none."""
    one = PacketStream("south", 1, 1 << 20, 1)
    attempts = []

    def connect(fresh: PacketStream) -> None:
        if attempts:
            one.give_up(PeerLost("enough"))
        attempts.append(fresh)
        if answer is not None:
            # the call reads in a thread of its own: after `resumed` it waits
            threading.Thread(target=fresh.take, args=(fresh.call, answer), daemon=True).start()

    one.endure(None, Redialler(one, lambda: PacketStream("south", 0.1, 1 << 20, 1), connect, SESSION, TOKEN))
    one.send(frame(0))
    one.next_packet(one.call)
    cut(one, one.call)
    return one


@pytest.mark.parametrize("received", [2, (1 << 64) - 1])
def test_a_listener_that_counts_wrongly_ends_the_session(received):
    one = redial(pb.Packet(resumed=pb.Resumed(received=received)))
    with pytest.raises(ProtocolViolation, match="acknowledged"):
        one.receive()


def test_a_listener_that_answers_something_else_ends_the_session():
    one = redial(pb.Packet(confirm=pb.Confirm()))
    with pytest.raises(ProtocolViolation, match="confirm"):
        one.receive()


@pytest.mark.parametrize(
    ("code", "match"), [("no-session", "does not hold the session any more"), ("policy", "'policy'")]
)
def test_a_listener_that_refuses_ends_the_session(code, match):
    one = redial(pb.Packet(refusal=pb.Refusal(code=code)))
    with pytest.raises(DuettoError, match=match):
        one.receive()


def test_a_listener_that_answers_rightly_goes_on():
    one = redial(pb.Packet(resumed=pb.Resumed(received=0)))
    assert one.outage is None
    assert [read(packet).sequence for packet in given_out(one, one.call)] == [0]
