"""Exact sums are no back door around the smallest group: bounds, common values and totals of the attacks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.disclosure.crowds import Crowds, told_apart, told_by_digits
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.sharing.bounds import Bounds
from tests.support.grids import crossed

ALICE = frozenset({Role.ALICE})
POLICY = Limits(minimum_group=10, dominance=Fraction(4, 5), zeros="shown")
"""Zeros are shown, since the part of the other side is often at a bound, where it would be withheld."""
GROUPS = replace(POLICY, dominance=Fraction(1))
COST = Schema("integer", lower=0, upper=100_000, unit="euro")
GROUP = Schema("category", categories=("A", "B", "C"))
RICH = [98_765, 61_000, 65_234]
"""The three patients whom the attacks are after."""


def job(kind="sum", **query):
    given = {"kind": kind, "column": "cost", **query}
    return STATISTICS.parse({"noise": "none", "maximum_rows": 10_000, "queries": [given]})


def costs(values, schema=COST, group=None, persons=None):
    data = {"cost": Column(np.array(values, dtype=np.int64), schema)}
    if group is not None:
        data["group"] = Column(np.array(group, dtype=np.int64), GROUP)
    if persons is not None:
        data[PERSONS] = Column(np.array(persons, dtype=np.int64), Schema("integer"))
    return data


def shown(study, alice, bob, limits=POLICY):
    """The values that Alice is shown."""
    outcome, _ = run_pair(
        lambda s: run_study(study, s, alice, ALICE, limits.of_both),
        lambda s: run_study(study, s, bob, ALICE, limits.of_both),
    )
    return list(outcome.tables[0].columns["value"])


@pytest.mark.parametrize("bounds", [{"lower": 50_000}, {"upper": 200_000}, {"lower": -1_000_000_000}])
@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_a_job_without_noise_has_no_bounds_of_its_own(kind, bounds):
    """Narrow ones count the few beyond them, wide ones let nobody dominate."""
    with pytest.raises(UsageError, match="need noise"):
        job(kind, **bounds)
    noisy = {"epsilon": "1", "queries": [{"kind": kind, "column": "cost", "lower": -5, "upper": 9}]}
    STATISTICS.parse(noisy).check({"cost": COST}, {"cost": COST})


def test_both_sides_declare_the_same_bounds():
    narrow = {"cost": Schema("integer", lower=-1_000_000, upper=100_000, unit="euro")}
    for alice, bob in (({"cost": COST}, narrow), (narrow, {"cost": COST})):
        with pytest.raises(UsageError, match="differently") as caught:
            job().check(alice, bob)
        assert caught.value.hint == "Declare the columns alike."  # a job without noise states no bounds
        noisy = STATISTICS.parse({"epsilon": "1", "queries": [{"kind": "sum", "column": "cost"}]})
        with pytest.raises(UsageError, match="differently") as caught:
            noisy.check(alice, bob)
        assert caught.value.hint == "Declare the columns alike or state the bound in the query."


DAYS = Schema("integer", lower=-1_000_000_000, upper=100_000, unit="euro")
"""Declared carelessly: a bound far below all values."""


def test_a_bound_far_below_all_values_hides_no_one_who_dominates():
    """24 of 10 to 300 and one of 98,765: without the rest the one would be known to within 4 %."""
    values = [*np.linspace(10, 300, 24).astype(int), 98_765]
    for schema in (COST, DAYS):
        assert shown(job(), costs([0] * 40, schema), costs(values, schema)) == [None]
        assert shown(job("mean"), costs([0] * 40, schema), costs(values, schema)) == [None]
    assert shown(job(), costs([0] * 40), costs(range(100, 140))) != [None]


BADLY_DECLARED = {
    "a threshold": (Schema("integer", lower=50_000, upper=50_001), 0),
    "the excess": (Schema("integer", lower=50_000, upper=100_000), 0),
    "from above": (Schema("integer", lower=0, upper=50_000), 100_000),
    "far below the common value": (Schema("integer", lower=-1000, upper=100_000), 0),
}


@pytest.mark.parametrize(("name", "kind"), crossed(BADLY_DECLARED, ["sum", "mean"]))
def test_a_sum_does_not_tell_of_the_few_who_differ_from_the_rest(name, kind):
    """Declared bounds, or values, that leave few persons with anything to add."""
    schema, common = BADLY_DECLARED[name]
    few = [100_000 - value for value in RICH] if common else RICH
    values = np.clip(np.array([common] * 400 + few), schema.lower, schema.upper)
    none = np.clip(np.array([common] * 400), schema.lower, schema.upper)
    assert shown(job(kind), costs(none, schema), costs(values, schema)) == [None]
    assert shown(job(kind), costs(none, schema), costs(none, schema)) != [None]
    many = np.clip(np.array([common] * 400 + few * 10), schema.lower, schema.upper)
    assert shown(job(kind), costs(none, schema), costs(many, schema), GROUPS) != [None]


def test_the_few_are_persons_and_not_rows():
    values = [0] * 40 + [500] * 12
    alice = costs([0] * 40)
    assert shown(job(), alice, costs(values)) != [None]
    assert shown(job(), alice, costs(values, persons=[*range(40), *[40] * 12])) == [None]


def test_the_few_are_counted_by_what_they_add_in_all_their_rows():
    """Everybody has a row of 0 and one of 500, one person 37 instead: by rows each has one that differs."""
    everybody = np.repeat(np.arange(60), 2)
    values = np.tile([0, 500], 60)
    values[41] = 37
    alice = costs(np.tile([0, 500], 60), persons=everybody)
    assert shown(job(), alice, costs(values, persons=everybody)) == [None]


def test_a_total_does_not_give_back_what_a_cell_withholds():
    """One rich patient among the poor of group A, only poor ones in B: their total would be the secret."""
    group = [0] * 100 + [1] * 100 + [2] * 100
    values = [98_765, *[0] * 99, *[0] * 100, *range(1, 101)]
    free, query = GROUPS, job(by="group")
    closed = shown(query, costs([0] * 300, group=group), costs(values, group=group), free)
    assert closed == [None, 0, None, 98_765 + sum(range(1, 101))]
    covered = shown(query, costs(range(1, 301), group=group), costs(values, group=group), free)
    assert covered[0] is None
    assert covered[1] == sum(range(101, 201))
    assert covered[2] is None  # it has many who contribute, and hides the first in the total
    assert covered[3] == sum(range(1, 301)) + sum(values)


def test_the_smallest_group_holds_for_what_a_recipient_can_subtract():
    """Alice fills the cell with rows of her own; Bob's three patients stay withheld."""
    assert shown(job(), costs(range(400)), costs([0] * 400 + RICH), GROUPS) == [None]


