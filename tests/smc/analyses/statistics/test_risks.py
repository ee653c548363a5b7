"""Risks of two groups: exact, with noise, under limits, and over matched rows."""

from __future__ import annotations

import tomllib
from math import sqrt

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.proportions import DIFFERENCE, ODDS_RATIO, RISK_RATIO
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from tests.smc.analyses.records.test_noisy_means import draws
from tests.smc.analyses.statistics_runs import BOTH, joint, silence
from tests.smc.analyses.test_estimates import check

ARM = Schema("category", categories=("new", "usual", "other"))
STATE = Schema("category", categories=("well", "ill", "dead"))
SCHEMAS = {"arm": ARM, "state": STATE}
QUERY = (
    '[[queries]]\nkind = "risks"\ncolumn = "state"\nevent = "dead"\nby = "arm"\nlabels = ["new", "usual"]\n'
)
HEADS = {"exact": 'noise = "none"\n', "noisy": 'epsilon = "1"\n'}


def job(head, query=QUERY):
    return STATISTICS.parse(tomllib.loads(HEADS.get(head, head) + query))


def side(new, usual, more=0):
    """Rows of both arms: how many died, were ill and stayed well; and of the third arm."""
    arms = [0] * sum(new) + [1] * sum(usual) + [2] * more
    states = [state for part in (new, usual) for state in np.repeat([2, 1, 0], part)] + [2] * more
    return {"arm": Column(np.array(arms), ARM), "state": Column(np.array(states, dtype=np.int64), STATE)}


SIDES = side((20, 30, 25), (9, 40, 30), 7), side((10, 15, 0), (9, 22, 0), 3)


def shown(outcome):
    main, table = (each.columns for each in outcome.tables)
    rows = zip(*(table[name] for name in list(table)[1:]), strict=True)
    return {name: values[0] for name, values in main.items()}, dict(zip(table["term"], rows, strict=True))


@pytest.mark.parametrize("head", HEADS)
def test_they_are_those_of_the_rows_of_both(monkeypatch, head):
    """All others than those who died did not, and the third arm is in neither group: 30 of 100, 18 of 110."""
    silence(monkeypatch)
    study = job(head)
    study.check(SCHEMAS, SCHEMAS)
    outcome, other = joint(study, *SIDES)
    assert outcome == other
    main, terms = shown(outcome)
    assert [terms[name][0] for name in ("new: dead", "new: not dead", "usual: dead", "usual: not dead")] == [
        *(30, 70, 18, 92)
    ]
    assert terms["risk of new"][0] == pytest.approx(0.3)
    assert terms["risk of usual"][0] == pytest.approx(18 / 110)
    assert terms[DIFFERENCE][0] == pytest.approx(0.3 - 18 / 110)
    assert terms[RISK_RATIO][0] == main["value"] == pytest.approx(11 / 6)
    assert terms[ODDS_RATIO][0] == pytest.approx(30 * 92 / 70 / 18)
    assert main["kind"] == "risks"
    if head == "exact":
        assert terms[RISK_RATIO][:3] == (main["value"],) * 3  # the rows of both are what they are
        # Katz's interval, of statsmodels' Table2x2
        assert terms[RISK_RATIO][3:] == (pytest.approx(1.09234515), pytest.approx(3.07696805))
        assert main["p_value"] == pytest.approx(0.01738859)  # scipy: fisher_exact less half of what is tied
    else:
        value, low, high, less, more = terms[RISK_RATIO]
        assert 1 <= less < low < value < high < more
        assert less < 1.09234515
        assert more > 3.07696805


def test_the_reference_is_the_exact_run():
    assert joint(job("exact"), *SIDES) == job("exact").reference(*SIDES, BOTH)
    exact, _ = shown(job("noisy").reference(*SIDES, BOTH)[0])
    assert exact["value"] == pytest.approx(11 / 6)


def test_withheld_counts_give_no_risks():
    limits = Limits(minimum_group=10)
    few = side((3, 60, 40), (20, 40, 30)), side((30, 60, 40), (20, 40, 30))
    outcomes = run_pair(
        *(
            lambda session, data=data: run_study(job("exact"), session, data, BOTH, limits.of_both)
            for data in few
        )
    )
    main, terms = shown(outcomes[1])
    assert set(terms) == {"new: dead", "new: not dead", "usual: dead", "usual: not dead"}
    assert terms["new: dead"] == (None,) * 5
    assert terms["usual: dead"][0] == 40
    assert main["value"] is None
    assert any("no risks" in note for note in outcomes[1].notes)
    noisy, _ = joint(
        job('epsilon = "8"\n'), side((3, 60, 40), (50, 40, 30)), side((2, 9, 9), (9, 9, 9)), limits=limits
    )
    assert shown(noisy)[0]["value"] is None


