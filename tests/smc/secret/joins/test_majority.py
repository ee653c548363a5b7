"""The number of members who differ from most, against a count in the clear."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.joins import majority
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.secret_runs import Secret, secret_bits
from tests.support.seeds import seeded
from tests.support.transcript import shapes, transcripts

RANDOM = seeded()


def program(member, columns):
    """Opens what is found of columns of values with their bounds; and the traffic of it alone."""
    bits = np.array(member, dtype=np.uint8)
    mask = RANDOM.bits(len(bits))
    size = Secret([int(bits.sum())], Bounds(0, len(bits)))
    digits = [
        [Secret(digit * bits, Bounds(0, 1)) for digit in majority.digits(np.array(values), bounds)]
        for values, bounds in columns
    ]

    def side(session):
        session.oblivious.setup()
        held = [[digit.at(session) for digit in column] for column in digits]
        members, count = secret_bits(session, bits, mask), size.at(session)
        before = session.channel.traffic
        found = majority.differing(members, count, held)
        traffic = session.channel.traffic.since(before)
        return [int(each.reveal()[0]) for each in found], traffic

    return side


def differing(member, *columns):
    side = program(member, columns)
    (found, first), (same, second) = run_pair(side, side)
    assert found == same
    widths = [majority.count_digits(bounds) for _, bounds in columns]
    declared = majority.cost(len(member), len(member), widths)
    assert (first.sent, second.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(first.rounds, second.rounds) == declared.rounds
    return found


def codes(values, bounds):
    return sum(digit << place for place, digit in enumerate(majority.digits(np.array(values), bounds)))


@pytest.mark.parametrize("least", [0, -100, -(1 << 62)])
def test_values_are_the_sums_of_their_digits(least):
    values = np.array([least, least + 1, least + 117, least + 255])
    assert (codes(values, Bounds(least, least + 255)) + least == values).all()


def test_the_commonest_of_many_values_have_digits_of_their_own():
    """Rows 0 to 299 hold 300 values once each, which is more than 8 digits tell apart."""
    bounds = Bounds(-(1 << 40), 1 << 40)
    values = [*range(0, 3_000_000, 10_000), *[77] * 4, *[-5] * 3]
    found = codes(values, bounds).tolist()
    assert len(majority.digits(np.array(values), bounds)) == majority.count_digits(bounds) == 8
    assert found[-7:] == [0] * 4 + [1] * 3
    assert found[:254] == list(range(2, 256))
    assert found[254:300] == list(range(46))


def test_who_shares_the_code_of_most_is_not_counted():
    """Of the 300 further values the one of rank 256 has the digits of 7."""
    values = [7] * 400 + list(range(1000, 1300))
    assert differing([1] * 700, (values, Bounds(0, 10_000))) == [299]


def test_few_who_differ_are_counted_exactly():
    values = [7] * 9 + [8, 100, 0]
    assert differing([1] * 12, (values, Bounds(0, 100))) == [3]
    assert differing([1] * 8 + [0] + [1, 1, 0], (values, Bounds(0, 100))) == [2]
    assert differing([1] * 9 + [0] * 3, (values, Bounds(0, 100))) == [0]
    assert differing([0] * 12, (values, Bounds(0, 100))) == [0]


def test_the_members_and_not_all_rows_have_the_value():
    """Most rows have 5; of the members all but two have 60."""
    values = [5] * 20 + [60] * 7 + [61, 62]
    assert differing([0] * 20 + [1] * 9, (values, Bounds(0, 100))) == [2]


def test_several_columns_of_different_widths():
    member = [1] * 10 + [0] * 3
    binary = [1] * 4 + [0] * 9
    single = [3] * 13
    wide = [-40] * 8 + [50, -7] + [9] * 3
    columns = ((binary, Bounds(0, 1)), (single, Bounds(3, 3)), (wide, Bounds(-50, 50)))
    assert differing(member, *columns) == [4, 0, 2]
    assert differing(member, columns[1]) == [0]


@pytest.mark.parametrize("trial", range(4))
def test_random_sets(trial):
    """Whoever is alike in more than half of the members is found; else half of them differ at least."""
    bounds = Bounds(0, 3 + 40 * trial)
    weights = (np.array(RANDOM.below(bounds.upper + 1, 15)), np.full(15 + 3 * trial, bounds.upper // 2))
    values = np.concatenate(weights).astype(np.int64)
    member = np.array(RANDOM.bits(len(values)))
    inside = Counter(values[member == 1].tolist())
    most = max(inside.values(), default=0)
    size = int(member.sum())
    (found,) = differing(member, (values, bounds))
    if 2 * most > size:
        assert found == size - most
    else:
        assert 2 * found >= size
    assert found <= size


def test_messages_depend_on_sizes_alone(monkeypatch):
    def view(member, values):
        return shapes(transcripts(monkeypatch, program(member, [(values, Bounds(0, 63))]))[1])

    assert view([1] * 12, [5] * 12) == view([0, 1] * 6, list(range(12)))


def test_it_takes_secrets_as_they_come_from_an_alignment():
    """A digit may be its owner's own: the shares are the digits, the peer's are zero."""

    def side(session):
        digit = Secret([1, 1, 0, 0, 0], Bounds(0, 1), owner=Role.ALICE).at(session)
        member = SecretBits(session, np.ones(5, dtype=np.uint8) * (session.role is Role.ALICE))
        size = SecretInts.from_bits(member).sum()
        return int(majority.differing(member, size, [[digit]])[0].reveal()[0])

    assert run_pair(side, side) == (2, 2)
