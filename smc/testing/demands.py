"""How a check says what failed."""

from __future__ import annotations

from smc.errors import DuettoError


class ConformanceError(DuettoError):
    """Something does not keep to its interface; the text says what, and what its author has to correct."""

    code = "conformance"


def demand(holds: bool, what: str, hint: str = "") -> None:
    """Go on only if something holds.

    Raises:
        ConformanceError: it does not.
    """
    if not holds:
        raise ConformanceError(what, hint)
