"""South cannot dial north, and north can dial south: jobs of both run all the same.

Nobody asks after jobs here: words pass because they are told.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from parties.config import Address
from parties.contracts.state import State
from tests.parties.jobs.joined import ANN, approve, job_file, wait_final, wait_state
from tests.parties.jobs.wired import Wired, finished_once, losses, wired

SOUTHS = job_file("1/2")


@contextmanager
def deaf() -> Iterator[Address]:
    """An address where connections are taken and nothing is ever said, as behind a firewall that drops."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        yield Address("127.0.0.1", silent.getsockname()[1])


@contextmanager
def one_way(folder, approval="auto") -> Iterator[Wired]:
    with deaf() as nowhere, wired(folder, deaf=nowhere, approval=approval, ask_seconds=600) as pair:
        linked(pair)
        yield pair


def linked(pair: Wired) -> None:
    links = pair.links["south"]
    with links._changed:
        assert links._changed.wait_for(lambda: links.of("north") is not None, 20)


def test_a_proposal_of_the_side_that_cannot_dial_runs(tmp_path):
    with one_way(tmp_path) as pair:
        job_id = pair.managers["south"].submit(SOUTHS).job_id
        finished_once(pair, job_id)
        assert pair.managers["south"].store.get(job_id).outgoing


def test_a_proposal_of_the_side_that_can_dial_runs_as_before(tmp_path):
    with one_way(tmp_path) as pair:
        finished_once(pair, pair.managers["north"].submit(SOUTHS).job_id)


@pytest.mark.parametrize("proposer", ["north", "south"])
def test_approvals_and_refusals_of_people_pass_at_once_both_ways(tmp_path, proposer):
    other = {"north": "south", "south": "north"}[proposer]
    with one_way(tmp_path, approval="person") as pair:
        ours, theirs = pair.managers[proposer], pair.managers[other]
        for is_allowed in (True, False):
            job_id = ours.submit(SOUTHS).job_id
            approve(ours, job_id)
            wait_state(theirs, job_id, State.WAITING_OWN)
            if is_allowed:
                approve(theirs, job_id)
                finished_once(pair, job_id)
            else:
                theirs.deny(job_id, ANN)
                assert wait_final(ours, job_id).state is State.DENIED


FRAMES = [
    (name, (doing, number))
    for name in ("north", "south")
    for doing in ("send", "receive")
    for number in (1, 4)
]


@pytest.mark.parametrize(("name", "place"), FRAMES)
def test_a_session_that_is_cut_goes_on_over_another_reversed_stream(tmp_path, name, place):
    with one_way(tmp_path) as pair:
        met = []
        pair.around[name] = (place, lambda: met.append(pair.cut()))
        job_id = pair.managers["south"].submit(SOUTHS).job_id
        finished_once(pair, job_id)
        assert met == [None]


def test_cuts_all_the_time_change_nothing(tmp_path):
    with one_way(tmp_path) as pair:
        for count, pause in enumerate((0.0, 0.01, 0.03, 0.06), 1):
            threading.Timer(pause, pair.cut).start()
            job_id = pair.managers["south"].submit(SOUTHS).job_id
            ends = [wait_final(manager, job_id).state for manager in pair.managers.values()]
            assert ends == [State.FINISHED, State.FINISHED]
            assert [len(losses(manager)) for manager in pair.managers.values()] == [count, count]


def test_a_proposal_made_without_a_link_arrives_as_soon_as_there_is_one(tmp_path):
    with one_way(tmp_path) as pair:
        pair.proxies["north"].cut(2)
        links = pair.links["south"]
        with links._changed:
            assert links._changed.wait_for(lambda: links.of("north") is None, 20)
        job_id = pair.managers["south"].submit(SOUTHS).job_id
        finished_once(pair, job_id)
