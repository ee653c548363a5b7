"""Whole numbers that no float holds, or that Python does not write in digits, end with an error of words."""

from __future__ import annotations

import pytest

from commons.errors import HintedError
from commons.settings.toml import parse
from smc.analyses.registry import ANALYSES
from smc.errors import UsageError

COMPARISON = {"type": "PN-NP-PN", "bits": 12}
DERIVED = {"from": "born", "to": "2025-12-31", "unit": "years", "lower": 0, "upper": 110}


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0x" + "f" * 5000, "[1, [0x" + "f" * 5000 + "]]", "{ a = 0o" + "7" * 9000 + " }"]
)
def test_a_document_with_an_endless_number_is_refused(number):
    with pytest.raises(UsageError, match="thousands of digits"):
        parse(f"[parameters]\nbits = {number}\n", "job.toml", UsageError)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_parameter_beyond_all_floats_is_refused_by_its_name(number):
    with pytest.raises(UsageError, match="bits"):
        ANALYSES["comparison"].parse({**COMPARISON, "bits": number})


def test_so_is_a_bound_of_a_derived_column():
    query = {"kind": "mean", "column": "age"}
    given = {"epsilon": "1", "queries": [query], "derived": {"age": {**DERIVED, "upper": 10**400}}}
    with pytest.raises(UsageError) as refused:
        ANALYSES["statistics"].parse(given)
    assert isinstance(refused.value, HintedError)
    assert refused.value.hint


@pytest.mark.parametrize("steps", [[[]], [{}], ["strip", []], [None], [1]])
def test_steps_of_a_normal_form_that_are_no_texts_are_refused(steps):
    match = {"method": "exact", "keys": ["card"], "output": "size", "normalization": {"card": steps}}
    with pytest.raises(UsageError, match="not a list of known steps"):
        ANALYSES["matching"].parse(match)
