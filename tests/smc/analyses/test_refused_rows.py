"""Whatever a run refuses that one side can know, `check_rows` refuses before it, in the same words."""

from __future__ import annotations

import tomllib
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.base import PERSONS, Column, Schema
from smc.analyses.disclosure.limits import Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.runner import run_analysis
from smc.errors import DuettoError
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
COUNT = 'noise = "none"\n[[queries]]\nkind = "count"\ncolumn = "v"\n'
NOISY = 'epsilon = "1"\nmax_rows = 5\n[[queries]]\nkind = "count"\ncolumn = "v"\n'
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
}
GOOD = {
    "comparison": ("comparison", COMPARISON, {"x": rows(4)["v"]}, {"y": rows(4)["v"]}),
    "exact": ("matching", EXACT, rows(8), rows(8)),
    "sum": ("matching", SUM, rows(8), {"id": rows(8)["id"]}),
    "tolerant": ("matching", TOLERANT, rows(8), rows(8)),
    "vectors": ("matching", VECTORS, rows(8), rows(8)),
    "clusters": ("clustering", KMEANS, rows(8), rows(8)),
    "matched clusters": ("clustering", MATCHED, rows(8), rows(8)),
    "statistics": ("statistics", NOISY, rows(5), rows(5)),
    "exact statistics": ("statistics", COUNT, rows(8), rows(8)),
    "matched statistics": ("statistics", VERTICAL, rows(8), rows(8)),
}


def prepared(name, text, alice, bob):
    """The analysis with parsed parameters, and each side's columns that the job names."""
    analysis = ANALYSES[name]
    parameters = analysis.parse(tomllib.loads(text))
    sides = {
        role: {key: data[key] for key in (*analysis.columns(parameters, role), PERSONS) if key in data}
        for role, data in zip(Role, (alice, bob), strict=True)
    }
    return analysis, parameters, sides


def refusal(analysis, parameters, sides, limits, recipients=BOTH):
    """What a run ends with on Alice's side; None where it gets to its end."""

    def side(session):
        try:
            run_analysis(analysis, session, parameters, sides[session.role], recipients, limits)
        except DuettoError as error:
            return error
        return None

    return run_pair(side, side, timeout=60)[0]


@pytest.mark.parametrize("case", CASES)
def test_a_check_refuses_what_the_run_refuses(case):
    name, text, data, limits = CASES[case]
    analysis, parameters, sides = prepared(name, text, data, data)
    recipients = frozenset({Role.ALICE}) if name == "comparison" else BOTH
    checked = analysis.check_rows(parameters, sides[Role.ALICE], Role.ALICE, limits).refusal
    assert checked is not None
    met = refusal(analysis, parameters, sides, limits, recipients)
    assert (type(checked), checked.stable_code) == (type(met), met.stable_code)
    assert checked.mend


@pytest.mark.parametrize("case", GOOD)
def test_a_check_takes_what_the_run_takes(case):
    analysis, parameters, sides = prepared(*GOOD[case])
    for role in Role:
        assert analysis.check_rows(parameters, sides[role], role, Limits()).refusal is None
    recipients = frozenset({Role.ALICE}) if case == "comparison" else BOTH
    assert refusal(analysis, parameters, sides, Limits(), recipients) is None


def test_every_analysis_has_cases():
    assert {name for name, *_ in CASES.values()} == {name for name, *_ in GOOD.values()}
    assert {name for name, *_ in GOOD.values()} == set(ANALYSES) - {"preparation"}


def test_a_small_side_is_taken_where_the_peer_may_bring_more():
    analysis, parameters, sides = prepared("clustering", KMEANS.replace("= 2", "= 9", 1), rows(3), rows(30))
    assert analysis.check_rows(parameters, sides[Role.ALICE], Role.ALICE, Limits()).refusal is None
    assert refusal(analysis, parameters, sides, Limits()) is None


def test_two_million_rows_are_refused_before_anybody_has_approved():
    """Of a clustering over a million rows a side, from the numbers of rows alone."""
    analysis, parameters, sides = prepared("clustering", KMEANS, rows(1_000_000), rows(3))
    found = analysis.check_rows(parameters, sides[Role.ALICE], Role.ALICE, Limits()).refusal
    assert "first centres" in found.what
    assert 'start = "random"' in found.mend
