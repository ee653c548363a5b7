"""Statistics without noise, under the limits of disclosure."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.tables import refusal, suppress
from smc.analyses.statistics.horizontal.exact import MARGIN, Tables
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.pair import run_pair
from tests.smc.analyses.statistics_runs import (
    BOTH,
    SCHEMAS,
    columns,
    joint,
    parsed,
    results,
    table,
    traffic,
)
from tests.support.grids import crossed

QUERIES = {
    "count": 'kind = "count"\ncolumn = "age"',
    "count by": 'kind = "count"\nby = "group"',
    "sum": 'kind = "sum"\ncolumn = "weight"',
    "mean by": 'kind = "mean"\ncolumn = "weight"\nby = "group"',
    "histogram": 'kind = "histogram"\ncolumn = "age"\nedges = [0, 40, 60, 100]',
    "histogram by": 'kind = "histogram"\ncolumn = "age"\nedges = [0, 40, 60, 100]\nby = "group"',
    "crosstab": 'kind = "crosstab"\ncolumns = ["group", "age"]\nedges = { age = [0, 50, 150] }\ntest = true',
}
PEOPLE = Schema("integer", lower=0, upper=1000)


def job(*names):
    return parsed(
        'noise = "none"\nmaximum_rows = 1000\n' + "".join(f"[[queries]]\n{QUERIES[name]}\n" for name in names)
    )


def column(outcome, name):
    return list(outcome.tables[0].columns[name])


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.BOB})])
def test_without_limits_the_joint_run_is_its_twin(recipients):
    study = job(*QUERIES)
    alice, bob = table(60), table(50)
    runs = joint(study, alice, bob, recipients)
    assert runs == study.reference(alice, bob, recipients)
    assert (runs[0].tables == ()) == (Role.ALICE not in recipients)
    weights = np.array([*alice["weight"].values, *bob["weight"].values])
    rows = results(runs[1])
    assert rows["count of age"]["value"] == 110
    assert not any("clamped" in note for note in runs[1].notes)  # it has no bounds of its own
    assert rows["sum of weight"]["value"] == str(weights.sum() / 10)
    assert rows["mean of weight by group"]["group"] == MARGIN
    assert rows["mean of weight by group"]["value"] == pytest.approx(weights.mean() / 10)


@settings(max_examples=20, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 150), st.integers(0, 2500), st.integers(0, 3)), max_size=40),
    cut=st.integers(0, 40),
    name=st.sampled_from(sorted(QUERIES)),
    group=st.sampled_from([0, 3]),
    dominance=st.sampled_from([Fraction(1), Fraction(1, 2)]),
)
def test_under_limits_what_is_opened_is_what_the_plain_rules_open(rows, cut, name, group, dominance):
    ages, weights, groups = ([row[place] for row in rows] for place in range(3))
    alice = columns(age=ages[:cut], weight=weights[:cut], group=groups[:cut])
    bob = columns(age=ages[cut:], weight=weights[cut:], group=groups[cut:])
    study, limits = job(name), Limits(minimum_group=group, dominance=dominance)
    tables = Tables.of(study.parameters.queries[0], study.parameters, SCHEMAS)
    parts = [tables.local(LocalRows.of(study.parameters, data), data) for data in (alice, bob)]
    stands = [[suppress(Owned(limits), part, margins=False) for part in side] for side in parts]
    axes = (len(parts[0]), *parts[0][0].counts.shape)
    if any(refusal(Owned(limits), side, found, axes) for side, found in zip(parts, stands, strict=True)):
        with pytest.raises(DisclosureRefused):
            joint(study, alice, bob, limits=limits)
        return
    expected = tables.results(tables.plain(parts, (limits, limits)))
    outcome, _ = joint(study, alice, bob, limits=limits)
    assert column(outcome, "value") == [result.value for _, result in expected]
    shown = [one.columns["count"] for one in outcome.tables[1:]]
    assert shown == [result.table["count"] for _, result in expected if result.table is not None]


def test_small_groups_are_withheld_and_said_to_be():
    alice, bob = (columns(age=[20] * 19, group=[0] * 6 + [1] + [2, 3] * 6) for _ in range(2))
    outcome, _ = joint(job("count by"), alice, bob, limits=Limits(minimum_group=3))
    found = dict(zip(column(outcome, "group"), column(outcome, "value"), strict=True))
    assert found["B"] is None
    assert any("withheld" in note for note in outcome.notes)


def test_a_group_counts_persons_not_rows():
    data = columns(age=[20] * 24, group=[0] * 6 + [1] * 6 + [2, 3] * 6)
    one_person = {**data, PERSONS: Column(np.array([*range(6), *[6] * 6, *range(7, 19)]), PEOPLE)}
    outcome, _ = joint(job("count by"), one_person, one_person, limits=Limits(minimum_group=3))
    found = dict(zip(column(outcome, "group"), column(outcome, "value"), strict=True))
    assert found["B"] is None
    free, _ = joint(job("count by"), data, data, limits=Limits(minimum_group=3))
    assert column(free, "value")[:2] == [12, 12]


def test_a_sum_that_one_person_dominates_is_withheld():
    limits = Limits(dominance=Fraction(1, 2))
    even, rich = columns(weight=[1000] * 8), columns(weight=[2500, *[10] * 7])
    assert column(joint(job("sum"), even, even, limits=limits)[0], "value") == ["1600.0"]
    assert column(joint(job("sum"), even, rich, limits=limits)[0], "value") == [None]
    spread = {**columns(weight=[1000] * 8), PERSONS: Column(np.array([0] * 5 + [1, 2, 3]), PEOPLE)}
    assert column(joint(job("sum"), even, spread, limits=limits)[0], "value") == [None]


@pytest.mark.parametrize("name", ["count by", "histogram by", "crosstab"])
@pytest.mark.parametrize(
    ("persons", "limits", "withheld"),
    [
        ([*range(11), *[11] * 200], Limits(dominance=Fraction(4, 5)), True),
        ([*range(11), *[11] * 20], Limits(minimum_group=10), True),
        ([*range(40)] * 5, Limits(minimum_group=10, dominance=Fraction(4, 5)), False),
    ],
)
def test_a_count_of_rows_is_a_sum_of_each_persons_rows(name, persons, limits, withheld):
    """Of rows that nearly all are one person's, or of whom one has more than the rest, no count is shown."""
    data = columns(age=[20] * len(persons), group=[0] * len(persons))
    data = {**data, PERSONS: Column(np.array(persons), PEOPLE)}
    parameters = job(name).parameters
    first, *_ = Tables.of(parameters.queries[0], parameters, SCHEMAS).local(
        LocalRows.of(parameters, data), data
    )
    assert suppress(Owned(limits), first, margins=False).primary.reshape(-1)[0] == withheld


