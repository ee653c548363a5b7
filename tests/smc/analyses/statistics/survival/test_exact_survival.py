"""Survival without noise: what opens is what the formulas give of all rows, as far as limits allow."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from math import floor, log2

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.survival.at_points import OpenedGroup, group_figures
from smc.analyses.statistics.kinds.survival.digits import CHANCE, NUMBER, VARIANCE, KeptDigits
from smc.analyses.statistics.kinds.survival.joint_curves import JointTables, JointTest, log_rank_sums, pairs
from smc.analyses.statistics.kinds.survival.life_table import (
    at_risk,
    incidence,
    kaplan_meier,
    log_rank,
    restricted_mean,
)
from smc.analyses.statistics.plans.plan import resolve
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.facts import Whom
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.reals.reals import SecretReals
from tests.smc.analyses.statistics.survival.followed import (
    BOTH,
    QUERY,
    SCHEMAS,
    columns,
    curves,
    drawn,
    figures,
    job,
    known,
)
from tests.smc.analyses.statistics.survival.test_life_table import CHI_SQUARE, POINTS, STRATIFIED, SURVIVAL
from tests.smc.analyses.statistics_runs import joint, traffic

EXACT = 'noise = "none"'
PLAIN = {"competing": None, "strata": None, "restricted_mean": None, "step": None}
THREE = Limits(minimum_group=3)


def exact(**changes):
    return job(budget=EXACT, **changes)


def close(one, other, error):
    """Two columns by place; None where both have none."""
    assert one.keys() == other.keys()
    for place, value in one.items():
        assert (value is None) == (other[place] is None)
        assert value is None or value == pytest.approx(other[place], abs=error)


def test_a_joint_run_gives_the_figures_of_lifelines_and_statsmodels():
    found, other = joint(exact(), *known())
    assert found == other
    for arm, values in SURVIVAL.items():
        curve = curves(found)
        assert [curve[arm, time] for time in POINTS] == pytest.approx(values, abs=1e-6)
    assert figures(found, "log-rank")[0]["value"] == pytest.approx(STRATIFIED, rel=1e-5)
    plain, _ = joint(exact(**PLAIN), *known())
    assert figures(plain, "log-rank")[0]["value"] == pytest.approx(CHI_SQUARE, rel=1e-5)


@pytest.mark.parametrize("changes", [{}, PLAIN, {"by": None, "test": None, "strata": None}])
def test_a_joint_run_is_its_reference(changes):
    study = exact(**changes)
    sides = drawn(150, 1), drawn(80, 2)
    found, _ = joint(study, *sides)
    expected, _ = study.reference(*sides, BOTH)
    for name in ("at_risk", "survival", "lower_95", "upper_95"):
        close(curves(found, value=name), curves(expected, value=name), 1e-5)
    if not changes:
        for one, other in zip(figures(found, "incidence"), figures(expected, "incidence"), strict=True):
            assert one["incidence"] == pytest.approx(other["incidence"], abs=1e-5)
    assert found.notes == expected.notes


@pytest.mark.parametrize("recipients", [frozenset({Role.ALICE}), frozenset({Role.BOB})])
def test_only_recipients_get_figures(recipients):
    for limits in (NO_LIMITS, Limits(minimum_group=2)):
        outcomes = joint(exact(**PLAIN, every=50), drawn(300, 1), drawn(300, 2), recipients, limits)
        for role, outcome in zip(Role, outcomes, strict=True):
            assert bool(outcome.tables) is (role in recipients)


def test_times_units_of_decimals_are_steps():
    days = Schema("decimal", scale=1, lower=0, upper=100)
    study = exact(until=3, every=1, step=None, by=None, test=None, strata=None, restricted_mean=None)
    side = columns([5, 12, 12, 30], [1, 1, 0, 1], [0] * 4, [0] * 4)
    side["days"] = Column(np.array([5, 12, 12, 30]), days)
    found, _ = joint(study, side, side)
    # Three reciprocals, each off by a part of 2**-15 at most.
    assert [curves(found)[None, time] for time in (0, 1, 2, 3)] == pytest.approx([1, 0.75, 0.5, 0], abs=1e-4)


def test_curves_with_nobody_at_risk_stay_where_they_are():
    study = exact(**PLAIN)
    side = columns([1, 1, 2, 5], [1, 0, 1, 1], [0, 1, 0, 1], [0] * 4)
    found, _ = joint(study, side, side)
    expected, _ = study.reference(side, side, BOTH)
    close(curves(found), curves(expected), 1e-5)
    nobody = columns([], [], [], [])
    empty, _ = joint(study, nobody, nobody)
    assert set(curves(empty).values()) == {1.0}
    assert not any(table.name == "survival: log-rank" for table in empty.tables)


@pytest.mark.parametrize("limits", [NO_LIMITS, THREE, Limits(minimum_group=11)])
@pytest.mark.parametrize("changes", [{}, PLAIN])
def test_an_estimate_is_what_a_run_sends(changes, limits):
    study = exact(**{"restricted_mean": 50, **changes, "every": 50})
    sides = drawn(1500, 1), drawn(1500, 2)
    first, second = traffic(study, *sides, limits=limits)
    estimate = estimate_cost(study, SCHEMAS, BOTH, RunSetting((1500, 1500), limits))
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds


def test_under_limits_points_are_withheld_and_figures_rounded():
    study = exact(**PLAIN)
    sides = drawn(900, 1), drawn(900, 2)
    found, other = joint(study, *sides, limits=THREE)
    expected, _ = study.reference(*sides, BOTH)
    assert found == other
    shown = {place: value for place, value in curves(found).items() if value is not None}
    assert 15 < len(shown) < len(curves(expected))
    left = [
        curves(study.reference(side, columns([], [], [], []), BOTH)[0], value="at_risk") for side in sides
    ]
    for place, value in shown.items():
        unit = 2.0 ** -np.floor(log2(min(own[place] for own in left) / 3))
        assert unit <= 1 / 2
        assert value == pytest.approx(curves(expected)[place], abs=unit / 2 + 1e-5)
        assert (value / unit).is_integer()
    assert any("points are withheld" in note for note in found.notes)
    assert any("rounded" in note for note in found.notes)


def test_too_few_between_points_close_a_sides_part_at_both():
    with pytest.raises(DisclosureRefused):
        joint(exact(**{**PLAIN, "every": 1}), drawn(300, 1), drawn(300, 2), limits=Limits(minimum_group=5))


def test_a_person_has_one_row():
    study = exact(**PLAIN)
    side = columns([5, 50], [1, 1], [0, 0], [0, 0])
    side[PERSONS] = Column(np.array([0, 0]), Schema("integer"))
    refusal = study.preview(side, Role.ALICE, NO_LIMITS).refusal
    assert isinstance(refusal, DomainError)
    side[PERSONS] = Column(np.array([0, 1]), Schema("integer"))
    assert study.preview(side, Role.ALICE, NO_LIMITS).refusal is None


def test_what_policies_have_to_know():
    facts = exact().facts(BOTH)
    assert facts.exact is not None
    assert (facts.exact.count, facts.exact.whom) == (1, Whom.CELLS)
    assert facts.sorts_by == {"days", "ended", "arm", "stage"}
    assert facts.asked.queries == {"survival"}
    assert not facts.loss
    assert facts.row_results
    assert any("chosen rows of its own" in said for said in exact().leakage(BOTH).bob)


def test_who_learns_what():
    learns = exact().leakage(frozenset({Role.ALICE}))
    assert learns.bob == ()
    said = " ".join(learns.alice)
    for words in ("every 10 of days up to 100, by arm", "the part with moved", "covariances", "withheld"):
        assert words in said
    assert "of Bob's part whether Bob lets it be opened" in said


def test_without_noise_survival_stands_alone_and_fits_words():
    text = '[[queries]]\nkind = "count"\ncolumn = "days"'
    with pytest.raises(UsageError, match="the only one"):
        STATISTICS.parse(tomllib.loads(f"{EXACT}\n{QUERY}\n{text}"))
    many = exact()
    parameters = replace(many.parameters, maximum_rows=1 << 26)
    with pytest.raises(UsageError, match="at most"):
        replace(many, parameters=parameters).check(SCHEMAS, SCHEMAS)


def test_what_is_computed_in_secret_is_what_the_formulas_give():
    """Of each step, group and stratum; six digits and more of variances, too."""
    study = exact()
    (query,) = study.parameters.queries
    layout = resolve(query, study.parameters, SCHEMAS).layout
    cells = [layout.count(LocalRows.of(study.parameters, side)) for side in known()]

    def run(session):
        own = cells[0 if session.role is Role.ALICE else 1]
        found, test = JointTables.of_both(session, own, layout, 1000).figures(test=True)
        opens = (found.survival, found.variance, *found.incidence, test.expected, test.covariance)
        return [each.reveal() for each in opens]

    survival, variance, chance, expected, covariance = run_pair(run, run)[0]
    ended, beyond = layout.split((cells[0] + cells[1]).astype(np.float64))
    together = ended.sum(axis=1), beyond.sum(axis=1)
    curve, points = kaplan_meier(*together), slice(0, None, 10)
    assert survival == pytest.approx(curve.survival[:, points], abs=1e-6)
    alive = curve.survival[:, points] > 0
    assert variance[alive] == pytest.approx(curve.variance[:, points][alive], rel=1e-4)
    assert chance == pytest.approx(incidence(*together)[0][:, 1, points], abs=1e-6)
    events = ended[:, :, 1].reshape(3, -1)
    excess, square = log_rank(events, at_risk(ended, beyond)[..., :-1].reshape(3, -1))
    assert events.sum(axis=1)[1:] - expected == pytest.approx(excess, abs=1e-4)
    assert covariance == pytest.approx([square[a - 1, b - 1] for a, b in pairs(3)], abs=1e-4)


@pytest.mark.parametrize("unit", [CHANCE, VARIANCE, NUMBER])
@pytest.mark.parametrize("indistinct", [0, 3, 10])
def test_digits_kept_are_those_of_the_smaller_side(unit, indistinct):
    sizes = {Role.ALICE: np.array([900, 900, 5, 0]), Role.BOB: np.array([900, 10, 5, 40])}
    numbers = np.array([[0.3217, 0.5], [0.8123, 0.25], [0.123, 1.0], [0.77, 0.1]])
    values = numbers * (200 if unit is NUMBER else 1)

    def run(session):
        digits = KeptDigits.of_sides(session, sizes[session.role], 1000, BOTH, indistinct)
        secret = SecretReals.sum_of_both(session, values / 2, 0, 200, 30)
        held = digits.round(secret, unit).reveal()
        return digits.read(held, unit, digits.classes(4, secret.ints).reveal())

    first, second = run_pair(run, run)
    assert (first == second).all()
    if not indistinct:
        assert first == pytest.approx(values, abs=2.0 ** -min(unit.exact, 28))
        return
    for row, size in enumerate((900, 10, 5, 40)):
        place = max(0, 1 + floor(log2(size / indistinct)))
        step = 2.0 ** -unit.bits(place, indistinct)
        assert first[row] == pytest.approx(np.floor(values[row] / step + 0.5) * step)


@pytest.mark.parametrize("persons", [2, 3, 5, 10, 100])
def test_units_cover_what_so_many_persons_move(persons):
    for place in range(1, 12):
        size = persons << place - 1  # the least of its class
        assert 2.0 ** -CHANCE.bits(place, persons) >= persons / size
        assert 2.0 ** -VARIANCE.bits(place, persons) >= persons / size**2
    assert CHANCE.bits(0, persons) == VARIANCE.bits(0, persons) == 0


def test_no_days_of_some_persons_move_figures_by_more_than_is_said():
    """A side brings any rows; so many of the other's persons who leave by the end do so on other days."""
    values = np.random.default_rng(7)
    steps, beyond, most = 12, 20, {}
    for _ in range(400):
        others = values.integers(0, 2, (2, steps)) * values.integers(0, 3000, (2, steps))
        moves = values.integers(1, 11)
        kind = values.integers(0, 2, moves)
        found = []
        for _ in range(2):
            ended = others.astype(float)
            np.add.at(ended, (kind, values.integers(0, steps, moves)), 1)
            curve = kaplan_meier(ended, np.array(float(beyond)))
            found.append((curve.survival[-1], curve.variance[-1]))
        for name, one, other in zip(("chance", "variance"), *found, strict=True):
            most[name] = max(most.get(name, 0), abs(one - other) / moves)
    assert 0.2 / beyond < most["chance"] <= 1 / beyond
    assert 0.2 / beyond**2 < most["variance"] <= 1 / beyond**2


