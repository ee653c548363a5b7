"""The hierarchies of the thesis's Table 4.4 for the UCI Adult table, read with erratum 13.

Age and years of education have open intervals at both ends; workclass and marital status have one level of
groups. The table says "government, private, other" and "married, notmarried" without listing members; here
government are the three kinds of offices, private is `Private`, all else, `?` included, is other; married are
those of the three statuses that begin with `Married`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy

_WORKCLASS: Final = {
    "government": ("Federal-gov", "Local-gov", "State-gov"),
    "private": ("Private",),
    "other": ("Self-emp-inc", "Self-emp-not-inc", "Without-pay", "Never-worked", "?"),
}
_MARITAL_STATUS: Final = {
    "married": ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
    "notmarried": ("Never-married", "Divorced", "Separated", "Widowed"),
}


def _expand_groups(groups: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    return [[value, label, ANY] for label, values in groups.items() for value in values]


DECLARED: Final[Mapping[str, Mapping[str, Any]]] = {
    "age": {"levels": [[28, 36, 48], [36]], "open_ends": True},
    "workclass": {"rows": _expand_groups(_WORKCLASS)},
    "marital_status": {"rows": _expand_groups(_MARITAL_STATUS)},
    "education_num": {"levels": [[9, 10, 11, 13]], "open_ends": True},
}
"""The hierarchies as a specification declares them, by column; education_num is in years."""


def thesis_hierarchies() -> Mapping[str, Hierarchy]:
    """The same as hierarchies."""
    return {
        name: ValueHierarchy(one["rows"])
        if "rows" in one
        else IntervalHierarchy(one["levels"], open_ends=one["open_ends"])
        for name, one in DECLARED.items()
    }
