"""A row that holds nothing but a word with a figure is a count below the table, in any language."""

from __future__ import annotations

import pytest

from commons.tabular.footers import sum_in, sums_below


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ("Razem: 420", "Razem"),
        ("Celkem pacientů = 1 204", "Celkem pacientů"),
        ("Liczba wierszy：12", "Liczba wierszy"),
        ("Итого: 420", "Итого"),
        ("Ukupno: 1.234,50", "Ukupno"),
        ("P-123", ""),
        ("Kowalski", ""),
        ("12: 5", ""),
        ("Wydrukowano: 14.11.2026 08:02", ""),
    ],
)
def test_a_word_and_a_figure_alone_in_a_row_count_it(cell, word):
    assert sum_in([cell, "", None, " "]) == word


def test_the_same_beside_other_cells_or_in_a_narrow_table_is_a_row():
    assert sum_in(["Razem: 420", "", "M", ""]) == ""
    assert sum_in(["Razem: 420", ""]) == ""
    assert sums_below([["Anna", "12", "K"], ["Razem: 2", "", ""]]) == ("Razem",)