def test_a_test_under_limits_is_within_sides():
    """What Bob brings changes nothing of what Alice's rows add, be it a thousand events of one day."""
    study = exact(**{**PLAIN, "every": 50})
    (query,) = study.parameters.queries
    layout = resolve(query, study.parameters, SCHEMAS).layout
    sides = drawn(1500, 1), columns([40] * 1000, [1] * 1000, [1] * 1000, [0] * 1000)
    cells = [layout.count(LocalRows.of(study.parameters, side)) for side in sides]
    own = [log_rank_sums(each, layout) for each in cells]

    def run(session):
        held = cells[list(Role).index(session.role)]
        found = JointTest.within_sides(session, held, layout, 1500)
        return [each.reveal() for each in (found.observed, found.expected, found.covariance)]

    for found, *parts in zip(run_pair(run, run)[0], *own, strict=True):
        assert found == pytest.approx(sum(parts), abs=1e-6)
    assert own[1][1][0] == 1000  # all that Bob expects are his own
    outcome, _ = joint(study, drawn(1500, 1), drawn(1500, 2), limits=THREE)
    assert any("within each side" in note for note in outcome.notes)


def test_a_restricted_mean_along_lines_is_near_that_of_steps():
    times = np.random.default_rng(1).exponential(50, 4000)
    ended = np.zeros((2, 100))
    np.add.at(ended[1], np.ceil(times[times <= 100]).astype(int) - 1, 1)
    curve = kaplan_meier(ended, np.full((), float((times > 100).sum())))
    at = slice(None, None, 5)
    shown = np.ones((3, 21), dtype=bool)
    opened = OpenedGroup(shown, curve.at_risk[at], curve.survival[at], curve.variance[at], np.zeros((0, 21)))
    found = group_figures(opened, 16, 5)
    value, variance = map(float, restricted_mean(curve, 80, 0.5))
    assert found is not None
    assert found.mean == pytest.approx((value, variance), rel=0.01)
    hidden = replace(opened, shown=shown & (np.arange(21) % 3 != 1))
    gaps = group_figures(hidden, 15, 5)
    assert gaps is not None
    assert gaps.mean == pytest.approx((float(restricted_mean(curve, 75, 0.5)[0]), variance), rel=0.1)
    assert group_figures(replace(opened, shown=~shown), 16, 5) is None
    assert np.isnan(gaps.survival[1])


