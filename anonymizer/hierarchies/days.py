"""The day that a date, a time, or a text names."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, Final

_DATES: Final = ("%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%b-%Y", "%d %b %Y")
"""The forms of dates that can only be read in one way."""


def day(value: Any, form: str = "") -> date | None:
    """The day of a date, a time, or a text; None if it is none.

    Args:
        value: a cell.
        form: of texts, in the directives of `strptime`; empty is any form that can only be read in one way,
            with or without a time of the day after it.
    """
    if isinstance(value, date):
        return value
    text = str(value).strip()
    if form:
        return _day(text, form)
    head = re.split(r"[ T](?=\d\d?:)", text, maxsplit=1)[0]
    return next((found for form in _DATES if (found := _day(head, form)) is not None), None)


def _day(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()
    except ValueError:
        return None
