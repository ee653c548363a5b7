"""Pools that two parties fill in idle time, over mutually authenticated connections in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from parties.errors import PeerBusy, PeerRefused, PeerUnreachable
from parties.ports.interfaces import SessionHeader, SessionTask
from parties.session import filling
from parties.session.filling import PORTION_POOLS
from parties.session.pools import PoolStore
from smc.forms import Role
from smc.oblivious.pool import Pool, PoolInfo
from smc.protocols.pools import take_pool
from tests.parties.rpc.harness import JOB, Ending, task
from tests.parties.session.filling.sides import (
    NEVER,
    OWN,
    QUICK,
    Make,
    count_calls,
    idle_after,
    kept,
    other,
)
from tests.support.waiting import until


def test_one_look_fills_what_is_missing_on_both_sides(make: Make) -> None:
    north, south = make()
    north.filler.look()
    until(lambda: len(south.names) == 3)
    assert north.names == south.names
    (one, *_), (two, *_) = north.store.list(), south.store.list()
    assert (one.stored.bits, one.stored.comparisons) == (8, 64)
    assert (one.stored.holds_x, two.stored.holds_x) == (True, False)
    before = north.names
    north.filler.look()
    assert north.names == before


def test_what_was_filled_is_used_by_a_job_and_made_again(make: Make) -> None:
    north, south = make()
    north.filler.start()
    south.filler.start()
    until(lambda: len(north.names) == len(south.names) == 3)
    before, found = north.names, {}

    def use(name: str) -> Callable[[Any], None]:
        def run(session: Any) -> None:
            found[name] = take_pool(session, 64, 8, holds_x=name == "north")

        return run

    south.jobs.tasks[JOB] = task(Role.BOB, use("south"))
    north.directory.run_session("south", task(Role.ALICE, use("north")))
    assert isinstance(found["north"], Pool)
    assert found["north"].name == found["south"].name
    assert found["north"].name in before
    until(lambda: north.names == south.names and len(north.names) == 3 and north.names != before)
    assert found["north"].name not in north.names


def test_a_portion_at_a_time(make: Make) -> None:
    wanted = PORTION_POOLS + 2
    north, south = make({name: (kept(name, ready=wanted),) for name in OWN})
    north.filler.look()
    until(lambda: len(south.names) == PORTION_POOLS)
    north.filler.look()
    until(lambda: len(south.names) == wanted)
    assert north.names == south.names


def test_the_second_side_dials_when_the_first_does_not(make: Make) -> None:
    north, south = make()
    south.filler.look()
    assert not south.names
    until(lambda: (south.filler.look(), len(south.names) == 3)[1])
    until(lambda: north.names == south.names)


def test_kinds_are_filled_each_for_itself(make: Make) -> None:
    pools = {name: (kept(name), kept(name, bits=16, x_at="south", ready=1)) for name in OWN}
    north, south = make(pools)
    north.filler.look()
    until(lambda: len(south.names) == 4)
    assert north.names == south.names
    assert sorted((f.stored.bits, f.stored.holds_x) for f in north.store.list()) == [
        *[(8, True)] * 3,
        (16, False),
    ]


OTHERS = {
    "nothing": None,
    "bits": {"bits": 9},
    "comparisons": {"comparisons": 128},
    "ready": {"ready": 4},
    "x": {"x_at": "south"},
}


@pytest.mark.parametrize("name", OTHERS)
def test_who_wants_something_else_is_refused_and_rarely_asked(make: Make, name: str) -> None:
    changes = OTHERS[name]
    theirs = () if changes is None else (kept("south", **changes),)
    rhythm = replace(QUICK, refused=(3600.0, 7200.0))
    north, south = make({"north": (kept("north"),), "south": theirs}, rhythm)
    with pytest.raises(PeerRefused, match="does not want the same pools") as caught:
        north.run(lambda session: None)
    assert caught.value.stable_code == "pool-unstated"
    attempts = count_calls(north.directory, "run_session")
    for _ in range(5):
        north.filler.look()
    assert len(attempts) == 1
    assert not north.names
    assert not south.names
    assert not (north.config.home / "pools").exists()
    # Whoever states something anew asks again.
    north.filler.follow(north.config)
    north.filler.look()
    assert len(attempts) == 2


def test_pauses_grow_and_end_when_a_filling_succeeds(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    north, _ = make(rhythm=replace(QUICK, refused=(60.0, 3600.0)))
    now, pauses = [1000.0], []
    monkeypatch.setattr(filling, "time", SimpleNamespace(monotonic=lambda: now[0]))
    (wanted,) = north.config.pools

    def away(peer: str, asked: SessionTask) -> None:
        raise PeerUnreachable("Nothing answers.")

    with monkeypatch.context() as broken:
        broken.setattr(north.directory, "run_session", away)
        for _ in range(9):
            north.filler.look()
            pauses.append(north.filler._due[wanted].at - now[0])
            now[0] = north.filler._due[wanted].at
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    monkeypatch.undo()
    north.filler.follow(north.config)
    north.filler.look()
    assert len(north.names) == 3
    assert north.filler._due[wanted].failures == 0


def test_nothing_is_filled_while_a_job_runs_or_has_just_come(make: Make) -> None:
    north, south = make(quiet=0.0)
    inside, release = threading.Event(), threading.Event()

    def wait(session: Any) -> None:
        inside.set()
        assert release.wait(10)

    south.jobs.tasks[JOB] = task(Role.BOB, wait, ended := Ending())
    thread = threading.Thread(
        target=lambda: north.directory.run_session("south", task(Role.ALICE, wait)), daemon=True
    )
    thread.start()
    assert inside.wait(10)
    with pytest.raises(PeerBusy):
        north.run(lambda session: None)
    north.filler.look()
    assert not north.names
    idle_after(NEVER, north, south)
    release.set()
    thread.join(10)
    assert ended.wait() is None
    north.filler.look()
    assert not north.names
    idle_after(0.0, north, south)
    until(lambda: (north.filler.look(), len(north.names) == 3)[1])


def test_only_the_other_side_is_busy(make: Make) -> None:
    north, south = make(quiet=0.0)
    idle_after(NEVER, south)
    south.runner.give_way()
    with pytest.raises(PeerBusy, match="south runs as many"):
        north.run(lambda session: None)


@pytest.mark.parametrize("who", ["north", "south"])
def test_a_job_that_comes_while_pools_are_filled_runs_at_once(
    make: Make, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with one place, which is the job's; what was being made is gone, and made again later."""
    north, south = make(quiet=0.1)
    sides = {"north": north, "south": south}
    until(lambda: north.runner.is_quiet and south.runner.is_quiet)
    inside, ends = threading.Event(), []
    put = PoolStore.put

    def slow(self: PoolStore, peer: str, stored: PoolInfo, data: bytes) -> None:
        put(self, peer, stored, data)
        inside.set()
        time.sleep(0.05)

    monkeypatch.setattr(PoolStore, "put", slow)

    def fill() -> None:
        try:
            north.run(lambda session: [north.filler._run(north.config.pools[0], session) for _ in range(99)])
        except Exception as error:
            ends.append(error)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    assert inside.wait(10)
    ran = []
    sides[other(who)].jobs.tasks[JOB] = task(
        Role.BOB, lambda session: ran.append(session.role), ended := Ending()
    )
    sides[who].directory.run_session(other(who), task(Role.ALICE, lambda session: ran.append(session.role)))
    assert ended.wait() is None
    assert sorted(role.value for role in ran) == ["alice", "bob"]
    thread.join(10)
    assert len(ends) == 1
    assert ends[0].stable_code in ("gave-way", "peer-aborted")
    monkeypatch.undo()
    until(lambda: (north.filler.look(), len(north.names) == 3 and north.names == south.names)[1])


