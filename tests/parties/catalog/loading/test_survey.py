"""All faults of a data set, with counts, places and hints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.catalog.loading.loading import load
from parties.catalog.loading.survey import EXAMPLES, survey
from parties.errors import DataError
from tests.parties.catalog.declared import NUMBER, TEXT, dataset

AGE = {"type": "integer", "lower": 0, "upper": 120}


def test_each_kind_of_fault_is_counted_with_examples(tmp_path):
    rows = "id,age,sex\n" + "1,40,m\n" * 2 + "2,?,w\n" * 5 + "3,121,\n" + ",30,x\n"
    sex = {"type": "category", "values": ["m", "w"]}
    found = survey(dataset(tmp_path, rows, {"age": AGE, "sex": sex, "gone": TEXT}, key="id"))
    said = {(fault.column, fault.what): fault for fault in found.faults}
    assert said["gone", "is not in the source"].count == 0
    odd = said["age", "is not an integer"]
    assert (odd.count, len(odd.examples), odd.examples[0]) == (5, EXAMPLES, ("row 3 (line 4)", "?"))
    assert 'missing_tokens = ["?"]' in odd.hint
    assert said["age", "is outside the declared bounds"].examples == [("row 8 (line 9)", "121")]
    assert said["sex", "is missing"].count == 1
    assert said["sex", "is not one of the declared labels"].count == 1
    assert said["id", "is a key and is missing"].count == 1
    assert said["id", "is a key and came before"].count == 5
    assert said["id", "is a key and came before"].examples[0][0] == "row 2 (line 3), first in row 1 (line 2)"
    assert found.rows == 9
    assert (found.ranges["age"].least, found.ranges["age"].greatest) == (30, 40)
    assert "121" not in repr(found.faults)


CELLS = st.sampled_from(["1", "7", "", "?", "x", "1001", "-1", " 3 "])


@given(st.lists(st.tuples(CELLS, CELLS), max_size=12), st.sampled_from(["error", "drop"]))
def test_there_are_faults_exactly_where_loading_refuses(tmp_path_factory, rows, missing):
    text = "".join(f"{a},{b}\n" for a, b in rows)
    folder = tmp_path_factory.mktemp("d")
    declared = dataset(folder, f"a,b\n{text}", {"a": NUMBER | {"missing": missing}, "b": NUMBER}, person="a")
    try:
        load(declared, ["a", "b"])
        refused = False
    except DataError:
        refused = True
    assert bool(survey(declared).faults) == refused


def test_a_source_that_is_not_rows_and_columns_is_an_error(tmp_path):
    with pytest.raises(DataError, match="3 cells"):
        survey(dataset(tmp_path, "a,b\n1,2,3\n", {"a": NUMBER}))
