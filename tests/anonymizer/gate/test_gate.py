"""The gate: nothing is written unless the very bytes that leave hold what was promised, and nothing more."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import FileError, GateError, SpecError
from anonymizer.gate import gate as gates
from anonymizer.gate.gate import Gate, manifest_path
from anonymizer.gate.names import RULE
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.methods.conditions.constraints import DistinctDiversity
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.perturbation.pram import PRAM
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.acceptance import ACCEPTABLE, Acceptance
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.manifest import Manifest, digest
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect
from tests.anonymizer.data import shared
from tests.anonymizer.gated import RANDOM, WITH_NAMES, people, pipeline, rules, table, written
from tests.anonymizer.tables import HIERARCHIES, ROLES
from tests.support.grids import grid


class Rogue(LocalRecoding):
    """A method that does something else with the table than it should, after all is well."""

    name = "rogue"

    def __init__(self, *, k: int = 3, constraints=(), columns=None, spoil=None, claim=()) -> None:
        super().__init__(k=k, constraints=constraints, columns=columns)
        self.spoil = spoil
        self.claim = claim

    def _transform(self, table: Table) -> Table:
        self.before_ = table
        made = super()._transform(table)
        return made if self.spoil is None else self.spoil(made)

    def guarantees(self, table: Table):
        return (*super().guarantees(table), *self.claim)


def spoiled(spoil, *claim: Guarantee) -> list[str]:
    with pytest.raises(GateError) as error:
        written(pipeline(Rogue(spoil=spoil, claim=claim)).release(table()), "out.csv")
    assert not list(Path().iterdir())
    return rules(error)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_release_and_its_manifest(ending):
    original = table()
    release = pipeline(LocalRecoding(k=3)).release(original)
    manifest = written(release, f"out.{ending}")
    path = Path(f"out.{ending}")
    assert sorted(p.name for p in Path().iterdir()) == [path.name, f"{path.name}.manifest.json"]
    assert Manifest.from_json(manifest_path(path).read_text()) == manifest
    assert (manifest.order, manifest.rows) == ("shuffled", 120)
    assert manifest.files == {path.name: digest(path)}
    read = files.read(path)
    assert list(read.columns) == ["age", "city", "job", "illness", "account"]
    assert sorted(read["account"]) == sorted(original.native["account"])
    assert read.groupby(["age", "city", "job"]).size().min() >= 3
    assert list(read["account"]) != list(original.native["account"])


def test_rows_may_keep_their_order_and_the_warning_says_what_that_means():
    original = table()
    release = pipeline(LocalRecoding(k=3)).release(original)
    passed = Gate(keep_order=True).write(release, Path("out.csv"))
    assert passed.manifest.order == "kept"
    assert "list of the people" in passed.warnings[0]
    assert list(files.read("out.csv")["account"]) == list(original.native["account"])


def test_a_seed_repeats_the_order():
    release = pipeline(LocalRecoding(k=3)).release(table())
    for name in ("a.csv", "b.csv"):
        Gate(seed=4).write(release, Path(name))
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    Gate().write(release, Path("c.csv"))
    assert Path("a.csv").read_bytes() != Path("c.csv").read_bytes()


def _changed(name: str, cells):
    return lambda made: made.replace({name: cells(made)})


def _planted(made: Table, rogue_cells) -> Table:
    return made.replace({"extra": rogue_cells})


def test_a_method_that_plants_a_column_is_refused():
    found = spoiled(lambda made: _planted(made, np.arange(len(made))))
    assert {"new-column", "altered", "image", "identifying"} <= set(found)


def test_a_method_that_plants_a_code_in_another_column_is_refused():
    def planted(made: Table) -> Table:
        return made.replace({"account": 5 + np.arange(len(made)) * 1.5})

    assert "altered" in spoiled(planted)


def test_promises_are_measured_again():
    claim = Guarantee("k-anonymity", {"k": 60}, columns=("age", "city", "job"), method="rogue")
    assert spoiled(None, claim) == ["guarantee"]
    claim = Guarantee(
        "distinct-l-diversity", {"l": 3}, columns=("age", "city", "job", "illness"), method="rogue"
    )
    assert spoiled(None, claim) == ["guarantee"]


def test_the_manifest_may_not_say_less_epsilon_than_was_spent():
    schema = Schema({"age": Column("integer", 0, 16), "account": Column("integer", 0, 10**6)})
    both = [DpNoise(epsilon=1.0, columns=(name,)) for name in ("age", "account")]
    steps = Pipeline(steps=[("one", both[0]), ("two", both[1])])
    plain = people().assign(account=RANDOM.integers(0, 10**6, 120))
    release = steps.release(Table.of(plain, WITH_NAMES, HIERARCHIES, schema))
    assert release.manifest.epsilon == 2.0
    less = replace(release, manifest=replace(release.manifest, epsilon=1.0))
    with pytest.raises(GateError) as error:
        written(less, "out.csv")
    assert rules(error) == ["guarantee"]
    assert written(release, "out.csv").epsilon == 2.0


def test_k_is_measured_after_the_last_step():
    """A sample of a k-anonymous table is not k-anonymous."""
    steps = pipeline(LocalRecoding(k=5), Sampling(rate=0.3, random_state=1))
    with pytest.raises(GateError) as error:
        written(steps.release(table()), "out.csv")
    assert rules(error) == ["guarantee"]
    assert "sampling" in str(error.value)
    written(pipeline(Sampling(rate=0.5), LocalRecoding(k=5)).release(table()), "out.csv")


def test_k_over_some_quasi_identifiers_is_not_k_over_all():
    some = pipeline(LocalRecoding(k=5, columns=("age", "city")))
    with pytest.raises(GateError) as error:
        written(some.release(table()), "out.csv")
    assert rules(error) == ["narrow"]
    written(some.release(table()), "out.csv", accept=(Acceptance("narrow", "", "jobs are not known"),))


@pytest.mark.parametrize(
    ("kind", "name", "fits"),
    [
        ({"kind": "integer"}, "account", True),
        ({"kind": "boolean"}, "account", False),
        ({"kind": "date"}, "illness", False),
        ({"kind": "category", "categories": ("u", "v", "w")}, "illness", True),
        ({"kind": "category", "categories": ("u", "v")}, "illness", False),
        ({"kind": "integer"}, "age", True),
    ],
)
def test_types_are_as_declared(kind, name, fits):
    schema = Schema({name: Column(**kind)})
    release = pipeline(LocalRecoding(k=30)).release(Table.of(people(), WITH_NAMES, HIERARCHIES, schema))
    if fits:
        written(release, "out.csv")
        return
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["type"]


def test_noise_keeps_the_declared_type():
    schema = Schema({"age": Column("integer", 0, 16)})
    release = pipeline(DpNoise(epsilon=1.0, columns=("age",))).release(
        Table.of(people(), WITH_NAMES, HIERARCHIES, schema)
    )
    written(release, "out.csv")
    cells = release.table.numbers("age") + 0.5
    with pytest.raises(GateError) as error:
        written(replace(release, table=release.table.replace({"age": cells})), "other.csv")
    assert rules(error) == ["type"]


def test_the_order_is_looked_at_in_the_file(monkeypatch):
    class Still:
        def __init__(self, *given) -> None:
            pass

        def permutation(self, rows: int) -> np.ndarray:
            return np.arange(rows)

    monkeypatch.setattr(gates, "Randomness", Still)
    with pytest.raises(GateError) as error:
        written(pipeline(LocalRecoding(k=3)).release(table()), "out.csv")
    assert rules(error) == ["order"]


def test_a_file_that_differs_from_the_release_is_refused(monkeypatch):
    write = files.write

    def rounding(content, path, *more) -> None:
        frame = content.native if isinstance(content, Table) else content
        write(frame.assign(account=frame["account"].astype(float)), path, *more)

    release = pipeline(LocalRecoding(k=3)).release(table())
    monkeypatch.setattr(files, "write", rounding)
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["altered"]
    assert not list(Path().iterdir())


def test_roles_have_to_be_declared():
    bare = Table.of(people()[["city", "illness"]])
    release = pipeline(Sampling(rate=0.5)).release(bare)
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["roles"]
    written(release, "out.csv", accept=(Acceptance("roles", "", "a public table"),))
    manifest = Manifest.from_json(Path("out.csv.manifest.json").read_text())
    assert manifest.accepted == (Acceptance("roles", "", "a public table"),)


def test_a_step_that_does_nothing_is_refused_unless_the_specification_says_why():
    class Idle(Sampling):
        name = "idle"

        def _transform(self, table: Table) -> Table:
            return table

    release = pipeline(LocalRecoding(k=3), Idle()).release(table())
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["unchanged"]
    assert error.value.findings[0]["column"] == "2-idle"
    written(release, "out.csv", accept=(Acceptance("unchanged", "2-idle", "for later years"),))


def test_noise_that_vanishes_in_rounding_is_no_defect_of_the_program():
    """`5.10` is written as 5.1: the step has touched the column, and left all of its values."""
    frame = people()[["age", "city", "job", "illness"]].assign(
        dose=[f"{number % 7}.10" for number in range(len(people()))]
    )
    frame.to_csv("data.csv", index=False)
    original = files.table(Path("data.csv"), Dialect()).declare(ROLES, HIERARCHIES)

    def released(scale: float) -> None:
        noise = Noise(scales={"dose": scale}, columns=("dose",), random_state=3)
        written(pipeline(LocalRecoding(k=3), noise).release(original), "out.csv")

    with pytest.raises(GateError) as error:
        released(1e-6)
    [found] = [one for one in error.value.findings if one["column"] == "dose"]
    assert found["rule"] == "unchanged"
    assert "gone after rounding" in found["what"]
    assert "larger scale" in found["hint"]
    assert "defect" not in str(error.value)
    released(9.0)


@pytest.mark.parametrize("rule", ["identifier", "altered", "guarantee", "order", "container", "none"])
def test_what_is_never_right_cannot_be_accepted(rule):
    with pytest.raises(SpecError):
        Acceptance(rule, "name", "because")
    with pytest.raises(SpecError):
        Acceptance(ACCEPTABLE[0], "name", " ")


def test_a_frame_without_its_original_is_not_written():
    release = replace(pipeline(LocalRecoding(k=3)).release(table()), original=None)
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["original"]


def test_findings_hold_no_cell_of_the_table():
    frame = people().assign(again=lambda one: one["name"].str.upper())
    release = pipeline(LocalRecoding(k=3)).release(Table.of(frame, WITH_NAMES, HIERARCHIES))
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert "again" in str(error.value)
    assert "person" not in str(error.value).casefold().replace("persons", "")
    assert json.dumps(error.value.findings)


def _random_people(rows: int = 300) -> Table:
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in RANDOM.permutation(rows)],
            "age": RANDOM.integers(20, 70, rows),
            "city": RANDOM.choice(list("abcd"), rows),
            "illness": RANDOM.choice(list("uvw"), rows),
            "weight": RANDOM.normal(70, 9, rows).round(1),
            "visit": pd.Timestamp("2025-01-01") + pd.to_timedelta(RANDOM.integers(0, 90, rows), unit="D"),
        }
    )
    roles = Roles(("name",), ("age", "city"), ("illness",))
    hierarchies = {
        "age": IntervalHierarchy.of_widths(0, 120, [10, 40]),
        "city": ValueHierarchy([[c, "north" if c in "ab" else "south", ANY] for c in "abcd"]),
    }
    declared = {
        "age": Column("integer", 0, 120),
        "city": Column("category", categories=tuple("abcd")),
        "illness": Column("category", categories=tuple("uvw")),
    }
    return Table.of(frame, roles, hierarchies, Schema(declared))


@pytest.mark.parametrize("word", grid(sorted(METHODS), set(METHODS) - {"synth-aim"}))
def test_what_each_method_releases_passes(word, tmp_path):
    """Only k over some quasi-identifiers is refused, as of methods for numbers; `weight` has no role."""
    release = pipeline(METHODS[word](**METHODS[word].example)).release(_random_people())
    accept = (
        Acceptance("narrow", "", "meant"),
        Acceptance(RULE, "weight", "measured"),
        *(Acceptance("unchanged", name, "meant") for name in ("", f"1-{word}")),
    )
    for ending in ("csv", "parquet"):
        written(release, tmp_path / f"out.{ending}", accept=accept)


def test_adult_passes_without_its_second_copy_of_education_and_its_weights():
    frame = pd.read_csv(shared("adult_train.csv")).head(4000)
    quasi = ("age", "sex", "race", "marital_status", "education")
    hierarchies = {
        name: ValueHierarchy([[value, ANY] for value in sorted(set(frame[name]))]) for name in quasi[1:]
    } | {"age": IntervalHierarchy.of_widths(0, 120, [10, 40])}
    roles = Roles((), quasi, ("income",))
    release = pipeline(LocalRecoding(k=5)).release(Table.of(frame, roles, hierarchies))
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert {(one["rule"], one["column"]) for one in error.value.findings} == {
        ("image", "education_num"),
        ("named-like-identifier", "fnlwgt"),
    }
    release = pipeline(LocalRecoding(k=5)).release(
        Table.of(frame.drop(columns=["education_num", "fnlwgt"]), roles, hierarchies)
    )
    written(release, "out.csv")


AWARE = DistinctDiversity("illness", 2, known=("drug",))


def with_drugs(told: bool) -> Table:
    """Two sensitive columns; with `told` everybody who takes p has illness u."""
    frame = people(400)
    drug = RANDOM.choice(list("pq"), len(frame))
    frame["drug"] = np.where(frame["illness"] == "u", drug, "q") if told else drug
    return Table.of(frame, replace(WITH_NAMES, sensitive=("illness", "drug")), HIERARCHIES)


def test_what_holds_for_who_knows_another_column_is_measured_for_them():
    alone = DistinctDiversity("illness", 2)
    claim = AWARE.guarantee(ROLES.quasi_identifiers, "rogue")
    rogue = Rogue(k=20, constraints=(alone,), claim=(claim,))
    with pytest.raises(GateError) as error:
        written(pipeline(rogue).release(with_drugs(told=True)), "out.csv")
    assert rules(error) == ["guarantee"]
    assert "a class does not fulfil it for illness" in error.value.findings[0]["what"]
    honest = Rogue(k=20, constraints=(alone,), claim=(alone.guarantee(ROLES.quasi_identifiers, "rogue"),))
    written(pipeline(honest).release(with_drugs(told=True)), "out.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_kept_for_who_knows_another_column_passes(ending):
    made = pipeline(LocalRecoding(k=3, constraints=(AWARE,))).release(with_drugs(told=False))
    manifest = written(made, f"out.{ending}")
    assert manifest.guarantees[-1].known == ("drug",)
    assert Manifest.from_json(manifest.to_json()) == manifest
    document = json.loads(manifest.to_json())
    del document["guarantees"][-1]["known"]
    assert Manifest.from_json(json.dumps(document)).guarantees[-1].known == ()
    document["guarantees"][-1]["known"] = [1]
    with pytest.raises(FileError, match="wrong type"):
        Manifest.from_json(json.dumps(document))


def test_a_step_that_changes_what_others_know_takes_the_promise_away():
    steps = (LocalRecoding(k=3, constraints=(AWARE,)), PRAM(columns=("drug",), retention=0.2, random_state=1))
    release = pipeline(*steps).release(with_drugs(told=False))
    assert AWARE.name not in {one.kind for one in release.guarantees}
    with pytest.raises(GateError) as error:
        written(release, "out.csv")
    assert rules(error) == ["guarantee"]
    assert "cells of drug are others" in error.value.findings[0]["what"]