def test_proposals_and_words_go_to_the_jobs_and_proposals_end_fillings(make: Make) -> None:
    north, south = make(quiet=0.2)
    until(lambda: south.runner.is_quiet)
    assert north.directory.tell("south", b"x") == b"north:x"
    assert south.runner.is_quiet
    assert north.directory.propose("south", b"x") == b"north:x"
    assert not south.runner.is_quiet
    south.runner.give_way()
    header = SessionHeader(bytes(32), "pool-", bytes(32), Role.ALICE, "", "")
    with pytest.raises(Exception, match=r"\[\[pools\]\]"):
        south.filler.accept_session("north", header)


@pytest.mark.parametrize("loser", ["north", "south"])
def test_halves_whose_other_half_is_gone_are_deleted(make: Make, loser: str) -> None:
    north, south = make()
    north.filler.look()
    until(lambda: len(south.names) == 3)
    sides = {"north": north, "south": south}
    lost = next(iter(north.names))
    sides[loser].store.discard(other(loser), [lost])
    alone = PoolInfo(bytes([7]) * 32, 256, 30, True)
    north.store.put("south", alone, b"half of a preparation that the peer did not keep")
    north.store.take("south", next(iter(south.names - {lost})))
    north.filler.look()
    until(lambda: north.names == south.names and len(north.names) == 3)
    assert lost not in north.names
    assert alone.name not in north.names


def test_a_side_that_stops_in_the_middle_leaves_nothing_behind(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the pool that was being made, one side keeps a half; the next filling deletes it and goes on."""
    north, south = make()
    put = PoolStore.put

    def failing(self: PoolStore, peer: str, stored: PoolInfo, data: bytes) -> None:
        if peer == "north" and self.list():
            raise OSError("the disk is gone")
        put(self, peer, stored, data)

    monkeypatch.setattr(PoolStore, "put", failing)
    north.filler.look()
    until(lambda: north.filler._accounts["south"].lost == 1)
    monkeypatch.undo()
    assert len(north.names) > len(south.names)
    until(lambda: (north.filler.look(), north.names == south.names and len(north.names) == 3)[1])


def test_nothing_is_filled_when_the_disk_is_nearly_full(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    north, _ = make()
    monkeypatch.setattr(filling, "MIN_FREE_BYTES", 1 << 62)
    north.filler.look()
    with pytest.raises(PeerBusy, match="cannot write to its disk"):
        north.run(lambda session: None)
    assert not north.names


def test_a_store_that_cannot_be_read_is_not_looked_at_all_the_time(make: Make) -> None:
    north, _ = make(rhythm=replace(QUICK, refused=(3600.0, 7200.0)))
    north.filler.look()
    (north.config.home / "pools" / "taken.log").write_text("z" * 64 + "\n")
    before = time.monotonic()
    for _ in range(2):
        north.filler.look()
    due = north.filler._due[north.config.pools[0]]
    assert (due.code, due.failures) == ("pool", 1)
    assert due.at > before + 3000


def test_the_audit_log_hears_of_it_once_an_hour(make: Make) -> None:
    north, south = make()
    north.filler.look()
    assert north.notes == [{"peer": "south", "lost": 0, "pools": 3, "comparisons": 192}]
    until(lambda: south.notes == [{"peer": "north", "lost": 0, "pools": 3, "comparisons": 192}])
    for _ in range(3):
        north.store.clear()
        north.filler.look()
        until(lambda: north.names == south.names)
    assert len(north.notes) == 1
    north.filler.end()
    assert north.notes[1:] == [{"peer": "south", "lost": 0, "pools": 9, "comparisons": 576}]
    south.filler.end()
    assert south.notes[1:] == [{"peer": "north", "lost": 9, "pools": 9, "comparisons": 576}]
