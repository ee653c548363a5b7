"""What was spent when: the sums after each job, of one population towards one peer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from parties.ledger.accounting import Spent
from parties.ledger.entries import RUN, SPENT, Entry
from parties.policy.budgets import MAX_STEPS, Gauge, steps

DELTA = Fraction(1, 2**30)
GAUGE = Gauge("noisy", "people", ("visits", "people"), "south", DELTA, None, Fraction(3))


def entry(number, epsilon="1/2", delta="0", **more):
    made = Entry(number, "", f"2026-01-{number % 28 + 1:02}T00:00:00+00:00", SPENT, f"{number:064x}")
    return replace(
        made, epsilon=epsilon, delta=delta, dataset="visits", account="people", peer="south", **more
    )


def test_each_job_is_followed_by_the_sum_of_all_before_it():
    entries = [entry(n) for n in range(4)]
    found = steps(GAUGE, entries)
    together = Spent()
    for step, one in zip(found, entries, strict=True):
        together += one.loss
        assert (step.job, step.total) == (one.job, together.epsilon_at(DELTA))
    assert found[3].words == "2"


def test_other_peers_people_and_events_do_not_count():
    others = [
        replace(entry(0), peer="west"),
        replace(entry(1), account="others", dataset="others"),
        replace(entry(2), event=RUN),
    ]
    assert steps(GAUGE, others) == []
    renamed = replace(entry(3), account="before")  # another population then, but the same data set
    assert [step.words for step in steps(GAUGE, [*others, renamed])] == ["0.5"]


def test_a_delta_that_is_used_up_is_said():
    found = steps(GAUGE, [entry(0), entry(1, delta=f"1/{2**29}")])
    assert [step.words for step in found] == ["0.5", "all of delta"]


def test_the_newest_are_shown_and_all_are_summed():
    count = MAX_STEPS + 20
    found = steps(GAUGE, [entry(n, epsilon="1/1000") for n in range(count)])
    assert len(found) == MAX_STEPS
    assert found[-1].total <= Fraction(count, 1000)
    assert found[0].total > Fraction(20, 1000) * Fraction(9, 10)
