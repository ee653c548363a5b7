"""Arrays that have a shape and a type and no memory, to find out what a program sends without its data.

A program that runs on them does what it does on data, as far as that follows from shapes: arithmetic gives
shapes, and what is read is a convention. Cells are zero; `any` is false and `all` true, so that checks pass;
a mask marks every place; values are distinct where somebody looks for equal ones. What looks at values in
loops states its result by `of_shape`.

They are made by `smc.tracing` alone, and cannot be encoded in a message: see `smc.channel.vectors`. Programs
know them by `smc.numeric.shapes` alone.

Reference: JAX's `eval_shape`, by numpy's `__array_ufunc__` and `__array_function__`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, Final, cast, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import override

from smc.numeric import shapes
from smc.numeric.shapes import Traced

Shape = tuple[int, ...]

_ZEROS: Final = bytes(64)


def shape_array(shape: int | Sequence[int], dtype: DTypeLike) -> ShapeArray:
    """An array of that shape and type."""
    wanted = (int(shape),) if isinstance(shape, int | np.integer) else tuple(map(int, shape))
    return _shape_array(wanted, np.dtype(dtype))


@lru_cache(4096)
def _shape_array(wanted: Shape, kind: np.dtype[Any]) -> ShapeArray:
    """The one array of that shape and type: nothing of it can be changed."""
    if kind.itemsize > len(_ZEROS):
        kind = np.dtype(kind.str[:2] + "1")
    return ShapeArray(wanted, kind, _ZEROS, 0, (0,) * len(wanted))


class BlankBytes(bytes, Traced):
    """Bytes of which only their number is known."""


class ShapeArray(NDArray[Any], Traced):
    """An array whose cells share one zero that cannot be written to."""

    @override
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        if method == "at":
            return None
        if out is not None:
            # Whether the target has memory or not, its cells are what they were.
            return out[0] if len(out) == 1 else out
        if method == "reduce":
            return _reduce(ufunc, *inputs, **kwargs)
        if method == "accumulate":
            return shape_array(inputs[0].shape, _reduce_kind(ufunc, inputs[0].dtype, kwargs.get("dtype")))
        if method == "reduceat":
            sizes, axis = list(np.shape(inputs[0])), kwargs.get("axis", 0)
            sizes[axis] = len(inputs[1])
            return shape_array(sizes, _reduce_kind(ufunc, inputs[0].dtype, kwargs.get("dtype")))
        kinds = _kinds(
            ufunc, tuple(map(_probe_key, inputs)), np.dtype(kwargs["dtype"]) if kwargs.get("dtype") else None
        )
        shape: Shape
        if method == "outer":
            shape = np.shape(inputs[0]) + np.shape(inputs[1])
        elif ufunc.signature is not None:
            shape = _multiply(*map(np.shape, inputs))
        else:
            shape = _common_shape(tuple(map(np.shape, inputs)))
        found = tuple(shape_array(shape, kind) if shape else kind.type(0) for kind in kinds)
        return found[0] if len(found) == 1 else found

    @override
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        rule = _RULES.get(func)
        if rule is not None:
            return rule(*args, **kwargs)
        return super().__array_function__(func, types, args, kwargs)

    @override
    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if all(
            isinstance(part, int | slice | np.integer) or part is None or part is Ellipsis for part in parts
        ):
            return super().__getitem__(index)
        return shape_array(_index(self.shape, parts), self.dtype)

    @override
    def __setitem__(self, index: Any, value: Any) -> None:
        del index, value

    @override
    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """The same shape with another type."""
        return shape_array(self.shape, dtype)

    @override
    def copy(self, *args: Any, **kwargs: Any) -> Any:
        """Itself: nobody can change it."""
        return self

    @override
    def view(self, dtype: Any = None, *args: Any) -> Any:  # type: ignore[override]
        """With another type, whose size the last axis makes good."""
        if dtype is None or args or (isinstance(dtype, type) and issubclass(dtype, np.ndarray)):
            return super().view(*(() if dtype is None else (dtype,)), *args)
        kind, shape = np.dtype(dtype), list(self.shape)
        if shape:
            shape[-1] = shape[-1] * self.dtype.itemsize // kind.itemsize
        return shape_array(shape, kind)

    @override
    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """In another shape of as many cells."""
        wanted = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape)
        if -1 in wanted:
            place = wanted.index(-1)
            rest = prod(wanted[:place] + wanted[place + 1 :])
            wanted[place] = self.size // rest if rest else 0
        if prod(wanted) != self.size:
            raise ValueError(f"cannot reshape an array of size {self.size} into {tuple(wanted)}")
        return shape_array(wanted, self.dtype)

    @override
    def ravel(self, *args: Any, **kwargs: Any) -> Any:
        """All cells in a row."""
        return shape_array(self.size, self.dtype)

    flatten = ravel

    @override
    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Each entry so many times; where the numbers differ, those are known."""
        shape = [self.size] if axis is None else list(self.shape)
        place = 0 if axis is None else axis
        shape[place] = (
            shape[place] * int(repeats)
            if np.ndim(repeats) == 0
            else int(np.broadcast_to(repeats, shape[place]).sum())
        )
        return shape_array(shape, self.dtype)

    @override
    def take(self, indices: Any, axis: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Entries."""
        if axis is None:
            return shape_array(np.shape(indices), self.dtype)
        place = axis % self.ndim
        return shape_array(self.shape[:place] + np.shape(indices) + self.shape[place + 1 :], self.dtype)

    @override
    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Nothing changes."""
        del args, kwargs

    @override
    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        """Places."""
        return shape_array(self.shape, np.int64)

    @override
    def argmax(self, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Places."""
        return np.int64(0) if axis is None else shape_array(np.delete(self.shape, axis).tolist(), np.int64)

    argmin = argmax

    @override
    def nonzero(self) -> Any:
        """All places."""
        return tuple(shape_array(self.size, np.int64) for _ in self.shape)

    @override
    def searchsorted(self, v: Any, *args: Any, **kwargs: Any) -> Any:
        """Places."""
        return shape_array(np.shape(v), np.int64)

    @override
    def dot(self, other: Any, *args: Any) -> Any:
        """The shape of the product."""
        return np.matmul(self, other)

    @override
    def tobytes(self, *args: Any, **kwargs: Any) -> Any:
        """As many zero bytes, which know that they stand for others."""
        return BlankBytes(self.size * self.dtype.itemsize)


class ShapeTexts(Sequence[str], Traced):
    """Texts of which only their number is known.

    Args:
        count: of the texts.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    @override
    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> ShapeTexts: ...

    @override
    def __getitem__(self, index: int | slice) -> str | ShapeTexts:
        return ShapeTexts(len(range(self._count)[index])) if isinstance(index, slice) else ""


@lru_cache(4096)
def _common_shape(shapes: tuple[Shape, ...]) -> Shape:
    return np.broadcast_shapes(*shapes)


def _probe_key(operand: Any) -> Any:
    """What the type of a result depends on: the type of an array, or that of a Python number."""
    if isinstance(operand, np.ndarray | np.generic):
        return operand.dtype
    if isinstance(operand, list | tuple):
        return np.asarray(operand).dtype
    return type(operand)


@cache
def _kinds(ufunc: np.ufunc, keys: tuple[Any, ...], dtype: Any) -> tuple[np.dtype[Any], ...]:
    probes = [
        np.ones((1,) * (2 if ufunc.signature else 0), key) if isinstance(key, np.dtype) else key(1)
        for key in keys
    ]
    found = ufunc(*probes, **({} if dtype is None else {"dtype": dtype}))
    return tuple(np.asarray(each).dtype for each in (found if isinstance(found, tuple) else (found,)))


@cache
def _reduce_kind(ufunc: np.ufunc, kind: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    return cast(np.dtype[Any], ufunc.reduce(np.ones(1, kind), dtype=dtype).dtype)


def _reduce(
    ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **kwargs: Any
) -> Any:
    del kwargs
    kind, shape = _reduce_kind(ufunc, array.dtype, dtype), array.shape
    gone = range(len(shape)) if axis is None else [each % len(shape) for each in np.atleast_1d(axis)]
    left = tuple(
        1 if place in gone else size for place, size in enumerate(shape) if keepdims or place not in gone
    )
    if left:
        return shape_array(left, kind)
    return kind.type(ufunc is np.logical_and)


def _multiply(left: Shape, right: Shape) -> Shape:
    """The shape of a product of matrices."""
    first = left[:-1] if len(left) > 1 else ()
    last = right[-1:] if len(right) > 1 else ()
    if left[-1] != right[-2 if len(right) > 1 else 0]:
        raise ValueError(f"matrices of shapes {left} and {right} have no product")
    return (*np.broadcast_shapes(first[:-1], right[:-2]), *first[-1:], *last)


def _index(shape: Shape, parts: tuple[Any, ...]) -> Shape:
    """The shape of what arrays, slices and numbers pick, by numpy's rules."""
    consumed = sum(_dimensions(part) for part in parts)
    filled: list[Any] = []
    for part in parts:
        filled += [slice(None)] * (len(shape) - consumed) if part is Ellipsis else [part]
    if Ellipsis not in [part for part in parts if part is Ellipsis]:
        filled += [slice(None)] * (len(shape) - consumed)
    result: list[int] = []
    picked: list[Shape] = []
    first, apart, ended, axis = 0, False, False, 0
    for part in filled:
        if part is None:
            result.append(1)
            ended = bool(picked)
        elif isinstance(part, slice):
            result.append(len(range(*part.indices(shape[axis]))))
            axis += 1
            ended = bool(picked)
        else:
            if not picked:
                first = len(result)
            apart = apart or ended
            size = _dimensions(part)
            picked.append(_places(part, shape[axis : axis + size]))
            axis += size
    return (
        *result[: 0 if apart else first],
        *np.broadcast_shapes(*picked),
        *result[0 if apart else first :],
    )


def _dimensions(part: Any) -> int:
    """How many axes a part of an index takes."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, slice | int | np.integer):
        return 1
    array = np.asanyarray(part)
    return array.ndim if array.dtype == np.bool_ else 1


def _places(part: Any, shape: Shape) -> Shape:
    """The shape of the places that an array picks of axes."""
    if isinstance(part, int | np.integer):
        return ()
    array = np.asanyarray(part)
    if array.dtype != np.bool_:
        return tuple(array.shape)
    return (prod(shape),) if isinstance(array, ShapeArray) else (int(np.count_nonzero(array)),)


def _make(shape: Any, dtype: Any = np.float64, *args: Any, **kwargs: Any) -> Any:
    del args, kwargs
    return shape_array(shape, dtype)


def _like(array: Any, *args: Any, dtype: Any = None, shape: Any = None, **kwargs: Any) -> Any:
    del kwargs
    given = (
        dtype if dtype is not None or not args else args[0] if isinstance(args[0], type | np.dtype) else None
    )
    return shape_array(array.shape if shape is None else shape, given or array.dtype)


def _concatenate(arrays: Sequence[Any], axis: int | None = 0, **kwargs: Any) -> Any:
    kind = (
        np.dtype(kwargs["dtype"])
        if kwargs.get("dtype")
        else np.result_type(*(np.asanyarray(a).dtype for a in arrays))
    )
    shapes = [np.shape(each) for each in arrays]
    if axis is None:
        return shape_array(sum(map(prod, shapes)), kind)
    shape, place = list(shapes[0]), axis % len(shapes[0])
    shape[place] = sum(each[place] for each in shapes)
    return shape_array(shape, kind)


def _stack(arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
    del kwargs
    every = list(arrays)
    shape = list(np.shape(every[0]))
    shape.insert(axis % (len(shape) + 1), len(every))
    return shape_array(shape, np.result_type(*(np.asanyarray(each).dtype for each in every)))


def _where(condition: Any, *options: Any) -> Any:
    if not options:
        return condition.nonzero()
    shape = _common_shape((np.shape(condition), *map(np.shape, options)))
    return shape_array(
        shape,
        np.result_type(
            *(each if isinstance(each, int | float) else np.asanyarray(each).dtype for each in options)
        ),
    )


def _unique(
    array: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **kwargs: Any,
) -> Any:
    del kwargs
    size = array.size if axis is None else array.shape[axis]
    found = [shape_array(size, array.dtype) if axis is None else array]
    found += [shape_array(size, np.int64)] * (return_index + return_inverse + return_counts)
    return found[0] if len(found) == 1 else tuple(found)


def _bincount(array: Any, weights: Any = None, minlength: int = 0) -> Any:
    del array
    return shape_array(max(1, minlength), np.int64 if weights is None else np.float64)


def _pad(array: Any, width: Any, *args: Any, **kwargs: Any) -> Any:
    del args, kwargs
    return shape_array(
        [
            size + sum(added)
            for size, added in zip(array.shape, np.broadcast_to(width, (array.ndim, 2)).tolist(), strict=True)
        ],
        array.dtype,
    )


def _packed_bits(array: Any, axis: Any = None, **kwargs: Any) -> Any:
    del kwargs
    shape = [array.size] if axis is None else list(array.shape)
    place = 0 if axis is None else axis
    shape[place] = -(-shape[place] // 8)
    return shape_array(shape, np.uint8)


def _unpacked_bits(array: Any, axis: Any = None, count: int | None = None, **kwargs: Any) -> Any:
    del kwargs
    shape = [array.size] if axis is None else list(array.shape)
    place = 0 if axis is None else axis
    shape[place] = 8 * shape[place] if count is None else count
    return shape_array(shape, np.uint8)


def _broadcast(*arrays: Any, **kwargs: Any) -> Any:
    del kwargs
    shape = _common_shape(tuple(map(np.shape, arrays)))
    return tuple(shape_array(shape, np.asanyarray(each).dtype) for each in arrays)


def _tile(array: Any, times: Any) -> Any:
    counts = [int(each) for each in np.atleast_1d(times)]
    size = max(len(counts), np.ndim(array))
    shape = (1,) * (size - np.ndim(array)) + np.shape(array)
    counts = [1] * (size - len(counts)) + counts
    return shape_array([a * b for a, b in zip(shape, counts, strict=True)], np.asanyarray(array).dtype)


_RULES: Final[dict[Any, Callable[..., Any]]] = {
    np.zeros: _make,
    np.empty: _make,
    np.ones: _make,
    np.full: lambda shape, value, dtype=None, **kwargs: _make(shape, dtype or np.asarray(value).dtype),
    np.arange: lambda *ends, dtype=np.int64, **kwargs: shape_array(len(range(*map(int, ends))), dtype),
    np.zeros_like: _like,
    np.empty_like: _like,
    np.ones_like: _like,
    np.full_like: lambda array, value, *args, **kwargs: _like(array, *args, **kwargs),
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.where: _where,
    np.unique: _unique,
    np.bincount: _bincount,
    np.pad: _pad,
    np.packbits: _packed_bits,
    np.unpackbits: _unpacked_bits,
    np.broadcast_arrays: _broadcast,
    np.broadcast_to: lambda array, shape, **kwargs: shape_array(shape, np.asanyarray(array).dtype),
    np.tile: _tile,
    np.repeat: lambda array, repeats, axis=None: shape_array(
        np.shape(array), np.asanyarray(array).dtype
    ).repeat(repeats, axis),
    np.flatnonzero: lambda array: shape_array(array.size, np.int64),
    np.argsort: lambda array, *args, **kwargs: shape_array(np.shape(array), np.int64),
    np.lexsort: lambda keys, axis=-1: shape_array(np.shape(keys[0]), np.int64),
    np.searchsorted: lambda array, v, *args, **kwargs: shape_array(np.shape(v), np.int64),
    np.isin: lambda element, *args, **kwargs: shape_array(np.shape(element), np.bool_),
    np.count_nonzero: lambda array, axis=None, **kwargs: np.int64(0),
    np.array_equal: lambda left, right, **kwargs: np.shape(left) == np.shape(right),
    np.dot: np.matmul,
    np.take_along_axis: lambda array, indices, *args, **kwargs: shape_array(np.shape(indices), array.dtype),
    np.copy: lambda array, *args, **kwargs: array,
    np.sort: lambda array, *args, **kwargs: array,
    np.fft.fft: lambda array, *args, **kwargs: shape_array(array.shape, np.complex128),
    np.fft.ifft: lambda array, *args, **kwargs: shape_array(array.shape, np.complex128),
}
"""What numpy's functions give that do not follow from the rest."""

shapes.make_arrays_by(shape_array)
