"""Sessions whose dialler is the side that was dialled: what is said in them is what is said in others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from parties.config import Address, Limits
from parties.ports.terms import Terms
from parties.session.answering import Answering
from parties.session.directory import PeerDirectory
from parties.session.keeper import Keeper, Means
from parties.session.links import Links
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from smc.errors import DuettoError, PeerLost
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, Jobs, configuration, public, task
from tests.parties.rpc.proxy import Proxy, proxied
from tests.parties.session.cut_sessions import MIDDLE, PATIENT, Counting, cutting, talk


@dataclass
class Reversed:
    """South dials for a session, and north opens TCP, through a proxy."""

    directory: PeerDirectory
    jobs: Jobs
    proxy: Proxy
    ended: Ending = field(default_factory=Ending)
    traffic: dict[str, object] = field(default_factory=dict)

    def go(self) -> DuettoError | None:
        """Run the session; returns how it ended for south."""

        def noting(name):
            def noted(session):
                try:
                    talk(session)
                finally:
                    self.traffic[name] = session.channel.traffic

            return noted

        self.jobs.tasks[JOB] = task(Role.ALICE, noting("north"), self.ended)
        try:
            self.directory.run_session("north", task(Role.BOB, noting("south")))
        except DuettoError as error:
            return error
        return None


@contextmanager
def reversed_way(limits: Limits = PATIENT, acts=None) -> Iterator[Reversed]:
    """Both sides; `acts` says by party before which frame to do what with the proxy."""
    box: list[Proxy] = []

    def runner(own, peer):
        def wrap(inner):
            if acts is None or own.name not in acts:
                return inner
            place, act = acts[own.name]
            return Counting(inner, place, lambda: act(box[0]))

        return SessionRunner(own, {peer.name: peer}, limits, wrap=wrap)

    of_south, of_north = Links(), Links()
    south, north = runner(SOUTH, public(NORTH)), runner(NORTH, public(SOUTH))
    server = PeerServer(
        Address("127.0.0.1", 0),
        SOUTH,
        {"north": public(NORTH)},
        keepalive=configuration(SOUTH, {}).keepalive,
        sessions=limits.sessions,
        runner=south,
        port=Jobs(),
        terms=Terms(),
        links=of_south,
    )
    server.start()
    jobs = Jobs()
    with proxied(server.address) as proxy:
        box.append(proxy)
        souths = PeerDirectory(
            configuration(SOUTH, {"north": Address("127.0.0.1", 1)}, limits),
            SOUTH,
            {"north": public(NORTH)},
            south,
            links=of_south,
        )
        norths = PeerDirectory(
            configuration(NORTH, {"south": proxy.address}, limits),
            NORTH,
            {"south": public(SOUTH)},
            north,
            links=of_north,
        )
        keeper = Keeper(Means(norths, north, Answering(NORTH, jobs), of_north, 2, (0.05, 0.1)))
        keeper.follow()
        with of_south._changed:
            assert of_south._changed.wait_for(lambda: of_south.of("north") is not None, 20)
        try:
            yield Reversed(souths, jobs, proxy)
        finally:
            keeper.stop()
            of_south.end()
            for each in (south, north):
                each.stop()
            server.stop(2)
            for each in (souths, norths):
                each.close()
            for each in (south, north):
                each.close()


def test_frames_are_those_of_any_session_and_who_dials_does_not_change(usual):
    with reversed_way() as way:
        assert way.go() is None
        assert way.ended.wait() is None
        (header,) = way.jobs.headers
    assert way.traffic == usual
    assert header.dialler_role is Role.BOB
    assert header.dialler_key == SOUTH.paillier.public.fingerprint
    assert header.own_key == NORTH.paillier.public.fingerprint


@pytest.mark.parametrize("name", ["north", "south"])
@pytest.mark.parametrize("place", [MIDDLE, ("receive", 1), ("receive", 8)])
def test_a_session_that_is_cut_goes_on_as_it_was(usual, name, place):
    with reversed_way(acts={name: (place, cutting(0.3))}) as way:
        assert way.go() is None
        assert way.ended.wait() is None
        assert way.proxy.connections >= 2
    assert way.traffic == usual


def test_past_the_limit_the_session_ends_on_both_sides():
    limits = replace(PATIENT, reconnect_seconds=1)
    with reversed_way(limits, acts={"south": (MIDDLE, cutting(60))}) as way:
        assert isinstance(way.go(), PeerLost)
        assert isinstance(way.ended.wait(), PeerLost)


def test_a_session_that_the_other_side_refuses_ends_with_its_code():
    with reversed_way() as way:
        way.jobs.tasks.clear()
        with pytest.raises(DuettoError) as refused:
            way.directory.run_session("north", task(Role.BOB, talk))
        assert refused.value.stable_code == "no-job"
