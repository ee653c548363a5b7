"""Sums of encrypted rows over secret groups: results at the worst rows, again and again, cost, and faults."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.lattice.columns import LatticeColumns, LatticeInner
from smc.secret.lattice.sums import LatticeSums, SumsPlan
from smc.secret.products import grouped
from smc.secret.products.grouped import Grouping
from tests.smc.secret.secret_runs import RANDOM
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated


def words(shape, width):
    return RANDOM.words(int(np.prod(shape))).reshape(shape) & np.uint64((1 << width) - 1)


def bits(*shape):
    return RANDOM.bits(int(np.prod(shape))).reshape(shape)


class Case:
    """Rows of both parties, and XOR shares of bits for so many times."""

    def __init__(self, alice, bob, width, times=1, rows=None, chosen=None):
        self.groupings = {Role.ALICE: alice, Role.BOB: bob}
        self.width = width
        self.plan = SumsPlan.of(alice, bob, width, times * alice.groups)
        self.rows = {
            role: words((each.rows, each.length), width)
            if rows is None
            else np.full((each.rows, each.length), rows, dtype=np.uint64)
            for role, each in self.groupings.items()
        }
        self.bits = [
            {
                role: bits(each.rows, each.groups)
                if chosen is None
                else np.full((each.rows, each.groups), chosen, dtype=np.uint8)
                for role, each in self.groupings.items()
            }
            for _ in range(times)
        ]
        self.masks = [{role: bits(*part.shape) for role, part in each.items()} for each in self.bits]

    def side(self, session):
        """Sums of the local rows and of the peer's, each time; and the traffic of all that."""
        role = session.role
        session.oblivious.setup()
        before = session.channel.traffic
        made = LatticeSums(session, self.plan, self.rows[role])
        found = []
        for masks, plain in zip(self.masks, self.bits, strict=True):
            shares = masks if role is Role.ALICE else {each: masks[each] ^ plain[each] for each in Role}
            found.append(made.sums(shares[role], shares[role.other]))
        return found, session.channel.traffic.since(before)

    def check(self):
        (alice, there), (bob, back) = run_pair(self.side, self.side)
        for plain, own, peer in zip(self.bits, alice, bob, strict=True):
            for role, total in ((Role.ALICE, own[0] + peer[1]), (Role.BOB, own[1] + peer[0])):
                wanted = plain[role].astype(np.uint64).T @ self.rows[role]
                assert (total == wanted.astype(total.dtype)).all()
                assert total.dtype.itemsize * 8 == self.width
        return there, back


@pytest.mark.parametrize(
    ("alice", "bob", "width"),
    [
        (Grouping(1, 1, 1), Grouping(1, 1, 1), 32),
        (Grouping(300, 3, 4), Grouping(50, 2, 4), 32),
        (Grouping(9000, 2, 2), Grouping(100, 5, 2), 32),
        (Grouping(200, 2, 3), Grouping(70, 1, 3), 64),
        (Grouping(20, 1, 40), Grouping(30, 1, 40), 32),
    ],
)
def test_sums_and_their_cost(alice, bob, width):
    case = Case(alice, bob, width, times=2)
    there, back = case.check()
    declared = case.plan.cost_once() + case.plan.cost(alice.groups) + case.plan.cost(alice.groups)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("chosen", [0, 1])
def test_the_worst_rows(width, chosen):
    Case(Grouping(3000, 2, 2), Grouping(3000, 2, 2), width, 1, (1 << width) - 1, chosen).check()


def test_fewer_bytes_than_corrections_in_large_tables():
    alice = bob = Grouping(50_000, 9, 5)
    plan = SumsPlan.of(alice, bob, 32, 60)
    once, each, other = plan.cost_once(), plan.cost(5), grouped.cost(alice, bob, 32)
    sent = [cost.alice_bytes + cost.bob_bytes for cost in (once, each, other)]
    assert sent[0] + 12 * sent[1] < 12 * sent[2] / 2.5
    assert each.rounds < other.rounds


def test_messages_say_nothing(monkeypatch):
    """Sizes follow from public sizes, and bytes are uniform, for rows and bits that are all alike."""
    alice = bob = Grouping(500, 2, 3)
    full, empty = (Case(alice, bob, 32, 2, rows, chosen) for rows, chosen in ((4095, 1), (0, 0)))
    _, seen = transcripts(monkeypatch, full.side)
    assert shapes(seen) == shapes(transcripts(monkeypatch, empty.side)[1])
    for role in Role:
        for kind in (LatticeColumns, LatticeInner):
            data = b"".join(body for name, body in seen[role] if name == kind.__name__)
            assert len(data) > 5_000
            assert byte_statistic(data) < BYTES_BOUND
    responses = [body for name, body in seen[Role.ALICE] if name == LatticeInner.__name__]
    first, second = (np.frombuffer(body, np.uint8) for body in responses)
    assert (first == second).mean() < 0.05


def test_what_does_not_fit_is_refused():
    alice, bob = Grouping(20, 2, 3), Grouping(30, 1, 3)
    case = Case(alice, bob, 32)

    def side(session):
        made = LatticeSums(session, case.plan, case.rows[session.role])
        own, peer = (case.groupings[role].rows for role in (session.role, session.role.other))
        for wrong in ((own + 1, peer, 3), (own, peer + 1, 3)):
            with pytest.raises(UsageError, match="rows"):
                made.sums(bits(wrong[0], wrong[2]), bits(wrong[1], wrong[2]))

    run_pair(side, side)
    assert SumsPlan.of(Grouping(0, 2, 3), bob, 32, 3) is None


@pytest.mark.parametrize("kind", [LatticeColumns, LatticeInner])
def test_a_message_of_another_size_is_a_violation(monkeypatch, kind):
    channels = truncated(monkeypatch, kind.__name__)
    case = Case(Grouping(20, 2, 3), Grouping(30, 1, 3), 32)

    def watched(session):
        channels.append(session.channel)
        return case.side(session)

    with pytest.raises(ProtocolViolation):
        run_pair(watched, case.side)
