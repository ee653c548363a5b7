"""Tables on the screen: every number whole, whatever the width."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from parties.cli.grid import laid_out
from parties.cli.output import listing, table


def printed(grid, width):
    stream = io.StringIO()
    console = Console(file=stream, width=width, legacy_windows=False)
    console.print(laid_out(grid, console))
    return stream.getvalue()


def pieces(text):
    """The cells of a printed table, line by line."""
    return [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in text.splitlines()]


WORDS = st.text("abc ", max_size=40)
NUMBERS = st.one_of(st.integers(-(10**15), 10**15), st.floats(-1e12, 1e12), st.none())


@given(
    st.lists(st.tuples(WORDS, WORDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4),
    st.sampled_from([60, 80, 120, 200]),
)
def test_numbers_are_never_broken_and_lines_never_too_long(rows, width):
    grid = table("a title", ("text", "other", "one", "two", "three", "four"), rows)
    text = printed(grid, width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text
    cells = [cell for line in pieces(text) for cell in line]
    for row in grid.rows:
        for place in range(2, 6):
            assert row[place] in cells


@pytest.mark.parametrize("width", [80, 120])
def test_texts_are_broken_and_nothing_of_them_is_lost(width):
    name, job = "the mean of the age of all patients in the north " * 3, "0123456789abcdef"
    text = printed(table("", ("job", "query", "value"), [(job, name, 5), (job, "x" * 100, 6)]), width)
    column = "".join(line[1] for line in pieces(text) if len(line) == 3)
    assert column.replace(" ", "").replace("query", "", 1) == (name + "x" * 100).replace(" ", "")
    assert [line[0] for line in pieces(text) if len(line) == 3 and line[0]].count(job) == 2


def test_a_row_of_numbers_that_is_too_wide_becomes_a_list():
    names = [f"axis {place}" for place in range(20)]
    text = printed(table("centres", names, [range(10**9, 10**9 + 20), range(20)]), 80)
    cells = [line for line in pieces(text) if len(line) == 2]
    assert cells[:20] == [[name, str(10**9 + place)] for place, name in enumerate(names)]
    assert max(map(cell_len, text.splitlines())) <= 80


@given(
    st.lists(st.tuples(st.text("pn: ", max_size=200), NUMBERS, WORDS), min_size=1, max_size=4),
    st.sampled_from([20, 40, 80]),
)
def test_without_lines_only_the_beginning_of_a_first_cell_stands_at_the_left_edge(rows, width):
    shown = [(f"|{first}", *others) for first, *others in rows]
    text = printed(listing(("", "|numbers", "|texts"), shown), width)
    assert max(map(cell_len, text.splitlines())) <= width
    begun = [line for line in text.splitlines() if line[:1].strip()]
    assert all(line.startswith("|") for line in begun)
    assert "".join(line[0] for line in begun).count("|") >= len(rows)


def test_a_long_name_goes_on_to_the_right_of_where_it_began():
    text = printed(listing(("", ""), [("  mean of age " + "public: nothing " * 6, "4.5")]), 60)
    first, *further = text.splitlines()
    assert first.startswith("  mean of age public:")
    assert further
    assert all(line.startswith(" " * 6) for line in further)
