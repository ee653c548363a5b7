"""Steps of which a traced run takes the price rather than the messages, for there are too many of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.tracing.session import TracedSession

P = ParamSpec("P")
T = TypeVar("T")


def charge(
    rule: Callable[P, tuple[Cost, Any]],
    *,
    transfers: bool = True,
    silent_sender: Callable[P, Role] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a program in many pieces say what it costs in all, and which shapes it gives.

    Args:
        rule: called with the same arguments in a traced run, instead of the program; the cost is what its
            record states, which a test holds against runs.
        transfers: whether it takes oblivious transfers, which the first use of sets up.
        silent_sender: called with these arguments, too: who sends its silent transfers, which the next check
            covers; None where it takes none.

    Raises:
        UsageError: in a traced run, it takes silent transfers and does not say whose.
    """

    def decorate(program: Callable[P, T]) -> Callable[P, T]:
        @wraps(program)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            session = session_of(args[0])
            if not isinstance(session, TracedSession):
                return program(*args, **kwargs)
            cost, shapes = rule(*args, **kwargs)
            if transfers and cost.flights:
                session.oblivious.setup()
            session.charged.add(program.__module__)
            session.charge(cost)
            if Flight.RESERVE in cost.flights:
                if silent_sender is None:
                    what = f"{program.__qualname__} takes silent transfers, and nobody says who sends them."
                    raise UsageError(what, "Name the sender where it is charged.")
                session.engine.note_silent(silent_sender(*args, **kwargs))
            return cast(T, shapes)

        return call

    return decorate


def session_of(first: Any) -> Session:
    """The session of a step: its first argument, or what the object of a method runs in."""
    return first if isinstance(first, Session) else first.session
