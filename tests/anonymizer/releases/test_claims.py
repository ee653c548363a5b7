"""Promises are granted by what the released cells were made of: attacks on the ways around."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from anonymizer.dp.domain import NumberDomain
from anonymizer.gate.gate import Gate
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.methods.contract.method import Method
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.mdav import MDAV
from anonymizer.methods.perturbation.pram import PRAM
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressMissing, SuppressRecords
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.methods.synthesis.synthesizers import SynthHistogram
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import parse
from anonymizer.proposals.hierarchies import suggest_hierarchy
from anonymizer.proposals.profiles import profile
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.release import Release
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

INCOME = {"type": "integer", "bounds": [1, 5]}
CITY = {"type": "category", "categories": ["A", "B", "C", "D"]}


def payers(last: int) -> pd.DataFrame:
    """24 people of four cities; the income of the last one decides which cities are alike."""
    incomes = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, last]
    return pd.DataFrame({"city": [c for c in "ABCD" for _ in range(6)], "income": incomes})


def released(document: dict, frame: pd.DataFrame) -> Release:
    spec = parse(document, Path())
    return spec.pipeline().release(Table.of(frame).declare(spec.roles, spec.hierarchies, spec.schema))


LEARNED = {
    "roles": {"quasi_identifiers": ["city", "income"]},
    "columns": {"city": CITY, "income": INCOME},
    "hierarchies": {"city": {"correlation": "income", "groups": [3]}},
}
GENERALIZED = {"method": "generalization", "levels": {"city": 1}}
NOISE = {"method": "dp-noise", "epsilon": 0.1, "columns": ["income"]}


@pytest.mark.parametrize("steps", [[GENERALIZED, NOISE], [NOISE, GENERALIZED]], ids=["before", "after"])
def test_a_hierarchy_that_is_built_of_a_column_takes_its_epsilon_away(steps):
    """The labels of the city tell an income, whatever the noise on incomes is."""
    labels = [set(released({**LEARNED, "steps": steps}, payers(x)).native["city"]) for x in (3, 1)]
    assert all(len(one) == 3 for one in labels)
    made = released({**LEARNED, "steps": steps}, payers(3))
    assert made.manifest.epsilon is None
    assert not made.guarantees
    (note,) = [note for note in made.notes if "local-dp in income" in note]
    assert "'city'" in note
    assert "all rows, by income" in note
    assert (
        made.manifest.made_of["city"]
        == "all rows, by income"
        == Manifest.from_json(made.manifest.to_json()).made_of["city"]
    )
    assert made.manifest.made_of["income"] == "own row, noise"


def test_a_hierarchy_that_was_learned_and_written_down_takes_its_epsilon_away():
    """`init` writes groups by incomes as rows: one income decides the labels of towns all the same."""
    towns = "ABCDEFGH"
    frame = pd.DataFrame({"city": [*(6 * towns)], "income": [1 + (i % 8) // 3 + i % 2 for i in range(48)]})
    table = Table.of(frame)
    declared = suggest_hierarchy(table, profile(table, "city"), "income").declared
    document = {
        **LEARNED,
        "columns": {"city": {"type": "category", "categories": [*towns]}, "income": INCOME},
        "hierarchies": {"city": declared},
        "steps": [GENERALIZED, NOISE],
    }
    made = released(document, frame)
    assert made.manifest.epsilon is None
    assert made.manifest.made_of["city"] == "all rows, by income"
    public = {key: value for key, value in declared.items() if key != "learned_from"}
    assert released({**document, "hierarchies": {"city": public}}, frame).manifest.epsilon is not None


def test_without_such_a_hierarchy_the_epsilon_is_promised():
    rows = [[c, "AB" if c in "AB" else "CD", "*"] for c in "ABCD"]
    document = {**LEARNED, "hierarchies": {"city": {"rows": rows}}, "steps": [GENERALIZED, NOISE]}
    made = released(document, payers(3))
    assert made.manifest.epsilon == pytest.approx(0.1)
    assert made.manifest.made_of == {"city": "own row", "income": "own row, noise"}
    assert made.guarantees[0].over == ("income",)


KIDS = {"type": "integer", "bounds": [0, 20]}
FIVES = {"widths": [5], "lower": 0, "upper": 25}


@pytest.mark.parametrize(
    ("cells", "column", "before", "step"),
    [
        ([False] * 40, {"type": "boolean"}, [], {"method": "pram", "retention": 0.5}),
        ([0, 1] * 20, KIDS, [], {"method": "pram", "retention": 0.5}),
        ([0, 1] * 20, KIDS, [], {"method": "exponential-mechanism", "epsilon": 0.5}),
        ([0, 1] * 20, KIDS, [{"method": "generalization", "levels": {"x": 1}}], {"method": "pram"}),
    ],
    ids=["truth values", "whole numbers", "distances", "labels"],
)
def test_values_that_no_declaration_lists_take_the_epsilon_away(cells, column, before, step):
    """A value that one person has can be drawn for all, and for nobody where this person is not there."""
    hierarchies = {} if column["type"] == "boolean" else {"x": FIVES}
    document = {
        "roles": {"quasi_identifiers": ["x"]},
        "columns": {"x": column},
        "hierarchies": hierarchies,
        "steps": [*before, {**step, "columns": ["x"]}],
    }
    alone, other = (
        released(document, pd.DataFrame({"x": [last, *cells[1:]]})) for last in (cells[0], type(cells[0])(9))
    )
    assert len(set(other.native["x"])) > len(set(alone.native["x"]))
    for made in (alone, other):
        assert not made.guarantees
        assert "all rows" in made.manifest.made_of["x"]


@pytest.mark.parametrize("learned", [True, False])
def test_the_exponential_mechanism_over_a_learned_hierarchy_promises_nothing(learned):
    """One person's income decides by which matrix all records are drawn."""
    rows = {"rows": [[c, "AB" if c in "AB" else "CD", "*"] for c in "ABCD"]}
    document = {
        **LEARNED,
        "hierarchies": LEARNED["hierarchies"] if learned else {"city": rows},
        "steps": [{"method": "exponential-mechanism", "epsilon": 1.0, "columns": ["city"]}],
    }
    assert (released(document, payers(3)).manifest.epsilon is None) is learned


