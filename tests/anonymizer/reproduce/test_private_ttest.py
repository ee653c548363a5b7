"""The thesis's t-test: sensitivities against all neighbours, smoothness on all tables, known defects."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from anonymizer.errors import SpecError
from anonymizer.tables.randomness import Randomness
from scripts.reproduce.private_ttest import SmoothTTest, _Shrinking

VALUES = (0.0, 1.0, 2.0, 4.0)
MAX_VALUE = 4.0
RECORDS = 4
CHOICES = tuple(product((0, 1), VALUES))
"""What a record can be: its group and its value."""
MECHANISMS = [SmoothTTest(5.0, 1e-2, MAX_VALUE, (0.0, 4.0)), SmoothTTest(20.0, 1e-1, MAX_VALUE, (1.0, 2.0))]


def groups(table):
    return tuple(
        np.array([value for group, value in (CHOICES[place] for place in table) if group == wanted])
        for wanted in (0, 1)
    )


@cache
def exact(dummies):
    """The statistic on every table of four records, shape (choices,) * 4, by its definition."""
    found = np.empty((len(CHOICES),) * RECORDS)
    for table in np.ndindex(*found.shape):
        a, b = (np.concatenate([group, dummies]) for group in groups(table))
        found[table] = (a.mean() - b.mean()) / sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return found


@cache
def local(dummies):
    """The local sensitivity on every table, over all neighbours."""
    t = exact(dummies)
    axes = range(RECORDS)
    highest = np.max([np.broadcast_to(t.max(axis=axis, keepdims=True), t.shape) for axis in axes], axis=0)
    lowest = np.min([np.broadcast_to(t.min(axis=axis, keepdims=True), t.shape) for axis in axes], axis=0)
    return np.maximum(highest - t, t - lowest)


@cache
def smooth(mechanism):
    """The smooth sensitivity on every table, over all tables (definition 7.4)."""
    within = local(mechanism.dummies)
    found = within.copy()
    for distance in range(1, RECORDS + 1):
        within = np.max(
            [np.broadcast_to(within.max(axis=axis, keepdims=True), within.shape) for axis in range(RECORDS)],
            axis=0,
        )
        found = np.maximum(found, exp(-mechanism.beta * distance) * within)
    return found


@cache
def on_all_tables(mechanism, method):
    known = {}
    found = np.empty((len(CHOICES),) * RECORDS)
    for table in np.ndindex(*found.shape):
        key = tuple(sorted(table))
        if key not in known:
            known[key] = getattr(mechanism, method)(*groups(table))
        found[table] = known[key]
    return found


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_statistic_is_that_of_both_groups_with_the_dummies(mechanism):
    for table in [(0, 1, 2, 3), (0, 5, 2, 7), (4, 4, 4, 4)]:
        assert mechanism.exact(*groups(table)).t == pytest.approx(exact(mechanism.dummies)[table], abs=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_equation_7_8_bounds_the_local_sensitivity_on_every_table(mechanism):
    sharp = SmoothTTest(1e6, 0.5, mechanism.most, mechanism.dummies)
    bounds = on_all_tables(sharp, "algorithm_8")
    assert np.all(bounds >= local(mechanism.dummies) * (1 - 1e-9))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_local_sensitivity_is_exact(mechanism):
    """Not less than over all neighbours with these values, and no more than over a fine grid of values."""
    found = on_all_tables(mechanism, "local")
    assert np.all(found >= local(mechanism.dummies) * (1 - 1e-9))
    for table in [(0, 1, 2, 3), (0, 5, 2, 7), (4, 4, 4, 4), (3, 3, 4, 0)]:
        a, b = groups(table)
        here, largest = mechanism.exact(a, b).t, 0.0
        for value in np.linspace(0, mechanism.most, 401):
            for place in range(RECORDS):
                rest = [CHOICES[one] for number, one in enumerate(table) if number != place]
                for group in (0, 1):
                    records = [*rest, (group, value)]
                    new = [np.array([v for g, v in records if g == wanted]) for wanted in (0, 1)]
                    largest = max(largest, abs(_statistic(*new, mechanism.dummies) - here))
        assert found[table] == pytest.approx(largest, rel=1e-3)
        assert found[table] >= largest * (1 - 1e-9)


def _statistic(a, b, dummies):
    a, b = (np.concatenate([group, dummies]) for group in (a, b))
    return (a.mean() - b.mean()) / sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_smooth_bound_is_above_the_smooth_sensitivity_on_every_table(mechanism):
    assert np.all(on_all_tables(mechanism, "smooth") >= smooth(mechanism) * (1 - 1e-9))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_smooth_bound_is_smooth_between_all_neighbours(mechanism):
    bounds = on_all_tables(mechanism, "smooth")
    for axis in range(RECORDS):
        ratio = bounds.max(axis=axis) / bounds.min(axis=axis)
        assert ratio.max() <= exp(mechanism.beta) * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_algorithm_8_is_not_smooth(mechanism):
    """Its value is large enough on these tables, but falls too fast between neighbours for theorem 7.2."""
    bounds = on_all_tables(mechanism, "algorithm_8")
    assert np.all(bounds >= smooth(mechanism))
    ratios = [(bounds.max(axis=axis) / bounds.min(axis=axis)).max() for axis in range(RECORDS)]
    assert max(ratios) > exp(mechanism.beta)


def undecided(means, scales, epsilon):
    """The largest P(first) - e**epsilon P(second) of two normal distributions: the delta they need."""
    (mean, other), (scale, width) = means, scales
    # the log ratio of the densities exceeds epsilon where a x**2 + b x + c > 0
    a = 1 / (2 * width**2) - 1 / (2 * scale**2)
    b = mean / scale**2 - other / width**2
    c = other**2 / (2 * width**2) - mean**2 / (2 * scale**2) + np.log(width / scale) - epsilon

    def lead(low, high):
        first, second = (
            norm.cdf((high - at) / size) - norm.cdf((low - at) / size)
            for at, size in ((mean, scale), (other, width))
        )
        return first - exp(epsilon) * second

    with np.errstate(all="ignore"):
        root = np.sqrt(np.maximum(b * b - 4 * a * c, 0))
        ends = np.sort([(-b - root) / (2 * a), (-b + root) / (2 * a)], axis=0)
        outside = lead(-np.inf, ends[0]) + lead(ends[1], np.inf)
        line = np.where(b > 0, lead(-c / b, np.inf), np.where(b < 0, lead(-np.inf, -c / b), 0.0))
    curved = np.where(a > 0, outside, np.where(root > 0, lead(*np.nan_to_num(ends)), 0.0))
    return np.where(np.abs(a) < 1e-12 / scale**2, line, curved)


def needed_delta(mechanism, method):
    """The delta that all pairs of neighbours need at the claimed epsilon, exactly."""
    t, scales = exact(mechanism.dummies), on_all_tables(mechanism, method) / mechanism.alpha
    worst = 0.0
    for axis in range(RECORDS):
        for place in range(len(CHOICES)):
            others = [np.broadcast_to(np.take(one, [place], axis=axis), t.shape) for one in (t, scales)]
            found = undecided((t, others[0]), (scales, others[1]), mechanism.epsilon)
            worst = max(worst, float(found.max()))
    return worst


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_noise_by_the_smooth_bound_keeps_epsilon_and_delta_for_all_neighbours(mechanism):
    assert needed_delta(mechanism, "smooth") <= mechanism.delta


def test_noise_by_algorithm_8_breaks_its_promise():
    """Not only its proof: two neighbours of four records each need 2.4 times the delta that is claimed."""
    assert needed_delta(MECHANISMS[0], "algorithm_8") > 2 * MECHANISMS[0].delta


def test_the_delta_of_two_normal_laws_is_that_of_the_literature():
    """Equal scales: Balle and Wang, Improving the Gaussian mechanism, ICML 2018, Theorem 5."""
    for epsilon in (0.5, 2.0):
        known = norm.cdf(0.5 - epsilon) - exp(epsilon) * norm.cdf(-0.5 - epsilon)
        found = undecided((np.array([1.0]), np.array([0.0])), (np.array([1.0]), np.array([1.0])), epsilon)
        assert found[0] == pytest.approx(known)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=8), st.tuples(st.integers(0, 40), st.integers(0, 40))
)
def test_no_change_leaves_less_variance_than_theorem_7_4_says(values, dummies):
    """Against all values replaced, removed or added: no change of a group beats the farthest replaced."""
    dummies = (float(dummies[0]), float(dummies[1]) + 41)
    group = np.sort(np.array(values, dtype=float))
    least = _Shrinking(group, dummies).after_change()
    neighbours = [np.delete(group, place) for place in range(len(group))]
    neighbours += [np.append(rest, np.append(rest, dummies).mean()) for rest in neighbours]
    neighbours += [np.append(rest, float(new)) for rest in neighbours[: len(group)] for new in (0, 20, 40)]
    neighbours += [np.append(group, np.append(group, dummies).mean()), np.append(group, 0.0)]
    found = [np.append(neighbour, dummies).var(ddof=1) for neighbour in neighbours]
    assert least <= min(found) * (1 + 1e-9)
    assert least == pytest.approx(min(found))


def test_both_terms_of_equation_7_19():
    """The second term never exceeds the first, with the printed sign or the right one (erratum)."""
    random = Randomness(7)
    for _ in range(200):
        a = random.integers(1000, 2 + int(random.integers(9, 1)[0])).astype(float)
        n, distances = len(a), np.abs(a - a.mean())
        if n < 3:
            continue
        d, others = distances.max(), (distances**2).sum() - distances.max() ** 2
        first = n / (n - 1) ** 2 * d**2
        second = (-(n - 1) * d**2 + others) / ((n - 1) * (n - 2))
        assert max(second, -second) <= first * (1 + 1e-9) + 1e-9
        shorter = np.delete(a, distances.argmax())
        assert a.var(ddof=1) + second == pytest.approx(shorter.var(ddof=1), abs=1e-6)


def test_the_noise_has_the_stated_scale():
    """300 draws: their sum of squares and their mean, each with a false-alarm rate below 1e-6."""
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0])
    mechanism = MECHANISMS[0]
    t, scale = mechanism.exact(a, b).t, mechanism.smooth(a, b) / mechanism.alpha
    drawn = np.array([mechanism.release(a, b) for _ in range(300)])
    assert 180 < (((drawn - t) / scale) ** 2).sum() < 440
    assert abs((drawn - t).mean()) < 5 * scale / sqrt(300)


def test_the_parameters_of_theorem_7_2():
    mechanism = SmoothTTest(5.0, 1e-3, 200.0, (1.0, 2.0))
    assert mechanism.alpha == pytest.approx(1 / sqrt(2 * log(2000)))
    assert mechanism.beta == pytest.approx(5 / (4 * (1 + log(2000))))


@pytest.mark.parametrize(
    "fields",
    [
        (0.0, 0.1, 4.0, (0.0, 1.0)),
        (1.0, 0.0, 4.0, (0.0, 1.0)),
        (1.0, 1.0, 4.0, (0.0, 1.0)),
        (1.0, 0.1, 4.0, (1.0, 1.0)),
        (1.0, 0.1, 4.0, (0.0, 5.0)),
        (1.0, 0.1, 4.0, (-1.0, 1.0)),
    ],
)
def test_impossible_mechanisms(fields):
    with pytest.raises(SpecError):
        SmoothTTest(*fields)


@pytest.mark.parametrize("method", ["exact", "local", "smooth", "algorithm_8", "release"])
@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ([1.0], [], "There are 1 records"),
        ([], [], "There are 0 records"),
        ([1.0, 5.0], [2.0], r"Group A has 1 values that are not numbers in \[0, 4\]"),
        ([1.0], [float("nan"), -1.0], "Group B has 2 values"),
        ([[1.0, 2.0]], [2.0], "Group A"),
    ],
)
def test_records_that_do_not_fit_are_refused(method, a, b, says):
    with pytest.raises(SpecError, match=says) as problem:
        getattr(MECHANISMS[0], method)(np.array(a), np.array(b))
    assert problem.value.hint


def test_a_group_may_be_empty_as_who_is_in_it_is_protected():
    mechanism, rows = MECHANISMS[0], np.array([1.0, 2.0])
    assert np.isfinite(mechanism.release(rows, np.array([])))
    assert mechanism.smooth(rows, np.array([])) > 0


def test_many_records_bring_the_noise_down():
    rows = [np.linspace(0, 200, count) for count in (50, 50, 2000, 2000)]
    mechanism = SmoothTTest(5.0, 1e-3, 200.0, (0.0, 200.0))
    assert mechanism.smooth(*rows[2:]) < mechanism.smooth(*rows[:2])
