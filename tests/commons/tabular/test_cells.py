"""Cells below a limit of detection, and half of a number without rounding."""

from __future__ import annotations

from fractions import Fraction

import pytest

from commons.tabular.cells import halve, limit_in


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        *(("<0,2", "0,2"), ("< 5", "5"), ("≤1.234,5", "1.234,5"), ("<=3", "3"), ("＜7", "7")),
        *((" <0.05 ", "0.05"), ("<5%", "5"), ("< 5 %", "5"), ("<2 mg", "2 mg"), ("< 0.5 mg/l", "0.5 mg/l")),
        ("<1.200,5€", "1.200,5€"),
    ],
)
def test_a_limit_is_found(text, limit):
    assert limit_in(text) == limit


@pytest.mark.parametrize(
    "text", ["0.2", ">0.2", "<", "<LOD", "a<2", "<2 mg daily", "<2,mg", "<-2", "<<2", ""]
)
def test_what_is_no_limit_is_none(text):
    assert limit_in(text) is None


@pytest.mark.parametrize(
    "number", ["0.2", "5", "0", "-3", "+0.5", "0.0000001", "1234567890123456789012345678"]
)
def test_half_is_exact(number):
    assert 2 * Fraction(halve(number)) == Fraction(number)
