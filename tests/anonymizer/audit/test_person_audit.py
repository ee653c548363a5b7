"""Audits of persons with several rows: neighbours differ in all of them, and epsilon counts for all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from anonymizer.audit.audit import Auditor, Plan
from anonymizer.audit.command import workplace
from anonymizer.audit.neighbours import Neighbours, enough
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import Spec, parse
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.release import Release
from anonymizer.tables.table import Table
from tests.anonymizer.audit.test_audit import AGE, StepAlone

ROWS = 12
"""So many that the loss of one person is far above that of one row: a bound of 600 runs ends at about 3."""


def spec_of(epsilon: float) -> Spec:
    return parse(
        {
            "roles": {"quasi_identifiers": ["age"], "person": "nbr", "rows_per_person": ROWS},
            "columns": {"age": AGE},
            "steps": [{"method": "dp-noise", "epsilon": epsilon, "columns": ["age"]}],
        },
        Path(),
    )


def people(persons: int = 3) -> pl.DataFrame:
    number = range(persons * ROWS)
    return pl.DataFrame(
        {"nbr": [f"p{n % persons}" for n in number], "age": [str((0, 100)[n % persons % 2]) for n in number]}
    )


class OfPersons(Pipeline):
    """States nothing but what holds of a person."""

    rows = ROWS

    def release(self, table: Table) -> Release:
        made = super().release(table)
        (person,) = (one for one in made.guarantees if one.unit == "person")
        epsilon = person.number("epsilon") * self.rows / ROWS
        return replace(
            made, guarantees=(replace(person, parameters={**person.parameters, "epsilon": epsilon}),)
        )


class WithoutTheFactor(OfPersons):
    """States of a person what holds of one of its rows."""

    rows = 1


def audited(spec: Spec, kind: type[Pipeline]):
    def planted() -> Pipeline:
        return kind(steps=spec.pipeline().steps, roles=spec.roles, schema=spec.schema)

    command = StepAlone(planted, spec.accept, spec.dialect)
    with workplace() as folder:
        found = Auditor(command, Neighbours(spec, people(), folder), folder, Plan(600, 16, pairs=1)).audit()
    (one,) = found.findings
    return one


def test_epsilon_of_one_row_is_refuted_of_a_person_with_several():
    found = audited(spec_of(1.0), WithoutTheFactor)
    assert found.claim.number("epsilon") == pytest.approx(1.0)
    assert found.refuted
    assert "all rows of the person" in found.pair


def test_epsilon_of_all_rows_is_not():
    found = audited(spec_of(1.0), OfPersons)
    assert found.claim.number("epsilon") == pytest.approx(ROWS)
    assert 1.0 < found.loss <= ROWS


def claim(unit: str, neighbours: str) -> Guarantee:
    return Guarantee("dp", {"epsilon": 1.0}, unit, ("age",), neighbours, over=("age",))


@pytest.mark.parametrize(("unit", "rows"), [("record", 1), ("person", ROWS)])
def test_neighbours_replace_or_lack_all_rows_of_a_record(unit, rows, tmp_path):
    neighbours = Neighbours(spec_of(1.0), people(), tmp_path)
    first = next(neighbours.pairs(claim(unit, "replace")))
    changed = first.first.frame["age"].to_numpy() != first.second.frame["age"].to_numpy()
    assert changed.sum() == rows
    assert len(set(first.first.frame["nbr"].filter(changed).to_list())) == 1
    gone = next(neighbours.pairs(claim(unit, "add-remove")))
    assert len(gone.first) - len(gone.second) == rows
    assert len(set(gone.second.frame["nbr"].to_list())) == (3 if unit == "record" else 2)


def test_a_part_of_a_table_has_its_persons_whole(tmp_path):
    part = enough(spec_of(1.0), people(20), 5, tmp_path, ".csv", len).base
    assert len(part) < 20 * ROWS
    assert set(part.group_by("nbr").len()["len"].to_list()) == {ROWS}
