"""Noisy figures about a secret intersection."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.aggregates.parameters import (
    MAX_DELTA,
    distributions,
    sensitivity,
)
from smc.analyses.matching.aggregates.tables import results
from smc.analyses.studies.columns import Column
from smc.analyses.studies.loss import Loss
from smc.errors import DisclosureRefused, DomainError
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared
from smc.secret.noise.joint_law import JointLaw
from smc.secret.sharing.bounds import Bounds
from tests.smc.analyses.matching.aggregates_runs import (
    AGE,
    BOTH,
    NOISY,
    SHARES,
    SIZE,
    STATISTICS,
    parsed,
    run,
    side,
)


def test_noisy_figures_follow_their_distribution():
    """The noise of sums and counts over many columns at once: mean and mean absolute value."""
    count, draws = 40, 62
    text = f'method = "exact"\nkeys = ["id"]\noutput = "statistics"\nepsilon = "{draws + 1}"\n'
    text += "".join(
        f'[[values]]\nside = "bob"\ncolumn = "c{i}"\nlower = 0\nupper = 50\n' for i in range(draws)
    )
    bob = side(range(count))
    bob |= {f"c{i}": Column(np.full(count, 10), AGE) for i in range(draws)}
    noise = []
    for _ in range(4):
        first, second = run(text, side(range(count)), bob)
        assert first.tables[0].columns == second.tables[0].columns
        noise += [total - 10 * count for total in first.tables[0].columns["sum"]]
    rate = 1 / 50
    absolute = 2 * np.exp(-rate) / (1 - np.exp(-2 * rate))
    deviation = (2 * np.exp(-rate) / (1 - np.exp(-rate)) ** 2) ** 0.5
    assert abs(np.mean(noise)) < 4.9 * deviation / len(noise) ** 0.5
    assert abs(np.mean(np.abs(noise)) - absolute) < 4.9 * deviation / len(noise) ** 0.5


def test_noisy_results_state_their_intervals_and_clamp():
    text = NOISY.replace('side = "bob"', 'side = "bob"\nlower = 5\nupper = 7')
    plain, _ = parsed(text).reference(side([1, 2]), side([1, 2], ages=[0, 100]), BOTH)
    assert plain.tables[0].columns["sum"][1] == 12
    first, _ = run(text, side([1, 2]), side([1, 2], ages=[0, 100]))
    columns = first.tables[0].columns
    widths = [b - a for a, b in zip(columns["sum_lower_95"][1:], columns["sum_upper_95"][1:], strict=True)]
    assert 0 < widths[0] < widths[1]
    assert first.details["noise_scales"] == ["2", "400000", "14", "240"]
    size, _ = run('epsilon = "1"\n' + SIZE, side(range(9)), side(range(9)))
    (found,), (lower,), (upper,) = size.tables[0].columns.values()
    assert (found - lower, upper - found) == (3, 3)


def test_with_noise_the_least_sizes_are_tested_on_the_noisy_size():
    """At epsilon 10 for the size the noise is above 2 once in 10**13 draws."""
    text = 'epsilon = "40"\n' + STATISTICS
    run(text, side(range(9)), side(range(9)), limits=Limits(minimum_group=7, dominance=Fraction(1, 100)))
    with pytest.raises(DisclosureRefused):
        run(text, side(range(9)), side(range(9)), limits=Limits(minimum_group=12))


def test_the_loss_is_epsilon():
    assert parsed(NOISY).facts(BOTH).loss == Loss(Fraction(2), MAX_DELTA)
    assert not parsed(NOISY).facts(BOTH).exact
    assert parsed(SIZE).facts(BOTH).loss == Loss()
    assert parsed(SIZE).facts(BOTH).exact
    assert not parsed(SHARES).facts(BOTH).exact


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(-5, 9)), max_size=5),
    st.lists(st.integers(1, 4), max_size=5),
    st.integers(0, 4),
    st.tuples(st.integers(1, 4), st.integers(-5, 9)),
    st.sampled_from(["error", "multiset", "distinct"]),
)
def test_one_row_changes_figures_by_no_more_than_the_sensitivity(alice, bob, place, other, duplicates):
    """All three kinds of neighbours, on the plain twin: the row is taken away, replaced or added."""
    text = f'duplicates = "{duplicates}"\n' + STATISTICS
    reach = sensitivity(Bounds(-5, 9), substitutes=duplicates != "error")
    inputs = [alice, [*alice, other]]
    if place < len(alice):
        inputs += [alice[:place] + alice[place + 1 :], [*alice[:place], other, *alice[place + 1 :]]]
    found = []
    for rows in inputs:
        data = side([key for key, _ in rows], amounts=[value for _, value in rows])
        try:
            outcome, _ = parsed(text).reference(data, side(bob), BOTH)
        except DomainError:
            continue
        columns = outcome.tables[0].columns
        found.append((columns["count"][0], round(100 * Fraction(columns["sum"][0]))))
    for count, total in found:
        assert abs(count - found[0][0]) <= 1
        assert abs(total - found[0][1]) <= reach


EVERY = [Declared(-10_000, 10_000, 2), Declared(0, 100_000, 0), Declared(0, 120, 1)]
MISS = Fraction(1, 20)


def noisy(figures):
    """The outcome of opened figures, and the noise that they had."""
    parameters = parsed(NOISY).parameters
    noises = distributions(parameters, tuple(Bounds(each.lower, each.upper) for each in EVERY))
    return results(parameters, EVERY, figures, noises), noises


@given(st.integers(1, 5000), st.lists(st.fractions(0, 1), min_size=3, max_size=3), st.data())
def test_intervals_hold_the_exact_figures_unless_their_noise_is_unlikely(count, parts, data):
    totals = [
        count * each.lower + int(count * (each.upper - each.lower) * p)
        for each, p in zip(EVERY, parts, strict=True)
    ]
    _, noises = noisy([count, *totals])
    drawn = [data.draw(st.integers(-one.half_width(MISS / 2), one.half_width(MISS / 2))) for one in noises]
    outcome, _ = noisy([exact + noise for exact, noise in zip([count, *totals], drawn, strict=True)])
    found = outcome.tables[0].columns
    for place, (each, total) in enumerate(zip(EVERY, totals, strict=True)):
        exact = Fraction(total, count) / 10**each.scale
        low, value, up = (found[f"mean{end}"][place] for end in ("_lower_95", "", "_upper_95"))
        mean = total / count
        law = JointLaw.of([(1, noises[1 + place]), (mean, noises[0])])
        if law.tail(abs(drawn[1 + place] - mean * drawn[0])) > 1.0001 * MISS:
            slack = 1e-6 * max(1, abs(up))
            assert low - slack <= exact <= up + slack
        assert value is None or low <= value <= up
        width = noises[0].half_width(MISS)
        assert (found["count_lower_95"][place] <= count) == (drawn[0] <= width)
        assert (found["count_upper_95"][place] >= count) == (drawn[0] >= -width)


@pytest.mark.parametrize(
    ("size", "is_somebody"), [(-4, False), (0, False), (6, False), (7, True), (400, True)]
)
def test_an_intersection_that_noise_alone_could_make_is_called_so(size, is_somebody):
    outcome, noises = noisy([size, -18_000, 12, 30])
    assert noises[0].half_width(MISS) == 6
    assert any("not distinguishable from nobody" in note for note in outcome.notes) is not is_somebody
    found = outcome.tables[0].columns
    if not is_somebody:
        assert found["mean"] == [None] * 3
        assert found["mean_lower_95"] == [each.lower / 10**each.scale for each in EVERY]
        assert found["mean_upper_95"] == [each.upper / 10**each.scale for each in EVERY]


@pytest.mark.parametrize("known", [True, False])
def test_the_precision_to_expect_is_that_of_a_result_without_noise(known):
    """All local rows match, and the figures that are shown are the exact ones."""
    alice, bob = side(range(2000)), side(range(2000))
    schemas = {name: column.schema for name, column in bob.items()} if known else None
    preview = parsed(NOISY).preview(alice, Role.ALICE, Limits(), schemas)
    preview.require()
    found = {row["query"]: row["half_width"] for row in preview.details["precision"]}
    assert {row["epsilon"] for row in preview.details["precision"]} == {"0.5"}

    parameters = parsed(NOISY).parameters
    every = [Declared(-100_000, 100_000, 2), Declared(0, 120, 0), Declared(0, 120, 0)]
    noises = distributions(parameters, tuple(Bounds(each.lower, each.upper) for each in every))
    exact = [int(data[name].array.sum()) for data, name in ((alice, "amount"), (bob, "age"), (alice, "age"))]
    columns = results(parameters, every, [2000, *exact], noises).tables[0].columns
    for place, name in enumerate(("alice_amount", "bob_age", "alice_age")):
        for kind in ("sum", "mean"):
            ends = (Fraction(columns[f"{kind}_{end}_95"][place]) for end in ("upper", "lower"))
            width = float(next(ends) - next(ends)) / 2
            if name == "bob_age" and (kind == "mean" or not known):
                assert found[f"{kind} of {name}"] is None
            else:
                assert found[f"{kind} of {name}"] == pytest.approx(width, rel=1e-9)
    assert found["size"] == columns["count_upper_95"][0] - 2000


def test_without_noise_there_is_no_precision_to_expect():
    assert "precision" not in parsed(STATISTICS).preview(side(range(9)), Role.ALICE, Limits()).details
