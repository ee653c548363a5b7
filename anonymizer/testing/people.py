"""The table that methods are checked on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

CITIES: Final = ("Kraków", "東京", "a;b", "Zürich")

ROLES: Final = Roles(identifiers=("name",), quasi_identifiers=("age", "city"), sensitive=("illness",))

DECLARED: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "roles": ROLES,
        "hierarchies": {
            "age": IntervalHierarchy.of_widths(0, 120, [10, 40]),
            "city": ValueHierarchy(
                [[city, "east" if number < 2 else "west", ANY] for number, city in enumerate(CITIES)]
            ),
        },
        "schema": Schema(
            {
                "age": Column("integer", 0, 120),
                "city": Column("category", categories=CITIES),
                "illness": Column("category", categories=("cold", "flu", "none")),
            }
        ),
    }
)
"""What is said of the table: roles, hierarchies and schema, as `Method.fit` takes them."""


def people(rows: int = 40) -> pd.DataFrame:
    """People with name, age, city, illness, the day of a visit and a weight, some of which are missing.

    Args:
        rows: how many; each makes the same person whatever the number.

    Returns:
        A frame whose index is neither 0, 1, 2, ... nor to be released.
    """
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "name": [f"person {i} é" for i in number],
            "age": 20 + (number * 7) % 50,
            "city": [CITIES[i % len(CITIES)] for i in number],
            "illness": [("flu", "cold", "none")[i % 3] for i in number],
            "visit": pd.to_datetime("2020-01-01") + pd.to_timedelta(number, unit="D"),
            "weight": np.where(number % 9 == 4, np.nan, 50.5 + number),
        },
        index=1000 + 3 * number,
    )


def table_of(frame: Any) -> Table:
    """A frame of `people` with what is said of it."""
    return Table.of(frame, DECLARED["roles"], DECLARED["hierarchies"], DECLARED["schema"])


def everyone() -> Table:
    """All people, with rows numbered from 0."""
    return table_of(people().reset_index(drop=True))
