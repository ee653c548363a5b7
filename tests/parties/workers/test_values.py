"""Values reach the other process as they were, and nothing that is not listed does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.errors import DataError
from parties.workers.values import Values
from smc.errors import DuettoError, PeerLost


@dataclass(frozen=True)
class Listed:
    values: object
    name: str = ""


@dataclass(frozen=True)
class Unlisted:
    name: str = ""


VALUES = Values([Listed], [DataError, DuettoError])

scalars = st.one_of(
    *(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-(2**200), 2**200),
        st.floats(allow_nan=False),
    ),
    st.text(st.characters(exclude_categories=[]), max_size=20),
    *(
        st.decimals(allow_nan=False),
        st.dates(),
        st.datetimes().map(lambda one: one.replace(fold=0)),
        st.times().map(lambda one: one.replace(fold=0)),
        st.uuids(),
        st.binary(max_size=9),
    ),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), inner, max_size=5),
        st.builds(Listed, inner, st.text(max_size=5)),
    ),
    max_leaves=20,
)
long = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=[]), max_size=9), min_size=33, max_size=50),
    st.lists(st.integers(-(2**200), 2**200), min_size=33, max_size=50),
)


def through(value):
    words, data = VALUES.words(value)
    return VALUES.value(json.loads(json.dumps(words)), memoryview(b"".join(data)))


@given(st.one_of(values, long))
def test_values_are_what_they_were(value):
    found = through(value)
    assert found == value
    assert repr(found) == repr(value)  # also the types, and the sign of zero


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5),
        np.zeros((0, 3), np.uint8),
        np.array([True, False]),
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.frombuffer(bytes(range(64)), "V16").reshape(2, 2),
    ],
)
def test_arrays_are_what_they_were_and_nobody_writes_to_them(array):
    found = through(Listed([array, array]))
    for one in found.values:
        assert one.dtype == array.dtype
        assert one.shape == array.shape
        assert one.tobytes() == array.tobytes()
        assert not one.flags.writeable


def test_errors_come_as_the_nearest_that_is_listed():
    found = through(DataError("What.", "Hint.", code="own"))
    assert (type(found), found.what, found.hint, found.stable_code) == (DataError, "What.", "Hint.", "own")
    assert type(through(PeerLost("What."))) is DuettoError


@pytest.mark.parametrize("value", [Unlisted(), object(), np.array([object()]), {1}, print, Unlisted])
def test_what_is_not_listed_is_not_sent(value):
    with pytest.raises(TypeError):
        VALUES.words([value])


@pytest.mark.parametrize(
    "said",
    [
        {"class": ["Unlisted", {}]},
        {"class": ["Path", {}]},
        {"error": ["ConfigError", "a", "b", "c"]},
        {"eval": "1"},
        {"array": 0},
    ],
)
def test_what_is_not_listed_is_not_taken(said):
    with pytest.raises((TypeError, IndexError)):
        VALUES.value({"value": said, "arrays": []}, memoryview(b""))
    with pytest.raises(TypeError):
        VALUES.value({"value": 1, "arrays": [["|O", [1]]]}, memoryview(bytes(8)))


def test_paths_stay_paths():
    assert through([Path("a/b")]) == [Path("a/b")]


def test_integers_of_any_size():
    assert through([1 << 20000, *range(40), -(1 << 20000)]) == [1 << 20000, *range(40), -(1 << 20000)]
    assert through((1 << 20000,)) == (1 << 20000,)
