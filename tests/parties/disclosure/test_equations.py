"""What exact tables of several jobs pin down together: known attacks, and a search over all groups."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from parties.disclosure import equations
from parties.disclosure.equations import Shown, System
from tests.support.grids import grid


def table(cells, opened=None, persons=None):
    """A table of one row a person; all its cells are opened, and their total, unless said otherwise."""
    cells = np.array(cells)
    count = int(cells.max()) + 1
    if opened is None:
        opened = [*np.eye(count, dtype=bool), np.ones(count, dtype=bool)]
    who = np.arange(len(cells)) if persons is None else np.array(persons)
    return Shown(who.astype(np.uint64), cells, np.array(opened, dtype=bool).reshape(-1, count))


def pins(minimum, *tables):
    return System(tables).pins_down(minimum)


AGES = np.repeat(np.arange(20, 80), 4)
"""Four persons of each age."""


def by_edges(*edges):
    return table(np.searchsorted(edges, AGES, side="right"))


def test_one_table_of_large_cells_pins_nothing_down():
    assert not pins(10, by_edges(40, 60))
    assert not pins(10, by_edges(40, 60), by_edges(40, 60))


def test_shifted_edges_pin_down_the_rows_between_them():
    assert pins(5, by_edges(40, 60), by_edges(41, 60))
    assert not pins(4, by_edges(40, 60), by_edges(41, 60))
    assert not pins(10, by_edges(40, 60), by_edges(43, 60))


def test_three_tables_pin_down_what_no_two_of_them_do():
    """Of groups of 2, 10 and 10 persons the first two, the last two, and the last."""
    groups = np.repeat([0, 1, 2, 3], [2, 10, 10, 10])
    first, second, third = (table(groups, [row]) for row in ([1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]))
    for pair in ((first, second), (first, third), (second, third)):
        assert not pins(5, *pair)
    assert pins(5, first, second, third)


def test_complementary_groups_pin_down_those_in_neither():
    """Everybody, and all but two of them: by category in one job, by its complement in another."""
    everybody = table([0] * 30)
    most = table([0] * 28, persons=range(28))
    assert pins(3, everybody, most)
    assert not pins(2, everybody, most)


def test_a_group_is_pinned_down_by_crossed_tables():
    """Each margin is large; the differences of two cross tables leave one cell of three persons."""
    sex = np.repeat([0, 1], 30)
    smokes = np.tile(np.repeat([0, 1], 15), 2)
    special = np.arange(60) < 3
    plain = table(2 * sex + smokes)
    marked = table(np.where(special, 4, 2 * sex + smokes), [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]])
    assert pins(4, plain, marked)
    assert not pins(3, plain, marked)


def test_a_withheld_cell_alone_pins_nothing_down():
    hidden = table([0] * 2 + [1] * 20 + [2] * 20, [[0, 1, 0], [0, 0, 1]])
    assert not pins(5, hidden)
    total = table([0] * 42)
    assert pins(5, hidden, total)


def test_a_person_with_several_rows_counts_once():
    rows = Shown(np.array([7, 7, 7, 8], dtype=np.uint64), np.array([0, 0, 0, 0]), np.ones((1, 1), dtype=bool))
    assert pins(3, rows)
    assert not pins(2, rows)


def test_people_who_came_later_are_told_apart():
    before, after = table([0] * 20), table([0] * 21)
    assert pins(2, before, after)


@pytest.mark.parametrize("name", ["MAX_COEFFICIENTS", "MAX_SETS", "MAX_SMALL_ATOMS"])
def test_what_cannot_be_gone_through_is_searched_for(monkeypatch, name):
    monkeypatch.setattr(equations, name, 0)
    tables = by_edges(40, 60), by_edges(41, 60)
    assert pins(6, *tables)
    assert not pins(4, *tables)


def test_more_equations_than_can_be_looked_at_count_as_pinned_down(monkeypatch):
    monkeypatch.setattr(equations, "MAX_EQUATIONS", 7)
    assert pins(2, by_edges(40, 60), by_edges(40, 60))


def summed(cells, amounts, persons=None):
    """A table of counts and sums."""
    counted = table(cells, persons=persons)
    return Shown(counted.persons, counted.cells, counted.equations, np.atleast_2d(amounts))


def test_what_two_sums_differ_by_is_weighed_from_zero_as_well():
    """A bound of minus 47,481 makes all amounts alike; without the values from 0 nobody dominates."""
    held = 30 + np.arange(200) % 41
    held[0] = 9000
    far = [
        summed(np.zeros(200, int), held + 47_481),
        summed((np.arange(200) < 20).astype(int), held + 47_481),
    ]
    assert not System(far).is_dominated(Fraction(4, 5))
    seen = [replace(each, signed=held[None]) for each in far]
    assert System(seen).is_dominated(Fraction(4, 5))
    assert not System([replace(each, signed=held[None] * 0 + 30) for each in far]).is_dominated(
        Fraction(4, 5)
    )


VALUES = np.arange(100, 400, 3)
"""Of a hundred persons, all different."""


def test_sums_of_different_values_pin_nothing_down():
    halves, thirds = np.arange(100) % 2, np.arange(100) % 3
    assert not pins(10, summed(halves, VALUES))
    assert not pins(10, summed(halves, VALUES), summed(thirds, VALUES), table(thirds))


def test_a_column_that_differs_from_another_in_one_person_gives_that_person_away():
    """Two columns, or one that was corrected between two jobs."""
    other = VALUES.copy()
    other[31] += 7
    everybody = np.zeros(100, dtype=np.int64)
    assert pins(5, summed(everybody, VALUES), summed(everybody, other))
    assert pins(2, summed(everybody, VALUES), summed(everybody, other))


def test_a_flag_that_is_summed_is_a_count():
    """Forty are ill, of whom 38 were treated."""
    ill, treated = (np.arange(100) < 40).astype(np.int64), (np.arange(100) < 38).astype(np.int64)
    assert pins(5, table(treated), summed(np.zeros(100, dtype=np.int64), ill))
    assert not pins(2, table(treated), summed(np.zeros(100, dtype=np.int64), ill))


def test_a_person_whose_rows_change_places_is_found():
    """All lie alike in two groupings but one person with two rows, who lies crosswise."""
    who = np.array([*range(60), 60, 60])
    first, second = np.array([*(np.arange(60) % 2), 0, 1]), np.array([*(np.arange(60) % 2), 1, 0])
    amounts = np.array([*(100 + 7 * np.arange(60)), 13, 900])
    assert pins(5, summed(first, amounts, who), summed(second, amounts, who))


def test_a_table_that_is_seen_twice_hides_nothing_from_the_search(monkeypatch):
    """Equations that depend on each other come after the one that is looked for, and before it."""
    monkeypatch.setattr(equations, "MAX_SMALL_ATOMS", 0)
    halves = np.arange(100) % 2
    twice = [summed(halves, VALUES), summed(halves, VALUES)]
    other = VALUES.copy()
    other[31] += 7
    assert not pins(5, *twice)
    assert pins(5, *twice, summed(halves, other))
    assert pins(5, summed(halves, other), *twice)


@pytest.mark.parametrize("seed", grid(range(20), range(4)))
def test_the_search_finds_a_planted_group(monkeypatch, seed):
    """Random sums over random groups, and in the end one of all of them and of something of three persons."""
    monkeypatch.setattr(equations, "MAX_SMALL_ATOMS", 0)
    drawn = np.random.default_rng(seed)
    tables = [summed(drawn.integers(0, 4, 400), drawn.integers(0, 1000, 400)) for _ in range(4)]
    assert not pins(10, *tables)
    (total,) = sum(t.amounts for t in tables)
    total[drawn.choice(400, 3, replace=False)] += 1 + drawn.integers(0, 50, 3)
    assert pins(10, *tables, summed(np.zeros(400, dtype=np.int64), total))


def rank(rows):
    """Of rows of rationals."""
    rows = [list(map(Fraction, row)) for row in rows]
    done = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(len(rows)):
            if i != done and rows[i][column]:
                factor = rows[i][column] / rows[done][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return done


def brute(minimum, *tables):
    """Whether a combination is about fewer than `minimum` persons: over all groups of so many, one by one."""
    everybody = sorted({int(person) for each in tables for person in each.persons})
    matrix = []
    for each in tables:
        for equation in each.equations:
            row = dict.fromkeys(everybody, 0)
            for person, cell in zip(each.persons, each.cells, strict=True):
                row[int(person)] += int(equation[cell])
            matrix.append(list(row.values()))
    whole = rank(matrix)
    return any(
        rank([[c for i, c in enumerate(row) if i not in group] for row in matrix]) < whole
        for group in combinations(range(len(everybody)), minimum - 1)
    )


@pytest.mark.parametrize("seed", range(120))
def test_it_finds_what_a_search_over_all_groups_finds(seed):
    drawn = np.random.default_rng(seed)
    people = int(drawn.integers(4, 9))
    minimum = int(drawn.integers(2, 4))
    tables = []
    for _ in range(int(drawn.integers(1, 4))):
        present = np.flatnonzero(drawn.random(people) < 0.9)
        if not len(present):
            continue
        rows = np.repeat(present, drawn.integers(1, 3, len(present)))
        cells = drawn.integers(0, 3, len(rows))
        opened = drawn.random((int(drawn.integers(1, 4)), 3)) < 0.6
        tables.append(Shown(rows.astype(np.uint64), cells, opened))
    if tables:
        assert System(tables).pins_down(minimum) is brute(minimum, *tables)


def test_a_large_population_is_gone_through():
    """100,000 persons, six tables of which the last shifts an edge by a value that few have."""
    drawn = np.random.default_rng(1)
    values = drawn.integers(0, 100_000, 100_000)
    who = np.arange(100_000, dtype=np.uint64)

    def shown(edges):
        cells = np.searchsorted(edges, values, side="right")
        return Shown(who, cells, np.eye(len(edges) + 1, dtype=bool))

    tables = [shown(np.arange(shift, 100_000, 5000) + 500) for shift in range(0, 5000, 1000)]
    assert not System(tables).pins_down(100)
    assert System([*tables, shown([500, 5503])]).pins_down(100)


COSTS = np.array([98_765, *range(100, 110), *(9_000 + 7 * np.arange(389))])
"""Of eleven patients of whom one has most, and of 389 others."""

ELEVEN = np.arange(400) < 11


def test_what_two_sums_differ_by_is_held_against_dominance():
    """All, and all but the eleven: each fits the rule, their difference is one person's."""
    everybody = summed(np.zeros(400, dtype=np.int64), COSTS)
    others = summed(np.zeros(389, dtype=np.int64), COSTS[~ELEVEN], np.flatnonzero(~ELEVEN))
    rule = Fraction(4, 5)
    assert not System([everybody]).is_dominated(rule)
    assert not System([everybody, everybody]).is_dominated(rule)
    assert not System([everybody, others]).pins_down(10)
    assert System([everybody, others]).is_dominated(rule)
    assert System([others, everybody]).is_dominated(rule)
    assert not System([everybody, others]).is_dominated(Fraction(1))
    even = COSTS.copy()
    even[0] = 104
    assert not System(
        [
            summed(np.zeros(400, dtype=np.int64), even),
            summed(np.zeros(389, dtype=np.int64), even[~ELEVEN], np.flatnonzero(~ELEVEN)),
        ]
    ).is_dominated(rule)


