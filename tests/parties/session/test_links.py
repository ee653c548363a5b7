"""The stream that a peer keeps open for calls to it: what it carries, and what a peer can do by it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import grpc
import pytest

from parties.config import Keepalive
from parties.errors import PeerBusy, PeerRefused, PeerUnreachable
from parties.ports.interfaces import MESSAGE_LIMIT
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.greeting import make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import reverse_pb2 as reverse_pb
from parties.rpc.pb.duetto.v1 import reverse_pb2_grpc
from parties.rpc.refusal import CODE_KEY
from parties.rpc.stream import PacketStream
from parties.session import links as links_module
from parties.session.links import CALLS, Link, LinkClient, Links
from smc.errors import PeerLost, ProtocolViolation
from tests.parties.rpc.harness import NORTH, SOUTH, listening, public

Answer = reverse_pb.ReverseAnswer


def tell(body: bytes = b"word") -> reverse_pb.ReverseCall:
    return reverse_pb.ReverseCall(tell=pb.JobMessage(body=body))


def said(number: int, body: bytes = b"yes") -> reverse_pb.ReverseAnswer:
    return Answer(number=number, answer=pb.JobMessage(body=body))


class Far:
    """The peer's end of a link that no network carries."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.calls = iter(link.queue)
        self.answers: queue.Queue[reverse_pb.ReverseAnswer | None] = queue.Queue()
        self.reader = threading.Thread(target=link.read, args=(iter(self.answers.get, None),), daemon=True)
        self.reader.start()

    def has_ended(self) -> bool:
        self.reader.join(10)
        return not self.reader.is_alive() and next(self.calls, None) is None


@pytest.fixture
def far() -> Iterator[Far]:
    found = Far(Link("north"))
    yield found
    found.answers.put(None)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2 * CALLS) as made:
        yield made


def test_answers_find_their_calls_in_any_order(far, pool):
    asked = [pool.submit(far.link.ask, tell(b"%d" % n), "answer", 10.0) for n in range(CALLS)]
    calls = [next(far.calls) for _ in asked]
    assert [call.number for call in calls] == list(range(1, CALLS + 1))
    for call in reversed(calls):
        far.answers.put(said(call.number, b"to " + call.tell.body))
    assert {one.result().answer.body for one in asked} == {b"to %d" % n for n in range(CALLS)}


@pytest.mark.parametrize(
    "answers",
    [[said(0)], [said(2)], [said(1), said(1)]],
    ids=["no number", "a call not made", "one call twice"],
)
def test_an_answer_to_no_call_ends_the_link(far, pool, answers):
    asked = pool.submit(far.link.ask, tell(), "answer", 10.0)
    assert next(far.calls).number == 1
    for answer in answers:
        far.answers.put(answer)
    assert far.has_ended()
    if len(answers) == 1:
        with pytest.raises(PeerLost, match="broke"):
            asked.result()
    with pytest.raises(PeerUnreachable):
        far.link.ask(tell(), "answer", 1.0)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(number=1),
        Answer(number=1, granted=reverse_pb.SessionGranted()),
        Answer(number=1, greeting=pb.Greeting()),
    ],
    ids=["nothing", "granted", "greeting"],
)
def test_an_answer_of_another_kind_is_a_violation_and_ends_the_link(far, pool, answer):
    asked = pool.submit(far.link.ask, tell(), "answer", 10.0)
    next(far.calls)
    far.answers.put(answer)
    with pytest.raises(ProtocolViolation, match="expected"):
        asked.result()
    assert next(far.calls, None) is None


@pytest.mark.parametrize(
    ("code", "kind", "seen"),
    [("busy", PeerBusy, "busy"), ("policy", PeerRefused, "policy"), ("<script>", PeerRefused, "unknown")],
)
def test_a_refusal_is_that_of_other_calls(far, pool, code, kind, seen):
    asked = pool.submit(far.link.ask, tell(), "answer", 10.0)
    next(far.calls)
    far.answers.put(Answer(number=1, code=code))
    with pytest.raises(kind) as refused:
        asked.result()
    assert refused.value.stable_code == seen
    assert "<" not in str(refused.value)


def test_a_late_answer_is_nobodys_and_no_violation(far, pool):
    with pytest.raises(PeerLost, match="no answer"):
        far.link.ask(tell(b"never taken"), "answer", 0.01)
    asked = pool.submit(far.link.ask, tell(b"next"), "answer", 10.0)
    call = next(far.calls)
    assert (call.number, call.tell.body) == (2, b"next")
    far.answers.put(said(1))
    far.answers.put(said(2))
    assert asked.result().answer.body == b"yes"


def test_a_peer_that_answers_nothing_holds_so_many_calls_and_no_more(far, pool, monkeypatch):
    monkeypatch.setattr(links_module, "CALL_SECONDS", 0.05)
    asked = [pool.submit(far.link.ask, tell(), "answer", 10.0) for _ in range(CALLS)]
    for _ in asked:
        next(far.calls)
    with pytest.raises(PeerBusy):
        far.link.ask(tell(), "answer", 10.0)
    far.link.end()
    assert all(isinstance(one.exception(), PeerLost) for one in asked)


def test_what_is_too_long_is_neither_sent_nor_taken(far, pool):
    client = LinkClient(far.link, public(NORTH), lambda: make_greeting(SOUTH, Terms()), Terms())
    with pytest.raises(ProtocolViolation, match="longer"):
        client.propose(bytes(MESSAGE_LIMIT + 1))
    asked = pool.submit(client.tell, b"word")
    next(far.calls)
    far.answers.put(said(1, bytes(MESSAGE_LIMIT + 1)))
    with pytest.raises(ProtocolViolation, match="longer"):
        asked.result()