def test_what_was_withheld_cannot_be_worked_out():
    """No total is opened beside the four counts: with one the withheld count would follow."""
    study, limits = job("exact"), Limits(minimum_group=10)
    few = side((3, 60, 40), (20, 40, 30))
    outcome, _ = joint(study, few, side((30, 60, 40), (20, 40, 30)), limits=limits)
    numbers = [cell for table in outcome.tables for column in table.columns.values() for cell in column]
    assert not {33, 103, 233, 93, 326} & {cell for cell in numbers if isinstance(cell, int)}


def test_intervals_of_the_noise_cover_the_exact_figures():
    study, runs = job('epsilon = "1/4"\n'), 250
    (planned,) = plan(study.parameters, SCHEMAS)
    statistic = planned.statistic
    exact = [130, 870, 90, 910]
    drawn, seed = np.random.default_rng(9), Randomness.from_seed(b"seed", "risks")
    noise = np.stack([draws(law, runs, drawn) for law in statistic.distributions], axis=1)
    found = [statistic.result((exact + off).tolist(), statistic.distributions, seed).table for off in noise]
    truth = statistic.result(exact, (), seed).table
    for place, term in enumerate(truth["term"]):
        value = truth["value"][place]
        hits = sum(table["lower_95"][place] <= value <= table["upper_95"][place] for table in found)
        assert hits >= runs * 0.95 - 4.9 * sqrt(runs * 0.05 * 0.95), term
        if place > 3:
            widths = [table["upper_95"][place] - table["lower_95"][place] for table in found]
            errors = [abs(table["value"][place] - value) for table in found]
            assert np.median(widths) / 2 <= 1.25 * np.quantile(errors, 0.95), term


def test_intervals_with_sampling_cover_the_population():
    """Rows are drawn of a population with risks of 13 and 9 per cent; noise comes on top."""
    study, runs = job('epsilon = "1/4"\n'), 200
    statistic = plan(study.parameters, SCHEMAS)[0].statistic
    drawn, seed = np.random.default_rng(10), Randomness.from_seed(b"seed", "population")
    truth = {DIFFERENCE: 0.04, RISK_RATIO: 13 / 9, ODDS_RATIO: 13 * 91 / 87 / 9}
    hits = dict.fromkeys(truth, 0)
    missed = 0
    for _ in range(runs):
        first, second = drawn.binomial(1000, 0.13), drawn.binomial(1000, 0.09)
        cells = np.array([first, 1000 - first, second, 1000 - second])
        cells += np.array([int(draws(law, 1, drawn)[0]) for law in statistic.distributions])
        table = statistic.result(cells.tolist(), statistic.distributions, seed).table
        rows = {term: [table[key][place] for key in table] for place, term in enumerate(table["term"])}
        for name, value in truth.items():
            hits[name] += rows[name][4] <= value <= rows[name][5]
        missed += not rows[RISK_RATIO][2] <= truth[RISK_RATIO] <= rows[RISK_RATIO][3]
    assert all(count >= runs * 0.95 - 4.9 * sqrt(runs * 0.05 * 0.95) for count in hits.values()), hits
    assert missed > runs / 10  # those of the noise alone are not for the population


def test_hopeless_noise_excludes_nothing():
    main, terms = shown(joint(job('epsilon = "1/10000"\n'), *SIDES)[0])
    for name, ends in (("risk of new", (0, 1)), (DIFFERENCE, (-1, 1)), (RISK_RATIO, (0, None))):
        assert terms[name][1:3] == ends
    assert main["p_value"] is None or main["p_value"] > 0.001


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=5)])
@pytest.mark.parametrize("head", HEADS)
def test_estimates_are_what_runs_cost(head, limits):
    check(job(head), SIDES[0], side((10, 30, 35), (29, 40, 10), 7), limits)


def test_facts():
    facts = job("exact").facts(BOTH)
    assert facts.sorts_by == {"arm", "state"}
    assert facts.asked.queries == {"risks"}
    assert job("exact").columns == dict.fromkeys(Role, ("arm", "state"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('event = "dead"\n', ""), "event is missing"),
        (('"dead"', '"gone"'), "'gone' is not a label"),
        (('by = "arm"\n', ""), "by is missing"),
        (('labels = ["new", "usual"]', ""), "two groups"),
        (('["new", "usual"]', '["new", "none"]'), "two groups"),
        (('by = "arm"', 'by = ["arm", "state"]'), "not a name"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(UsageError, match=words) as caught:
        job("exact", QUERY.replace(*change)).check(SCHEMAS, SCHEMAS)
    assert caught.value.hint


def test_p_values_of_a_job_are_adjusted(monkeypatch):
    silence(monkeypatch)
    second = QUERY.replace("dead", "ill").replace("[[queries]]", '[[queries]]\nname = "ill"')
    columns = joint(job("noisy", QUERY + second), *SIDES)[0].tables[0].columns
    p = columns["p_value"]
    assert columns["p_holm"] == pytest.approx(
        [max(min(2 * min(p), 1), v) if v == max(p) else 2 * v for v in p]
    )
    assert "p_holm" not in joint(job("noisy"), *SIDES)[0].tables[0].columns