@pytest.mark.parametrize("method", ["pram", "exponential-mechanism"])
@pytest.mark.parametrize("kind", [{}, {"type": "category"}], ids=["no type", "category"])
def test_one_cell_does_not_decide_whether_declared_categories_are_categories(tmp_path, method, kind):
    """With a "3+" in the file and without one: the same promise, and the same values drawn."""
    kids = ["0", "1", "2", "3+"]
    document = {
        "roles": {"quasi_identifiers": ["kids"]},
        "columns": {"kids": {"categories": kids, **kind}},
        "hierarchies": {"kids": {"rows": [[kid, "*"] for kid in kids]}},
        "steps": [{"method": method, "columns": ["kids"]}],
    }
    spec = parse(document, Path())
    found = []
    for number, last in enumerate(("2", "3+")):
        path = tmp_path / f"{number}.csv"
        path.write_text("kids\n" + "0\n1\n2\n" * 60 + f"{last}\n")
        table = files.table(path).declare(spec.roles, spec.hierarchies, spec.schema)
        made = spec.pipeline().release(table)
        found.append((made.manifest.epsilon, set(made.native["kids"]), made.native["kids"].dtype))
    assert found[0] == found[1]
    assert found[0][0] is not None
    assert found[0][1] == set(kids)


def test_declared_categories_of_a_frame_of_numbers_are_their_texts():
    schema = Schema({"kids": Column(categories=("0", "1", "2", "3+"))})
    for cells in ([0, 1, 2], [0.0, 1.0, None]):
        table = Table.of(pd.DataFrame({"kids": cells}), schema=schema)
        assert not table.is_numeric("kids")
        assert [str(one) for one in table.codes("kids").values] == ["0", "1", "2"][: 3 - cells.count(None)]
        assert table.missing("kids").sum() == cells.count(None)
        assert table.native["kids"].tolist()[:2] == cells[:2]


SCHEMA = Schema({"age": Column("integer", 0, 100), "pay": Column("float", 0, 5)})
ROLES = Roles(quasi_identifiers=("age", "pay"))


