"""A peer asks for models by numbers, one a job, whose columns differ in one person of the victim's.

A model by a number tells sums over all rows: of the number, and of it times the outcome. Where the next job
takes a number that is another one for that person alone, the difference is what the person's outcome is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.analyses.models.study import MODELS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.forms import Role
from tests.parties.disclosure.test_attacks import POLICY, Victim

BOTH = frozenset(Role)
ROWS, ALONE, OWN = 400, 7, 60
DEAR, CHEAP = 90_000, 1_000
SCHEMAS = {
    "cost": Schema("integer", lower=0, upper=100_000),
    "age": Schema("integer", lower=0, upper=120),
    "stays": Schema("integer", lower=0, upper=3),
    "days": Schema("integer", lower=0, upper=400),
    "begun": Schema("integer", lower=0, upper=400),
    "moved": Schema("integer", lower=0, upper=400),
    "rare": Schema("integer", lower=0, upper=3),
    "died": Schema("category", lower=0, upper=1, categories=("no", "yes")),
    "smoker": Schema("category", lower=0, upper=1, categories=("no", "yes")),
    "old": Schema("category", lower=0, upper=1, categories=("no", "yes")),
    "clinic": Schema("category", lower=0, upper=1, categories=("east", "west")),
    "ward": Schema("category", lower=0, upper=1, categories=("east", "west")),
}


def rows_of(count, seed, **changed):
    """Persons without anything that only few have."""
    drawn = np.random.default_rng(seed)
    number = np.arange(count)
    found = {
        "cost": drawn.integers(0, 20_000, count),
        "age": np.where(number % 4 == 0, 95, drawn.integers(20, 89, count)),
        "stays": number % 4,
        "days": 100 + drawn.integers(0, 290, count),
        "begun": drawn.integers(0, 20, count),
        "rare": np.zeros(count),
        "died": drawn.integers(0, 2, count),
        "smoker": number // 2 % 2,
        "old": number // 4 % 2,
        "clinic": number // 8 % 2,
    }
    found["moved"], found["ward"] = found["begun"].copy(), found["clinic"].copy()
    return {name: values.astype(np.int64) for name, values in (found | changed).items()}


def victims(**alone):
    """The victim's persons, of whom one is changed."""
    held = rows_of(ROWS, 11)
    for name, value in alone.items():
        held[name][ALONE] = value
    columns = {name: Column(values, SCHEMAS[name]) for name, values in held.items()}
    return columns | {PERSONS: Column(np.arange(ROWS), Schema("integer"))}


def asked(victim, derived=None, **model):
    """The first table of a job of one model; None where it is refused."""
    given = {"models": [{"kind": "linear", **model}]} | ({"derived": derived} if derived else {})
    _, outcome = victim.asked(MODELS.parse(given), recipients=BOTH, brought=rows_of(OWN, 5))
    return None if outcome is None else outcome.tables[0].columns


def test_ranges_a_year_apart_do_not_tell_what_one_person_cost(tmp_path):
    """A range of one year makes a number a cut: means of those below and above, whose sums are subtracted."""
    victim = Victim(tmp_path, victims(age=90, cost=DEAR))
    older = []
    for lower, persons in ((89, 101), (90, 100)):
        found = asked(victim, outcome="cost", on=["age"], range={"age": [str(lower), str(lower + 1)]})
        if found is None:
            assert older  # the first one is allowed
            return
        mine = rows_of(OWN, 5)
        above = mine["age"] > lower
        mean = found["coefficient"][0] + found["coefficient"][1] / 2
        older.append(mean * (persons + above.sum()) - mine["cost"][above].sum())
    told = older[0] - older[1]
    assert abs(told - DEAR) > 30_000, f"the peer finds {told:.0f} and the person cost {DEAR}"


CORRECTED = {"corrected": {"numbers": ["stays", "rare"], "compute": "difference"}}


