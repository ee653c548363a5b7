"""Arrays without memory have the shapes and types that numpy's arrays have after the same steps."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.vectors import Bits, ByteRows, Residues, Words
from smc.errors import UsageError
from smc.numeric.shape_arrays import BlankBytes, ShapeArray, ShapeTexts, shape_array
from smc.numeric.shapes import contiguous, of_shape

STEPS = {
    "sum": lambda a: a + a,
    "scalar": lambda a: 3 * a - 1,
    "negative": np.negative,
    "compared": lambda a: a > 2,
    "shifted": lambda a: a >> np.uint64(3),
    "narrow": lambda a: a.astype(np.uint8),
    "bytes": lambda a: a.view(np.uint8),
    "turned": lambda a: a.T,
    "axes": lambda a: np.moveaxis(a, 0, 1),
    "flat": lambda a: a.reshape(-1),
    "shaped": lambda a: a.reshape(3, -1, 2),
    "row": lambda a: a[1],
    "column": lambda a: a[:, 2],
    "part": lambda a: a[1:4, ::2],
    "new axis": lambda a: a[:, None, ..., 0],
    "picked": lambda a: a[np.array([3, 1, 1])],
    "picked columns": lambda a: a[:, [0, 2]],
    "pairs": lambda a: a[np.array([[0], [1]]), np.array([2, 3, 0])],
    "apart": lambda a: a[None][np.array([0]), :, np.array([1])],
    "masked": lambda a: a[np.arange(6) % 2 == 0],
    "all": lambda a: a.sum(),
    "columns": lambda a: a.sum(axis=0, dtype=np.uint64),
    "kept": lambda a: a.sum(axis=1, keepdims=True),
    "narrow sum": lambda a: a.astype(np.uint8).sum(axis=1),
    "largest": lambda a: a.max(axis=1),
    "place": lambda a: a.argmax(axis=1),
    "running": lambda a: np.cumsum(a, axis=1),
    "product": lambda a: a @ a.T,
    "vector product": lambda a: a @ a[0],
    "stacked": lambda a: np.stack([a, a], axis=1),
    "joined": lambda a: np.concatenate([a, a[:2]]),
    "beside": lambda a: np.column_stack([a, a[:, 0]]),
    "tiled": lambda a: np.tile(a[0], 3),
    "tiled twice": lambda a: np.tile(a, (2, 3)),
    "repeated": lambda a: np.repeat(a, 2, axis=1),
    "where": lambda a: np.where(a == 1, a, 0),
    "split": lambda a: np.split(a, [2, 4])[1],
    "spread": lambda a: np.broadcast_to(a[:, None], (6, 5, 4)),
    "sorted": lambda a: np.sort(a, axis=0),
    "order": lambda a: np.argsort(a, axis=1),
    "along": lambda a: np.take_along_axis(a, np.argsort(a, axis=1), axis=1),
    "packed": lambda a: np.packbits(a.astype(np.uint8), axis=1),
    "unpacked": lambda a: np.unpackbits(a.astype(np.uint8), axis=1, count=20),
    "differences": lambda a: np.diff(a, axis=0),
    "like": lambda a: np.zeros((3, 7), dtype=np.int64, like=a),
    "numbers": lambda a: np.arange(5, like=a),
    "blank": lambda a: np.empty_like(a, shape=(2, 2)),
    "ones": lambda a: np.ones_like(a, dtype=np.bool_),
    "in order": contiguous,
    "mixed": lambda a: np.arange(4, dtype=np.uint64) * a,
    "divided": lambda a: a // np.uint64(3),
    "parts": lambda a: np.divmod(a, 7)[1],
    "bound": lambda a: np.minimum(a, np.uint64(5)),
    "clipped": lambda a: np.clip(a, 1, 3),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_gives_the_shape_and_type_that_numpy_gives(name):
    real = np.arange(24, dtype=np.uint64).reshape(6, 4)
    wanted, found = STEPS[name](real), STEPS[name](shape_array((6, 4), np.uint64))
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert isinstance(found, ShapeArray) is (found.shape != ())


def test_a_million_rows_take_no_memory():
    table = shape_array((1_000_000_000, 1000), np.uint64)
    assert (table + table).sum(axis=0).shape == (1000,)
    assert np.concatenate([table, table]).shape == (2_000_000_000, 1000)


def test_checks_pass_and_masks_mark_all():
    array = shape_array(5, np.int64)
    assert not (array > 3).any()
    assert (array > 3).all()
    assert np.flatnonzero(array > 3).shape == array[array > 3].shape == (5,)
    assert len(np.unique(array)) == 5


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="broadcast"):
        shape_array(3, np.int64) + shape_array(4, np.int64)
    with pytest.raises(ValueError, match="no product"):
        shape_array((2, 3), np.int64) @ shape_array((2, 3), np.int64)
    with pytest.raises(ValueError, match="reshape"):
        shape_array(3, np.int64).reshape(2, 2)


def test_nothing_is_written():
    array, real = shape_array(3, np.int64), np.ones(3, dtype=np.int64)
    array[1] = 5
    array += 1
    real += array
    assert array.tolist() == [0, 0, 0]
    assert real.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "field",
    [
        Words(shape_array(3, np.uint64)),
        Bits(shape_array(3, np.uint8)),
        ByteRows(shape_array((1, 3), np.uint8)),
        Residues(shape_array(3, np.uint64), 1 << 32),
        Residues(shape_array(3, np.uint8), 2),
    ],
)
def test_no_message_is_made_of_them(field):
    with pytest.raises(UsageError, match="has no data"):
        field.encode()


def test_a_function_that_looks_at_values_states_its_shape():
    @of_shape(lambda values, times: shape_array(times * len(values), np.int8))
    def spelt(values, times):
        return np.array([ord(letter) for value in values for letter in value] * times, dtype=np.int8)

    assert spelt(["ab"], 2).tolist() == [97, 98, 97, 98]
    assert spelt(ShapeTexts(3), times=2).shape == (6,)
    assert spelt([BlankBytes(3)], 1).shape == (1,)
