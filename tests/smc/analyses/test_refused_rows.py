"""Whatever a run refuses that one side can know, `check_rows` refuses before it, as the same kind of error.

A run is what a daemon makes of a job: `check_schema`, before a contract is signed, then the protocol. `CASES`
are refusals of single analyses; `FAULTS` are looked at in all of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.study import Preview
from smc.errors import DomainError, DuettoError
from smc.forms import Role
from smc.pair import run_pair

NUMBER = Schema("integer", lower=0, upper=100)
TEXT = Schema("text")
WIDE = Schema("integer", lower=0, upper=1 << 40)
BOTH = frozenset(Role)

COMPARISON = 'type = "PN-NP-PN"\nbits = 8\nengine = "oblivious"\n'
EXACT = 'method = "exact"\nkeys = ["id"]\noutput = "size"\n'
SUM = 'method = "exact"\nkeys = ["id"]\noutput = "statistics"\n[[values]]\nside = "alice"\ncolumn = "v"\n'
TOLERANT = 'method = "tolerant"\nthreshold = "1"\nblocking = [["id:value"]]\n[[fields]]\ncolumn = "id"\n'
VECTORS = 'method = "vectors"\ncolumns = ["v"]\nthreshold = "0"\n'
KMEANS = 'clusters = 2\ncolumns = ["v", "w"]\niterations = 2\n'
BESIDE = 'clusters = 2\nlayout = "vertical"\nalice_columns = ["v"]\nbob_columns = ["w"]\niterations = 2\n'
MATCHED = (
    'clusters = 2\nlayout = "vertical"\nalice_columns = ["v"]\nbob_columns = ["w"]\nlabels = false\n'
    '[match]\nkeys = ["id"]\n'
)
STATED = KMEANS + 'centres = [["5", "3"], ["95", "3"]]\n'
STATED_BESIDE = BESIDE + 'labels = false\ncentres = [["5", "3"], ["95", "3"]]\n'
MEAN = 'noise = "none"\nmaximum_rows = 1000\n[[queries]]\nkind = "mean"\ncolumn = "v"\n'
NOISY_MEAN = MEAN.replace('noise = "none"', 'epsilon = "1"')
BINS = 'noise = "none"\n[[queries]]\nkind = "histogram"\ncolumn = "v"\nedges = ["0", "50", "100"]\n'
NOISY_SUM = SUM.replace("output", 'epsilon = "1"\noutput')
COUNT = 'noise = "none"\n[[queries]]\nkind = "count"\ncolumn = "v"\n'
NOISY = 'epsilon = "1"\nmaximum_rows = 5\n[[queries]]\nkind = "count"\ncolumn = "v"\n'
VERTICAL = (
    'layout = "vertical"\nepsilon = "1"\nalice_columns = ["v"]\nbob_columns = ["w"]\n[match]\nkeys = ["id"]\n'
    '[[queries]]\nkind = "mean"\ncolumn = "v"\n[[queries]]\nkind = "mean"\ncolumn = "w"\n'
)


def rows(count, ids=None, persons=None, **changed):
    """Columns id, v and w of so many rows."""
    names = list(range(count)) if ids is None else ids
    data = {
        "id": Column([f"k{name}" if name != "" else "" for name in names], TEXT),
        "v": Column(np.arange(count) % 100, NUMBER),
        "w": Column(np.arange(count) % 7, NUMBER),
    }
    if persons is not None:
        data[PERSONS] = Column(np.array(persons), Schema("integer"))
    return data | changed


Change = Callable[[str, Column], Column]
"""What is wrong with a column, by its name in the job."""

SIX = Limits(minimum_set=6)
GROUP = Limits(minimum_group=6)
CASES = {
    "comparison: rows of both columns": (
        "comparison",
        'type = "PN-PN-PN"\nbits = 8\n',
        {"x": Column(np.arange(3), NUMBER), "y": Column(np.arange(2), NUMBER)},
        Limits(),
    ),
    "keys repeat": ("matching", EXACT, rows(4, ids=[1, 1, 2, 3]), Limits()),
    "keys are missing": ("matching", EXACT, rows(3, ids=[1, "", 2]), Limits()),
    "set too small": ("matching", EXACT, rows(5), SIX),
    "fewer rows than matches": ("matching", EXACT, rows(5), Limits(minimum_intersection=6)),
    "several rows of one person": ("matching", SUM, rows(4, persons=[0, 0, 1, 2]), Limits(minimum_group=2)),
    "sum too wide for its test": (
        "matching",
        SUM,
        rows(4, v=Column(np.arange(4), Schema("integer", lower=0, upper=1 << 58))),
        Limits(dominance=Fraction(999_983, 1_000_000)),
    ),
    "tolerant set too small": ("matching", TOLERANT, rows(5), SIX),
    "vectors set too small": ("matching", VECTORS, rows(5), SIX),
    "no vectors": ("matching", VECTORS, rows(0), Limits()),
    "too many pairs of vectors": ("matching", VECTORS, rows(20_000), Limits()),
    "fewer rows than clusters": ("clustering", BESIDE, rows(1), Limits()),
    "fewer rows than a group": ("clustering", BESIDE, rows(5), GROUP),
    "too many rows for the first centres": (
        "clustering",
        "precision = 20\n" + KMEANS,
        rows(20_000),
        Limits(),
    ),
    "person with too many rows": (
        "clustering",
        'epsilon = "1"\nstart = "uniform"\n' + KMEANS,
        rows(4, persons=[0, 0, 1, 2]),
        Limits(),
    ),
    "matched clusters: keys repeat": ("clustering", MATCHED, rows(4, ids=[1, 1, 2, 3]), Limits()),
    "matched clusters: set too small": ("clustering", MATCHED, rows(5), SIX),
    "more rows than stated": ("statistics", NOISY, rows(6), Limits()),
    "two exact tables under limits": (
        "statistics",
        COUNT.replace("kind", 'name = "a"\nkind') + '[[queries]]\nkind = "count"\ncolumn = "w"\n',
        rows(20),
        GROUP,
    ),
    "matched statistics: set too small": ("statistics", VERTICAL, rows(5), SIX),
    "matched statistics: keys repeat": ("statistics", VERTICAL, rows(4, ids=[1, 1, 2, 3]), Limits()),
    "comparison: bounds need more bits": (
        "comparison",
        COMPARISON.replace("8", "6"),
        {"x": rows(4)["v"], "y": rows(4)["v"]},
        Limits(),
    ),
    "comparison: bounds below the offset": (
        "comparison",
        COMPARISON + "offset = 1\n",
        {"x": rows(4)["v"], "y": rows(4)["v"]},
        Limits(),
    ),
    "a centre outside the bounds": ("clustering", STATED.replace("95", "101"), rows(8), Limits()),
    "a centre below the bounds": ("clustering", STATED.replace('"5"', '"-1"'), rows(8), Limits()),
    "vertical: a centre outside the bounds": (
        "clustering",
        STATED_BESIDE.replace("95", "101"),
        rows(8),
        Limits(),
    ),
    "edges finer than the column": ("statistics", BINS.replace('"50"', '"50.5"'), rows(8), Limits()),
    "upper below the declared bounds": ("statistics", NOISY_MEAN + "upper = -1\n", rows(8), Limits()),
    "lower above the declared bounds": ("statistics", NOISY_MEAN + "lower = 101\n", rows(8), Limits()),
    "bounds finer than the column": ("statistics", NOISY_MEAN + 'upper = "100.5"\n', rows(8), Limits()),
    "exact sums could leave 63 bits": (
        "statistics",
        MEAN.replace("1000", "10000000"),
        rows(8, v=Column(np.arange(8), WIDE)),
        Limits(),
    ),
    "sum over matches: above the declared bounds": (
        "matching",
        NOISY_SUM + "lower = 101\n",
        rows(8),
        Limits(),
    ),
    "sum over matches: finer than the column": (
        "matching",
        NOISY_SUM + 'upper = "99.5"\n',
        rows(8),
        Limits(),
    ),
    "sum over matches could leave 63 bits": (
        "matching",
        SUM,
        rows(8, v=Column(np.arange(8), Schema("integer", lower=0, upper=1 << 61))),
        Limits(),
    ),
    "sum over fewer rows than a group": ("matching", SUM, rows(5), GROUP),
    "noise that does not fit": (
        "matching",
        NOISY_SUM.replace('"1"', '"0.000001"'),
        rows(8, v=Column(np.arange(8), Schema("integer", lower=0, upper=1 << 50))),
        Limits(),
    ),
    "matched statistics: a bound outside the scale": (
        "statistics",
        VERTICAL.replace('column = "v"\n', 'column = "v"\nupper = "99.5"\n'),
        rows(8),
        Limits(),
    ),
}
GOOD = {
    "comparison": ("comparison", COMPARISON, {"x": rows(4)["v"]}, {"y": rows(4)["v"]}),
    "exact": ("matching", EXACT, rows(8), rows(8)),
    "sum": ("matching", SUM, rows(8), {"id": rows(8)["id"]}),
    "tolerant": ("matching", TOLERANT, rows(8), rows(8)),
    "vectors": ("matching", VECTORS, rows(8), rows(8)),
    "noisy sum": ("matching", NOISY_SUM, rows(8), rows(8)),
    "noisy sum of clamped values": ("matching", NOISY_SUM + "lower = 1\nupper = 99\n", rows(8), rows(8)),
    "clusters": ("clustering", KMEANS, rows(8), rows(8)),
    "stated clusters": ("clustering", STATED, rows(8), rows(8)),
    "clusters side by side": ("clustering", STATED_BESIDE, rows(8), rows(8)),
    "matched clusters": ("clustering", MATCHED, rows(8), rows(8)),
    "statistics": ("statistics", NOISY, rows(5), rows(5)),
    "mean of clamped values": ("statistics", NOISY_MEAN + "lower = 1\nupper = 99\n", rows(8), rows(8)),
    "exact statistics": ("statistics", COUNT, rows(8), rows(8)),
    "exact mean": ("statistics", MEAN, rows(8), rows(8)),
    "exact histogram": ("statistics", BINS, rows(8), rows(8)),
    "matched statistics": ("statistics", VERTICAL, rows(8), rows(8)),
}


def prepared(name, text, alice, bob):
    """The study, and each side's columns that the job names."""
    study = ANALYSES[name].parse(tomllib.loads(text))
    sides = {
        role: {key: data[key] for key in (*study.columns[role], PERSONS) if key in data}
        for role, data in zip(Role, (alice, bob), strict=True)
    }
    return study, sides


