"""Several sensitive columns at once: what an attacker learns who knows some of them already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anonymizer.errors import TableError
from anonymizer.risk.classes import classes_of
from anonymizer.tables.table import Table


@dataclass(frozen=True, slots=True)
class Joint:
    """One sensitive column, in classes of rows alike in the quasi-identifiers and all other sensitive ones.

    Attributes:
        l: the fewest different values in such a class.
        known: the part of the rows whose value is then certain: the class has one only.
    """

    l: int  # noqa: E741 - the name of the field
    known: float


def joint_risk(release: Table) -> Mapping[str, Joint]:
    """What is left of each sensitive column to who knows the others of a person, by column.

    Args:
        release: at least one row and two sensitive columns.

    Raises:
        TableError: there are fewer.

    Reference: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity, ACM TKDD 1, 2007, section
    4.3: a table is l-diverse in several sensitive columns if it is in each when the others count as
    quasi-identifiers.
    """
    names = release.roles.sensitive
    if not len(release) or len(names) < 2:
        raise TableError("There are fewer than two sensitive columns, or no rows.", "Declare two.")
    found = {}
    for name in names:
        others = (*release.roles.quasi_identifiers, *(other for other in names if other != name))
        classes, count = classes_of(release, others)
        codes = release.codes(name)
        here = codes.codes >= 0
        pairs = np.unique(classes[here] * (len(codes.values) + 1) + codes.codes[here])
        kinds = np.bincount(pairs // (len(codes.values) + 1), minlength=count)
        found[name] = Joint(int(kinds.min()), float(((kinds[classes] == 1) & here).mean()))
    return found
