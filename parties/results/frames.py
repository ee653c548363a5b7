"""The columns of a result table as arrays, for data frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from parties.errors import ConfigError
from parties.results.tables import LOWER, UPPER, VALUE, ResultTable
from smc.analyses.studies.outcome import DATE, DAY_NUMBER, NUMBER

_DATES = {"date": VALUE, f"date_{LOWER}": LOWER, f"date_{UPPER}": UPPER}


def pandas() -> Any:
    """The library.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ConfigError("Frames need pandas.", "Run pip install 'duetto[frames]'.") from None
    return pd


def columns_of(table: ResultTable) -> dict[str, Any]:
    """The columns as they are computed with: floats for exact numbers, dates for dates.

    Figures about dates, which stand among others in one column, come as dates in columns of their own.
    """
    found = {name: _column(table, name) for name in table.columns}
    dated = [row for row in range(table.rows) if table.is_date(VALUE, row)]
    for name, source in _DATES.items() if dated else ():
        if source in table.columns and name not in found:
            column = np.full(table.rows, "NaT", dtype="datetime64[s]")
            cells = table.columns[source]
            for row in dated:
                if cells[row] is not None:
                    column[row] = np.datetime64(round(cells[row]), "D")
            found[name] = column
    return found


def _column(table: ResultTable, name: str) -> Any:
    kind, cells = table.kinds.get(name), table.values(name)
    if kind == DATE:
        return np.array(cells, dtype="datetime64[s]")
    if kind == DAY_NUMBER:
        days = [None if cell is None else round(cell) for cell in cells]
        return np.array(days, dtype="datetime64[D]").astype("datetime64[s]")
    if kind == NUMBER and all(cell is None or isinstance(cell, int | float) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    return cells
