"""Poisson and Cox models over matched rows beside statsmodels and lifelines, and planted attacks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.models import matched_newton
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.secret.sharing.opening import OpenedBits, OpenedShares
from smc.testing.case import BOTH, Case, run_case
from tests.smc.analyses.models.matched_cohort import EFRON, EXPECTED, data, design, job
from tests.smc.analyses.models.matched_runs import changed, matched_rows, near, none_of, ran
from tests.support.held_bounds import unwatched

GROUPS = Limits(minimum_group=5)
WEIGHS = Limits(minimum_group=5, dominance=Fraction(1, 4))
SPREAD = {"poisson": 0.001, "cox": 0.005}
ROWS = {"poisson": 200, "cox": 600}
"""Enough that no person has a fifth of what a covariate tells."""

ON = {"poisson": ["smoker", "stage"], "cox": ["smoker", "weight"]}


@pytest.fixture
def few_steps(monkeypatch):
    """What limits are tested on does not depend on how near coefficients are."""
    monkeypatch.setattr(matched_newton, "EARLY_STEPS", 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["poisson", "cox"])
def test_a_model_is_that_of_the_joined_table(name):
    (alice, bob), _ = ran(job(name), WEIGHS, rows=1600)
    assert alice.tables == bob.tables
    values, errors = map(np.array, EXPECTED[name])
    near(alice.tables[0].columns, values, errors, SPREAD[name])
    assert alice.tables[1].columns["rows"] == [len(design(name)[0])]
    if name == "cox":
        assert np.abs((values - EFRON) / errors).max() < 0.04
        assert "hazard_ratio" in alice.tables[0].columns


def exchanged(parameters):
    """Who is Alice is Bob."""
    alice, bob = parameters["alice_columns"], parameters["bob_columns"]
    return parameters | {"alice_columns": bob, "bob_columns": alice}


@pytest.mark.parametrize(
    ("name", "swap"),
    [
        ("poisson", False),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("poisson", True), ("cox", False), ("cox", True))
        ),
    ],
)
def test_a_run_is_its_reference_and_its_estimate(name, swap):
    """Times at either side, whichever has fewer rows."""
    parameters = job(name, on=ON[name])
    sides = [data(role, parameters, ROWS[name]) for role in Role]
    if swap:
        parameters, sides = exchanged(parameters), sides[::-1]
    study = ANALYSIS.parse(parameters)
    (alice, bob), traffic = run_case(study, Case({}, *sides), GROUPS)
    wanted, _ = study.reference(*sides, BOTH)
    right = wanted.tables[0].columns
    near(alice.tables[0].columns, *(np.array(right[key]) for key in ("coefficient", "standard_error")), 0.02)
    assert alice.tables == bob.tables
    schemas = {column: held.schema for side in sides for column, held in side.items()}
    setting = RunSetting((len(sides[0]["number"]), len(sides[1]["number"])), limits=GROUPS)
    estimated = estimate_cost(study, schemas, BOTH, setting)
    assert (estimated.alice_bytes, estimated.bob_bytes) == tuple(each.sent for each in traffic)
    assert estimated.rounds == max(each.rounds for each in traffic)


@pytest.mark.parametrize("name", ["poisson", "cox"])
def test_one_vector_opens_and_one_bit_for_the_limits(name, few_steps):
    opened = []

    def seen(message):
        if isinstance(message, OpenedShares | OpenedBits):
            opened.append(type(message))

    ran(job(name, on=["smoker"]), GROUPS, seen=seen)
    assert opened.count(OpenedShares) == 2  # a message of each side
    assert opened.count(OpenedBits) == 2


def one_stage(alice, bob, held):
    """Of many persons of Bob's with a stage one matches."""
    _, places = matched_rows(alice, bob)
    found = np.full_like(held, 2)
    found[places] = np.arange(len(places)) % 2
    found[places[3]] = 2
    return found


def one_weight(alice, bob, held):
    """Many matched persons are heavy, but one alone of those who are followed when events happen."""
    first, second = matched_rows(alice, bob)
    days, event = alice["days"].array, alice["event"].array
    followed = days[first] >= days[event == 1].min()
    found = np.where(np.arange(len(held)) % 2, 700, 900)
    found[second] = np.where(followed, 700, 900)
    found[second[followed][3]] = 900
    return found


def early(alice, bob, held):
    """Half of the persons leave before the first event."""
    days = np.maximum(held, 14)
    days[(np.arange(len(held)) % 2 == 0) & (alice["event"].array == 0)] = 0
    return days


def few_followed(alice, bob, held):
    """The matched persons but four leave before anything happens."""
    first, _ = matched_rows(alice, bob)
    days = np.maximum(held, 14)
    days[first[4:]] = 0
    return days


def nobody_else(alice, bob, held):
    """None of the matched persons but these four ends with the event."""
    first, _ = matched_rows(alice, bob)
    found = np.ones_like(held)
    found[first[4:]] = 0
    return found


