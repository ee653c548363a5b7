"""Programs that a run goes through many times with the same shapes: a traced run goes through them once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import wraps
from types import NoneType
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np

from smc.numeric.shape_arrays import ShapeArray
from smc.tracing.channel import TracedStep
from smc.tracing.charges import session_of
from smc.tracing.session import TracedSession

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Repeat:
    """What a program did at one end.

    Attributes:
        steps: in their order.
        counts: by how much those of the engine grew.
        state: of the engine after it.
        result: its shapes, which nobody can change.
    """

    steps: tuple[TracedStep, ...]
    counts: tuple[int, ...]
    state: tuple[Any, ...]
    result: Any


def traced_once(program: Callable[P, T]) -> Callable[P, T]:
    """Let a traced run repeat what a program did before with arguments of the same shapes.

    For programs whose messages and results follow from the shapes of arrays, from other arguments, and from
    the state of the engine, and which change nothing else. Its first argument is the session or what has one.
    What has told or heard known data such as row counts is gone through anew; so is what is called with
    arguments that are neither shapes nor numbers and words, nor frozen dataclasses of these.
    """

    @wraps(program)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        session = session_of(args[0])
        if not isinstance(session, TracedSession):
            return program(*args, **kwargs)
        engine, channel = session.engine, session.sizes
        arguments = _key((*args, *kwargs.items()))
        if arguments is _UNKNOWN:
            return program(*args, **kwargs)
        key = program, engine.state, arguments
        known = session.repeats.get(key)
        if known is not None:
            channel.repeat(known.steps)
            engine.add_counts(known.counts)
            engine.enter(known.state)
            return cast(T, known.result)
        counts, start = engine.counts, len(channel.steps)
        result = program(*args, **kwargs)
        steps = tuple(channel.steps[start:])
        if all(step.data is None for step in steps):
            more = tuple(after - before for before, after in zip(counts, engine.counts, strict=True))
            session.repeats[key] = _Repeat(steps, more, engine.state, result)
        return result

    return call


_UNKNOWN: Final = object()
_PLAIN: Final = frozenset(
    {int, bool, str, float, Fraction, NoneType, frozenset, np.int64, np.uint64, np.float64}
)

_FEW: Final = 4096
"""Cells of an array with data that counts as an argument by its values, such as coefficients."""


def _key(value: Any) -> Any:
    """What makes two arguments alike: shape and type of arrays without data, else the value itself."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, Enum):
        return kind, value
    if kind is ShapeArray:
        return kind, value.shape, value.dtype.str
    if kind is np.ndarray and value.size <= _FEW:
        return kind, value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, tuple | list):
        return _join(kind, value)
    if is_dataclass(value) and kind.__hash__ is not None:
        return _join(kind, [getattr(value, each.name) for each in fields(value)])
    return kind if kind is TracedSession else _UNKNOWN


def _join(kind: type, values: Sequence[Any]) -> Any:
    parts = tuple(map(_key, values))
    return _UNKNOWN if any(part is _UNKNOWN for part in parts) else (kind, parts)
