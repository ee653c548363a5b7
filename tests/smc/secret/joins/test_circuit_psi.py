"""Rows of both sides brought together in secret: what comes out, what it costs, and what it does not show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.channel.channel import Channel
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.intersection import cuckoo
from smc.secret.joins import circuit_psi
from smc.secret.joins.circuit_psi import align, table_owner, tag_bits
from smc.secret.joins.records import cost_align
from smc.secret.sharing.bounds import Bounds
from tests.support.seeds import seeded

RANDOM = seeded()
BOUNDS = Bounds(-1000, 1000)
Z = 4.9  # standard deviations: a false alarm once in a million


def keys(numbers):
    """Keys that are random but for their number."""
    spread = np.array([n * 0x9E3779B97F4A7C15 % (1 << 64) for n in numbers], dtype=np.uint64)
    return np.stack([spread ^ np.uint64(1 << 40), spread], axis=1)


def columns(numbers, factors):
    """A column for each factor: the number times it."""
    return np.array([[n * factor for factor in factors] for n in numbers], dtype=np.int64).reshape(
        len(numbers), len(factors)
    )


def aligned(alice, bob, factors=((1,), (2, -3)), program=lambda found: found):
    """What `program` makes of the aligned rows at both sides."""
    own = {Role.ALICE: alice, Role.BOB: bob}

    def side(session):
        mine, theirs = own[session.role], own[session.role.other]
        place = list(Role).index(session.role)
        found = align(
            session,
            keys(mine),
            len(theirs),
            columns(mine, factors[place]),
            *([BOUNDS] * len(each) for each in factors),
        )
        return program(found)

    return run_pair(side, side)


def opened(found):
    """Member bits, columns of both sides, and the rows of the slots where they are known."""
    return found.member.reveal(), [c.reveal() for c in (*found.alice, *found.bob)], found.rows


def check(alice, bob):
    (bits, values, rows), (_, _, others) = aligned(alice, bob, program=opened)
    rows, own = (rows, alice) if rows is not None else (others, bob)
    common = set(alice) & set(bob)
    assert sorted(own[row] for row in rows[bits]) == sorted(common)
    assert sorted(rows[rows >= 0]) == list(range(len(own)))
    number = np.array([own[row] if bit else 0 for row, bit in zip(rows, bits, strict=True)], dtype=np.int64)
    for column, factor in zip(values, (1, 2, -3), strict=True):
        assert (column == factor * number).all()


@pytest.mark.parametrize(
    ("alice", "bob"),
    [
        ([], []),
        ([], [1, 2, 3]),
        ([4], []),
        ([7], [7]),
        ([7], [8]),
        (range(1, 60), range(1, 60)),
        (range(1, 60), range(100, 190)),
        (range(1, 300), range(250, 310)),
    ],
)
def test_members_are_the_common_rows(alice, bob):
    check(list(alice), list(bob))


@given(st.sets(st.integers(1, 40), max_size=30), st.sets(st.integers(1, 40), max_size=30))
@settings(max_examples=15)
def test_any_sets_are_aligned(alice, bob):
    check(sorted(alice), sorted(bob, reverse=True))


def test_totals_are_those_of_the_intersection():
    def totals(found):
        every = [found.size(), *map(found.total, (*found.alice, *found.bob))]
        return [int(each.reveal()[0]) for each in every], every[0].bounds

    (figures, bounds), _ = aligned(range(1, 100), range(50, 300), program=totals)
    common = sum(range(50, 100))
    assert figures == [50, common, 2 * common, -3 * common]
    assert bounds == Bounds(0, 99)


def test_a_large_sum_is_refused_by_its_bounds():
    def wide(session):
        held = np.zeros((2, 1), dtype=np.int64)
        found = align(session, keys([1, 2]), 2, held, [Bounds(0, 1 << 62)], [Bounds(0, 1)])
        return found.total(found.alice[0])

    with pytest.raises(DomainError, match="63"):
        run_pair(wide, wide)


@pytest.mark.parametrize(("alice", "bob"), [(0, 0), (5, 9), (9, 5), (200, 200)])
@pytest.mark.parametrize("factors", [((), ()), ((1,), ()), ((), (2,)), ((1,), (2, -3))])
def test_the_cost_is_the_declared_one(alice, bob, factors):
    def traffic(found):
        return found.member.session.channel.traffic

    first, second = aligned(range(1, alice + 1), range(1, bob + 1), factors, traffic)
    declared = cost_align(alice, bob, *map(len, factors), fresh=True)
    assert (first.sent, second.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(first.rounds, second.rounds) == declared.rounds


def test_the_smaller_side_owns_the_table():
    assert table_owner(5, 6) is Role.ALICE
    assert table_owner(6, 5) is Role.BOB
    (alice, bob), _ = aligned([1], [1, 2], program=lambda f: (f.owner, f.member.session.role))
    assert (alice, bob) == (Role.ALICE, Role.ALICE)


def test_false_matches_are_rarer_than_stated():
    for count in (1, 1000, 1_000_000, 3_000_000):
        slots = cuckoo.bins_for(count)
        assert slots * 2.0 ** -tag_bits(slots) < 2.0**-circuit_psi.STATISTICAL_BITS


@pytest.mark.parametrize("common", [0, 1500])
def test_shares_are_uniform_whatever_matches(common):
    def own(found):
        return found.member.shares, [c.shares for c in (*found.alice, *found.bob)]

    alice = range(1, 1501)
    bob = range(1, 1501) if common else range(2001, 3501)
    for bits, words in aligned(alice, bob, ((0,), (0,)), own):
        assert abs(int(bits.sum()) - len(bits) / 2) < Z * (len(bits) / 4) ** 0.5
        for each in words:
            drawn = np.unpackbits(each.view(np.uint8))
            assert abs(int(drawn.sum()) - len(drawn) / 2) < Z * (len(drawn) / 4) ** 0.5


def test_messages_depend_on_row_counts_alone(monkeypatch):
    seen: dict[int, list[tuple[str, int]]] = {}
    honest = Channel._message

    def message(self, kind, size):
        data = honest(self, kind, size)
        seen.setdefault(id(self), []).append((kind, len(data)))
        return data

    monkeypatch.setattr(Channel, "_message", message)
    logs = []
    for alice, bob in (
        (range(1, 60), range(1, 80)),
        (range(1, 60), range(200, 279)),
        (range(9, 68), range(60, 139)),
    ):
        aligned(alice, bob)
        logs.append(sorted(seen.values()))
        seen.clear()
    assert logs[0] == logs[1] == logs[2]


@pytest.mark.parametrize("party", list(Role))
def test_equal_keys_are_refused(party):
    rows = {party: [3, 3, 5], party.other: [1, 2, 3]}
    with pytest.raises(DomainError, match="same key"):
        aligned(rows[Role.ALICE], rows[Role.BOB])


def test_values_outside_their_bounds_are_refused():
    with pytest.raises(DomainError, match="bounds"):
        aligned([1001], [5])


def test_columns_that_are_not_declared_are_refused():
    def side(session):
        return align(session, keys([1, 2]), 2, np.zeros((2, 2), dtype=np.int64), [BOUNDS], [BOUNDS])

    with pytest.raises(UsageError, match="columns"):
        run_pair(side, side)