def test_a_number_that_is_another_for_one_person_does_not_tell_what_that_person_cost(tmp_path):
    """The peer knows how long everybody stayed, and of whom the derived number differs."""
    victim = Victim(tmp_path, victims(rare=3, cost=DEAR))
    known = [rows_of(ROWS, 11), rows_of(OWN, 5)]
    stays = np.concatenate([rows["stays"] for rows in known])
    told = []
    for derived, name, middle in ((None, "stays", 1.5), (CORRECTED, "corrected", 0.0)):
        found = asked(victim, derived, outcome="cost", on=[name])
        if found is None:
            assert told
            return
        x = stays - middle
        if derived:
            x[ALONE] -= 3
        first, slope = found["coefficient"]
        by_outcome = x.sum() * first + (x**2).sum() * slope
        outcomes = len(x) * first + x.sum() * slope
        told.append(by_outcome + middle * outcomes)
    of_one = (told[0] - told[1]) / 3
    assert abs(of_one - DEAR) > 30_000, f"the peer finds {of_one:.0f} and the person cost {DEAR}"


TIMES = {
    name: {"numbers": ["days", start], "compute": "difference"}
    for name, start in (("time", "begun"), ("later", "moved"))
}


def cox(victim, name, **more):
    derived = {name: TIMES[name]} if name in TIMES else None
    asks = {"kind": "cox", "time": name, "event": "died", "events": ["yes"], "on": ["smoker"]}
    return asked(victim, derived, **asks | more)


def test_times_that_differ_in_one_person_do_not_tell_who_smokes(tmp_path):
    """Whether a coefficient rises or falls as one person is followed for less is what that person has."""
    moves = []
    for smoker in (0, 1):
        (folder := tmp_path / str(smoker)).mkdir()
        victim = Victim(folder, victims(begun=0, days=390, moved=380, died=0, smoker=smoker))
        found = [cox(victim, name) for name in ("time", "later")]
        assert found[0] is not None
        if found[1] is None:
            return
        moves.append(found[1]["coefficient"][0] - found[0]["coefficient"][0])
    assert moves[0] * moves[1] >= 0, f"one who smokes moves it by {moves[1]:.4f}, else {moves[0]:.4f}"


def test_nor_do_strata(tmp_path):
    victim = Victim(tmp_path, victims(clinic=0, ward=1))
    assert cox(victim, "days", strata=["clinic"]) is not None
    assert cox(victim, "days", strata=["ward"]) is None


def test_nor_exposures(tmp_path):
    """Of one who does not smoke, so that the sum over those who do is as before."""
    victim = Victim(tmp_path, victims(smoker=0, begun=10, moved=390))
    asks = {"kind": "poisson", "outcome": "stays", "on": ["smoker"]}
    assert asked(victim, exposure="begun", **asks) is not None
    assert asked(victim, exposure="moved", **asks) is None


def test_labels_of_covariates_do_not_tell_how_few_have_two_of_them(tmp_path):
    """Three who are old and smoke: a table of both withholds such a cell, and three models give its count.

    A model by both labels explains the outcome of those who smoke as well as the model by that label alone,
    so that how many are old of them follows. Errors of coefficients show it in a single model.
    """
    number = np.arange(ROWS)
    smoker, old = number % 4 == 1, (number % 4 == 2) | (number % 80 == 1) & (number < 240)
    held = rows_of(ROWS, 11, smoker=smoker, old=old)
    columns = {name: Column(values, SCHEMAS[name]) for name, values in held.items()}
    victim = Victim(tmp_path, columns | {PERSONS: Column(np.arange(ROWS), Schema("integer"))})
    mine = rows_of(OWN, 5)
    found = [asked(victim, outcome="cost", on=on) for on in (["smoker"], ["old"], ["smoker", "old"])]
    if found[2] is None:
        assert found[0] is not None
        assert found[1] is not None
        return
    alone, both = found[0]["coefficient"], found[2]["coefficient"]
    smokers = 100 + mine["smoker"].sum()
    told = (
        smokers * (alone[0] + alone[1] - both[0] - both[1]) / both[2] - (mine["smoker"] & mine["old"]).sum()
    )
    assert abs(told - 3) > 2, f"the peer finds {told:.2f} of 3 who are old and smoke"


