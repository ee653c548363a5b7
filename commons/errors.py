"""What all errors of the house have: what happened, what to do about it, and a stable code."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar

from typing_extensions import override

_NAMED = 3
"""So many names that may have been meant are named."""


class HintedError(Exception):
    """An error that says how to fix it; `smc` and `anonymizer` have one root each below it.

    Args:
        what: what happened and where, one sentence.
        hint: what the reader can do about it, one sentence; if empty, the `advice` of the class.
        code: a more particular stable code than the class's own.
    """

    code: ClassVar[str] = "error"
    advice: ClassVar[str] = ""
    """The hint where nothing more particular is known."""

    def __init__(self, what: str, hint: str = "", *, code: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint or self.advice
        self.stable_code = code or self.code

    @override
    def __str__(self) -> str:
        return f"{self.what} {self.hint}".strip()


def near(name: str, known: Iterable[str]) -> str:
    """The hint for a name that does not exist: the names that it may have meant, or all that exist."""
    names = sorted(known)
    matches = get_close_matches(name, names, _NAMED)
    if matches:
        return f"Did you mean {' or '.join(map(repr, matches))}?"
    return f"There are: {', '.join(names) or 'none'}."
