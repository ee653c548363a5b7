"""Items joined by their keys: members, columns, values carried to the other side, costs, and what is seen."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import RowCount
from smc.secret.joins import joins
from smc.secret.joins.joins import CarriedValues
from tests.smc.secret.joins.test_circuit_psi import keys
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, transcripts

RANDOM = seeded()


def joined(numbers, owner, columns, program, xored=1):
    """What `program` makes of a join of numbered items, at both sides."""

    def side(session):
        mine, theirs = numbers[session.role], numbers[session.role.other]
        given = columns.shape[1] if session.role is owner else columns
        count = RowCount(len(theirs))
        found = joins.join(session, keys(mine), count, owner, given, xored=xored)
        return program(session, found, keys(mine), count)

    return dict(zip(Role, run_pair(side, side), strict=True))


@pytest.mark.parametrize("owner", Role)
@pytest.mark.parametrize(("mine", "theirs"), [(30, 30), (7, 50), (50, 7), (1, 1), (20, 0)])
def test_columns_come_to_the_slots_of_common_keys(owner, mine, theirs):
    """One shared by addition, one by XOR."""
    numbers = {owner: range(5, 5 + mine), owner.other: range(theirs)}
    columns = RANDOM.words(2 * theirs).reshape(theirs, 2)

    def program(session, found, keys, count):
        return found.items, found.member, found.columns

    sides = joined(numbers, owner, columns, program)
    items = sides[owner][0]
    assert sides[owner.other][0] is None
    assert sorted(items[items >= 0]) == list(range(mine))
    member = sides[Role.ALICE][1] ^ sides[Role.BOB][1]
    own = np.where(items >= 0, np.array(numbers[owner])[items], -1)
    assert (member == np.isin(own, numbers[owner.other])).all()
    both = own[member == 1]
    first, second = (sides[role][2][member == 1] for role in Role)
    assert (first[:, 0] + second[:, 0] == columns[both, 0]).all()
    assert (first[:, 1] ^ second[:, 1] == columns[both, 1]).all()
    # Elsewhere there is noise: hardly ever what is in a column.
    other = [sides[role][2][member == 0, 0] for role in Role]
    assert not np.isin(other[0] + other[1], columns[:, 0]).any()


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("owner", Role)
def test_values_go_to_the_other_sides_items_and_back(owner, bits, monkeypatch):
    """A shared value of each common item, and noise where an item is alone; nothing of it is seen."""
    numbers = {owner: range(10, 330), owner.other: range(200, 600)}
    masks = {role: RANDOM.words(len(numbers[role])) for role in Role}
    values = np.arange(1, 321, dtype=np.uint64)
    share = RANDOM.words(320)

    def program(session, found, keys, count):
        mine = session.role is owner
        own = share if mine else values - share
        shown = joins.carry_values(session, found, own, found.columns[:, 0], bits)
        back = 1 if shown is None else shown[:, None]
        second = joins.join(session, keys, count, owner.other, back)
        there = joins.unmask(second, second.columns[:, 0], masks[session.role])
        again = joins.values(session, found, keys, count, masks[session.role][:, None] if not mine else 1)
        size = len(numbers[owner.other])
        return (
            second.member,
            joins.by_item(session, second, there, size, bits),
            joins.by_item(session, second, second.member.astype(np.uint64), size),
            found.member,
            again[:, 0],
            found.items,
        )

    def side(session):
        mine, theirs = numbers[session.role], numbers[session.role.other]
        given = 1 if session.role is owner else masks[session.role][:, None]
        count = RowCount(len(theirs))
        found = joins.join(session, keys(mine), count, owner, given)
        return program(session, found, keys(mine), count)

    results, seen = transcripts(monkeypatch, side)
    sides = dict(zip(Role, results, strict=True))
    carried = (sides[Role.ALICE][1] + sides[Role.BOB][1]) & np.uint64((1 << bits) - 1)
    common = np.array(numbers[owner.other]) < 330
    assert (carried[common] == values[190:]).all()
    assert not np.isin(carried[~common], values).any()
    member = (sides[owner][3] ^ sides[owner.other][3]) == 1
    items = sides[owner][5][member]
    back = (sides[owner][4] + sides[owner.other][4])[member]
    assert (back == masks[owner.other][np.array(numbers[owner])[items] - 200]).all()
    # What the owner sees is uniform, where its item meets one and where it does not.
    bodies = [body for kind, body in seen[owner] if kind == CarriedValues.__name__]
    assert len(bodies) == 1
    assert byte_statistic(b"".join(bodies)) < BYTES_BOUND


def test_equal_values_are_shown_as_noise():
    """Masks hide values, of common items and of others."""
    owner = Role.ALICE
    numbers = {owner: range(400), owner.other: range(200, 600)}
    masks = RANDOM.words(400)

    def program(session, found, keys, count):
        return joins.carry_values(session, found, np.zeros(400, dtype=np.uint64), found.columns[:, 0])

    shown = joined(numbers, owner, masks[:, None], program, xored=0)[owner]
    assert (shown[200:] == masks[:200]).all()
    assert len(np.unique(shown)) == 400
    assert not np.isin(shown[:200], masks).any()


@pytest.mark.parametrize("owner", Role)
@pytest.mark.parametrize("columns", [1, 3])
def test_costs_are_exact(owner, columns):
    counts = {Role.ALICE: 40, Role.BOB: 25}
    numbers = {role: range(counts[role]) for role in Role}

    def program(session, found, keys, count):
        before = session.channel.traffic.sent
        given = columns if session.role is owner else np.zeros((len(keys), columns), dtype=np.uint64)
        joins.values(session, found, keys, count, given)
        return session.channel.traffic.sent - before

    found = joined(numbers, owner, np.zeros((counts[owner.other], columns), dtype=np.uint64), program)
    declared = joins.cost_values(counts, owner, columns)
    assert found == {Role.ALICE: declared.alice_bytes, Role.BOB: declared.bob_bytes}
