"""Curves, incidences and tests in the clear, beside lifelines 0.30.3 and statsmodels 0.15.0.

The figures of `known` come from KaplanMeierFitter (survival_function_at_times, _cumulative_sq_,
confidence_interval_, median_survival_time_) and restricted_mean_survival_time on rows of which "died" and
"moved" are events, multivariate_logrank_test and survdiff(strata=...) on those of which "died" is; those of
`untied` from AalenJohansenFitter (cumulative_density_, variance_), which wants times without ties.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.statistics.kinds.survival.life_table import (
    band,
    falling,
    incidence,
    kaplan_meier,
    log_rank,
    quadratic,
    restricted_mean,
)
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from tests.smc.analyses.statistics.survival.followed import BOTH, SCHEMAS, curves, figures, job, known

POINTS = [10, 20, 30, 40, 50, 60]
SURVIVAL = {
    "A": [0.9105523748, 0.7945593627, 0.7334991274, 0.6335631041, 0.5749970836, 0.4634983648],
    "B": [0.8968417831, 0.8095587698, 0.5951686861, 0.3714139687, 0.2016247259, 0.0529264905],
}
BANDS = {
    "A": [(0.8535910653, 0.9460443302), (0.7206164497, 0.850944716), (0.6531880224, 0.7980839801)],
    "B": [(0.8370753431, 0.9355182226), (0.7357711642, 0.8646219353), (0.5031844355, 0.6756618128)],
}
GREENWOOD_A = [
    *(0.000628488728, 0.001725238746, 0.002526049805),
    *(0.004325060438, 0.005896520165, 0.011123342203),
]
CHI_SQUARE, STRATIFIED = 18.18953691261879, 17.748716921918533


@pytest.fixture(scope="module")
def outcome():
    return job().reference(*known(), BOTH)[0]


@pytest.mark.parametrize("arm", SURVIVAL)
def test_curves_and_bands_are_those_of_lifelines(outcome, arm):
    found, lower, upper = (curves(outcome, value=name) for name in ("survival", "lower_95", "upper_95"))
    assert [found[arm, time] for time in POINTS] == pytest.approx(SURVIVAL[arm], abs=1e-10)
    ends = [(lower[arm, time], upper[arm, time]) for time in POINTS[:3]]
    assert np.array(ends) == pytest.approx(np.array(BANDS[arm]), abs=1e-9)


def test_greenwoods_variance_is_that_of_lifelines():
    alice, bob = known()
    (planned,) = plan(job(strata=None).parameters, SCHEMAS)
    both = {name: np.concatenate([alice[name].array, bob[name].array]) for name in alice}
    cells = planned.statistic.local(LocalRows(both, np.arange(400), 400)).astype(np.float64)
    ended, beyond = planned.statistic.layout.split(cells)
    curve = kaplan_meier(ended[:, 0], beyond[:, 0])
    assert [curve.variance[0, time] for time in POINTS] == pytest.approx(GREENWOOD_A, abs=1e-12)
    assert curve.at_risk[0, 0] == (both["arm"] == 0).sum()


def test_medians_and_restricted_means_are_those_of_lifelines(outcome):
    rows = figures(outcome, "groups")
    assert [row["median"] for row in rows] == [60, 40, 60]  # 58, 37 and 54, at the points that are shown
    means = [32.59525515137502, 30.983230581068483, 32.608065430355595]
    assert [row["restricted_mean"] for row in rows] == pytest.approx(means, abs=1e-9)
    apart = [row["beyond_first_group"] for row in rows]
    assert apart[0] is None
    assert apart[1] == pytest.approx(means[1] - means[0])


def test_log_rank_tests_are_those_of_lifelines_and_statsmodels(outcome):
    stratified = figures(outcome, "log-rank")
    assert stratified[0]["value"] == pytest.approx(STRATIFIED, abs=1e-9)
    assert stratified[2]["value"] == pytest.approx(0.00013993137124201915, rel=1e-9)
    plain = figures(job(strata=None).reference(*known(), BOTH)[0], "log-rank")
    assert plain[0]["value"] == pytest.approx(CHI_SQUARE, abs=1e-9)
    assert [plain[1]["value"], plain[2]["value"]] == [2, pytest.approx(0.00011225152380774266, rel=1e-9)]
    groups = figures(outcome, "groups")
    assert sum(row["observed"] for row in groups) == pytest.approx(
        sum(row["expected"] for row in groups), abs=0.01
    )


def test_competing_events_add_up_with_what_is_left(outcome):
    survival = curves(outcome)
    incidences = figures(outcome, "incidence")
    for arm in ("A", "B", "C"):
        for time in POINTS:
            own = [row["incidence"] for row in incidences if (row["group"], row["time"]) == (arm, time)]
            assert len(own) == 2
            assert sum(own) + survival[arm, time] == pytest.approx(1, abs=1e-12)


def test_incidences_are_those_of_lifelines():
    j = np.arange(60)
    time, kind = 1 + (j * 47) % 61, np.array([1, 2, 0, 1, 2])[j % 5]
    ended = np.zeros((3, 61))
    ended[kind, time - 1] = 1
    found, variance = incidence(ended, np.zeros(()))
    assert found[0, POINTS[:5]] == pytest.approx(
        [
            *(0.06791309319611209, 0.13937793024585485, 0.1960081851283441),
            *(0.2565834246769768, 0.34241051107359366),
        ],
        abs=1e-12,
    )
    assert variance[0, POINTS[:5]] == pytest.approx(
        [
            *(0.001075759608491818, 0.0020965582392168895, 0.002826833802470863),
            *(0.0035417033579597345, 0.0043670889087093585),
        ],
        abs=1e-12,
    )


def test_without_leavers_an_incidence_varies_as_a_part_of_rows():
    ended = np.zeros((3, 12))
    ended[1], ended[2] = np.arange(12) + 1, 3
    found, variance = incidence(ended, np.full((), 40.0))
    total = ended.sum() + 40
    assert found[0, -1] == pytest.approx(78 / total)
    assert variance[0] == pytest.approx(found[0] * (1 - found[0]) / total)


def test_a_restricted_mean_without_leavers_is_a_mean_of_rows():
    times = np.array([1, 1, 2, 4, 5, 5, 5, 9])
    ended = np.zeros((2, 6))
    np.add.at(ended[1], np.minimum(times, 7)[times <= 6] - 1, 1)
    curve = kaplan_meier(ended, np.full((), 1.0))
    value, variance = restricted_mean(curve, 6)
    assert value == pytest.approx(np.minimum(times, 6).mean())
    assert variance == pytest.approx(np.minimum(times, 6).var() / 8)


def test_of_long_steps_rows_that_leave_count_for_half():
    """Times of one hazard, cut off at random: by halves the curve is right, by whole steps it is too high."""
    times = np.random.default_rng(3).exponential(60, 200_000)
    ends = np.random.default_rng(4).uniform(0, 130, 200_000)
    step = np.ceil(np.minimum(times, ends) / 20).astype(int) - 1
    ended = np.stack([np.bincount(step[marks], minlength=7) for marks in (times > ends, times <= ends)])
    half, whole = (kaplan_meier(ended.astype(float), np.zeros(()), part) for part in (0.5, 0.0))
    assert half.survival[3] == pytest.approx(np.exp(-1), abs=0.01)
    assert whole.survival[3] > half.survival[3] + 0.02
    mean = 60 * (1 - np.exp(-1)) / 20
    assert restricted_mean(half, 3, 0.5)[0] == pytest.approx(mean, rel=0.02)
    assert restricted_mean(whole, 3)[0] > mean * 1.1


def test_ends_of_bands_stay_chances():
    lower, upper = band(np.array([1.0, 0.0, 0.5, 0.999]), np.array([0.0, 0.01, 0.04, 0.01]))
    assert (lower >= 0).all()
    assert (upper <= 1).all()
    assert (lower <= upper).all()
    assert (lower[0], upper[0]) == (1, 1)
    assert upper[1] > 0.1


def test_a_curve_that_rises_is_made_to_fall_by_averages():
    assert falling(np.array([1.0, 0.8, 0.9, 0.5, 1.2])) == pytest.approx([1, 0.85, 0.85, 0.85, 0.85])
    assert falling(np.array([1.0, 0.7, -0.2])).tolist() == [1, 0.7, 0]


def test_a_test_of_groups_without_events_has_no_statistic():
    excess, covariance = log_rank(np.zeros((2, 5)), np.full((2, 5), 9.0))
    assert quadratic(excess, covariance) is None
