"""The parameters of clustering jobs, and the whole numbers that values become."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.clustering.parameters import Layout, Start
from smc.analyses.records.fixed_point import DeclaredRange, Scaling, fixed_point_columns
from smc.errors import UsageError
from smc.forms import Role
from tests.smc.analyses.clustering_runs import BASE, COLUMNS, HORIZONTAL, SPLIT, STATED, parsed

BOTH = frozenset(Role)


def test_defaults():
    study = parsed('clusters = 2\ncolumns = ["x"]')
    assert study.parameters.layout is Layout.HORIZONTAL
    assert study.parameters.scaling is Scaling.RANGE
    assert study.parameters.start is Start.PLUS_PLUS
    assert (
        study.parameters.iterations,
        study.parameters.precision,
        study.parameters.labels,
    ) == (20, 12, True)
    assert study.parameters.tolerance is None
    assert parsed('clusters = 2\ncolumns = ["x"]\nepsilon = "1"').parameters.start is Start.UNIFORM
    assert parsed(HORIZONTAL).parameters.start is Start.GIVEN
    assert parsed(HORIZONTAL).parameters.centres[0] == (Fraction(-30),) * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (COLUMNS, "lacks the key 'clusters'"),
        (BASE, "lacks the key 'columns'"),
        (HORIZONTAL.replace("clusters = 3", "clusters = 1"), "clusters is out of range"),
        (HORIZONTAL.replace("clusters = 3", "clusters = 65"), "clusters is out of range"),
        (HORIZONTAL.replace("clusters = 3", 'clusters = "3"'), "expected a whole number"),
        (HORIZONTAL + "centre = 1", "Did you mean 'centres'"),
        (HORIZONTAL + "precision = 3", "precision is out of range"),
        (HORIZONTAL + "precision = 21", "precision is out of range"),
        (HORIZONTAL.replace("iterations = 3", "iterations = 0"), "iterations is out of range"),
        (HORIZONTAL + "tolerance = 0.1", "a float"),
        (HORIZONTAL + 'tolerance = "-1"', "tolerance is negative"),
        (HORIZONTAL + 'layout = "diagonal"', "'horizontal', 'vertical', 'arbitrary'"),
        (HORIZONTAL + 'scaling = "z"', "scaling cannot be 'z'"),
        (HORIZONTAL + 'start = "random"', "both start and centres"),
        (BASE + COLUMNS + 'start = "centres"', "none are given"),
        (HORIZONTAL.replace("clusters = 3", "clusters = 4"), "not 4 rows of 3 numbers"),
        (BASE + 'columns = ["x", "y"]\n' + STATED, "not 3 rows of 2 numbers"),
        (BASE + COLUMNS + "centres = [1, 2, 3]", "not a list of lists"),
        (BASE + COLUMNS + 'centres = [["1", "a", "2"]]', "not an exact number"),
        (BASE + 'columns = ["x", "x"]', "a column twice"),
        (BASE + "columns = []", "not a list of 1 to 1000 names"),
        (BASE + "columns = [1]", "not a list of 1 to 1000 names"),
        (BASE + 'columns = ["x", "size"]', "a column 'size'"),
        (BASE + SPLIT + COLUMNS, "unknown key 'columns'"),
        (BASE + 'layout = "vertical"\nalice_columns = ["x"]', "lacks the key 'bob_columns'"),
        (BASE + 'layout = "vertical"\nalice_columns = ["x"]\nbob_columns = ["x"]', "a column twice"),
        (HORIZONTAL + 'epsilon = "0"', "epsilon is not positive"),
        (HORIZONTAL + 'epsilon = "101"', "epsilon is above 100"),
        (HORIZONTAL + 'epsilon = "1/1000000001"', "numerator or denominator above"),
        (HORIZONTAL + "rows_per_person = 2", "only for jobs with epsilon"),
        (HORIZONTAL + 'epsilon = "1"\nrows_per_person = 0', "rows_per_person is out of range"),
        (HORIZONTAL + 'epsilon = "1"\ntolerance = "0"', "does not go with epsilon"),
        (BASE + COLUMNS + 'epsilon = "1"\nstart = "kmeans++"', "it uses rows without noise"),
        (BASE + SPLIT + 'epsilon = "1"', "nobody holds whole rows"),
    ],
)
def test_wrong_parameters_are_refused(text, words):
    with pytest.raises(UsageError, match=words):
        parsed(text)


def test_epsilon_goes_with_every_layout_without_labels():
    assert parsed(BASE + SPLIT + 'epsilon = "1"\nlabels = false').facts(BOTH).loss.epsilon == 1
    assert not parsed(HORIZONTAL + 'epsilon = "1"').facts(BOTH).exact
    assert parsed().facts(BOTH).exact
    assert not parsed().facts(BOTH).loss


def test_leakage_says_what_is_opened():
    exact = parsed(HORIZONTAL + 'tolerance = "0"').leakage(frozenset({Role.ALICE}))
    assert [sentence for sentence in exact.bob if "tolerance" in sentence]
    assert len(exact.bob) == 1
    assert len(exact.alice) == 4
    assert not parsed().leakage(frozenset({Role.ALICE})).bob
    assert "own rows" in " ".join(exact.alice)
    split = parsed(BASE + SPLIT + STATED).leakage(BOTH)
    assert "all rows" in " ".join(split.alice)
    noisy = parsed(HORIZONTAL + 'epsilon = "1"').leakage(BOTH)
    assert len(noisy.alice) == len(noisy.bob) == 1
    assert "epsilon 1" in noisy.alice[0]


def axes(columns, scaling=Scaling.RANGE, precision=12):
    return fixed_point_columns(columns, precision, scaling)


def test_scaling_by_range_weighs_columns_alike():
    found = axes({"x": DeclaredRange(0, 0, 10), "y": DeclaredRange(2, -1_000_000, 1_000_000)})
    assert found.largest.tolist() == [4095, 4095]
    assert found.unit == 4095
    assert found.columns[0].whole(np.array([0, 5, 10])).tolist() == [0, 2048, 4095]
    assert found.columns[1].whole(np.array([-1_000_000, 0])).tolist() == [0, 2048]


def test_without_scaling_columns_keep_their_units():
    found = axes({"x": DeclaredRange(0, 0, 10), "y": DeclaredRange(1, -100, 100)}, Scaling.NONE)
    assert [axis.factor for axis in found.columns] == [200, 20]
    assert found.unit == 200
    assert found.largest.tolist() == [2000, 4000]
    coarse = axes({"x": DeclaredRange(0, 0, 1 << 13), "y": DeclaredRange(0, 0, 1 << 12)}, Scaling.NONE)
    assert coarse.columns[0].factor == coarse.columns[1].factor == Fraction(4095, 1 << 13)
    assert coarse.largest.tolist() == [4095, 2048]


@given(
    st.integers(0, 6),
    st.integers(-(10**9), 10**9),
    st.integers(1, 10**9),
    st.sampled_from(Scaling),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_values_come_back_as_precise_as_promised(scale, lower, width, scaling, places):
    found = axes({"x": DeclaredRange(scale, lower, lower + width)}, scaling)
    (axis,) = found.columns
    held = np.array([lower + round(place * width) for place in places], dtype=np.int64)
    whole = axis.whole(held)
    assert whole.max() <= axis.largest <= 4095
    for value, number in zip(held.tolist(), whole.tolist(), strict=True):
        error = abs(axis.real(Fraction(number)) - Fraction(value, 10**scale))
        assert error * 2 <= Fraction(1, 10**scale) / axis.factor
        assert abs(axis.position(axis.real(Fraction(number))) - number) == 0


@given(st.integers(1, 40), st.integers(4, 20))
def test_words_hold_all_differences(columns, precision):
    names = {f"c{i}": DeclaredRange(0, 0, 1 << 20) for i in range(columns)}
    found = axes(names, precision=precision)
    extremes = np.array([[0] * columns, found.largest.tolist()], dtype=np.int64)
    centres = extremes << found.fraction
    scores = ((centres * centres).sum(axis=1) >> (found.fraction + 1))[None] - extremes @ centres.T
    assert int(np.abs(scores[:, 0] - scores[:, 1]).max()) <= found.differences.upper
    assert 2 * found.differences.upper < 1 << found.width
    assert found.width <= 32 or found.fraction == 6
