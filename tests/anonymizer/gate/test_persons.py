"""Numbers of persons do not leave under a heading of what is sensitive, nor in five rows of one person."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.gate.looks import inspect
from anonymizer.gate.names import RULE
from anonymizer.gate.persons import by_form, numbers_person
from anonymizer.gate.views import ColumnView
from anonymizer.proposals.proposal import propose
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

PERSONS = 120
DRAWN = np.random.default_rng(27)
CODES = DRAWN.choice(90_000_000, PERSONS, replace=False) + 10_000_000
AGES = 18 + DRAWN.integers(0, 70, PERSONS)
SEXES = np.array(["f", "m"])[DRAWN.integers(0, 2, PERSONS)]
ICD = np.array(
    ["I10", "E11.9", "J45", "F32.1", "C50.9", "K35.8", "M54.5", "N18.3", "G40.9", "J18.9", "A09", "B18"]
)

NUMBERS = {
    "glucose sensor": [f"PQ{code % 1_000_000:06d}H" for code in CODES],
    "HIV clinic code": [f"HC-{100 + place:04d}" for place in range(PERSONS)],
    "biopsy block": [f"S23-{code % 100_000:05d}" for code in CODES],
    "salary account": CODES,
    "Depression forum": [f"anna{place:02d}_ulm" for place in range(PERSONS)],
    "diagnosis number": 4_000 + DRAWN.permutation(PERSONS),
    "Gehaltskonto": 6_000_000_000 + CODES,
    "lat": 48 + CODES / 1e8,
    "x": DRAWN.choice(20_000, PERSONS, replace=False),
}
MEASURED = {
    "diagnosis": ICD[DRAWN.integers(0, len(ICD), PERSONS)],
    "zip": 89_000 + DRAWN.integers(0, 40, PERSONS),
    "income": 1_800 + DRAWN.integers(0, 90_000, PERSONS),
    "tax": DRAWN.choice(900, PERSONS, replace=False) + 700,
    "kreatinin": DRAWN.integers(50, 999, PERSONS) / 997,
    "admitted": [str(np.datetime64("2024-01-01") + day) for day in range(PERSONS)],
    "height": 150 + DRAWN.integers(0, 45, PERSONS),
    "tract": 9_100_000_000 + 2_333_333 * DRAWN.integers(0, 40, PERSONS),
}


def visits(values, each: int = 5) -> pd.DataFrame:
    """Rows of persons, in no order; of the last column each value stands in all rows of a person."""
    whose = np.repeat(np.arange(PERSONS), each)
    frame = pd.DataFrame({"age": AGES[whose], "sex": SEXES[whose], "mood": DRAWN.integers(0, 9, len(whose))})
    return frame.assign(it=np.asarray(values)[whose]).sample(frac=1, random_state=7, ignore_index=True)


def said(name: str, role: str, each: int = 5, left: float = 1.0) -> list[str]:
    """What the gate says of a column in a role, of which a part of the cells leaves as it was."""
    frame = visits({**NUMBERS, **MEASURED}[name], each).rename(columns={"it": name})
    quasi = ("age", "sex", name) if role == "quasi_identifiers" else ("age", "sex")
    sensitive = ("mood", name) if role == "sensitive" else ("mood",)
    table = Table.of(frame, Roles(quasi_identifiers=quasi, sensitive=sensitive))
    rows = np.arange(len(frame))
    after = frame.assign(age=frame["age"] // 20)
    if left < 1:
        after[name] = frame[name].astype(str).where(rows < left * len(rows), "*")
    found = inspect(table, Table.of(after, table.roles), origin=rows, ordered=True)
    return [one.rule for one in found if one.column == name]


@pytest.mark.parametrize("each", [1, 2, 5])
@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in ("lat", "x")])
def test_a_number_of_a_person_does_not_leave_as_what_is_sensitive(name, each):
    assert {RULE, "identifying"} & {*said(name, "sensitive", each)}


@pytest.mark.parametrize("name", NUMBERS)
def test_nor_in_a_tenth_of_the_rows_as_a_quasi_identifier(name):
    """Of five rows of one person, which are alike, a step that joins rows alike leaves the number."""
    assert RULE in said(name, "quasi_identifiers", left=0.1)
    assert RULE not in said(name, "quasi_identifiers", left=0)


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_measured_or_shared_may_leave(name):
    assert not said(name, "sensitive")
    if name not in (
        "income",
        "tax",
    ):  # who knows it finds the person, by a class of one
        assert not said(name, "quasi_identifiers", left=0.1)


@pytest.mark.parametrize("each", [1, 5])
@pytest.mark.parametrize("name", NUMBERS)
def test_init_takes_numbers_of_persons_out_whatever_they_are_called(name, each):
    table = Table.of(visits(NUMBERS[name], each).rename(columns={"it": name}).astype(str))
    found = propose(table, Dialect())
    if name in ("lat", "x") and each == 1:  # they become coarser, as nothing tells them from amounts
        assert name in found.names("quasi_identifiers")
        return
    assert name in found.names("identifiers")
    assert (found.person is not None and found.person.name == name) == (each > 1)


@pytest.mark.parametrize("name", MEASURED)
def test_init_takes_nothing_out_that_is_measured_or_shared(name):
    table = Table.of(visits(MEASURED[name]).rename(columns={"it": name}).astype(str))
    assert not propose(table, Dialect()).names("identifiers")


def view(values, name: str = "it") -> ColumnView:
    return ColumnView.of(Table.of(pd.DataFrame({name: values})), name)


def test_codes_of_what_many_have_are_no_numbers_of_persons():
    """Few codes of drugs have most rows; classes have few digits, and amounts many forms."""
    drugs = np.array([f"{code % 10**5:05d}-{code % 10**4:04d}-{code % 97:02d}" for code in CODES])
    assert by_form(view(np.repeat(drugs, 7))) is not None
    assert by_form(view(np.repeat(drugs, [*range(200, 100, -1), *[1] * 20]))) is not None
    assert by_form(view(np.repeat(drugs, [900, 500, *[60] * 10, *[2] * 108]))) is None
    assert by_form(view([f"{'ABCDN'[code % 5]}{code % 90 + 10}AB{code % 80 + 10}" for code in CODES])) is None
    assert by_form(view(CODES // 10 ** (CODES % 6))) is None
    assert by_form(view([f"{1990 + code % 30}-{1991 + code % 31}" for code in CODES])) is None
    assert by_form(view(CODES, "zip")) is None


def test_an_age_in_months_decides_the_age_and_is_nobodys_number():
    months = 12 * AGES + CODES % 12
    others = [view(AGES, "age"), view(SEXES, "sex")]
    assert numbers_person(view(months, "age_months"), others) is None
