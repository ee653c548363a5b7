"""The side that keeps a stream open for its peer's calls, and what the peer can do to it by that."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
import pytest

from parties.config import Address, Keepalive
from parties.errors import PairingError, PeerRefused
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.client import PeerClient
from parties.rpc.codec import ServedRun
from parties.rpc.greeting import make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import reverse_pb2 as reverse_pb
from parties.rpc.pb.duetto.v1 import reverse_pb2_grpc
from parties.session.answering import Answering
from parties.session.directory import PeerDirectory
from parties.session.keeper import Keeper, Means
from parties.session.links import CALLS, LinkClient, Links
from parties.session.runner import SessionRunner
from smc.forms import Role
from tests.parties.rpc.harness import (
    NORTH,
    QUICK,
    SOUTH,
    Jobs,
    configuration,
    dialling,
    identity,
    listening,
    public,
)
from tests.parties.rpc.proxy import proxied

SESSIONS = 2
PAUSES = (0.02, 0.05)


@dataclass
class North:
    """North, who can dial."""

    jobs: Jobs
    links: Links
    keeper: Keeper
    directory: PeerDirectory


@contextmanager
def north(address: Address, jobs: Jobs | None = None) -> Iterator[North]:
    jobs, links = jobs or Jobs(), Links()
    with dialling(NORTH, public(SOUTH), address, links=links) as directory:
        runner = SessionRunner(NORTH, {"south": public(SOUTH)}, QUICK)
        keeper = Keeper(Means(directory, runner, Answering(NORTH, jobs), links, SESSIONS, PAUSES))
        keeper.follow()
        try:
            yield North(jobs, links, keeper, directory)
        finally:
            keeper.stop()
            runner.stop()
            runner.close()


@contextmanager
def linked() -> Iterator[tuple[North, Links]]:
    """North, and the links of south, which has one of north."""
    here = threading.Event()
    links = Links(lambda _: here.set())
    with listening(SOUTH, public(NORTH), links=links) as south, north(south.server.address) as party:
        assert here.wait(20)
        yield party, links


def rests(party: North) -> float:
    """The pause of the keeper after its stream has ended or did not come about."""
    kept = party.keeper._kept["south"]
    with kept._changed:
        assert kept._changed.wait_for(lambda: kept.pause is not None, 20)
        return kept.pause


def client(links: Links) -> LinkClient:
    link = links.of("north")
    assert link is not None
    return LinkClient(link, public(NORTH), lambda: make_greeting(SOUTH, Terms()), Terms())


def test_calls_are_answered_as_those_to_the_port_are():
    with linked() as (party, links):
        calls = client(links)
        assert calls.hello().version == Terms().newest
        assert calls.tell(b"word") == b"south:word"
        assert calls.propose(b"contract") == b"south:contract"

        def refusing(peer: str, body: bytes) -> bytes:
            raise PairingError("secret", code="keys")

        party.jobs.answer = refusing
        with pytest.raises(PeerRefused) as refused:
            calls.tell(b"word")
        assert refused.value.stable_code == "keys"
        assert "secret" not in str(refused.value)
        party.jobs.answer = lambda peer, body: 1 / 0
        with pytest.raises(PeerRefused) as refused:
            calls.tell(b"word")
        assert refused.value.stable_code == "internal"


def test_a_greeting_by_another_name_is_refused():
    with linked() as (_, links):
        link = links.of("north")
        greeting = make_greeting(SOUTH, Terms())
        greeting.party = "east"
        with pytest.raises(PeerRefused):
            link.ask(reverse_pb.ReverseCall(hello=greeting), "greeting", 10.0)


def test_a_link_that_is_ended_comes_back_and_stops_with_its_keeper():
    came: queue.Queue[str] = queue.Queue()
    links = Links(came.put)
    with listening(SOUTH, public(NORTH), links=links) as south, north(south.server.address) as party:
        for _ in range(3):
            assert came.get(timeout=20) == "north"
            links.end()
        came.get(timeout=20)
        party.keeper.stop()
        link = links.of("north")
        if link is not None:
            with link._changed:
                assert link._changed.wait_for(lambda: link.is_over, 20)
        assert came.empty()


# A south that does as it likes


@dataclass
class South(reverse_pb2_grpc.ReverseServicer):
    """Sends calls that a test gives, and notes what comes."""

    calls: Callable[[], Iterator[reverse_pb.ReverseCall]]
    answers: queue.Queue = field(default_factory=queue.Queue)
    opened: queue.Queue = field(default_factory=queue.Queue)
    runs: queue.Queue = field(default_factory=queue.Queue)
    over: threading.Event = field(default_factory=threading.Event)

    def Link(self, request_iterator, context):
        context.send_initial_metadata(())
        self.opened.put(context)
        if self.calls is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "")

        def read():
            try:
                for answer in request_iterator:
                    self.answers.put(answer)
            except Exception:
                return

        threading.Thread(target=read, daemon=True).start()
        yield from self.calls()

    def Run(self, request_iterator, context):
        self.runs.put(context)
        self.over.wait(20)
        yield from ()


@contextmanager
def served(service: South | None) -> Iterator[Address]:
    """A port with south's certificate, and this service or none."""
    pool = ThreadPoolExecutor(32)
    server = grpc.server(pool, interceptors=[ServedRun()], options=tls.server_options(Keepalive()))
    if service is not None:
        reverse_pb2_grpc.add_ReverseServicer_to_server(service, server)
    port = server.add_secure_port(
        "127.0.0.1:0", tls.server_credentials(SOUTH, NORTH.certificate, lambda: None)
    )
    server.start()
    try:
        yield Address("127.0.0.1", port)
    finally:
        if service is not None:
            service.over.set()
        server.stop(0).wait()
        pool.shutdown(wait=False)


