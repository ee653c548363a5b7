"""A centre times the size of its cluster is a sum: it must not tell of a few persons, or of one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.clustering import reference as twin
from smc.analyses.clustering.census import COMMON, check_weight, weigh_rows
from smc.analyses.clustering.parameters import Layout
from smc.analyses.disclosure.cluster_sums import PlainSums, plain_revealing
from smc.analyses.disclosure.clusters import plain_fails, plain_withheld
from smc.analyses.disclosure.crowds import off_bounds, off_commonest
from smc.analyses.disclosure.limits import NO_LIMITS, SHOWN, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.errors import DomainError
from smc.forms import Role
from smc.secret.sharing.bounds import Bounds
from tests.smc.analyses.clustering import test_matched as matched
from tests.smc.analyses.clustering_runs import (
    BASE,
    BOTH,
    COLUMNS,
    HORIZONTAL,
    NAMES,
    SPLIT,
    STATED,
    blobs,
    integers,
    joint,
    named,
    parsed,
    plain,
    shape_of,
    table,
    watched,
)
from tests.support.costs import stated
from tests.support.grids import grid
from tests.support.seeds import seeded

GROUPS = Limits(minimum_group=5)
WEIGHED = Limits(dominance=Fraction(4, 5))
STRICT = Limits(minimum_group=5, dominance=Fraction(4, 5))
LOWER, UPPER = -500, 500
TWO = "clusters = 2\niterations = 1\n"
ENDS = 'centres = [["-50", "-50", "-50"], ["50", "50", "50"]]\n'
MATCH = '[match]\nkeys = ["id"]\n[match.normalization]\nid = ["trim"]\n'
JOBS = {
    "horizontal": parsed(TWO + COLUMNS + ENDS),
    "vertical": parsed(TWO + SPLIT + ENDS),
    "matched": parsed(TWO + SPLIT + ENDS + MATCH),
    "matched, Bob fewer": parsed(TWO + SPLIT + ENDS + MATCH),
    "arbitrary": parsed(
        TWO + COLUMNS + 'layout = "arbitrary"\ncentres = [["-100", "-100", "-100"], ["50", "50", "50"]]\n'
    ),
}


def sides(name, values, persons=None):
    """Both sides' data of rows of which the first half is Alice's, or every row has a part of both."""
    if name == "horizontal":
        half = len(values) // 2
        numbers = np.arange(len(values)) if persons is None else np.array(persons)
        return tuple(
            table(values[part], persons=numbers[part]) for part in (slice(0, half), slice(half, None))
        )
    if name == "arbitrary":
        nothing = np.full_like(values, LOWER)
        return table(values, persons=persons), table(nothing, persons=persons)
    first, second = values[:, :1], values[:, 1:]
    if name == "vertical":
        return table(first, NAMES[:1], persons=persons), table(second, NAMES[1:], persons=persons)
    count, further = len(values), np.zeros((9, 3), dtype=np.int64)
    more = [count, count + 9] if name == "matched" else [count + 9, count]
    keys = [range(more[0]), [*range(count)[::-1], *range(1000, 1000 + more[1] - count)]]
    left = np.concatenate([first, further[: more[0] - count, :1]])
    right = np.concatenate([second[::-1], further[: more[1] - count, 1:]])
    return matched.side(keys[0], left, NAMES[:1]), matched.side(keys[1], right, NAMES[1:])


def two_clusters(first, column):
    """Rows with these values in a column, and 60 rows far above them, the same number on each side."""
    low = np.full((len(first), 3), LOWER)
    low[:, column] = first
    high = np.array([[value] * 3 for value in range(300, 360)])
    half = len(first) // 2
    return np.concatenate([low[:half], high[:30], high[30:], low[half:]])


def shown(name, values, limits, persons=None):
    """The sizes in Alice's result, after both sides' results were found alike."""
    first, second = joint(JOBS[name], *sides(name, values, persons), limits=limits)
    assert named(first)["centres"] == named(second)["centres"]
    return named(first)["centres"]["size"]


FEW = {
    "above the lower bound": [LOWER] * 50 + [-123],
    "below the upper bound": [UPPER] * 50 + [123],
    "beside the commonest value": [-250] * 70 + [-123],
    "four of them": [LOWER] * 50 + [-123, -150, -200, -210],
}


PLACES = [
    ("horizontal", 1),
    ("arbitrary", 1),
    ("vertical", 0),
    ("vertical", 2),
    ("matched", 0),
    ("matched", 2),
    ("matched, Bob fewer", 0),
]
"""Jobs with a column: where rows are split the first is Alice's and the third Bob's."""
QUICK = [("horizontal", 1), ("arbitrary", 1), ("vertical", 2), ("matched", 0)]
"""One of each layout; in one of those that are split it is Alice who holds the column, in the other Bob."""


@pytest.mark.parametrize(
    ("name", "column", "few"),
    grid(
        [
            *((*place, "above the lower bound") for place in PLACES),
            *(("horizontal", 0, few) for few in list(FEW)[1:]),
        ],
        [
            *((*place, "above the lower bound") for place in QUICK),
            *(("horizontal", 0, few) for few in list(FEW)[2:]),
        ],
    ),
)
def test_a_centre_does_not_tell_of_the_few_who_differ(name, column, few):
    """All but one of 51 have the same value: 51 times the centre, less 50 times that, is the value of one."""
    values = two_clusters(FEW[few], column)
    size = len(FEW[few])
    study = JOBS[name]
    centres = named(plain(study, *sides(name, values))[0])["centres"]
    assert centres["size"][0] == size
    apart = {int(value) for value in FEW[few] if value != FEW[few][0]}
    if len(apart) == 1:
        offset = LOWER / 10 if name == "arbitrary" else 0
        found = size * (centres[NAMES[column]][0] - offset) - (size - 1) * FEW[few][0] / 10
        assert found == pytest.approx(min(apart) / 10, abs=1)
    assert shown(name, values, GROUPS)[0] is None


def with_others(low, high, column):
    """A cluster of rows with these values in a column, and one with those; as many rows on each side."""
    values = np.array([[LOWER] * 3] * len(low) + [[350] * 3] * len(high))
    values[:, column] = [*low, *high]
    half = len(low) // 2, len(low) + len(high) // 2
    first, second, third, fourth = np.split(values, [half[0], len(low), half[1]])
    return np.concatenate([first, third, fourth, second])


@pytest.mark.parametrize(
    ("name", "column", "values"),
    grid(
        [(*place, values) for place in PLACES for values in (1, COMMON - 1)],
        [(*place, 1 + n % 2 * (COMMON - 2)) for n, place in enumerate(QUICK)],
    ),
)
def test_few_who_differ_from_a_value_that_only_their_cluster_has(name, column, values):
    """More rows of the other cluster have each of some other values; 40 of 41 here have one in common."""
    others = [300 + 10 * place for place in range(values)] * 60
    low = [-250] * 40 + [-123]
    assert shown(name, with_others(low, others, column), GROUPS) == [None, len(others)]
    assert shown(name, with_others([*low, *[-123] * 9], others, column), GROUPS) == [50, len(others)]


def test_what_more_common_values_hide():
    """What remains: of more values, that of the cluster is none of the commonest of its side."""
    others = [300 + 10 * place for place in range(COMMON)] * 100
    assert shown("horizontal", with_others([-250] * 40 + [-123], others, 0), GROUPS) == [41, len(others)]


def test_the_commonest_values_in_their_order():
    values = np.array([5, 5, 5, 2, 2, 9, 9, 7])
    assert [mark.tolist() for mark in off_commonest(values, 3)] == [
        [int(value != common) for value in values] for common in (5, 2, 9)
    ]
    assert [mark.tolist() for mark in off_commonest(values[:3], 2)] == [[0, 0, 0]] * 2
    assert [mark.tolist() for mark in off_commonest(values[:0], 2)] == [[], []]


@pytest.mark.parametrize(
    ("name", "few"),
    grid(
        [*(("horizontal", few) for few in FEW), ("matched", "four of them")],
        [("horizontal", "beside the commonest value"), ("matched", "four of them")],
    ),
)
def test_many_who_differ_are_shown(name, few):
    many = FEW[few] + [-123, -150, -200, -210, -220, -230, -300]
    assert shown(name, two_clusters(many, 0), GROUPS) == [len(many), 60]


@pytest.mark.parametrize(("name", "column"), grid(PLACES, QUICK))
def test_a_centre_does_not_tell_of_one_who_dominates_it(name, column):
    """Patients near the lower bound, not many of whom have the same value, and one far above."""
    poor = [LOWER + value for value in (1, 2, 3)] * 16
    assert shown(name, two_clusters([*poor, -20], column), STRICT) == [None, 60]
    if name in ("horizontal", "matched"):
        assert shown(name, two_clusters([*poor, -400], column), STRICT) == [49, 60]


def test_dominance_and_the_smallest_group_are_rules_of_their_own():
    poor = [LOWER + value for value in (1, 2, 3)] * 16
    assert shown("horizontal", two_clusters([*poor, -20], 0), GROUPS) == [49, 60]
    assert shown("horizontal", two_clusters([*poor, -20], 0), WEIGHED) == [None, 60]


@pytest.mark.parametrize("role", list(Role))
def test_the_rules_hold_for_each_side_alone(role):
    """The other side has many who differ, and a large sum: whoever holds it takes it out."""
    mine, other = [LOWER] * 30 + [-123], list(range(-400, -340))
    first, second = two_clusters(mine, 1), two_clusters(other, 1)
    data = [table(first), table(second)]
    if role is Role.BOB:
        data = data[::-1]
    for limits in (GROUPS, WEIGHED):
        sizes = named(joint(JOBS["horizontal"], *data, limits=limits)[0])["centres"]["size"]
        assert sizes == [None, 120]
    together = table(np.concatenate([first, second])), table(np.zeros((0, 3), dtype=np.int64))
    zeros = replace(STRICT, zeros=SHOWN)
    sizes = named(joint(JOBS["horizontal"], *together, limits=zeros)[0])["centres"]["size"]
    assert sizes == [91, 120]


@pytest.mark.parametrize("name", grid(["horizontal", "vertical", "arbitrary"], ["horizontal", "vertical"]))
def test_the_few_are_persons_and_not_rows(name):
    """Twelve rows differ, of one person."""
    low = [LOWER] * 40 + [-300] * 12
    values = two_clusters(low, 0)
    numbers = np.arange(len(values))
    differ = np.flatnonzero(values[:, 0] == -300)
    assert shown(name, values, GROUPS) == [52, 60]
    numbers[differ] = differ[0]
    assert shown(name, values, GROUPS, numbers.tolist()) == [None, 60]


@pytest.mark.parametrize("name", ["horizontal", "vertical"])
def test_a_person_dominates_with_all_rows_together(name):
    low = [LOWER + value for value in range(1, 8)] * 4 + [-400] * 12
    values = two_clusters(low, 0)
    numbers = np.arange(len(values))
    rich = np.flatnonzero(values[:, 0] == -400)
    assert shown(name, values, WEIGHED) == [40, 60]
    numbers[rich] = rich[0]
    assert shown(name, values, WEIGHED, numbers.tolist()) == [None, 60]


def test_the_largest_part_that_is_allowed():
    """One adds 80 of 100 to the cluster, which is allowed; 81 of 101 are more than four fifths."""
    text = 'clusters = 2\niterations = 1\nprecision = 12\nscaling = "none"\ncolumns = ["x"]\n'
    study = parsed(text + 'centres = [["0"], ["4000"]]\nlabels = false\n')
    whole = Schema("integer", lower=0, upper=4095)

    def sizes(values):
        alice = {"x": Column(np.array(values), whole)}
        bob = {"x": Column(np.array([4000] * 5), whole)}
        return named(joint(study, alice, bob, limits=WEIGHED)[0])["centres"]["size"]

    assert sizes([80, 10, 6, 4]) == [4, 5]
    assert sizes([81, 10, 6, 4]) == [None, 5]


def test_an_empty_cluster_keeps_a_centre_that_is_not_shown():
    """A centre without rows is that of earlier ones, whom the last sums do not count."""
    text = TWO + COLUMNS + 'centres = [["-50", "-50", "-50"], ["-49", "-49", "-49"]]\n'
    values = np.array([[value] * 3 for value in range(LOWER, LOWER + 5)])
    alice, bob = table(values), table(values)
    assert named(plain(parsed(text), alice, bob)[0])["centres"]["size"][1] == 0
    assert named(joint(parsed(text), alice, bob, limits=WEIGHED)[0])["centres"]["size"][1] is None


def expected(name, study, alice, bob, limits):
    """Which clusters the rules withhold, from the rows in the clear; one row a person."""
    shape = shape_of(study, alice, bob)
    scaled, k = shape.scaled, study.parameters.clusters
    blocks = {
        role: scaled.whole(data, study.parameters.values(role)).astype(np.int64)
        for role, data in zip(Role, (alice, bob), strict=True)
    }
    rows = np.zeros((shape.count, scaled.dimensions), dtype=np.int64)
    for role, block in blocks.items():
        rows[shape.rows_of(role), shape.columns_of(role)[0] : shape.columns_of(role)[-1] + 1] += block
    centres = twin.first_centres(study.parameters, scaled, rows, seeded())
    bits = []
    for _ in range(study.parameters.iterations):
        bits = [(twin.assign_rows(scaled, rows, centres)[:, None] == np.arange(k))]
        sums, sizes = bits[0].T.astype(np.int64) @ rows, bits[0].sum(axis=0)
        filled = np.maximum(sizes, 1)[:, None]
        means = ((sums << scaled.fraction + 1) + filled) // (2 * filled)
        centres = np.where(sizes[:, None] > 0, means, centres)
    bits.append(twin.assign_rows(scaled, rows, centres)[:, None] == np.arange(k))
    sides, ways = [], []
    for role in Role:
        inside = bits[0][shape.rows_of(role)]
        axes = [scaled.columns[place] for place in shape.columns_of(role)]
        marks = [
            mark
            for axis, column in zip(axes, blocks[role].T, strict=True)
            for mark in [*off_bounds(column, Owned(Bounds(0, axis.part))), *off_commonest(column, COMMON)]
        ]
        counts = inside.T.astype(np.int64) @ np.stack(marks, axis=1)
        added = weigh_rows(blocks[role], axes)
        sides.append(PlainSums(counts, counts, inside.T.astype(np.int64) @ added, added, inside))
    for one in bits:
        numbers = [one[shape.rows_of(role)].sum(axis=0) for role in Role]
        if shape.layout is Layout.HORIZONTAL:
            ways.append([(number, number) for number in numbers])
        else:
            ways += [[(number, number)] for number in numbers]
    minimum, zeros = limits.least_in_cluster, not limits.hides_zeros
    fails = plain_fails(ways, minimum, zeros=zeros) | plain_revealing(sides, limits)
    return plain_withheld(ways, minimum, fails, zeros=zeros)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["horizontal", "vertical", "arbitrary"])
@pytest.mark.parametrize(
    "limits", [Limits(minimum_group=3), Limits(minimum_group=2, dominance=Fraction(1, 2))]
)
def test_withheld_are_those_of_the_rules_in_the_clear(name, limits):
    """Small tables of few values, many of which are the lower bound; some of these are moved in a column."""
    spread = 'centres = [["-50", "-50", "-50"], ["-30", "-30", "-30"], ["30", "30", "30"]]\n'
    layout = {"horizontal": COLUMNS, "vertical": SPLIT, "arbitrary": COLUMNS + 'layout = "arbitrary"\n'}[name]
    if name == "arbitrary":
        spread = 'centres = [["-100", "-100", "-100"], ["-70", "-70", "-70"], ["30", "30", "30"]]\n'
    study = parsed("clusters = 3\niterations = 2\n" + layout + spread)
    found = set()
    for moved in (0, 1, 4, 12):
        pool = np.array([-500, -500, -500, -500, -250, -250, 300, 320])
        values = np.repeat(pool[integers(0, 7, 48)], 3).reshape(48, 3)
        low = np.flatnonzero(values[:, 0] == LOWER)[::-1][:moved]
        values[low, integers(0, 2, 1)[0]] += np.arange(40, 40 + len(low))
        alice, bob = sides(name, values)
        alice.pop(PERSONS, None)
        bob.pop(PERSONS, None)
        hidden = expected(name, study, alice, bob, limits)
        sizes = named(joint(study, alice, bob, limits=limits)[0])["centres"]["size"]
        assert [size is None for size in sizes] == hidden.tolist()
        found |= set(hidden.tolist())
    assert found == {True, False}


@pytest.mark.parametrize(
    ("name", "limits"),
    grid(
        [*((name, STRICT) for name in JOBS), *(("horizontal", each) for each in (GROUPS, WEIGHED))],
        [(name, STRICT) for name in ("horizontal", "arbitrary", "matched")],
    ),
)
def test_what_the_limits_cost(name, limits):
    alice, bob = sides(name, two_clusters(list(range(-480, -420)), 0))
    study = JOBS[name]
    if name.startswith("matched"):
        matched.check(study, alice, bob, limits=limits)
        return
    _, channels = watched(study, alice, bob, limits=limits)
    declared = stated(study, alice, bob, BOTH, limits)
    assert tuple(c.traffic.sent for c in channels) == (declared.alice_bytes, declared.bob_bytes)
    assert max(c.traffic.rounds for c in channels) == declared.rounds


def test_rows_are_weighed_in_blocks(monkeypatch):
    """The same result, and the cost that is declared, where the rows do not fit one block."""
    monkeypatch.setattr("smc.analyses.disclosure.cluster_sums._BLOCK", 100)
    poor = [LOWER + value for value in (1, 2, 3)] * 16
    assert shown("horizontal", two_clusters([*poor, -20], 0), STRICT) == [None, 60]
    test_what_the_limits_cost("horizontal", STRICT)


def test_sums_that_could_not_be_weighed_are_refused_by_their_bounds():
    """Numbers of 20 bits, 2**25 rows, and a part in millionths: the product needs 65 bits."""
    shape = shape_of(
        parsed(HORIZONTAL.replace("iterations", "precision = 20\niterations")), *[table(blobs(1))] * 2
    )
    check_weight(replace(shape, rows=(1 << 24, 1 << 24)), 1000)
    with pytest.raises(DomainError, match="dominance in a cluster"):
        check_weight(replace(shape, rows=(1 << 24, 1 << 24)), WEIGHED.weight_factor * 10**6)


@pytest.mark.parametrize("limits", grid([NO_LIMITS, GROUPS, STRICT], [STRICT]))
def test_messages_depend_on_public_values_alone(limits):
    study = parsed(BASE + COLUMNS + STATED)
    centres = np.repeat(np.array([[-400], [0], [400]]), 10, axis=0)
    mixed = [table(centres + integers(-50, 50, (30, 3))) for _ in range(2)]
    equal = [table(np.repeat(centres, 3, axis=1)) for _ in range(2)]
    for one, other in zip(
        watched(study, *mixed, limits=limits)[1],
        watched(study, *equal, limits=limits)[1],
        strict=True,
    ):
        assert one.sent == other.sent
