"""Sums over groups that one party knows."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shape_arrays import shape_array
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret.orders import group_sums
from smc.tracing.session import trace
from tests.support.seeds import seeded
from tests.support.transcript import shapes, transcripts

RANDOM = seeded()


def side(values, groups, count, owner=Role.ALICE):
    masks = RANDOM.words(values.size).reshape(values.shape)

    def run(session):
        session.oblivious.setup()
        shares = masks if session.role is Role.ALICE else values - masks
        mine = groups if session.role is owner else None
        return group_sums.group_sums(session, shares, owner, mine, count), session.channel.traffic

    return run


@pytest.mark.parametrize("owner", list(Role))
@pytest.mark.parametrize(("rows", "count", "columns"), [(1, 1, 1), (60, 1, 2), (100, 28, 3), (20, 90, 1)])
def test_sums_are_those_of_each_group_for_the_declared_cost(owner, rows, count, columns):
    values = RANDOM.words(rows * columns).reshape(rows, columns)
    groups = (RANDOM.words(rows) % np.uint64(count + 1)).astype(np.int64) - 1
    wanted = np.zeros((count, columns), dtype=np.uint64)
    np.add.at(wanted, groups[groups >= 0], values[groups >= 0])
    (a, there), (b, back) = run_pair(side(values, groups, count, owner))
    assert (a + b == wanted).all()
    cost = SETUP_COST + group_sums.cost(rows, count, columns, owner)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)

    def traced(session):
        session.oblivious.setup()
        mine = shape_array(rows, np.int64) if session.role is owner else None
        found = group_sums.group_sums(session, shape_array((rows, columns), np.uint64), owner, mine, count)
        assert found.shape == (count, columns)

    found = trace(traced)
    assert (there.sent, back.sent) == (found.alice_bytes, found.bob_bytes)
    assert max(there.rounds, back.rounds) == found.rounds


def test_what_is_sent_does_not_depend_on_the_groups(monkeypatch):
    values = RANDOM.words(40).reshape(40, 1)
    seen = [
        shapes(transcripts(monkeypatch, side(values, np.array(groups), 5))[1])
        for groups in ([0] * 40, [-1] * 40, list(range(5)) * 8)
    ]
    assert seen[0] == seen[1] == seen[2]


def test_the_groups_come_from_their_owner():
    values = RANDOM.words(4).reshape(4, 1)

    def run(session):
        group_sums.group_sums(session, values, Role.ALICE, None, 2)

    with pytest.raises(UsageError, match="owner"):
        run_pair(run, lambda session: session.channel.traffic)
