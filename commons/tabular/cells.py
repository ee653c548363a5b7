"""What cells hold that are neither a number nor a text: tokens for missing ones, and limits of detection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from commons.tabular.eastern import narrow_number

MISSING_TOKENS: Final = (
    *("?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "--", ".", "#N/A"),
    *(
        "k.A.",
        "k. A.",
        "k.A",
        "n.a.",
        "n.b.",
        "n.d.",
        "n. d.",
        "N.D.",
        "o.A.",
        "s/d",
        "n/d",
        "n.v.t.",
        *("NSP", "N.S.P.", "N.C.", "n.c.", "N.R.", "n.r.", "NS/NC", "s.d.", "n.p.", "onb."),
        *("不明", "未測定", "未検査", "欠測"),
        "00.00.0000",
        "0000-00-00",
    ),
)
"""What often stands for a missing cell."""

BELOW_LIMIT: Final = ("half", "limit")
"""What a cell below a limit of detection may be read as: half the limit, or the limit."""

ABOVE_LIMIT: Final = ("limit",)
"""What a cell above a limit of measurement may be read as: the limit."""

LIMIT_SIGN: Final = r"^\s*(?:<=?|≤|＜)\s*"
"""The beginning of a cell such as `<0.2`, as a regular expression."""

ABOVE_SIGN: Final = r"^\s*(?:>=?|≥|＞)\s*"
"""The beginning of a cell such as `>200`, as a regular expression."""

SUFFIX: Final = r"[^\s\d.,'+<>=≤≥＜＞-][^\s\d]{0,7}"
"""What may stand behind a number, as a regular expression: it cannot be taken for a part of the number."""

PREFIX: Final = SUFFIX + "(?<![+-])"
"""What may stand before a number, as a regular expression; its end is not the sign of the number."""

_NUMBER: Final = rf"([0-9][0-9.,' ]*(?:(?<=[0-9])[ \u00a0\u202f]?(?!%$){SUFFIX})?)%?$"
_LIMIT: Final = re.compile(LIMIT_SIGN + _NUMBER)
_ABOVE: Final = re.compile(ABOVE_SIGN + _NUMBER)
_WORD: Final = r"[^\W\d]"
_UNNAMED: Final = (
    (re.compile(LIMIT_SIGN + _WORD), "<0.5", "below", "least", "high"),
    (re.compile(ABOVE_SIGN + _WORD), ">200", "above", "greatest", "low"),
)
"""Cells such as `<LOQ`, a limit to write in their place, and what is lost where they count as missing."""


def limit_in(text: str) -> str | None:
    """The number in a text such as `<0.2` or `≤ 5 mg/l`, as it is written there, with a unit but without `%`.

    None for any other text.
    """
    found = _LIMIT.match(narrow_number(text))
    return None if found is None else found[1].strip()


def above_in(text: str) -> str | None:
    """The same of a text such as `>200` or `≥ 5 mg/l`."""
    found = _ABOVE.match(narrow_number(text))
    return None if found is None else found[1].strip()


def lost_by_limits(tokens: Iterable[str]) -> str:
    """What is lost where cells beyond a limit count as missing, for people, two sentences for each side.

    Args:
        tokens: what missing cells hold; empty if none of them is such a cell.
    """
    every = [*tokens]
    below = next((one for one in every if limit_in(one) is not None), None)
    above = next((one for one in every if above_in(one) is not None), None)
    said = [_lost_below(below)] if below is not None else []
    said += [_lost_above(above)] if above is not None else []
    for sign, limit, side, lost, bias in _UNNAMED:
        if (example := next((one for one in every if sign.match(one)), None)) is not None:
            said.append(
                f"Cells such as {example!r} are {side} a limit that they do not name, and count as missing: "
                f"just the {lost} values are lost, and means come out too {bias}. To keep them, write the "
                f"limit in the source, such as {limit}."
            )
    return " ".join(said)


def _lost_above(example: str) -> str:
    return (
        f"Cells such as {example!r} are above a limit of measurement and count as missing: just the greatest "
        'values are lost, and means come out too low. To keep them, write above_limit = "limit" (the limit) '
        "and take them out of missing_tokens."
    )


def _lost_below(example: str) -> str:
    return (
        f"Cells such as {example!r} are below a limit of detection and count as missing: just the least "
        "values are lost, and means come out too high. To keep them, write "
        'below_limit = "half" (half the limit) or "limit" and take them out of missing_tokens.'
    )


def halve(number: str) -> str:
    """Half of a number of the form `[+-]digits[.digits]`, exactly, in the same form."""
    sign = number[:1] if number[:1] in ("+", "-") else ""
    whole, _, rest = number.removeprefix(sign).partition(".")
    places = len(rest) + 1
    digits = str(int(whole + rest) * 5).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