def people(rows: int = 60) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "age": number % 101,
            "pay": (number % 50) / 10.0,
            "ill": [("flu", "cold", "none")[n % 3] for n in number],
        }
    )


def made(*methods: Method, schema: Schema = SCHEMA, frame: pd.DataFrame | None = None) -> Release:
    steps = [(f"{number}", method) for number, method in enumerate(methods, 1)]
    table = Table.of(people() if frame is None else frame, ROLES, None, schema)
    return Pipeline(steps=steps).release(table)


class BesideGaps(DpNoise):
    """Noise on the numbers; empty cells stay empty."""

    name: ClassVar[str] = "beside-gaps"

    def _cells(self, table, column):
        filled = np.nan_to_num(table.numbers(column), nan=50.0)
        return NumberDomain.at(self.domains_[column], filled)

    def _transform(self, table):
        found = super()._transform(table)
        gaps = {name: table.missing(name) for name in self.columns_of(table)}
        return found.replace({n: np.where(gone, np.nan, found.numbers(n)) for n, gone in gaps.items()})

    def provenance(self, table):
        found = super().provenance(table)
        kept = {n: replace(found[n], gaps=table.provenance[n].gaps) for n in self.columns_of(table)}
        return replace(found, columns={**found.columns, **kept})


def test_gaps_that_stay_take_the_promise_away():
    """Which cells are empty is released as it is: nobody accounts for that."""
    frame = people().astype({"age": float})
    frame.loc[3, "age"] = np.nan
    release = made(BesideGaps(columns=("age",)), frame=frame)
    assert release.manifest.epsilon is None
    assert release.manifest.made_of["age"] == "own row; own row, noise"


def test_noise_that_others_pass_by_counts_by_itself():
    """Pay is made of ages with the first noise alone; less noise than the second one claims lies between."""
    release = made(
        DpNoise(epsilon=5.0, columns=("age",)),
        MDAV(k=3, columns=("age", "pay")),
        DpNoise(epsilon=0.1, columns=("age",)),
    )
    assert release.manifest.epsilon == pytest.approx(5)
    assert release.manifest.made_of["pay"] == "all rows; all rows, by age, noise"
    assert any("local-dp in age" in note for note in release.notes)


@pytest.mark.parametrize(
    ("before", "holds"),
    [
        (Sampling(rate=0.5, together="age"), False),
        (Sampling(rate=0.5, together="pay"), True),
        (SuppressRecords(k=2, columns=("ill",), together="age"), False),
        (SuppressMissing(columns=("pay",)), True),
    ],
)
def test_rows_that_go_by_the_column_take_its_promise_away(before, holds):
    release = made(before, DpNoise(columns=("age",)), frame=people(600))
    assert (release.manifest.epsilon is not None) is holds


def test_a_sample_of_a_fixed_part_takes_the_promise_of_one_row_more_away():
    """One row more takes the place of another: counts change in two places, and epsilon is not kept.

    With rate p a sample holds the row with probability p, and then lacks one of the others: where all of
    these are alike, counts of the sample show log(1 + p (exp(2 epsilon) - 1)) with noise of epsilon.
    """
    assert log(1 + 0.9 * (exp(2 * 1.0) - 1)) > 1.9 * 1.0
    schema = Schema({"age": Column("integer", 0, 100)})
    synthesis = {"columns": ("age",), "bins": 4}
    alone = made(SynthHistogram(**synthesis), schema=schema)
    assert alone.manifest.epsilon is not None
    assert alone.guarantees[0].over == ("age",)
    release = made(Sampling(rate=0.9), SynthHistogram(**synthesis), schema=schema)
    assert release.manifest.epsilon is None
    assert any("which rows there are" in note or "by the number of rows" in note for note in release.notes)


def test_rows_that_go_by_their_own_gaps_are_accounted_for_by_noise_for_a_row():
    schema = Schema({"age": Column("integer", 0, 100, missing="drop")})
    frame = people().astype({"age": float})
    frame.loc[3, "age"] = np.nan
    release = made(SynthHistogram(columns=("age",), bins=4), schema=schema, frame=frame)
    assert release.manifest.epsilon is not None
    assert made(DpNoise(columns=("age",)), schema=schema, frame=frame).manifest.epsilon is None