def tells(count: int) -> Iterator[reverse_pb.ReverseCall]:
    for number in range(1, count + 1):
        yield reverse_pb.ReverseCall(number=number, tell=pb.JobMessage(body=b"word"))


def test_a_peer_without_the_method_is_asked_once_and_counts_as_dialled():
    """An earlier release: it is asked again in an hour, and not after the pauses, here of 20 ms."""
    with served(None) as address, north(address) as party:
        with party.links._changed:
            assert party.links._changed.wait_for(lambda: party.links.can_dial("south"), 20)
        assert rests(party) == 3600.0


def test_a_flood_of_calls_is_answered_with_so_many_at_once_and_no_more():
    count = 200

    def send():
        yield from tells(count)
        service.over.wait(20)

    service = South(send)
    busy, most, lock, together = [0], [0], threading.Lock(), threading.Barrier(CALLS, timeout=20)

    def answer(peer: str, body: bytes) -> bytes:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        together.wait()  # all rooms are taken
        with lock:
            busy[0] -= 1
        return b"yes"

    with served(service) as address:
        jobs = Jobs()
        jobs.answer = answer
        with north(address, jobs):
            numbers = {service.answers.get(timeout=20).number for _ in range(count)}
    assert numbers == set(range(1, count + 1))
    assert most[0] == CALLS


@pytest.mark.parametrize(
    "calls",
    [
        [reverse_pb.ReverseCall(number=2, tell=pb.JobMessage())],
        [*tells(1), *tells(1)],
        [reverse_pb.ReverseCall(number=1)],
    ],
    ids=["a gap", "a number twice", "nothing in it"],
)
def test_junk_ends_the_stream_for_an_hour(calls):
    def send():
        yield from calls
        service.over.wait(20)

    service = South(send)
    with served(service) as address, north(address) as party:
        context = service.opened.get(timeout=20)
        ended = threading.Event()
        if context.add_callback(ended.set):
            assert ended.wait(20)
        assert rests(party) == 3600.0


def test_wishes_for_sessions_without_end_get_as_many_streams_as_there_are_sessions():
    count = 40

    def wishes():
        for number in range(1, count + 1):
            yield reverse_pb.ReverseCall(number=number, session=reverse_pb.SessionWish())

    def send():
        yield from wishes()
        service.over.wait(20)

    service = South(send)
    with served(service) as address, north(address):
        answers = [service.answers.get(timeout=20) for _ in range(count)]
        granted = [answer for answer in answers if answer.WhichOneof("content") == "granted"]
        assert len(granted) == SESSIONS
        assert {answer.code for answer in answers if answer not in granted} == {"busy"}
        for _ in granted:
            service.runs.get(timeout=20)
        assert service.runs.empty()


def test_a_peer_that_cannot_be_reached_is_tried_after_the_pauses():
    with north(Address("127.0.0.1", 1)) as party:
        assert rests(party) in PAUSES
        assert not party.links.can_dial("south")


def test_a_link_moves_to_the_connection_that_is_to_be_used():
    """The address of the peer has changed: what stays open over the old connection is ended."""
    came: queue.Queue[str] = queue.Queue()
    links = Links(came.put)
    with (
        listening(SOUTH, public(NORTH), links=links) as south,
        proxied(south.server.address) as proxy,
        north(south.server.address) as party,
    ):
        came.get(timeout=20)
        party.directory.set_peers(configuration(NORTH, {"south": proxy.address}), {"south": public(SOUTH)})
        assert proxy.connections == 0
        party.keeper.follow()
        came.get(timeout=20)
        assert proxy.connections == 1


def test_a_connection_that_changes_while_a_link_is_begun_is_taken(monkeypatch):
    began, goes_on = threading.Event(), threading.Event()
    link = PeerClient.link

    def begin(self, answers):
        call = link(self, answers)
        if not began.is_set():
            began.set()
            assert goes_on.wait(20)
        return call

    monkeypatch.setattr(PeerClient, "link", begin)
    came: queue.Queue[str] = queue.Queue()
    with (
        listening(SOUTH, public(NORTH), links=Links(came.put)) as south,
        proxied(south.server.address) as proxy,
        north(south.server.address) as party,
    ):
        came.get(timeout=20)
        assert began.wait(20)
        party.directory.set_peers(configuration(NORTH, {"south": proxy.address}), {"south": public(SOUTH)})
        party.keeper.follow()
        goes_on.set()
        came.get(timeout=20)
        assert proxy.connections == 1


def test_links_come_again_when_the_port_has_other_certificates():
    """They would keep the server before alive for a day."""
    came: queue.Queue[str] = queue.Queue()
    links = Links(came.put)
    with listening(SOUTH, public(NORTH), links=links) as south, north(south.server.address):
        came.get(timeout=20)
        first = links.of("north")
        east = identity("east", Role.ALICE)
        south.server.set_peers({"north": public(NORTH), "east": public(east)})
        came.get(timeout=20)
        assert links.of("north") is not first
        (_, over), *_ = south.server._listener._retired
        assert over.wait(20)


def test_a_peer_that_is_unpaired_is_dialled_no_more():
    came: queue.Queue[str] = queue.Queue()
    links = Links(came.put)
    with listening(SOUTH, public(NORTH), links=links) as south, north(south.server.address) as party:
        came.get(timeout=20)
        link = links.of("north")
        party.directory.set_peers(configuration(NORTH, {}), {})
        party.keeper.follow()
        with link._changed:
            assert link._changed.wait_for(lambda: link.is_over, 20)
        assert not party.keeper._kept
        assert came.empty()
