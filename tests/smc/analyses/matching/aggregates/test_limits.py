"""The limits of disclosure on figures about a secret intersection."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.runner import run_study
from smc.channel.channel import Channel
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.pair import run_pair
from smc.secret.sharing.opening import OpenedBits
from tests.smc.analyses.matching.aggregates_runs import (
    AGE,
    BOTH,
    ONE_EACH,
    SHARES,
    SIZE,
    STATISTICS,
    parsed,
    run,
    side,
)
from tests.support import openings


@pytest.mark.parametrize("text", [SIZE, ONE_EACH, SHARES])
def test_a_small_intersection_is_refused_at_both_sides(text):
    alice, bob = side(range(20)), side(range(15, 40))
    run(text, alice, bob, limits=Limits(minimum_intersection=5))
    refused = []

    def one(own):
        def party(session):
            limits = Limits(minimum_intersection=6)
            with pytest.raises(DisclosureRefused):
                run_study(parsed(text), session, own, BOTH, limits.of_both)
            refused.append(session.role)

        return party

    run_pair(one(alice), one(bob))
    assert set(refused) == BOTH


def test_a_minimum_group_holds_for_sums_and_not_for_sizes():
    alice, bob = side(range(20)), side(range(15, 40))
    limits = Limits(minimum_group=6)
    run(SIZE, alice, bob, limits=limits)
    with pytest.raises(DisclosureRefused):
        run(ONE_EACH, alice, bob, limits=limits)


@pytest.mark.parametrize(
    ("amounts", "refused"), [([60, -40, 0], True), ([50, -50, 0], False), ([0, 0, 0], False)]
)
def test_a_dominant_row_is_refused(amounts, refused):
    alice = side([1, 2, 3, 4], amounts=[*amounts, 99_999], ages=[5, 5, 5, 120])
    limits = Limits(dominance=Fraction(1, 2))
    if refused:
        with pytest.raises(DisclosureRefused):
            run(ONE_EACH, alice, side([1, 2, 3, 9], ages=[7, 7, 7, 7]), limits=limits)
    else:
        run(ONE_EACH, alice, side([1, 2, 3, 9], ages=[7, 7, 7, 7]), limits=limits)


def test_dominance_looks_at_unsigned_columns_of_the_other_side_too():
    limits = Limits(dominance=Fraction(1, 2))
    alice = side([1, 2, 3], amounts=[1, 1, 1], ages=[1, 1, 1])
    with pytest.raises(DisclosureRefused):
        run(ONE_EACH, alice, side([1, 2, 3], ages=[9, 4, 4]), limits=limits)
    run(ONE_EACH, alice, side([1, 2, 3], ages=[8, 4, 4]), limits=limits)


def test_only_one_bit_is_opened_where_a_limit_stands_against_a_result(monkeypatch):
    opened = []
    honest = Channel.send

    def send(self, message):
        if message.kind() in openings.KINDS:
            opened.append((message.kind(), len(message.encode())))
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    limits = Limits(minimum_intersection=15, dominance=Fraction(1, 100))
    with pytest.raises(DisclosureRefused):
        run(ONE_EACH, side(range(20)), side(range(15, 40)), limits=limits)
    assert opened == [(OpenedBits.kind(), 1)] * 2


def test_limits_about_persons_want_a_row_for_each():
    alice, bob = side([1, 2, 3], persons=[0, 1, 1]), side([1, 2, 3])
    run(ONE_EACH, alice, bob)
    for text, limits in (
        (SIZE, Limits(minimum_group=2)),
        (SIZE, Limits(minimum_intersection=2)),
        (ONE_EACH, Limits(minimum_group=2)),
        (ONE_EACH, Limits(dominance=Fraction(9, 10))),
        ('epsilon = "1"\n' + SIZE, Limits()),
    ):
        with pytest.raises(DomainError, match="one person"):
            run(text, alice, bob, limits=limits)
    distinct = side([1, 2, 3], persons=[0, 1, 2])
    run(ONE_EACH, distinct, bob, limits=Limits(minimum_group=2))


def test_sums_that_could_wrap_are_refused_before_rows_are_aligned(monkeypatch):
    monkeypatch.setattr("smc.analyses.matching.aggregates.run.align", None)

    def declared(upper):
        data = side(range(20))
        return data | {"age": replace(data["age"], schema=replace(AGE, upper=upper))}

    with pytest.raises(DomainError, match="63"):
        run(ONE_EACH, side(range(20)), declared(10**18))
    with pytest.raises(DomainError, match="63"):
        run(ONE_EACH, side(range(20)), declared(10**16), limits=Limits(dominance=Fraction(33, 100)))


def test_the_gate_stands_before_every_opening():
    def closed(channel):
        raise RuntimeError

    for text, limits in ((SIZE, Limits()), (SHARES, Limits()), (ONE_EACH, Limits(minimum_group=2))):

        def one(session, text=text, limits=limits):
            data = side(range(5))
            run_study(parsed(text), session, data, BOTH, limits.of_both, closed)

        with pytest.raises(RuntimeError):
            run_pair(one, one)


def test_messages_depend_on_row_counts_alone():
    def traffic(session):
        return session.channel.traffic

    limits = Limits(minimum_intersection=1, dominance=Fraction(99, 100))
    seen = {
        run(ONE_EACH, side(range(40)), side(range(first, first + 50)), limits=limits, program=traffic)
        for first in (0, 10, 35)
    }
    assert len(seen) == 1


BAD_AMOUNTS = {
    "few above the lower bound": ([-100_000] * 12 + [500, 700], True),
    "few below the upper bound": ([100_000] * 12 + [500, 700], True),
    "few with another value than the rest": ([0] * 12 + [50_000, -70_000], True),
    "many of each": ([0] * 7 + list(range(1, 8)), False),
    "one value": ([40] * 14, False),
}


@pytest.mark.parametrize("name", BAD_AMOUNTS)
def test_a_sum_over_matches_does_not_tell_of_the_few_who_differ_from_the_rest(name):
    amounts, withheld = BAD_AMOUNTS[name]
    count = len(amounts)
    alice, bob = side(range(count), amounts=amounts), side(range(count))
    limits = Limits(minimum_group=5)
    if withheld:
        with pytest.raises(DisclosureRefused):
            run(ONE_EACH, alice, bob, limits=limits)
        run(ONE_EACH, alice, bob, limits=Limits(minimum_group=2))
    else:
        run(ONE_EACH, alice, bob, limits=limits)


ELSEWHERE = {
    "few who differ from the rest of the matches": ([50_000] * 12 + [50_300, 50_700], True),
    "many who differ": ([50_000] * 9 + [50_001, 50_002, 50_003, 50_004, 50_005], False),
    "nobody who differs": ([50_000] * 14, False),
}


@pytest.mark.parametrize("owner", [True, False], ids=["fewer rows", "more rows"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_common_value_is_that_of_the_matches_and_not_of_all_rows(name, owner):
    """Of all rows most have 0; of those that match, whom the peer could have chosen, most have 500.00."""
    matched, withheld = ELSEWHERE[name]
    others = 40
    amounts = [*matched, *[0] * others]
    alice = side(range(len(amounts)), amounts=amounts)
    bob = side([*range(len(matched)), *range(1000, 1100 if owner else 1020)])
    limits = Limits(minimum_group=5)
    if withheld:
        with pytest.raises(DisclosureRefused):
            run(ONE_EACH, alice, bob, limits=limits)
        run(ONE_EACH, alice, bob, limits=Limits(minimum_group=2))
    else:
        run(ONE_EACH, alice, bob, limits=limits)


@pytest.mark.parametrize("text", [STATISTICS, SHARES])
def test_a_job_without_noise_has_no_bounds_of_its_own(text):
    narrow = text.replace('column = "amount"', 'column = "amount"\nlower = "999.99"')
    schemas = {name: column.schema for name, column in side(range(3)).items()}
    for wrong in (narrow, narrow.replace("999.99", "-99999999")):
        with pytest.raises(UsageError, match="need noise"):
            parsed(wrong)
    parsed('epsilon = "1"\n' + narrow.replace("shares", "statistics")).check(schemas, schemas)