def test_variances_of_incidences_along_points_are_near_those_of_steps():
    drawn_rows = np.random.default_rng(2)
    times, ends = drawn_rows.exponential(50, 5000), drawn_rows.uniform(20, 200, 5000)
    kind = np.where(times <= ends, 1 + (drawn_rows.random(5000) < 0.3), 0)
    step = np.minimum(np.ceil(np.minimum(times, ends)), 101).astype(int) - 1
    counted = np.zeros((3, 101))
    np.add.at(counted, (kind, step), 1)
    ended, beyond = counted[:, :100], np.full((), counted[:, 100].sum())
    curve, (chances, variance) = kaplan_meier(ended, beyond), incidence(ended, beyond)
    at = slice(None, None, 10)
    opened = OpenedGroup(
        np.ones((3, 11), dtype=bool),
        curve.at_risk[at],
        curve.survival[at],
        curve.variance[at],
        chances[1:, at],
    )
    found = group_figures(opened, 0, 10)
    assert found is not None
    assert found.incidence == pytest.approx(chances[:, at], abs=1e-12)
    assert found.incidence_variance[:, 1:] == pytest.approx(variance[:, at][:, 1:], rel=0.1)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=5)])
def test_ten_years_of_days_of_two_large_groups_stay_within_their_traffic(limits):
    """Two groups, 3,600 days, 100,000 rows a side: at most 200 MB and 350 rounds."""
    arms = SCHEMAS | {"arm": Schema("category", categories=("A", "B"))}
    study = exact(**{**PLAIN, "every": 30, "until": 3600})
    estimate = estimate_cost(study, arms, BOTH, RunSetting((100_000, 100_000), limits))
    assert estimate.alice_bytes + estimate.bob_bytes <= 200e6
    assert estimate.rounds <= 350
