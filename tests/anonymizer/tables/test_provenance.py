"""What cells were made of, as a value: how it is joined, what noise does to it, and how it is said."""

from __future__ import annotations

import pandas as pd
import pytest

from anonymizer.hierarchies.correlation import CorrelationHierarchy
from anonymizer.hierarchies.intervals import EqualFrequencyHierarchy, IntervalHierarchy
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.provenance import COUNT, NOTHING, Dependence, TableProvenance
from anonymizer.tables.table import Table

OWN = Dependence.on(("income",), "own")


def test_noise_accounts_for_the_own_row_and_not_for_others():
    read = OWN | Dependence.on(("city",), "all")
    behind = read.behind("noise 1")
    assert behind.around("noise 1", ("income", "city")) == Dependence.on(("city",), "all")
    assert behind.around("noise 1", ("income",)) == NOTHING
    assert behind.around("noise 2", ("income",)) == OWN.behind("noise 1")
    # what is taken from other rows before the noise stays without it
    assert OWN.spread().behind("noise 1") == OWN.spread()
    assert OWN.behind("noise 1").spread().around("noise 1", ("income",)) == NOTHING


def test_joining_loses_nothing_and_changes_nothing_that_is_there():
    parts = [OWN, OWN.spread(), OWN.behind("a"), Dependence.on(("city",), "own"), NOTHING]
    for one in parts:
        assert one | one == one == one | NOTHING == NOTHING | one
        for other in parts:
            assert one | other == other | one
            assert (one | other).sources == one.sources | other.sources


@pytest.mark.parametrize(
    ("dependence", "said"),
    [
        (NOTHING, "no cell"),
        (OWN, "own row"),
        (OWN.spread() | OWN, "all rows"),
        (OWN.behind("a"), "own row, noise"),
        (OWN | Dependence.on(("city", "age"), "all"), "all rows, by age, city; own row"),
        (OWN.spread() | OWN.behind("a"), "all rows; own row, noise"),
        (Dependence.on((COUNT,), "all"), "all rows, by the number of rows"),
    ],
)
def test_it_is_said_in_words(dependence, said):
    assert dependence.describe("income") == said


def test_a_table_knows_what_its_hierarchies_and_domains_were_taken_from():
    frame = pd.DataFrame(
        {"age": [1, 2, 3, 4], "city": list("aabb"), "zip": list("xxyy"), "pay": [1, 2, 3, 4]}
    )
    hierarchies = {
        "age": EqualFrequencyHierarchy([2]),
        "city": CorrelationHierarchy("pay", [2]),
        "pay": IntervalHierarchy.of_widths(0, 10, [5]),
    }
    schema = Schema({"age": Column("integer", 0, 9), "zip": Column(categories=("x", "y"))})
    found = Table.of(frame, None, hierarchies, schema).provenance
    assert {name: found.hierarchies(name) for name in hierarchies} == {
        "age": Dependence.on(("age",), "all"),
        "city": Dependence.on(("city", "pay"), "all"),
        "pay": NOTHING,
    }
    declared = {name for name in frame if found[name].domain == NOTHING}
    assert declared == {"age", "zip"}
    assert found["city"].domain == Dependence.on(("city",), "all")
    assert found.is_by_rows


def test_of_what_nobody_says_anything_everything_is_assumed():
    found = TableProvenance.of(("age", "city"), Schema(), {})
    unknown = found.among(("age", "group"))
    assert unknown["age"] == found["age"]
    assert unknown["group"].content == Dependence.on(("age", "city"), "all")
    assert not unknown.is_by_rows


def test_marks_of_mechanisms_differ_as_long_as_both_are_in_a_table():
    found = TableProvenance.of(("age",), Schema(), {})
    first = found.mark("noise")
    once = found.recode({"age": found.content("age").behind(f"{first} age")}, gaps="none")
    assert once.mark("noise") != first
    assert found.mark("noise") == first