def test_a_newer_link_ends_the_older_and_stays():
    heard: list[str] = []
    links = Links(heard.append)
    first, second = links.attach("north"), links.attach("north")
    with pytest.raises(PeerUnreachable):
        first.ask(tell(), "answer", 1.0)
    links.detach(first)
    assert links.of("north") is second
    assert heard == ["north", "north"]
    links.set_peers(["south"])
    assert links.of("north") is None
    with pytest.raises(PeerUnreachable):
        second.ask(tell(), "answer", 1.0)


def test_a_peer_counts_as_not_dialled_once_that_was_tried_and_has_a_link():
    links = Links()
    assert not links.can_dial("north")
    link = links.attach("north")
    assert not links.is_reversed("north")  # nobody has tried
    links.note_dialled("north", through=False)
    assert links.is_reversed("north")
    links.detach(link)
    assert not links.is_reversed("north")
    assert links.wait_for("north", 0.01) is None
    links.note_dialled("north", through=True)
    assert links.can_dial("north")
    assert links.wait_for("north", 600.0) is None  # it is dialled, and not waited for


def test_a_session_for_which_no_stream_comes_is_lost_and_takes_no_later_one(pool, monkeypatch):
    monkeypatch.setattr(links_module, "SESSION_SECONDS", 0.2)
    links = Links()
    far = Far(links.attach("north"))
    lost = PacketStream("north", 1, 1 << 20)
    opening = pool.submit(links.open, far.link, lost)
    assert next(far.calls).HasField("session")
    far.answers.put(Answer(number=1, granted=reverse_pb.SessionGranted()))
    with pytest.raises(PeerLost, match="opened none"):
        opening.result()
    assert links.take("north") is None
    with pytest.raises(PeerLost):
        lost.receive(0.0)
    lost.finish(60)  # at once, since it never had a call


def test_streams_for_sessions_go_to_those_that_wait_in_turn(pool, monkeypatch):
    links = Links()
    far = Far(links.attach("north"))
    waiting = [PacketStream("north", 1, 1 << 20) for _ in range(3)]
    opening = []
    for number, stream in enumerate(waiting, 1):
        opening.append(pool.submit(links.open, far.link, stream))
        assert next(far.calls).number == number
    assert links.take("east") is None
    assert [links.take("north") for _ in range(4)] == [*waiting, None]
    for number in range(1, 4):
        far.answers.put(Answer(number=number, granted=reverse_pb.SessionGranted()))
    for one in opening:
        one.result()


# Over the network, with a peer that does as it likes


@contextmanager
def stub_of_north(south) -> Iterator[reverse_pb2_grpc.ReverseStub]:
    with tls.dial(NORTH, public(SOUTH), south.server.address, Keepalive()) as channel:
        yield reverse_pb2_grpc.ReverseStub(channel)


def opened(stub, answers):
    call = stub.Link(answers)
    call.initial_metadata()
    return call


def calls_until_its_end(call) -> list[reverse_pb.ReverseCall]:
    found = []
    with suppress(grpc.RpcError):
        found += call
    return found


def test_links_without_end_are_one_link(monkeypatch):
    """Each that is opened ends the one before; sessions and other calls find their places."""
    links = Links()
    with listening(SOUTH, public(NORTH), links=links) as south, stub_of_north(south) as stub:
        calls = []
        for _ in range(50):
            calls.append(opened(stub, iter(queue.Queue().get, None)))
            newest = links.of("north")
            assert newest is not None
        for call in calls[:-1]:
            assert calls_until_its_end(call) == []
        assert calls[-1].is_active()
        assert links.of("north") is newest
        assert sum(thread.name == "link-north" for thread in threading.enumerate()) <= 3


@pytest.mark.parametrize(
    "junk", [said(7), Answer(), Answer(number=1 << 63)], ids=["unasked", "empty", "huge"]
)
def test_junk_ends_the_link(junk):
    links = Links()
    with listening(SOUTH, public(NORTH), links=links) as south, stub_of_north(south) as stub:
        call = opened(stub, iter([junk]))
        assert calls_until_its_end(call) == []
        assert links.of("north") is None


def test_bytes_that_are_no_message_end_the_link():
    with (
        listening(SOUTH, public(NORTH), links=Links()) as south,
        tls.dial(NORTH, public(SOUTH), south.server.address, Keepalive()) as channel,
    ):
        call = channel.stream_stream("/duetto.v1.Reverse/Link")(iter([b"\xff" * 40]))
        with pytest.raises(grpc.RpcError):
            list(call)


def test_a_stream_for_a_session_that_nobody_asked_for_is_refused():
    with (
        listening(SOUTH, public(NORTH)) as south,
        tls.dial(NORTH, public(SOUTH), south.server.address, Keepalive()) as channel,
    ):
        call = channel.stream_stream("/duetto.v1.Reverse/Run")(iter([]))
        with pytest.raises(grpc.RpcError) as refused:
            list(call)
        assert dict(refused.value.trailing_metadata())[CODE_KEY] == "no-session"


def test_a_peer_that_is_unpaired_has_no_link():
    links = Links()
    with listening(SOUTH, public(NORTH), links=links) as south, stub_of_north(south) as stub:
        call = opened(stub, iter(queue.Queue().get, None))
        assert links.of("north") is not None
        south.server.set_peers({})
        assert calls_until_its_end(call) == []
        assert links.of("north") is None