def few_counts(alice, bob, held):
    found = np.zeros_like(held)
    found[matched_rows(alice, bob)[1][:29]] = 3
    return found


def few_events(alice, bob, held):
    """Enough at its owner, and 19 that match."""
    first, _ = matched_rows(alice, bob)
    found = np.ones_like(held)
    found[first[19:]] = 0
    return found


ATTACKS = {
    "a label of one matched person": ("poisson", {"stage": one_stage}, GROUPS),
    "few persons with a count": ("poisson", {"visits": few_counts}, GROUPS),
    "a value of one person among those at risk": ("cox", {"days": early, "weight": one_weight}, GROUPS),
    "times at which four persons are followed": (
        "cox",
        {"event": nobody_else, "days": few_followed},
        GROUPS,
    ),
    "few matched events": ("cox", {"event": few_events}, GROUPS),
}


SLOW = ("few persons with a count", "few matched events", "times at which four persons are followed")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in ATTACKS]
)
def test_an_attack_is_refused_and_nothing_opens(name, few_steps):
    model, changes, limits = ATTACKS[name]
    opened = []

    def change(alice, bob):
        for column, values in changes.items():
            changed(column, values)(alice, bob)

    seen = lambda message: opened.append(message) if isinstance(message, OpenedShares) else None  # noqa: E731
    with unwatched(), pytest.raises(DisclosureRefused):
        ran(job(model, on=ON[model]), limits, change=change, seen=seen)
    assert opened == []


def one_long(alice, bob, held):
    """One person is exposed for twenty years, and everybody else for one."""
    found = np.ones_like(held)
    found[matched_rows(alice, bob)[0][3]] = 20
    return found


def test_a_person_with_most_of_the_exposure_is_refused_by_dominance(few_steps):
    limits = replace(WEIGHS, dominance=Fraction(1, 8))
    parameters = job("poisson", on=ON["poisson"])
    ran(parameters, limits, rows=400)
    with pytest.raises(DisclosureRefused):
        ran(parameters, limits, rows=400, change=changed("years", one_long))


def no_counts(alice, bob, held):
    """Nobody who smokes has a count."""
    first, second = matched_rows(alice, bob)
    held[second] = np.where(alice["smoker"].array[first] == 1, 0, held[second] + 1)
    return held


def no_counts_at_all(alice, bob, held):
    return np.zeros_like(held)


def no_smoker_dies(alice, bob, held):
    return np.where(alice["smoker"].array == 1, 0, held)


def weight_by_smoker(alice, bob, held):
    """A covariate that follows from another."""
    first, second = matched_rows(alice, bob)
    held[second] = 700 + 200 * alice["smoker"].array[first]
    return held


def huge(alice, bob, held):
    """Counts that depend on a covariate by more than the reach."""
    first, second = matched_rows(alice, bob)
    held[second] = np.where(alice["age"].array[first] > 90, 60, 0)
    held[second[:3]] = 1
    return held


QUICK = ("a label without counts", "no counts")
IMPOSSIBLE = {
    "a label without counts": ("poisson", ["smoker", "stage"], {"visits": no_counts}),
    "no counts": ("poisson", ["smoker"], {"visits": no_counts_at_all}),
    "counts of the oldest alone": ("poisson", ["age"], {"visits": huge}),
    "a label without events": ("cox", ["smoker", "weight"], {"event": no_smoker_dies}),
    "a covariate that follows from another": ("cox", ["smoker", "weight"], {"weight": weight_by_smoker}),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name not in QUICK else ()) for name in IMPOSSIBLE],
)
def test_what_has_no_estimate_ends_in_one_bit(name):
    model, on, changes = IMPOSSIBLE[name]

    def change(alice, bob):
        for column, values in changes.items():
            changed(column, values)(alice, bob)

    parameters = job(model, on=on)
    if on == ["smoker"]:
        parameters = parameters | {"bob_columns": ["visits"]}
    with unwatched():
        (alice, bob), _ = ran(parameters, NO_LIMITS, rows=160, change=change)
    none_of(alice)
    assert bob.tables == alice.tables


def test_what_cannot_be_asked_for_is_refused():
    with pytest.raises(UsageError, match="strata"):
        ANALYSIS.parse(job("cox", strata=["stage"]))
    study = ANALYSIS.parse(
        job("cox") | {"alice_columns": ["age", "smoker", "days"], "bob_columns": ["weight", "event"]}
    )
    schemas = {name: held.schema for role in Role for name, held in data(role, job("cox"), 40).items()}
    with pytest.raises(UsageError, match="columns of two sides"):
        study.check(schemas, schemas)


def test_the_statement_names_what_has_to_hold():
    for name, word in (("poisson", "48 times"), ("cox", "48 times")):
        leakage = ANALYSIS.parse(job(name)).leakage(BOTH)
        assert any(word in line and "one bit" in line for line in leakage.alice)
    cox = ANALYSIS.parse(job("cox")).leakage(BOTH)
    assert any("intervals" in line for line in cox.public)
    assert any("stay closed" in line for line in cox.bob)
