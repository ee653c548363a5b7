"""How checks ask: what does not hold becomes an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anonymizer.errors import AnonymizerError, ConformanceError
from anonymizer.methods.contract.method import Method
from anonymizer.testing.people import DECLARED

Make = Callable[[], Method]
"""Gives a fresh method each time."""


def demand(holds: bool, what: str, hint: str) -> None:
    """Raise `ConformanceError` unless something holds."""
    if not holds:
        raise ConformanceError(what, hint)


def release_frame(method: Method, frame: Any, *, keep_index: bool = True) -> Any:
    """What a method releases of a frame of `people`."""
    return method.fit_transform(frame, **DECLARED, keep_index=keep_index)


def attempt(call: Callable[[], Any]) -> tuple[int, str]:
    """The rows of a release, or 0 and the words of a refusal that says how to fix it."""
    try:
        return len(call()), ""
    except AnonymizerError as error:
        return 0, str(error) if error.hint else ""


def expect_refusal(call: Callable[[], Any], word: str, what: str, hint: str) -> None:
    """Ask for a refusal: an `AnonymizerError` that says a word."""
    try:
        call()
    except AnonymizerError as error:
        demand(word in str(error), f"{what} The refusal {str(error)!r} does not say {word!r}.", hint)
    else:
        raise ConformanceError(what, hint)


def is_synthetic(make: Make, frame: Any) -> bool:
    """Whether the rows that a method releases are those of nobody."""
    method = make()
    release_frame(method, frame)
    return method.origin_ is None
