"""What a model must not tell, and what ends without one: planted attacks, each refused or told in one bit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.fits import MAX_FIT_OPENINGS, FitPart, refusal
from smc.analyses.disclosure.limits import NO_LIMITS, Agreed, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.models.outcome import NOT_COMPUTED
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.channel.channel import Channel
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.opening import OpenedShares
from smc.testing.case import BOTH, Case, run_case
from tests.smc.analyses.models.cohort import MODELS, data
from tests.support.held_bounds import unwatched

GROUPS = Limits(minimum_group=5)
WEIGHS = Limits(minimum_group=5, dominance=Fraction(1, 4))
LOOSE = Limits()
NOTHING = ShownTables(())


def changed(side, name, values):
    return side | {name: replace(side[name], values=np.asarray(values, dtype=np.int64))}


def one_of(count, place=7):
    values = np.zeros(count, dtype=np.int64)
    values[place] = 1
    return values


def answers(model, alice, bob, limits):
    """What each side ends with, an outcome or an error, and how many messages opened shares."""
    study = ANALYSIS.parse({"models": [MODELS[model]]})
    opened = []

    def side(session):
        honest = Channel.send

        def send(message):
            opened.append(isinstance(message, OpenedShares))
            honest(session.channel, message)

        session.channel.send = send
        own = alice if session.role is Role.ALICE else bob
        try:
            return run_study(study, session, own, BOTH, limits[session.role])
        except DisclosureRefused as error:
            return error

    return run_pair(side, timeout=60), sum(opened)


def agreed(alice, bob):
    """Limits of both, as each sees them."""
    both = alice.stricter(bob)
    return {Role.ALICE: Agreed(Owned(alice), both), Role.BOB: Agreed(Owned(bob), both)}


def rare_smoker(side):
    return changed(side, "smoker", one_of(len(side["smoker"])))


def rare_non_smoker(side):
    return changed(side, "smoker", 1 - one_of(len(side["smoker"])))


def few_deaths(side):
    died = np.zeros(len(side["died"]), dtype=np.int64)
    died[:59] = 1
    return changed(side, "died", died)


def few_survivors(side):
    died = np.ones(len(side["died"]), dtype=np.int64)
    died[:59] = 0
    return changed(side, "died", died)


def few_persons(side):
    """Many rows of four persons."""
    count = len(side["age"])
    return side | {PERSONS: Column(np.arange(count) % 4, Schema("integer", lower=0))}


def one_old_person(side):
    """All others are of one age but a few, so that one person decides the coefficient of age."""
    age = np.full(len(side["age"]), 57)
    age[:6], age[6] = 58, 95
    return changed(side, "age", age)


ATTACKS = {
    "one person with a label": ("logistic", rare_smoker, GROUPS),
    "one person without a label": ("logistic", rare_non_smoker, GROUPS),
    "a label of one person in a Cox model": ("cox", rare_smoker, GROUPS),
    "a label of one person in a model of counts": ("poisson", rare_smoker, GROUPS),
    "a label of one person in a linear model": ("linear", rare_smoker, GROUPS),
    "fewer events than coefficients can be told from": ("logistic", few_deaths, GROUPS),
    "fewer without the event": ("logistic", few_survivors, GROUPS),
    "many rows of few persons": ("linear", few_persons, GROUPS),
    "one person decides a coefficient": ("linear", one_old_person, WEIGHS),
    "one person decides a coefficient of a logistic model": ("logistic", one_old_person, WEIGHS),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("victim", list(Role))
def test_a_side_refuses_by_its_own_policy_whatever_the_other_says(name, victim):
    model, attack, limits = ATTACKS[name]
    sides = {role: data(role, model) for role in Role}
    own = {role: limits if role is victim else LOOSE for role in Role}
    # Without the attack both go on.
    (first, second), opened = answers(model, *sides.values(), agreed(*own.values()))
    assert first.tables == second.tables
    assert opened == 4
    sides[victim] = attack(sides[victim])
    ended, opened = answers(model, *sides.values(), agreed(*own.values()))
    assert opened == 0
    told = dict(zip(Role, ended, strict=True))
    assert "This side's limits" in str(told[victim])
    assert "The other party does not let" in str(told[victim.other])
    # The other side's own rows are its own affair.
    own = {role: LOOSE if role is victim else limits for role in Role}
    (first, _), _ = answers(model, *sides.values(), agreed(*own.values()))
    assert not isinstance(first, DisclosureRefused)


def test_what_the_other_side_reads_says_no_number():
    sides = [data(Role.ALICE, "logistic"), rare_smoker(data(Role.BOB, "logistic"))]
    (alice, _), _ = answers("logistic", *sides, agreed(GROUPS, GROUPS))
    assert not any(sign.isdigit() for sign in str(alice))
    assert "smoker" not in str(alice)


def separated(side):
    """Whoever is older has the event, and nobody else."""
    return changed(side, "died", side["age"].array > 60)


def of_one_age(side):
    return changed(side, "age", np.full(len(side["age"]), 60))


def without_smokers(side):
    return changed(side, "smoker", np.zeros(len(side["smoker"]), dtype=np.int64))


def weight_by_age(side):
    """A covariate that follows from another."""
    return changed(side, "weight", side["age"].array * 10 + 200)


IMPOSSIBLE = {
    "separated outcomes": ("logistic", separated),
    "a covariate of one value": ("linear", of_one_age),
    "a label that nobody has": ("poisson", without_smokers),
    "a covariate that follows from another": ("linear", weight_by_age),
    "the same of survival times": ("cox", weight_by_age),
    "a label that nobody of the survivors' table has": ("cox", without_smokers),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_has_no_estimate_ends_in_one_bit_and_never_in_a_number(name):
    model, broken = IMPOSSIBLE[name]
    sides = [broken(data(role, model)) for role in Role]
    with unwatched():
        (alice, bob), _ = run_case(ANALYSIS.parse({"models": [MODELS[model]]}), Case({}, *sides), NO_LIMITS)
    assert alice == bob
    assert any(NOT_COMPUTED in note for note in alice.notes)
    assert set(alice.tables[0].columns["coefficient"]) == {None}
    assert alice.tables[-1].columns["openings"][0] <= MAX_FIT_OPENINGS


@pytest.mark.parametrize("model", ["linear", "cox"])
def test_an_empty_side_opens_no_number_of_the_other(model):
    """Under limits an empty side refuses; without, the other one's rows alone decide."""
    sides = [data(Role.ALICE, model), data(Role.BOB, model, 0)]
    ended, opened = answers(model, *sides, agreed(GROUPS, GROUPS))
    assert all(isinstance(end, DisclosureRefused) for end in ended)
    assert opened == 0


