"""What a program says of what it gives where there are no data but shapes alone, see `smc.tracing`.

A run over data goes through all of this unchanged: `of_shape` calls the function that it wraps unless an
argument is `Traced`, and nothing but `smc.numeric.shape_arrays`, which only traced runs load, makes such an
argument. That module says here how its arrays are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

P = ParamSpec("P")
T = TypeVar("T")

Maker = Callable[[int | Sequence[int], DTypeLike], NDArray[Any]]

_MAKERS: list[Maker] = []


class Traced:
    """Marks what stands for values that nobody knows, besides arrays; see `of_shape`."""

    __slots__ = ()


def make_arrays_by(maker: Maker) -> None:
    """Say what makes the arrays of `shape_array`; called once, where they are defined."""
    _MAKERS[:] = [maker]


def shape_array(shape: int | Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
    """An array that has that shape and type, and no memory; only rules of `of_shape` ask for one."""
    (maker,) = _MAKERS
    return maker(shape, dtype)


def of_shape(rule: Callable[P, Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function that looks at values say what it gives where there are none.

    Args:
        rule: called with the same arguments instead, where one of them stands for values that nobody knows.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if any(map(_stands_for_values, args)) or any(map(_stands_for_values, kwargs.values())):
                return cast(T, rule(*args, **kwargs))
            return function(*args, **kwargs)

        return call

    return decorate


def _stands_for_values(argument: object) -> bool:
    """Whether it does, or is made of what does, as far as its first part shows."""
    if isinstance(argument, dict):
        argument = next(iter(argument.values()), None)
    elif isinstance(argument, list | tuple):
        argument = next(iter(argument), None)
    return isinstance(argument, Traced)


@of_shape(lambda array: array)
def contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """The array with its cells in the order of memory; copied where they are not."""
    return np.ascontiguousarray(array)
