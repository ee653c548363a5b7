"""Programs that a run goes through many times with the same shapes: a traced run goes through them once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from smc.forms import Role
from smc.numeric.shape_arrays import ShapeArray
from smc.protocols.session import Session
from smc.tracing.channel import TracedStep
from smc.tracing.session import TracedSession

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Repeat:
    """What a program did at one end.

    Attributes:
        steps: in their order.
        counts: by how much those of the engine grew.
        result: its shapes, which nobody can change.
    """

    steps: tuple[TracedStep, ...]
    counts: tuple[int, ...]
    result: Any


def traced_once(
    program: Callable[Concatenate[Session, P], T],
) -> Callable[Concatenate[Session, P], T]:
    """Let a traced run repeat what a program did before with arguments of the same shapes.

    For programs whose messages and results follow from the shapes of arrays, from other arguments, and from
    the state of the engine. What has changed this state, or has told or heard known data such as row counts,
    is gone through anew; so are arguments that are neither shapes nor numbers and words.
    """

    @wraps(program)
    def called(session: Session, *args: P.args, **kwargs: P.kwargs) -> T:
        if not isinstance(session, TracedSession):
            return program(session, *args, **kwargs)
        engine, channel = session.engine, session.sizes
        state = engine.state
        arguments = _key((state, args, *kwargs.items()))
        if arguments is _UNKNOWN:
            return program(session, *args, **kwargs)
        key = program, arguments
        known = session.repeats.get(key)
        if known is not None:
            channel.repeat(known.steps)
            engine.add_counts(known.counts)
            return cast(T, known.result)
        counts, start = engine.counts, len(channel.steps)
        result = program(session, *args, **kwargs)
        steps = tuple(channel.steps[start:])
        if engine.state == state and all(step.data is None for step in steps):
            more = tuple(after - before for before, after in zip(counts, engine.counts, strict=True))
            session.repeats[key] = _Repeat(steps, more, result)
        return result

    return cast(Callable[Concatenate[Session, P], T], called)


_UNKNOWN: Final = object()


def _key(value: Any) -> Any:
    """What makes two arguments alike: shape and type of arrays without data, else the value itself."""
    if isinstance(value, ShapeArray):
        return ShapeArray, value.shape, value.dtype.str
    if isinstance(value, tuple):
        parts = tuple(map(_key, value))
        return _UNKNOWN if any(part is _UNKNOWN for part in parts) else parts
    return value if isinstance(value, int | str | frozenset | Role | None) else _UNKNOWN