def test_limits_allow_one_model_a_job():
    study = ANALYSIS.parse({"models": [{"name": name, **MODELS[name]} for name in ("linear", "cox")]})
    sides = [data(role, "linear") | data(role, "cox") for role in Role]
    with pytest.raises(DisclosureRefused, match="one figure"):
        run_case(study, Case({}, *sides), GROUPS)


def test_digits_of_single_rows_are_not_shown():
    """Coefficients are on a grid of a 32nd of the least standard error: few guesses can be told apart."""
    study = ANALYSIS.parse({"models": [MODELS["cox"]]})
    sides = [data(role, "cox") for role in Role]
    (alice, _), _ = run_case(study, Case({}, *sides), NO_LIMITS)
    half = 60.0  # of the range of age
    grid = np.array(alice.tables[0].columns["coefficient"][0]) * half * 2**11
    assert abs(grid - round(float(grid))) < 1e-6


def test_the_statement_says_what_chosen_rows_find():
    leakage = ANALYSIS.parse({"models": [MODELS["logistic"]]}).leakage(BOTH)
    assert leakage.alice == leakage.bob
    assert any("rows of its choice" in line for line in leakage.alice)
    assert any("8 at most and 2 as a rule" in line for line in leakage.alice)
    assert any("one bit" in line and "cannot" not in line for line in leakage.alice)


def test_a_release_opens_coefficients_of_an_admitted_model_only():
    scope = Scope(frozenset({Kind.GROUPS}))
    part = FitPart(100, [100], 2, [("x", 40)], [("x", Fraction(1, 10))], 0.1, NOTHING)

    def side(session):
        release = Release(session, scope, BOTH, GROUPS.of_both)
        values = SecretInts.from_plain(
            session, [3] if session.role is Role.BOB else None, Role.BOB, Bounds(0, 9), 1
        )
        admitted = release.exact(part, BOTH)
        for _ in range(MAX_FIT_OPENINGS):
            assert admitted.open(values) == [3]
        with pytest.raises(DisclosureRefused, match="too often"):
            admitted.open(values)
        with pytest.raises(DisclosureRefused, match="more figures"):
            release.exact(part, BOTH)
        release.close()

    run_pair(side)


@pytest.mark.parametrize(
    ("part", "limits", "why"),
    [
        (FitPart(4, [], 1, [], [], 0.0, NOTHING), Limits(minimum_group=5), "4 persons"),
        (
            FitPart(90, [90, 19], 2, [], [], 0.0, NOTHING),
            Limits(minimum_group=5),
            "19 persons, and 20 are needed",
        ),
        (
            FitPart(90, [90, 29], 2, [], [], 0.0, NOTHING),
            Limits(minimum_group=30),
            "29 persons, and 30 are needed",
        ),
        (
            FitPart(90, [90], 2, [("x", 4)], [], 0.0, NOTHING),
            Limits(minimum_group=5),
            "4 persons differ in 'x'",
        ),
        (
            FitPart(90, [90], 2, [], [("x", Fraction(2, 5))], 0.0, NOTHING),
            Limits(dominance=Fraction(1, 3)),
            "decides more",
        ),
        (
            FitPart(90, [90], 2, [], [], 0.0, NOTHING, Fraction(2, 5)),
            Limits(dominance=Fraction(1, 3)),
            "squared residuals",
        ),
        (
            FitPart(90, [90], 2, [], [], 0.26, NOTHING),
            Limits(minimum_group=4),
            "a combination of the covariates",
        ),
    ],
)
def test_each_limit_stands_by_itself(part, limits, why):
    found = refusal(Owned(limits), part)
    assert found is not None
    assert why in str(found)
    assert refusal(Owned(NO_LIMITS), part) is None
