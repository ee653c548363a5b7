"""Words beside figures that are drawn."""

from __future__ import annotations

from typing import Final

from parties.texts import escape_unprintable

_LENGTH: Final = 60


def cut(text: str) -> str:
    """A text that may stand beside a figure: printable, and of 60 characters at most."""
    shown = escape_unprintable(text)
    return shown if len(shown) <= _LENGTH else shown[: _LENGTH - 1] + "…"
