"""A peer asks for model after model of the same persons, and subtracts.

It knows its own rows. A linear model by a cut of the age tells it the sums of the victim's costs on both
sides of the cut; a second one, a year later, or a table of costs, those of the persons between the cuts.
"""

from __future__ import annotations

import numpy as np

from smc.analyses.models.study import MODELS
from smc.analyses.statistics.analysis import STATISTICS
from smc.forms import Role
from tests.parties.disclosure.test_attacks import Victim, patients

BOTH = frozenset(Role)
ROWS, ALONE, SECRET = 400, 7, 77_777
OWN = 200


def victims():
    """The victim's patients, of whom one alone is 90 years old, and a hundred are older."""
    drawn = np.random.default_rng(11)
    age = drawn.integers(20, 89, ROWS)
    age[np.arange(ROWS) % 4 == 0] = 95
    age[ALONE] = 90
    cost = drawn.integers(0, 20_000, ROWS)
    cost[ALONE] = SECRET
    return patients(age=age, cost=cost)


def cut_at(age):
    return {"old": {"column": "age", "cuts": [age], "labels": ["younger", "older"]}}


def model(age):
    return MODELS.parse(
        {
            "models": [{"name": "costs", "kind": "linear", "outcome": "cost", "on": ["old"]}],
            "derived": cut_at(age),
        }
    )


def table(age):
    query = {"kind": "mean", "column": "cost", "by": "old"}
    return STATISTICS.parse(
        {"noise": "none", "maximum_rows": 10_000, "queries": [query], "derived": cut_at(age)}
    )


def brought():
    """Rows of the peer's own, of both groups, that cost nothing."""
    return {"age": np.where(np.arange(OWN) % 2, 95, 30), "cost": np.zeros(OWN)}


def of_older(outcome, persons):
    """The sum of the victim's costs in the older group, by a model over the rows of both."""
    columns = outcome.tables[0].columns
    return (columns["coefficient"][0] + columns["coefficient"][1]) * (persons + OWN // 2)


def test_two_models_of_cuts_a_year_apart_do_not_tell_what_one_person_cost(tmp_path):
    victim = Victim(tmp_path, victims())
    _, first = victim.asked(model(90), recipients=BOTH, brought=brought())
    assert first is not None
    _, second = victim.asked(model(91), recipients=BOTH, brought=brought())
    if second is not None:
        found = of_older(first, 101) - of_older(second, 100)
        assert abs(found - SECRET) > 20_000, f"the peer finds {found:.0f} and the person cost {SECRET}"


def test_nor_do_a_model_and_a_table(tmp_path):
    victim = Victim(tmp_path, victims())
    _, first = victim.asked(table(91))
    assert first is not None
    means, rows = (first.tables[-1].columns[name] for name in ("value", "rows"))
    _, second = victim.asked(model(90), recipients=BOTH, brought=brought())
    if second is not None:
        found = of_older(second, 101) - means[1] * rows[1]
        assert abs(found - SECRET) > 20_000, f"the peer finds {found:.0f} and the person cost {SECRET}"


def test_models_whose_groups_differ_in_many_stand_beside_each_other(tmp_path):
    victim = Victim(tmp_path, victims())
    for age in (90, 50, 90):
        _, outcome = victim.asked(model(age), recipients=BOTH, brought=brought())
        assert outcome is not None
    assert victim.asked(table(50))[1] is not None


def test_events_by_outcomes_whose_labels_move_are_refused(tmp_path):
    """Of whom it counts, with and without one cost more."""
    victim = Victim(tmp_path, victims())
    for cost, is_shown in ((10_000, True), (10_060, False)):
        dear = {"column": "cost", "cuts": [cost], "labels": ["cheap", "dear"]}
        study = MODELS.parse(
            {
                "models": [
                    {"kind": "logistic", "outcome": "dear", "label": "dear", "on": ["age"], "report": ["auc"]}
                ],
                "derived": {"dear": dear},
            }
        )
        mine = {"age": 30 + np.arange(OWN) % 60, "cost": np.where(np.arange(OWN) % 3, 0, 50_000)}
        _, outcome = victim.asked(study, recipients=BOTH, brought=mine)
        assert (outcome is not None) is is_shown


CUT, MANY, FEW = 95, 4000, 200
"""The peer brings so many rows of one score, by which it counts who lies beyond, and so few that turn it."""


def cases_beyond(found):
    """How many of the victim's cases are older than the peer's rows, by the area under the curve."""
    summary = {name: column[0] for name, column in found.tables[-1].columns.items()}
    cases = summary["with_outcome"] - MANY - FEW
    others = summary["rows"] - 2 * (MANY + FEW) - cases
    told = summary["auc_lower_95"] if summary["auc"] is None else summary["auc"]
    area = told * summary["with_outcome"] * (summary["rows"] - summary["with_outcome"])
    rest = area - MANY * MANY - FEW * MANY - MANY * others
    return cases - (rest - cases * others / 2) / MANY


def test_an_area_under_the_curve_does_not_count_the_cases_beyond_a_score_of_the_peer(tmp_path):
    """Three persons are older than 95: how many of them have the outcome moves nothing, or a whole unit."""
    study = MODELS.parse(
        {
            "models": [
                {"kind": "logistic", "outcome": "dear", "label": "dear", "on": ["age"], "report": ["auc"]}
            ],
            "derived": {"dear": {"column": "cost", "cuts": [500], "labels": ["cheap", "dear"]}},
        }
    )
    drawn = np.random.default_rng(3)
    age = drawn.integers(20, 90, ROWS)
    cost = np.where(drawn.random(ROWS) < 0.15, 900, 100)
    age[:3], own = (97, 98, 99), MANY + FEW
    mine = {
        "age": np.r_[np.full(own, CUT), np.full(own, 5)],
        "cost": np.r_[np.full(MANY, 100), np.full(FEW, 900), np.full(FEW, 100), np.full(MANY, 900)],
    }
    told = []
    for dear in range(4):
        cost[:3] = np.where(np.arange(3) < dear, 900, 100)
        home = tmp_path / str(dear)
        home.mkdir()
        victim = Victim(home, patients(age=age, cost=cost), overlap=20)
        told.append(cases_beyond(victim.asked(study, recipients=BOTH, brought=mine)[1]))
    spread = max(told) - min(told)
    assert spread < 0.5 or spread > 10, told
