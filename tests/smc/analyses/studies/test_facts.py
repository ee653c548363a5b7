"""What analyses state of a job: every fact for every kind of job, and none by default."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from smc.analyses.preparation import PREPARATION, PreparationStudy
from smc.analyses.registry import ANALYSES, register, study_of
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.forms import ComparisonType, Role
from tests.support.small_jobs import SMALL_JOBS

KEYS = 'method = "exact"\nkeys = ["id"]\n'
TOLERANT = (
    'method = "tolerant"\nthreshold = "0.8"\nfields = [{ column = "name" }]\nblocking = [["name:value"]]'
)
SUM = 'output = "statistics"\nvalues = [{ side = "alice", column = "v" }]'
CLUSTERS = "clusters = 2\n"
POINTS = CLUSTERS + 'columns = ["v"]\n'
SPLIT = CLUSTERS + 'layout = "vertical"\nalice_columns = ["v"]\nbob_columns = ["w"]\n'
COUNT = '[[queries]]\nkind = "count"\n'
MATCHED = 'epsilon = "1"\nlayout = "vertical"\nalice_columns = ["v"]\n[match]\nkeys = ["id"]\n'

POSITION, MATCHES, ROWS, EXACT, LOSS = "position", "matches", "rows", "exact", "loss"

STATED: dict[str, tuple[str, str, set[str]]] = {
    "numbers": ("comparison", 'type = "PN-NP-PN"', {POSITION, ROWS}),
    "numbers to both": ("comparison", 'type = "SS-SS-PP"', {POSITION, ROWS}),
    "shared": ("comparison", 'type = "PN-NP-SS"', {POSITION}),
    "encrypted": ("comparison", 'type = "PN-NP-SE"', {POSITION}),
    "keys": ("matching", KEYS, {MATCHES, ROWS}),
    "size": ("matching", KEYS + 'output = "size"', {MATCHES, EXACT}),
    "noisy size": ("matching", KEYS + 'output = "size"\nepsilon = "1"', {MATCHES, LOSS}),
    "shares": (
        "matching",
        KEYS + 'output = "shares"\nvalues = [{ side = "alice", column = "v" }]',
        {MATCHES},
    ),
    "own sum": ("matching", KEYS + SUM, {MATCHES, ROWS, EXACT}),
    "own sum to the other side": ("matching", KEYS + SUM, {MATCHES, ROWS, EXACT}),
    "noisy sum": ("matching", KEYS + 'epsilon = "1"\n' + SUM, {MATCHES, LOSS}),
    "tolerant": ("matching", TOLERANT, {MATCHES, ROWS}),
    "tolerant, chosen threshold": (
        "matching",
        f'{TOLERANT}\nranks = 1\nhistogram = {{ epsilon = "1" }}',
        {MATCHES, ROWS, LOSS},
    ),
    "tolerant size": ("matching", TOLERANT + '\noutput = "size"', {MATCHES, EXACT}),
    "tolerant, own sum": ("matching", f"{TOLERANT}\n{SUM}", {MATCHES, ROWS, EXACT}),
    "tolerant, own sum to the other side": ("matching", f"{TOLERANT}\n{SUM}", {MATCHES, ROWS, EXACT}),
    "vectors": ("matching", 'method = "vectors"\ncolumns = ["v"]\nthreshold = "1"', {MATCHES, ROWS}),
    "clusters": ("clustering", POINTS, {ROWS, EXACT}),
    "clusters, no labels": ("clustering", POINTS + "labels = false", {EXACT}),
    "noisy clusters": ("clustering", POINTS + 'epsilon = "1"', {LOSS}),
    "split": ("clustering", SPLIT, {POSITION, ROWS, EXACT}),
    "added": ("clustering", POINTS + 'layout = "arbitrary"\nlabels = false', {POSITION, ROWS, EXACT}),
    "split, matched": ("clustering", SPLIT + '[match]\nkeys = ["id"]', {MATCHES, ROWS, EXACT}),
    "noisy count": ("statistics", 'epsilon = "1"\n' + COUNT + 'column = "v"', {LOSS}),
    "count": ("statistics", 'noise = "none"\n' + COUNT + 'column = "v"', {EXACT}),
    "matched mean": (
        "statistics",
        MATCHED + '[[queries]]\nkind = "mean"\ncolumn = "v"\nlower = 0\nupper = 1',
        {MATCHES, LOSS},
    ),
    "preparation": ("preparation", "count = 5", set()),
}


RECIPIENTS = {
    "own sum to the other side": frozenset((Role.BOB,)),
    "tolerant, own sum to the other side": frozenset((Role.BOB,)),
}
"""Of jobs that not both sides receive."""


def facts(name: str) -> Facts:
    analysis, parameters, _ = STATED[name]
    parsed = ANALYSES[analysis].parse(tomllib.loads(parameters))
    return parsed.facts(RECIPIENTS.get(name, frozenset(Role)))


@pytest.mark.parametrize("name", STATED)
def test_facts(name: str) -> None:
    found, (analysis, _, expected) = facts(name), STATED[name]
    assert found.pairs_by_position is (POSITION in expected)
    assert found.matches is (MATCHES in expected)
    assert found.row_results is (ROWS in expected)
    assert (found.exact is not None) is (EXACT in expected)
    assert bool(found.loss) is (LOSS in expected)
    assert (found.comparison_type is not None) is (analysis == "comparison")


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ([{"kind": "count", "column": "age"}], set()),
        ([{"kind": "mean", "column": "cost", "by": "sex"}], {"sex"}),
        (
            [{"kind": "histogram", "column": "age", "edges": [0, 9]}, {"kind": "sum", "column": "cost"}],
            {"age"},
        ),
        ([{"kind": "crosstab", "columns": ["age", "sex"], "by": "town"}], {"age", "sex", "town"}),
    ],
)
def test_the_columns_by_which_exact_tables_sort(queries: list[dict[str, Any]], expected: set[str]) -> None:
    statistics = ANALYSES["statistics"]
    for noise, found in (({"noise": "none"}, expected), ({"epsilon": "1"}, set())):
        parsed = statistics.parse({**noise, "queries": queries})
        assert parsed.facts(frozenset(Role)).sorts_by == found


@pytest.mark.parametrize("analysis", ANALYSES)
def test_an_analysis_of_which_all_jobs_match_says_so(analysis: str) -> None:
    jobs = [job for job in SMALL_JOBS if job["analysis"] == analysis]
    parsed = [(ANALYSES[analysis].parse(job.get("parameters", {})), job["recipients"]) for job in jobs]
    stated = [study.facts(frozenset(map(Role, recipients))).matches for study, recipients in parsed]
    stated += [facts(name).matches for name, (whose, *_) in STATED.items() if whose == analysis]
    assert stated
    assert ANALYSES[analysis].always_matches is all(stated)


def test_what_rests_on_lpn_on_every_link() -> None:
    """Whatever matches rows by keys, and comparisons by an engine that is silent or may be."""
    seen = set()
    for job in SMALL_JOBS:
        parameters = job.get("parameters", {})
        found = ANALYSES[job["analysis"]].parse(parameters).facts(frozenset(map(Role, job["recipients"])))
        by_keys = found.matches and parameters.get("method") != "vectors"
        silent = job["analysis"] == "comparison" and parameters.get("engine", "auto") in {"auto", "silent"}
        assert found.lpn is (by_keys or silent)
        seen.add((by_keys, silent))
    assert {(True, False), (False, False)} <= seen


def test_the_type_of_a_comparison() -> None:
    assert facts("numbers").comparison_type == ComparisonType.parse("PN-NP-PN")


@pytest.mark.parametrize("left_out", Facts.__dataclass_fields__)
def test_a_fact_that_is_not_stated_is_an_error(left_out: str) -> None:
    stated: dict[str, Any] = {
        "pairs_by_position": False,
        "matches": False,
        "lpn": False,
        "row_results": False,
        "comparison_type": None,
        "exact": None,
        "sorts_by": frozenset(),
        "keeps_missing": frozenset(),
        "loss": Loss(),
        "bounds": RowBounds(),
        "asked": Asked(),
    }
    Facts(**stated)
    del stated[left_out]
    with pytest.raises(TypeError, match=left_out):
        Facts(**stated)


def without(kind: type, left_out: str) -> type:
    """A class with all that `kind` says but one thing."""
    members = {
        name: getattr(kind, name) for name in dir(kind) if not name.startswith("_") and name != left_out
    }
    return type("Silent", (), members)


@pytest.mark.parametrize("left_out", ["name", "always_matches", "parse"])
def test_an_analysis_that_lacks_a_part_cannot_be_registered(left_out: str) -> None:
    with pytest.raises(TypeError, match="Silent"):
        register((without(type(PREPARATION), left_out)(),))
    with pytest.raises(ValueError, match="preparation"):
        register((PREPARATION, PREPARATION))
    assert dict(register((PREPARATION,))) == {"preparation": PREPARATION}


@pytest.mark.parametrize("left_out", ["facts", "leakage", "look", "run", "reference"])
def test_a_study_that_does_not_say_all_is_not_taken(left_out: str) -> None:
    class Silent:
        name = "silent"
        always_matches = False

        def parse(self, parameters: dict[str, Any]) -> Any:
            return without(PreparationStudy, left_out)()

    with pytest.raises(TypeError, match="Silent"):
        study_of(Silent(), {})
