"""Releases as values: guarantees and manifests, and methods that say nothing of themselves."""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import AnonymizerError, FileError, SpecError, TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.releases.manifest import Manifest
from anonymizer.report.assessment import assess
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age",), sensitive=("ill",))
FRAME = pd.DataFrame({"age": np.arange(20) % 5, "ill": list("ab") * 10})
DP = Guarantee(
    "local-dp", {"epsilon": 1.0, "delta": 1e-6}, "record", ("age",), "replace", "If so.", "dp-noise"
)
MANIFEST = Manifest(
    specification="ab" * 32,
    columns=Schema({"age": Column("integer", 0, 120)}),
    guarantees=(DP, Guarantee("k-anonymity", {"k": 5}, columns=("age",))),
    epsilon=1.0,
    delta=1e-6,
    order="shuffled",
    rows=20,
    files={"out.csv": "cd" * 32},
)


def test_a_manifest_is_read_as_it_was_written():
    assert Manifest.from_json(MANIFEST.to_json()) == MANIFEST


@pytest.mark.parametrize(
    ("path", "value", "word"),
    [
        (("rows",), "20", "rows"),
        (("rows",), True, "rows"),
        (("rows",), -1, "rows"),
        (("order",), "sorted", "order"),
        (("format",), 3, "format"),
        (("code",), [{"name": "x"}], "code"),
        (("extra",), 1, "'extra'"),
        (("epsilon",), float("nan"), "JSON"),
        (("files", "out.csv"), 1, "digest"),
        (("columns", "age", "type"), "number", "'number'"),
        (("guarantees", 0, "kind"), "safe", "'safe'"),
        (("guarantees", 0, "unit"), "household", "unit"),
        (("guarantees", 0, "columns"), [1], "wrong type"),
        (("guarantees", 0, "parameters", "epsilon"), [1], "wrong type"),
        (("guarantees", 0, "proof"), "", "'proof'"),
    ],
)
def test_a_manifest_with_a_fault_is_refused(path, value, word):
    document = json.loads(MANIFEST.to_json())
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(FileError, match=word):
        Manifest.from_json(json.dumps(document))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "[" * 100_000])
def test_what_is_no_manifest_is_refused(text):
    with pytest.raises(FileError):
        Manifest.from_json(text)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 0), (-1, 0), (1e300, 0), (1e-300, 0), (float("nan"), 0), (1, 1e-300), (1, 0.5)]
)
def test_budgets_that_mean_nothing_are_refused(epsilon, delta):
    with pytest.raises(SpecError):
        checked_budget(epsilon, delta)
    checked_budget(1.0, 1e-6)


def test_guarantees_that_are_not_known_are_refused():
    with pytest.raises(SpecError, match="'k-anonymity'"):
        Guarantee("k-anonimity")
    with pytest.raises(SpecError, match="inf"):
        Guarantee("local-dp", {"epsilon": float("inf")})


class Silent(Method):
    """A third party's noise that says nothing of itself."""

    name: ClassVar[str] = "silent"

    def provenance(self, table):
        return TableProvenance()

    def _fit(self, table):
        pass

    def _transform(self, table):
        noise = Randomness().integers(100, len(table))
        return table.replace({"age": table.numbers("age") + noise + 0.5})


class Drawn(Method):
    """A synthetic table: rows drawn with replacement, or made anew."""

    name: ClassVar[str] = "drawn"

    def __init__(self, *, anew: bool = False) -> None:
        self.anew = anew

    def provenance(self, table):
        return TableProvenance()

    def _fit(self, table):
        pass

    def _transform(self, table):
        drawn = table.take(np.zeros(len(table), dtype=np.int64))
        return Table.of(drawn.native, table.roles) if self.anew else drawn


def test_a_method_that_says_nothing_is_taken_for_the_most_dangerous():
    method = Silent()
    assert [method.random, method.needs_columns] == [True] * 2
    assert [method.keeps_rows, method.keeps_classes] == [False] * 2
    assert method.guarantees(Table.of(FRAME)) == ()
    assert method.unsimulated == ("silent",)


@pytest.mark.parametrize("method", [Silent(), Drawn(), Drawn(anew=True)], ids=["silent", "drawn", "anew"])
def test_without_a_simulator_there_is_no_figure_instead_of_a_risk_of_0(method):
    original = Table.of(FRAME, ROLES)
    pipeline = Pipeline(steps=[("one", method)])
    release = pipeline.release(original)
    with pytest.raises(TableError, match=r"does not know what|no rows of the original"):
        simulate_attack(original, release.table, pipeline)
    found = assess(original, release.table, pipeline)
    assert "simulator" not in found.stories
    assert any("simulator was not measured" in one for one in found.cautions)


@pytest.mark.parametrize("anew", [False, True])
def test_rows_of_nobody_have_no_origin(anew):
    for made in (Drawn(anew=anew), Pipeline(steps=[("one", Drawn(anew=anew))])):
        release = made.release(Table.of(FRAME, ROLES))
        assert release.origin is None
        assert release.changed["age"] == 20


def test_a_release_says_where_rows_come_from_and_what_has_changed():
    original = Table.of(FRAME.assign(age=[9, *FRAME["age"][1:]]), ROLES)
    release = SuppressRecords(k=2).release(original)
    assert release.origin.tolist() == list(range(1, 20))
    assert release.changed == {}
    assert release.manifest.rows == len(release) == 19
    release = Pipeline(steps=[("one", Silent())]).release(original)
    assert release.changed == {"age": 20}


def test_a_method_without_columns_refuses():
    with pytest.raises(AnonymizerError, match=r"no quasi-identifiers.*silent would change nothing"):
        Silent().release(Table.of(FRAME))


def test_what_must_come_last_comes_last():
    last = type("Last", (Silent,), {"last": True})()
    with pytest.raises(SpecError, match=r"'one'.*not the last"):
        Pipeline(steps=[("one", last), ("two", Silent())]).release(Table.of(FRAME, ROLES))
