"""The day that a date, a time, or a text names."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, Final

from commons.tabular.eastern import ERA_YEAR, in_common_years, narrow_date

_DATES: Final = (
    "%Y-%m-%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%b-%Y",
    "%d %b %Y",
    "%Y年%m月%d日",
)
"""The forms of dates that can only be read in one way."""


def day(value: Any, form: str = "") -> date | None:
    """The day of a date, a time, or a text; None if it is none.

    Args:
        value: a cell.
        form: of texts, in the directives of `strptime`; empty is any form that can only be read in one way,
            with or without a time of the day after it. `%EC%Ey` is an era of Japan and a year in it.
    """
    if isinstance(value, date):
        return value
    text = narrow_date(str(value).strip())
    if form:
        if ERA_YEAR in form:
            text, form = in_common_years(text), form.replace(ERA_YEAR, "%Y")
        return _day(text, form)
    text = in_common_years(text, names_only=True)
    head = re.split(r"[ T](?=\d\d?:)", text, maxsplit=1)[0]
    return next((found for form in _DATES if (found := _day(head, form)) is not None), None)


def _day(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()
    except ValueError:
        return None