def test_exact_figures_take_in_all_rows_of_a_person():
    with pytest.raises(UsageError, match="rows_per_person"):
        parsed(f'noise = "none"\nrows_per_person = 5\n[[queries]]\n{QUERIES["count"]}\n')


def test_several_queries_under_a_limit_are_refused_before_anything_is_sent():
    def side(session):
        with pytest.raises(DisclosureRefused, match="one query"):
            run_study(job("count", "sum"), session, table(9), BOTH, Limits(minimum_group=2).of_both)
        assert session.channel.traffic.messages == 0

    run_pair(side, side)


def test_it_says_that_it_is_exact():
    study = job("count")
    assert study.facts(BOTH).exact
    assert study.facts(BOTH).loss == Loss()
    leakage = study.leakage(frozenset({Role.ALICE}))
    assert any("exact" in line for line in leakage.alice)
    assert not any("exact results" in line for line in leakage.bob)
    assert leakage.bob == ()
    assert any("withheld" in line for line in leakage.alice)


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.ALICE})])
def test_cost_without_limits_is_as_declared(recipients):
    study = job(*QUERIES)
    declared = estimate_cost(study, SCHEMAS, recipients, RunSetting((60, 60)))
    for data in (table(30), table(0)):
        sent = traffic(study, data, table(3), recipients)
        assert (sent[0].sent, sent[1].sent) == (declared.alice_bytes, declared.bob_bytes)


@pytest.mark.parametrize(
    ("name", "limits"),
    crossed(QUERIES, [Limits(3), Limits(1, Fraction(4, 5)), Limits(3, Fraction(4, 5))]),
)
def test_cost_under_limits_is_as_declared(name, limits):
    group, spread = np.repeat(np.arange(4), 24), np.tile(np.arange(24), 4)
    data = columns(age=10 + 5 * spread, weight=100 * spread, group=group)
    few = {**data, PERSONS: Column(np.array([*[0] * 24, *range(1, 73)]), PEOPLE)}
    declared = estimate_cost(job(name), SCHEMAS, BOTH, RunSetting((96, 96), limits))
    for theirs in (data, few) if name.endswith("by") and name != "histogram by" else (data,):
        sent = traffic(job(name), data, theirs, BOTH, limits)
        assert (sent[0].sent, sent[1].sent) == (declared.alice_bytes, declared.bob_bytes)
        assert max(each.rounds for each in sent) == declared.rounds


@pytest.mark.parametrize("kind", ['"median"\ncolumn = "age"', '"variance"\ncolumn = "age"'])
def test_other_kinds_are_not_released_without_noise(kind):
    with pytest.raises(UsageError, match="without noise"):
        parsed(f'noise = "none"\n[[queries]]\nkind = {kind}')


def test_what_could_wrap_is_refused():
    wide = {"x": Schema("integer", lower=-(1 << 52), upper=1 << 52)}
    study = parsed('noise = "none"\nmaximum_rows = 1024\n[[queries]]\nkind = "sum"\ncolumn = "x"')
    with pytest.raises(UsageError, match="63 bits"):
        study.check(wide, wide)