def test_a_sum_of_several_differences_is_held_against_dominance():
    """The others in two cells of which no total is opened: only all less both of them is the eleven."""
    halves = np.where(ELEVEN, 2, np.arange(400) % 2)
    parts = summed(halves, COSTS)
    apart = replace(parts, equations=np.array([[1, 0, 0], [0, 1, 0]], dtype=bool))
    everybody = summed(np.zeros(400, dtype=np.int64), COSTS)
    assert System([everybody, apart]).is_dominated(Fraction(4, 5))
    assert System([apart, everybody]).is_dominated(Fraction(4, 5))
    assert not System([apart]).is_dominated(Fraction(4, 5))


def test_too_many_sums_to_compare_count_as_dominated(monkeypatch):
    monkeypatch.setattr(equations, "MAX_COMPARED", 100)
    assert System([summed(np.zeros(400, dtype=np.int64), 5 + 0 * COSTS)]).is_dominated(Fraction(4, 5))


def test_sums_are_compared_in_pieces(monkeypatch):
    monkeypatch.setattr(equations, "MAX_COMPARED_AT_ONCE", 10)
    test_what_two_sums_differ_by_is_held_against_dominance()


@pytest.mark.parametrize("small", [0, equations.MAX_SMALL_ATOMS])
def test_overlap_is_asked_of_several_tables_and_the_smallest_group_of_one(monkeypatch, small):
    """A cell of 12 persons beside overlap = 20 stands, what two tables differ by in 15 persons does not."""
    monkeypatch.setattr(equations, "MAX_SMALL_ATOMS", small)
    one = table(np.repeat([0, 1, 2], [12, 100, 128]))
    assert not System([one]).pins_down(10, 20)
    assert not System([one, one]).pins_down(10, 20)
    assert System([one]).pins_down(13, 20)
    shifted = table(np.repeat([0, 1, 2], [12, 115, 113]))
    assert not System([one, shifted]).pins_down(10)
    assert not System([one, shifted]).pins_down(10, 15)
    assert System([one, shifted]).pins_down(10, 20)
    other = table(np.repeat([0, 1], [14, 226]))
    assert System([one, other]).pins_down(1, 20)


def test_withheld_cells_count_as_what_was_told():
    open_cells = np.eye(300, dtype=bool)
    half = Shown(np.arange(300, dtype=np.uint64), np.arange(300), open_cells[:10])
    assert half.told == 300
    assert System([half, half]).is_checkable()
    assert not System([half, half, half]).is_checkable()
