"""Entries of one party's tables at places that the other knows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.transfer_costs import cost_settled
from smc.secret.products import lookups
from smc.secret.products.lookups import LookupKey, MaskedTables
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated

RANDOM = seeded()


def side(tables, places, width, owner=Role.ALICE):
    depth, size = tables.shape[1].bit_length() - 1, tables.shape[2]

    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        if session.role is owner:
            shares = lookups.send_tables(session, tables, width)
        else:
            shares = lookups.choose(session, places, depth, size, width)
        return shares, session.channel.traffic.since(before)

    return run


def drawn(count, depth, size, width):
    mask = np.uint64((1 << width) - 1)
    tables = RANDOM.words(count * size << depth).reshape(count, 1 << depth, size) & mask
    return tables, (RANDOM.words(count) & np.uint64((1 << depth) - 1)).astype(np.int64)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 70), st.integers(1, 7), st.integers(1, 4), st.integers(1, 57), st.sampled_from(Role))
def test_shares_add_up_to_the_entries_and_cost_what_is_declared(count, depth, size, width, owner):
    tables, places = drawn(count, depth, size, width)
    run = side(tables, places, width, owner)
    (a, there), (b, back) = run_pair(run, run)
    assert ((a + b) & np.uint64((1 << width) - 1) == tables[np.arange(count), places]).all()
    cost = lookups.cost(count, depth, size, width, owner)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds


def test_many_tables_take_silent_transfers_and_cost_what_is_declared():
    tables, places = drawn(1 << 18, 2, 1, 20)
    run = side(tables, places, 20)
    (a, there), (b, back) = run_pair(run, run)
    assert ((a + b) & np.uint64((1 << 20) - 1) == tables[np.arange(1 << 18), places]).all()
    cost = cost_settled(lookups.cost(1 << 18, 2, 1, 20))
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    # 10 bytes of entries a table; two transfers that are not silent would take 8 more.
    assert cost.alice_bytes + cost.bob_bytes < 16 << 18


def test_every_place_of_a_table_is_found():
    table = RANDOM.words(64).reshape(1, 64, 1) & np.uint64(1)
    run = side(np.repeat(table, 64, axis=0), np.arange(64), 1)
    (a, _), (b, _) = run_pair(run, run)
    assert (((a + b) & np.uint64(1))[:, 0] == table[0, :, 0]).all()


def test_of_one_table_no_two_places_have_one_pad(monkeypatch):
    """All entries are alike: what leaves differs in every place, and so tells nobody that they are."""
    tables = np.full((200, 64, 2), 7, dtype=np.uint64)
    run = side(tables, np.zeros(200, dtype=np.int64), 56)
    _, seen = transcripts(monkeypatch, run)
    (data,) = (body for name, body in seen[Role.BOB] if name == MaskedTables.__name__)
    assert byte_statistic(data) < BYTES_BOUND
    entries = np.frombuffer(data, dtype=np.uint8).reshape(-1, 7)
    assert len(np.unique(entries, axis=0)) == 200 * 64 * 2


def test_what_a_party_sees_does_not_depend_on_values(monkeypatch):
    first, one = drawn(100, 6, 1, 8)
    second, other = drawn(100, 6, 1, 8)
    results, seen = transcripts(monkeypatch, side(first, one, 8))
    _, again = transcripts(monkeypatch, side(second, other, 8))
    assert shapes(seen) == shapes(again)
    assert len(results) == 2


@pytest.mark.parametrize("kind", [MaskedTables.__name__, LookupKey.__name__])
def test_messages_of_another_size_are_refused(monkeypatch, kind):
    channels = truncated(monkeypatch, kind)
    tables, places = drawn(9, 3, 1, 10)
    inner = side(tables, places, 10)

    def run(session):
        if session.role is Role.ALICE:
            channels.append(session.channel)
        return inner(session)

    with pytest.raises(ProtocolViolation):
        run_pair(run, run)


@pytest.mark.parametrize(
    ("shape", "width"),
    [((1, 3, 1), 8), ((1, 1, 1), 8), ((1, 2, 1), 58), ((1, 2, 0), 8), ((1 << 17, 16, 1), 8)],
)
def test_tables_that_do_not_fit_are_refused(shape, width):
    tables = np.zeros(shape, dtype=np.uint64)
    run = side(tables, np.zeros(shape[0], dtype=np.int64), width)
    with pytest.raises(UsageError, match=r"tables|table"):
        run_pair(run, run)