def test_the_number_of_rows_stands_beside_an_exact_sum():
    alice, bob = costs(range(20)), costs(range(30))
    for kind in ("sum", "mean"):
        outcome, _ = run_pair(
            lambda s, kind=kind: run_study(job(kind), s, alice, ALICE, POLICY.of_both),
            lambda s, kind=kind: run_study(job(kind), s, bob, ALICE, POLICY.of_both),
        )
        assert list(outcome.tables[0].columns["rows"]) == [50]


def slow_told_apart(cells, persons, values, bounds, size):
    """By the words of the definition."""
    found = []
    for cell in range(size):
        own = [(p, v) for c, p, v in zip(cells, persons, values, strict=True) if c == cell]
        rows = {p: [v for q, v in own if q == p] for p, _ in own}
        added = [sum(each) for each in rows.values()]
        common = min(added, key=lambda total: (-added.count(total), total)) if added else 0
        like = [{p: len(each) * bound for p, each in rows.items()} for bound in bounds]
        like.append(dict.fromkeys(rows, common))
        found.append([sum(sum(each) != one[p] for p, each in rows.items()) for one in like])
    return np.array(found).reshape(size, 3).T.tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 4)), max_size=12))
def test_those_whom_a_sum_tells_apart_are_counted(rows):
    cells, persons, values = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = told_apart(cells, persons, values, Owned(Bounds(0, 4)), 3)
    assert [part.tolist() for part in found] == slow_told_apart(cells, persons, values, (0, 4), 3)


DIGITS = {
    "three prices": ([1250] * 20 + [11_735] * 18 + [91_377] * 2, [2, 40]),
    "an odd amount among tariffs": ([5000] * 20 + [15_000] * 19 + [20_017], [1, 40]),
    "an odd amount among many of one step": ([50 * number for number in range(39)] + [1017], [40, 1]),
    "neighbouring codes": ([1] * 20 + [2] * 18 + [3] * 2, [40, 40]),
    "amounts of any size": ([number**2 + number for number in range(40)], [40, 40]),
}


@pytest.mark.parametrize("name", DIGITS)
def test_digits_tell_of_few(name):
    """Of the first cell; the second has many other values, which do not hide them."""
    amounts, wanted = DIGITS[name]
    values = np.array([*amounts, *range(7, 77)], dtype=np.int64)
    cells = np.array([0] * len(amounts) + [1] * 70)
    found, lacking = told_by_digits(cells, np.arange(len(values)), [values], 3)
    assert lacking.tolist() == [len(amounts), 70, 0]
    assert [int(numbers[0]) for numbers in found] == wanted
    assert [int(numbers[2]) for numbers in found] == [0, 0]


def test_the_fewest_stand_for_all_numbers():
    for numbers in itertools.product(range(4), repeat=3):
        crowds = Crowds.of(*(np.array([one]) for one in numbers))
        groups = all(one == 0 or one >= 2 for one in numbers)
        assert (crowds.fewest[0] == 0 or crowds.fewest[0] >= 2) == groups
        assert crowds.cover[0] == min(numbers)
