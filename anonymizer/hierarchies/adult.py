"""The hierarchies of the thesis's Table 4.4 for the UCI Adult table, read with erratum 13.

Age and years of education have open intervals at both ends; workclass and marital status have one level of
groups. The table says "government, private, other" and "married, notmarried" without listing members; here
government are the three kinds of offices, private is `Private`, all else, `?` included, is other; married are
those of the three statuses that begin with `Married`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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


def thesis_hierarchies() -> Mapping[str, Hierarchy]:
    """The hierarchies for age, workclass, marital_status and education_num (years)."""
    return {
        "age": IntervalHierarchy([[28, 36, 48], [36]], open_ends=True),
        "workclass": _grouped(_WORKCLASS),
        "marital_status": _grouped(_MARITAL_STATUS),
        "education_num": IntervalHierarchy([[9, 10, 11, 13]], open_ends=True),
    }


def _grouped(groups: Mapping[str, tuple[str, ...]]) -> ValueHierarchy:
    return ValueHierarchy([[value, label, ANY] for label, values in groups.items() for value in values])