def refusal(study, sides, limits, recipients=BOTH):
    """What a run ends with on Alice's side; None where it gets to its end."""
    declared = [
        {name: column.schema for name, column in sides[role].items() if name != PERSONS} for role in Role
    ]
    try:
        study.check(*declared)
    except DuettoError as error:
        return error

    def side(session):
        try:
            run_study(study, session, sides[session.role], recipients, limits.of_both)
        except DuettoError as error:
            return error
        return None

    return run_pair(side, side, timeout=60)[0]


def found_before(study, data, limits, recipients):
    """What Alice refuses before she signs, as `parties.jobs.checks.admission` does: figures, then rows."""
    figures = study.facts(recipients).scope.figures
    alone = Preview.of(lambda: limits.check_single_figure(figures))
    return alone.refusal or study.preview(data, Role.ALICE, limits).refusal


@pytest.mark.parametrize("case", CASES)
def test_a_check_refuses_what_the_run_refuses(case):
    name, text, data, limits = CASES[case]
    study, sides = prepared(name, text, data, data)
    recipients = frozenset({Role.ALICE}) if name == "comparison" else BOTH
    checked = found_before(study, sides[Role.ALICE], limits, recipients)
    assert checked is not None
    met = refusal(study, sides, limits, recipients)
    assert (type(checked), checked.stable_code) == (type(met), met.stable_code)
    assert checked.hint


