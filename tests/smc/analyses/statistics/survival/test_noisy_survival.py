"""Survival with noise: that of one count in each cell, whatever is asked of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.kinds.survival.layout import SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import band
from smc.analyses.statistics.kinds.survival.noisy import Redrawn
from smc.analyses.statistics.plans.noisy import local, noisy_words
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses import vertical_runs
from tests.smc.analyses.statistics.survival.followed import (
    BOTH,
    DAYS,
    SCHEMAS,
    columns,
    curves,
    drawn,
    figures,
    job,
    known,
)
from tests.smc.analyses.statistics_runs import joint, silence, traffic

COARSE = {"step": None}
SMALL = {"competing": None, "strata": None, "restricted_mean": None, "step": None}


def planned(study):
    (found,) = plan(study.parameters, SCHEMAS)
    return found


def cells(study, *sides):
    """The rows of all sides by cell."""
    one = planned(study)
    rows = [LocalRows.of(study.parameters, side) for side in sides]
    return sum(local(one, each)[0] for each in rows)


def test_without_noise_a_joint_run_gives_the_figures_of_the_reference(monkeypatch):
    silence(monkeypatch)
    study = job(**COARSE)
    sides = known()
    found, other = joint(study, *sides)
    expected = study.reference(*sides, BOTH)[0]
    assert found == other
    assert curves(found) == pytest.approx(
        {place: value for place, value in curves(expected).items() if curves(found)[place] is not None}
        | {place: None for place, value in curves(found).items() if value is None}
    )
    assert [row["rows"] for row in figures(found, "groups")] == [
        row["rows"] for row in figures(expected, "groups")
    ]


def test_a_row_is_in_one_cell():
    study = job(**COARSE)
    one = columns([35], [1], [2], [1])
    counted = cells(study, one)
    assert counted.sum() == 1
    assert planned(study).statistic.parts[0].sensitivity == 1
    ended, beyond = planned(study).statistic.layout.split(counted)
    assert ended[2, 1, 1, 3] == 1  # arm C, stage II, died, in the fourth step
    assert beyond.sum() == 0


@pytest.mark.parametrize(
    ("days", "place"), [(0, 0), (1, 0), (10, 0), (11, 1), (100, 9), (101, None), (5000, None)]
)
def test_times_lie_in_their_step_or_beyond(days, place):
    ended, beyond = planned(job(**COARSE)).statistic.layout.split(
        cells(job(**COARSE), columns([days], [1], [0], [0]))
    )
    assert beyond.sum() == (place is None)
    if place is not None:
        assert ended[0, 0, 1, place] == 1


def test_noise_is_drawn_for_each_cell_and_nothing_else_is_paid():
    study = job(**COARSE)
    one = planned(study)
    assert one.count_distribution is None
    assert len(one.distributions) == 3 * 2 * (10 * 3 + 1)
    assert {distribution.rate for distribution in one.distributions} == {1}
    twice = job(budget='epsilon = "1"\nrows_per_person = 2', **COARSE)
    assert {distribution.rate for distribution in planned(twice).distributions} == {Fraction(1, 2)}


def test_figures_with_noise_are_near_those_without():
    study = job(budget='epsilon = "4"', **SMALL)
    sides = drawn(2500, 1, (1, 1.4, 1)), drawn(2500, 2, (1, 1.4, 1))
    found, _ = joint(study, *sides)
    exact = study.reference(*sides, BOTH)[0]
    lower, upper, noise = (curves(found, value=name) for name in ("lower_95", "upper_95", "noise_alone"))
    shown = {place: value for place, value in curves(found).items() if value is not None}
    assert len(shown) > 20
    for place, value in shown.items():
        difference = abs(value - curves(exact)[place])
        # Eight standard errors of the noise. That of one count is rarely anything, and then a whole row or
        # several: six once in 10**10 draws, of the 1,500 rows or more that an arm has.
        assert difference <= 4 * noise[place] + 6 / 1500
        assert lower[place] <= value <= upper[place]
        assert noise[place] <= (upper[place] - lower[place]) / 2 + 1e-3
    assert figures(found, "log-rank")[2]["value"] < 1e-3
    assert "noise_alone" in " ".join(found.notes)
    assert "do not include sampling error" not in " ".join(found.notes)


def test_a_curve_ends_before_noise_could_account_for_the_rows():
    sides = drawn(300, 3), drawn(300, 4)
    found, _ = joint(job(budget='epsilon = "1/10"', **SMALL), *sides)
    values = [value for (_, time), value in curves(found).items() if time]
    assert None in values
    assert any("a curve ends" in note for note in found.notes)
    assert any("cannot be computed" in note for note in found.notes) or figures(found, "log-rank")


def test_groups_of_too_few_rows_are_withheld_and_the_others_shown():
    sides = drawn(600, 5), drawn(600, 6)
    for side in sides:  # three rows of C on each side
        arm = np.where(side["arm"].array == 2, 0, side["arm"].array)
        arm[:3] = 2
        side["arm"] = Column(arm, side["arm"].schema)
    found, _ = joint(job(budget='epsilon = "8"', **SMALL), *sides, limits=Limits(minimum_group=100))
    values = curves(found)
    assert {value for (arm, _), value in values.items() if arm == "C"} == {None}
    assert all(value is not None for (arm, time), value in values.items() if arm != "C" and time < 50)
    assert any("withheld" in note for note in found.notes)
    assert not any(table.name == "survival: log-rank" for table in found.tables)


def test_all_groups_withheld_leave_no_figures():
    found, _ = joint(job(**SMALL), drawn(20, 5), drawn(20, 6), limits=Limits(minimum_group=10_000))
    assert set(curves(found).values()) == {None}
    assert any("withheld" in note for note in found.notes)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=5)])
@pytest.mark.parametrize("changes", [COARSE, SMALL])
def test_an_estimate_is_what_a_run_sends(changes, limits):
    study = job(**changes)
    sides = drawn(30, 1), drawn(30, 2)
    first, second = traffic(study, *sides, limits=limits)
    estimate = estimate_cost(study, SCHEMAS, BOTH, RunSetting((30, 30), limits))
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds


def test_under_equal_survival_the_test_rejects_as_often_as_it_says():
    """200 tables; 5 % of them is 10, and more than 30 come less than once in a million times."""
    study = job(budget='epsilon = "1/2"', **SMALL)
    statistic = planned(study).statistic
    layout, noise = statistic.layout, statistic.distributions[0]
    source, rejected = Randomness.from_seed(b"level", "noise"), 0
    for seed in range(200):
        exact = cells(study, drawn(600, seed)).astype(np.float64)
        noisy = Redrawn.of(layout, exact, noise, source).drawn[0]
        comparison = Redrawn.of(layout, noisy, noise, source).compare()
        assert comparison is not None
        value = comparison.excess @ np.linalg.solve(comparison.covariance, comparison.excess)
        rejected += value > 5.991
    assert 0 < rejected <= 30


def test_bands_hold_what_is_true_of_the_population():
    """Of 150 curves 95 % do, at a point; fewer than 124 come less than once in a million times."""
    study = job(budget='epsilon = "1/2"', **SMALL)
    statistic = planned(study).statistic
    noise, inside = statistic.distributions[0], 0
    source = Randomness.from_seed(b"bands", "noise")
    for seed in range(150):
        exact = cells(study, drawn(900, 1000 + seed)).astype(np.float64)
        noisy = Redrawn.of(statistic.layout, exact, noise, source).drawn[0]
        found = Redrawn.of(statistic.layout, noisy, noise, source).figures(0, 1, 0)
        lower, upper = band(found.survival[3:4], found.variance[3:4])
        true = np.exp(-30 / 60)
        inside += bool(lower[0] <= true <= upper[0])
    assert inside >= 124


def advice(rows, budget, **changes):
    study = job(budget=budget, **{**SMALL, **changes})
    return study.preview(drawn(rows, 1), Role.ALICE, NO_LIMITS).advice


def test_longer_steps_are_advised_where_noise_decides():
    (said,) = advice(3000, 'epsilon = "1/4"', every=1, until=60)
    assert "noise would be the smaller part" in said
    longer = int(said.split('every = "')[1].split('"')[0])
    assert longer > 1
    assert "instead of" in said
    after = advice(3000, 'epsilon = "1/4"', every=longer, until=60)
    assert not any(f"reach {60 // longer * longer} instead" in each for each in after)
    assert "raise epsilon" in advice(50, 'epsilon = "1/100"')[0]
    assert advice(3000, 'epsilon = "9"', until=60) == ()


def test_the_widest_place_of_each_curve_is_expected_before_a_run(monkeypatch):
    study = job(**SMALL)
    side = drawn(900, 4)
    rows = study.preview(side, Role.ALICE, NO_LIMITS).details["precision"]
    assert [row["term"] for row in rows] == ["A", "B", "C"]
    silence(monkeypatch)
    found, _ = joint(study, side, side)
    lower, upper = (curves(found, value=name) for name in ("lower_95", "upper_95"))
    for row in rows:
        widths = [
            (upper[place] - lower[place]) / 2
            for place in lower
            if place[0] == row["term"] and lower[place] is not None
        ]
        assert row["half_width"] == pytest.approx(max(widths), rel=0.1)


def test_over_matched_rows_the_figures_are_those_of_the_joined_table(monkeypatch):
    """Times and groups of Alice, events of Bob; with noise of nothing."""
    silence(monkeypatch)
    study = vertical_runs.job(vertical_runs.KINDS["survival"].replace("80", "60"), epsilon="8")
    sides = vertical_runs.tables(80, 90, 60)
    found, other = vertical_runs.joint(study, *sides)
    expected = study.reference(*sides, BOTH)[0]
    assert found == other
    for name in ("at_risk", "survival"):
        values, exact = curves(found, "0", name), curves(expected, "0", name)
        assert sum(value is not None for value in values.values()) >= 4
        assert all(value in (None, pytest.approx(exact[place])) for place, value in values.items())
    assert sum(value for (_, time), value in curves(expected, "0", "at_risk").items() if time == 0) == 60


def test_only_the_first_row_of_a_person_counts():
    study = job(**SMALL)
    side = columns([5, 50, 50], [1, 1, 1], [0, 0, 0], [0, 0, 0])
    side[PERSONS] = Column(np.array([0, 0, 1]), Schema("integer"))
    assert cells(study, side).sum() == 2


def test_a_column_of_0_and_1_can_say_that_the_event_came():
    schema = Schema("integer", lower=0, upper=1)
    study = job(events=None, competing=None, strata=None, by=None, test=None)
    one = {"days": Column(np.array([25, 15]), DAYS), "ended": Column(np.array([0, 1]), schema)}
    outcome = study.reference(one, one, BOTH)[0]
    assert curves(outcome)[None, 20] == 0.5


@pytest.mark.parametrize(
    ("changes", "schemas", "message"),
    [
        ({"event": "arm", "by": "ended"}, {}, "no label 'died'"),
        (
            {"time": "arm", "by": "ended", "event": "stage", "events": ["I"], "strata": None},
            {},
            "times from 0",
        ),
        ({"events": None, "competing": None}, {}, "does not say how"),
        ({"events": ["dead"]}, {}, "no label 'dead'"),
        ({"step": "1/2"}, {}, "more decimals"),
        ({}, {"days": Schema("integer", lower=-5, upper=5000)}, "times from 0"),
        ({}, {"days": Schema("integer", upper=5000)}, "times from 0"),
        ({"by": "days", "time": "years"}, {"years": DAYS}, "by needs a category"),
        (
            {"every": "1/100", "step": None},
            {"days": Schema("decimal", 3, lower=0)},
            "more than 1000|above 1000",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(changes, schemas, message):
    with pytest.raises(UsageError, match=message):
        plan(job(**changes).parameters, SCHEMAS | schemas)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"until": 105}, "not a multiple"),
        ({"step": 3}, "does not divide"),
        ({"restricted_mean": 45}, "restricted_mean"),
        ({"restricted_mean": 200}, "restricted_mean"),
        ({"test": "wilcoxon"}, "log-rank"),
        ({"by": None}, "no groups to compare"),
        ({"test": None}, "for the test alone"),
        ({"competing": ["died"]}, "label of events"),
        ({"event": "days"}, "not all different"),
        ({"every": None}, "every"),
        ({"until": "x"}, "not an exact number"),
        ({"lower": 0}, "unknown key"),
        ({"by": ["a", "b", "c"]}, "by"),
    ],
)
def test_queries_that_say_nothing_clear_are_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        job(**changes)


def test_declarations_of_both_sides_have_to_agree_but_for_bounds():
    wider = SCHEMAS | {"days": Schema("integer", lower=0, upper=9000, unit="days")}
    job().check(SCHEMAS, wider)
    with pytest.raises(UsageError, match="differently"):
        job().check(SCHEMAS, SCHEMAS | {"arm": Schema("category", categories=("A", "B"))})
    with pytest.raises(UsageError, match="times from 0"):
        job().check(SCHEMAS, SCHEMAS | {"days": Schema("integer", lower=-1, upper=5000, unit="days")})


def test_longer_steps_merge_cells():
    study = job(step=1, every=10)
    layout = planned(study).statistic.layout
    side = drawn(300, 8)
    assert isinstance(layout, SurvivalCells)
    for factor in (2, 5, 10, 20):
        coarse = layout.coarser(factor)
        rows = LocalRows.of(study.parameters, side)
        assert (layout.merge(layout.count(rows), factor) == coarse.count(rows)).all()


def test_the_noise_of_a_run_is_that_of_its_distribution():
    """The sum of squares of 2,100 cells without rows, five deviations of it around its mean."""
    study = job(budget='epsilon = "1"', step=1, every=10)
    one = planned(study)

    def side(session):
        return noisy_words(session, [one], [np.zeros((1, one.statistic.layout.size), dtype=np.int64)])

    opened = np.add(*run_pair(side, side)).view(np.int64)
    noise = opened[: one.statistic.layout.size].astype(np.float64)
    variance = DiscreteLaplace.of(Fraction(1)).deviation ** 2
    assert noise.var() == pytest.approx(variance, rel=5 * (5 / len(noise)) ** 0.5)
    groups = opened[one.statistic.layout.size :]
    assert groups.tolist() == noise.reshape(3, -1).sum(axis=1).astype(int).tolist()


def test_policies_can_name_the_kind():
    facts = job().facts(BOTH)
    assert facts.asked.queries == {"survival"}
    assert facts.loss.epsilon == 1
    assert facts.exact is None


def test_who_learns_what_names_the_cells_that_are_opened():
    (learns,) = job().leakage(BOTH).alice
    assert "the number of rows by arm, stage, step of days, ended" in learns