def test_a_seed_takes_every_promise_of_a_record_away():
    schema = Schema({"ill": Column("category", categories=("flu", "cold", "none"))})
    for seed, holds in ((None, True), (3, False)):
        release = made(PRAM(columns=("ill",), random_state=seed), schema=schema)
        assert (release.manifest.epsilon is not None) is holds


def test_further_tables_count():
    """Noise on the sensitive column holds in the further table of anatomy, but not for its neighbours."""
    schema = Schema({**SCHEMA, "ill": Column("category", categories=("flu", "cold", "none"))})
    roles = Roles(quasi_identifiers=("age",), sensitive=("ill",))
    steps = [("noise", PRAM(columns=("ill",))), ("apart", Anatomy(l=2))]
    release = Pipeline(steps=steps).release(Table.of(people(), roles, None, schema))
    assert release.manifest.epsilon is not None
    assert release.manifest.made_of["group"] == "all rows, by ill, noise"
    assert release.manifest.made_of["ill"] == "all rows, noise"


class KeepsACopy(Method):
    """Puts the ages into a further table."""

    name: ClassVar[str] = "keeps-a-copy"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True

    def provenance(self, table):
        return table.provenance.recode({"copy": table.provenance.content("age")}, gaps="none")

    def _fit(self, table):
        pass

    def _transform(self, table):
        self.extra_ = {"copies": Table.of(pd.DataFrame({"copy": table.numbers("age")}))}
        return table


def test_what_a_step_puts_into_a_further_table_counts_after_later_steps():
    release = made(KeepsACopy(), DpNoise(columns=("age",)))
    assert release.manifest.epsilon is None
    assert release.manifest.made_of["copy"] == "own row, by age"
    assert any("'copy'" in note and "'1'" in note for note in release.notes)


class Beside(Method):
    """Adds the column `about`, the age by tens."""

    name: ClassVar[str] = "beside"
    adds = ("about",)
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True

    def provenance(self, table):
        return table.provenance.recode({"about": table.provenance.content("age")}, gaps="none")

    def _fit(self, table):
        pass

    def _transform(self, table):
        return table.replace({"about": table.numbers("age").astype(np.int64) // 10})


class Copies(Method):
    """Pay becomes the age by twenties."""

    name: ClassVar[str] = "copies"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    def provenance(self, table):
        return table.provenance.recode({"pay": table.provenance.content("age")}, gaps="none")

    def _fit(self, table):
        pass

    def _transform(self, table):
        return table.replace({"pay": table.numbers("age") / 20})


def test_noise_on_a_cell_does_not_account_for_another_one_that_is_made_of_it():
    """Age is released twice, with half of epsilon each: the half is not what an age has lost."""
    noise = DpNoise(epsilon=1.0, columns=("age", "pay"))
    assert made(noise).manifest.epsilon == pytest.approx(1)
    release = made(Copies(), noise)
    assert not [one for one in release.guarantees if one.number("epsilon") < 1]
    assert release.manifest.made_of["pay"] == "own row, by age, noise"


def test_a_column_beside_that_holds_a_quasi_identifier_takes_k_away():
    hierarchies = {
        "age": IntervalHierarchy.of_widths(0, 120, [10, 40]),
        "pay": IntervalHierarchy.of_widths(0, 5, [1, 5]),
    }
    table = Table.of(people(), ROLES, hierarchies, SCHEMA)
    k = LocalRecoding(k=3)
    assert [one.kind for one in Pipeline(steps=[("k", k)]).release(table).guarantees] == ["k-anonymity"]
    release = Pipeline(steps=[("beside", Beside()), ("k", k)]).release(table)
    assert not release.guarantees
    assert any("k-anonymity" in note and "'about'" in note for note in release.notes)


def test_the_manifest_beside_the_file_says_what_columns_were_made_of(tmp_path):
    release = made(DpNoise(columns=("age",)), frame=people(200))
    passed = Gate().write(release, tmp_path / "out.csv")
    written = Manifest.from_json((tmp_path / "out.csv.manifest.json").read_text())
    assert written.made_of == passed.manifest.made_of
    assert written.made_of == {"age": "own row, noise", "pay": "own row", "ill": "own row"}
    assert written.rows_by == "no cell"