@pytest.mark.parametrize("few", [0, 3, 40])
def test_nor_that_nobody_has_both(tmp_path, few):
    """Where a table withholds its empty cells, standard errors of a model would tell of one."""
    number = np.arange(ROWS)
    smoker = number < 100
    old = (number >= 100 - few) & (number < 200 - few)
    held = rows_of(ROWS, 11, smoker=smoker, old=old)
    columns = {name: Column(values, SCHEMAS[name]) for name, values in held.items()}
    for zeros in ("withheld", "shown"):
        place = tmp_path / zeros
        place.mkdir()
        limits = replace(POLICY, zeros=zeros)
        victim = Victim(place, columns | {PERSONS: Column(np.arange(ROWS), Schema("integer"))}, limits)
        found = asked(victim, outcome="cost", on=["smoker", "old"])
        assert (found is None) is (few == 3 or (few == 0 and zeros == "withheld"))


def test_nor_what_the_sum_of_a_number_over_a_label_is(tmp_path):
    """Nearly all days of the old are one person's: standard errors follow from it, whatever is explained."""
    number = np.arange(ROWS)
    drawn = np.random.default_rng(12)
    for longest in (3, 300):
        old, days = number < 40, drawn.integers(1, 300, ROWS)
        days[old] = drawn.integers(1, 4, 40)
        days[0] = longest
        held = rows_of(ROWS, 11, days=days, old=old)
        columns = {name: Column(values, SCHEMAS[name]) for name, values in held.items()}
        place = tmp_path / str(longest)
        place.mkdir()
        victim = Victim(place, columns | {PERSONS: Column(number, Schema("integer"))})
        found = asked(victim, outcome="cost", on=["old", "days"])
        assert (found is None) is (longest == 300)


def test_models_by_the_same_numbers_stand_beside_each_other(tmp_path):
    victim = Victim(tmp_path, victims())
    for on in (["age"], ["age", "stays"], ["age", "smoker", {"product": ["age", "smoker"]}], ["age"]):
        assert asked(victim, outcome="cost", on=on) is not None
    assert cox(victim, "days", on=["age", "stays"]) is not None
    assert cox(victim, "days", on=["age"], strata=["clinic"]) is not None
    poisson = {"kind": "poisson", "outcome": "stays", "on": ["age"], "exposure": "days"}
    assert asked(victim, **poisson) is not None


def rounded(decimals, over):
    """A ratio of what was counted over days, and of what one person has less of."""
    return {
        "less": {"numbers": ["stays", "rare"], "compute": "difference"},
        "rate": {"numbers": [over, "since"], "compute": "ratio", "decimals": decimals},
    }


def test_a_number_rounded_otherwise_hides_no_difference_of_one_person(tmp_path):
    """Of everybody the numbers differ by roundings, which even out, and of one person by much more."""
    held = rows_of(ROWS, 11)
    held["rare"][ALONE], held["cost"][ALONE] = 3, DEAR
    since = 1 + np.arange(ROWS) * 31 % 7
    since[ALONE] = 1
    schema = Schema("integer", lower=1, upper=7)
    columns = {name: Column(values, SCHEMAS[name]) for name, values in held.items()}
    columns |= {"since": Column(since, schema), PERSONS: Column(np.arange(ROWS), Schema("integer"))}
    victim = Victim(tmp_path, columns)
    brought = rows_of(OWN, 5, since=1 + np.arange(OWN) % 7)
    told = []
    for decimals, over in ((2, "stays"), (3, "less")):
        derived = rounded(decimals, over)
        if over == "stays":
            del derived["less"]
        models = [{"kind": "linear", "outcome": "cost", "on": ["rate"]}]
        _, outcome = victim.asked(
            MODELS.parse({"models": models, "derived": derived}), recipients=BOTH, brought=brought
        )
        if outcome is None:
            assert told
            return
        first, slope = outcome.tables[0].columns["coefficient"]
        lower = -3 if over == "less" else 0
        rate = np.concatenate([held["stays"] / since, brought["stays"] / brought["since"]])
        if over == "less":
            rate[ALONE] -= 3
        rate = np.round(rate, decimals)
        x = rate - (lower + 3) / 2
        outcomes = len(x) * first + x.sum() * slope
        told.append(x.sum() * first + (x**2).sum() * slope + (lower + 3) / 2 * outcomes)
    of_one = (told[0] - told[1]) / 3
    assert abs(of_one - DEAR) > 30_000, f"the peer finds {of_one:.0f} and the person cost {DEAR}"
