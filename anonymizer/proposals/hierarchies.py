"""Hierarchies that are proposed for columns, as a specification declares them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.correlation import CorrelationHierarchy
from anonymizer.hierarchies.declared import LEARNED_FROM
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import equal_frequency
from anonymizer.proposals.profiles import MAX_CATEGORIES, Profile
from anonymizer.tables.table import Table

Float = NDArray[np.float64]

_INTERVALS: Final = 32
_FEW: Final = 12
_LONGEST: Final = 64
_VALUES: Final = 5000
_LEARNED: Final = (
    "no differential privacy is claimed for what rests on them; write public ones and delete learned_from to "
    "have it"
)
_NUMBERED: Final = "A name is released: those of values beyond short codes have numbers for now"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A declaration, and what to know of it.

    Attributes:
        declared: the table of the specification.
        note: for people; may be empty.
    """

    declared: Mapping[str, Any]
    note: str = ""


def suggest_hierarchy(table: Table, profile: Profile, target: str | None) -> Suggestion:
    """A hierarchy that covers all values of a column.

    Args:
        table: with the column.
        profile: of the column.
        target: a column to group categories by, or None.
    """
    if profile.look == "date":
        return _dates(profile)
    if profile.look == "number" and len(profile.values) > _FEW:
        return _numbers(profile)
    if profile.look == "category" and 0 < len(profile.values) <= MAX_CATEGORIES:
        return _categories(table, profile, target)
    texts = profile.texts
    longest = max(map(len, texts), default=1)
    if len(texts) > _FEW and longest <= _LONGEST and not any(ANY in text for text in texts):
        alphabet = 10 if all(text.isdigit() for text in texts) else 36
        return Suggestion(
            {"prefix": longest, "alphabet": alphabet}, "the beginning of a text says most of it"
        )
    if profile.look != "number" and target is not None and _FEW < len(texts) <= _VALUES:
        return Suggestion(
            {"correlation": target, "groups": _counts(len(texts))},
            f"values that have to do alike with {target} are joined first; built anew of each table. "
            f"{_NUMBERED}",
        )
    rows = [[text, ANY] for text in texts] or [[ANY, ANY]]  # a column without a value has a hierarchy too
    return Suggestion({"rows": rows}, "a value, or nothing")


def bounds(profile: Profile) -> tuple[float, float]:
    """Numbers that enclose those of a column, rounded outwards."""
    numbers = profile.values.astype(np.float64)
    step = _step(numbers, profile)
    lower = math.floor(numbers[0] / step) * step
    upper = math.ceil(numbers[-1] / step) * step
    return _plain(lower), _plain(upper if upper > lower else lower + step)


def _numbers(profile: Profile) -> Suggestion:
    numbers = np.repeat(profile.values.astype(np.float64), profile.counts)
    step = _step(profile.values.astype(np.float64), profile)
    lower, upper = bounds(profile)
    levels: list[list[float]] = []
    for count in (_INTERVALS, 8, 2):
        try:
            found = equal_frequency(numbers, [count], open_ends=True)
        except HierarchyError:
            continue
        ends = {_plain(round(end / step) * step) for end in found.boundaries[0]}
        if levels:
            ends = {_nearest(levels[-1], end) for end in ends}
        inner = sorted(end for end in ends if lower < end < upper)
        if inner and (not levels or len(inner) < len(levels[-1])):
            levels.append(inner)
    if not levels:
        middle = _plain(float(np.median(profile.values.astype(np.float64))))
        levels = [[middle]]
    return Suggestion(
        {
            "levels": levels,
            "open_ends": True,
            "lower": min(lower, levels[0][0]),
            "upper": max(upper, levels[0][-1]),
            LEARNED_FROM: [profile.name],
        },
        "intervals with about equally many rows; boundaries, lower and upper are taken from the data: "
        f"{_LEARNED}",
    )


def _nearest(known: Sequence[float], number: float) -> float:
    return min(known, key=lambda one: abs(one - number))


def _step(numbers: Float, profile: Profile) -> float:
    """A power of ten: about a hundredth of what most of the numbers span, and 1 at least of whole numbers."""
    low, high = np.quantile(np.repeat(numbers, np.minimum(profile.counts, 1000)), [0.05, 0.95])
    span = float(high - low) or float(numbers[-1] - numbers[0]) or 1.0
    step = 10.0 ** math.floor(math.log10(span / 30))
    whole = bool((numbers == np.round(numbers)).all())
    return max(step, 1.0) if whole else step


def _plain(number: float) -> float:
    """Without the crumbs of binary fractions; whole where it is."""
    found = float(f"{number:.12g}")
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def _dates(profile: Profile) -> Suggestion:
    declared: dict[str, Any] = {"dates": ["month", "quarter", "year", "decade"]}
    if not profile.date_formats:
        return Suggestion(declared)
    declared["format"] = profile.date_formats[0]
    others = ", ".join(profile.date_formats[1:])
    return Suggestion(declared, f"CHECK: the dates could also be read as {others}" if others else "")


def _categories(table: Table, profile: Profile, target: str | None) -> Suggestion:
    texts = profile.texts
    if len(texts) <= 4 or target is None:
        return Suggestion({"rows": [[text, ANY] for text in texts]})

    def cells(column: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        codes = table.codes(column)
        return codes.values, codes.codes

    try:
        found = CorrelationHierarchy(target, _counts(len(texts))).fit_to(profile.name, cells)
    except HierarchyError:
        return Suggestion({"rows": [[text, ANY] for text in texts]})
    rows = found.rows if isinstance(found, ValueHierarchy) else ()
    return Suggestion(
        {"rows": [list(row) for row in rows], LEARNED_FROM: [profile.name, target]},
        f"values that have to do alike with {target} are joined: give their groups names. {_NUMBERED}. "
        f"Groups are taken from the data: {_LEARNED}",
    )


def _counts(values: int) -> Sequence[int]:
    """Decreasing numbers of groups, each about a third of the one before."""
    found = []
    while (values := values // 3) >= 2:
        found.append(values)
    return found or [2]
