"""Peers that do not keep to what they said about pools: refused, ended in time, or without gain."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import Any

import pytest

from parties.errors import PeerBusy, PeerClosed, PeerRefused
from parties.kept_pools import MAX_POOLS
from parties.session import filling
from parties.session.filling import MOST_LOST, PORTION_POOLS
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import PeerAborted, PeerError, ProtocolViolation
from smc.protocols.stock import PoolNames, compare_stock
from tests.parties.session.filling.sides import QUICK, Make, insist
from tests.support.waiting import until


def test_a_peer_that_fills_faster_than_it_may_is_refused(make: Make) -> None:
    north, _ = make(rhythm=replace(QUICK, gap=3600.0))
    north.filler.look()
    assert len(north.names) == 3
    with pytest.raises(PeerBusy):
        north.run(lambda session: None)


def test_a_peer_that_loses_its_halves_without_end_is_refused(make: Make) -> None:
    """It makes this side work for less than a session a pool, and no more than so many an hour."""
    north, south = make()

    def forget(session: Any) -> None:
        for file in north.store.list():
            north.store.discard("south", [file.stored.name])
        north.filler._make(north.config.pools[0], session)

    with pytest.raises(PeerRefused, match="were lost") as caught:
        deque((insist(north, forget) for _ in range(MOST_LOST + 2)), maxlen=0)
    assert caught.value.stable_code == "pool-losses"
    assert south.filler._accounts["north"].lost <= MOST_LOST + PORTION_POOLS
    south.filler._accounts["north"].hour -= 3601
    insist(north, forget)


def test_a_peer_that_breaks_off_each_time_is_refused(make: Make) -> None:
    north, south = make()

    def leave(session: Any) -> None:
        compare_stock(session, MAX_POOLS)
        raise ProtocolViolation("enough")

    south.filler._count("north", lost=MOST_LOST - 1)
    for _ in range(2):
        with pytest.raises(ProtocolViolation, match="enough"):
            insist(north, leave)
    until(lambda: south.filler._accounts["north"].lost > MOST_LOST)
    with pytest.raises(PeerRefused, match="were lost"):
        insist(north, leave)


@pytest.mark.parametrize("changes", [{"comparisons": 6400}, {"bits": 64}, {"ready": 60}])
def test_a_peer_that_makes_other_sizes_than_it_said_ends_its_session(
    make: Make, changes: dict[str, int]
) -> None:
    north, south = make()
    (wanted,) = north.config.pools

    def greedy(session: Any) -> None:
        stock = compare_stock(session, MAX_POOLS)
        assert not stock.common
        asked = replace(wanted, **changes)
        for _ in range(asked.ready):
            session.oblivious.fill_pool(asked.comparisons, asked.bits, holds_x=True)

    with pytest.raises(PeerError) as caught:
        north.run(greedy)
    assert isinstance(caught.value, PeerAborted | ProtocolViolation)
    assert len(south.names) <= wanted.ready


def test_a_peer_that_claims_pools_that_are_not_there_gains_nothing(make: Make) -> None:
    north, south = make()
    north.filler.look()
    until(lambda: len(south.names) == 3)

    def claim(session: Any) -> None:
        rows = ByteRows(session.random.words(MAX_POOLS * 4).view("u1").reshape(MAX_POOLS, 32))
        session.channel.send(PoolNames(rows))
        session.channel.recv(PoolNames, ExpectedByteRows(MAX_POOLS, 32))

    with pytest.raises(PeerError):
        north.run(claim, deadline_seconds=30.0)
    assert not south.names
    assert south.filler._accounts["north"].lost >= 3


def test_a_peer_that_says_nothing_more_is_given_up_in_time(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    north, south = make()

    def silent(session: Any) -> None:
        time.sleep(1.5)

    with monkeypatch.context() as brief:
        brief.setattr(filling, "DEADLINE_SECONDS", 0.5)
        with pytest.raises(PeerAborted):
            north.run(silent, deadline_seconds=30.0)
    until(lambda: south.runner.is_quiet)
    north.filler.look()
    assert len(north.names) == 3


def closed(peer: str) -> None:
    """Says that nothing is run with a peer, as `ClosedPeers.require_open` does."""
    raise PeerClosed(f"{peer} is closed.", "Open it.")


def test_no_pool_is_filled_with_a_closed_peer_whoever_dials(make: Make) -> None:
    north, south = make()
    south.filler._require_open = closed
    with pytest.raises(PeerRefused) as caught:
        north.run(lambda session: None)
    assert caught.value.stable_code == PeerClosed.code
    south.filler._require_open = lambda peer: None
    north.filler._require_open = closed
    north.filler.look()
    assert not north.names
    assert not south.names
    (due,) = north.filler._due.values()
    assert due.code == PeerClosed.code