@pytest.mark.parametrize("case", GOOD)
def test_a_check_takes_what_the_run_takes(case):
    study, sides = prepared(*GOOD[case])
    for role in Role:
        assert study.preview(sides[role], role, Limits()).refusal is None
    recipients = frozenset({Role.ALICE}) if case == "comparison" else BOTH
    assert refusal(study, sides, Limits(), recipients) is None


def declared(**changed) -> Change:
    """Columns of numbers are declared so."""

    def change(name, column):
        del name
        return (
            column
            if column.schema.kind == "text"
            else replace(column, schema=replace(column.schema, **changed))
        )

    return change


def of_kind(kind, **changed) -> Change:
    """All columns are of a kind."""

    def change(name, column):
        del name
        values = [str(value) for value in column.values] if kind == "text" else np.arange(len(column))
        return Column(values, Schema(kind, **changed))

    return change


def keys(text) -> Change:
    """All keys are this text."""
    return lambda name, column: replace(column, values=[text] * len(column)) if name == "id" else column


def as_they_are(name, column):
    """No change."""
    del name
    return column


NO_LIMITS = Limits()
FAULTS: dict[str, tuple[Change, Limits]] = {
    "columns of texts": (of_kind("text"), NO_LIMITS),
    "columns of ciphertexts": (of_kind("ciphertext"), NO_LIMITS),
    "columns of shares": (of_kind("share", modulus="2"), NO_LIMITS),
    "no bounds": (declared(lower=None, upper=None), NO_LIMITS),
    "wide bounds": (declared(upper=1 << 62), NO_LIMITS),
    "wide bounds of both signs": (declared(lower=-(1 << 62), upper=1 << 62), NO_LIMITS),
    "wide bounds under dominance": (declared(upper=1 << 56), Limits(dominance=Fraction(999_983, 1_000_000))),
    "many decimals": (declared(kind="decimal", scale=18), NO_LIMITS),
    "keys all alike": (keys("a"), NO_LIMITS),
    "keys all empty": (keys(""), NO_LIMITS),
    "too small a set": (as_they_are, Limits(minimum_set=50)),
    "too few for the matches": (as_they_are, Limits(minimum_intersection=50)),
    "too few for a group": (as_they_are, Limits(minimum_group=50)),
}
UNSETTLED = {
    (case, "too few for a group"): why
    for why, cases in {
        "the peer could bring more rows, which are added to these": ("clusters", "stated clusters"),
        "the noisy size is tested": ("noisy sum", "noisy sum of clamped values"),
        "a part is judged by its owner's own limits, where the other side receives it": ("exact histogram",),
    }.items()
    for case in cases
}
"""What one side cannot know before the run, and why."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_checks_and_runs_agree_in_all_analyses(fault):
    """What the run refuses, the check of each side has refused; what the check refuses, the run does, too."""
    change, limits = FAULTS[fault]
    refused = set()
    for case, (name, text, *tables) in GOOD.items():
        spoilt = [{key: change(key, column) for key, column in table.items()} for table in tables]
        study, sides = prepared(name, text, *spoilt)
        checked = [study.preview(sides[role], role, limits).refusal for role in Role]
        recipients = frozenset({Role.ALICE}) if name == "comparison" else BOTH
        met = refusal(study, sides, limits, recipients)
        if (case, fault) in UNSETTLED:
            assert checked == [None, None]
            continue
        kinds = [error and (type(error), error.stable_code) for error in (met, *checked)]
        assert kinds[0] in kinds[1:], (case, met, checked)
        assert bool(met) == any(checked), (case, met, checked)
        refused |= {case} if met else set()
    assert refused


def test_what_has_good_rows_has_bad_ones():
    assert {name for name, *_ in CASES.values()} == {name for name, *_ in GOOD.values()}
    assert {name for name, *_ in GOOD.values()} <= set(ANALYSES)  # of others see test_conformance.py


def test_a_small_side_is_taken_where_the_peer_may_bring_more():
    study, sides = prepared("clustering", KMEANS.replace("= 2", "= 9", 1), rows(3), rows(30))
    found = study.preview(sides[Role.ALICE], Role.ALICE, Limits())
    assert found.refusal is None
    assert found.notes == (
        "9 clusters need as many rows of both sides together; here are 3, and with too few of the other side "
        "the run is refused.",
    )
    assert study.preview(sides[Role.BOB], Role.BOB, Limits()).notes == ()
    assert refusal(study, sides, Limits()) is None
    _, few = prepared("clustering", KMEANS.replace("= 2", "= 9", 1), rows(3), rows(5))
    assert isinstance(refusal(study, few, Limits()), DomainError)


def test_two_million_rows_are_refused_before_anybody_has_approved():
    """Of a clustering over a million rows a side, from the numbers of rows alone."""
    study, sides = prepared("clustering", KMEANS, rows(1_000_000), rows(3))
    found = study.preview(sides[Role.ALICE], Role.ALICE, Limits()).refusal
    assert "first centres" in found.what
    assert 'start = "random"' in found.hint
