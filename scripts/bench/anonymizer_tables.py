"""The tables that the anonymizer's methods are measured on.

Those from files are read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from anonymizer.hierarchies import arx
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ADULT: Final = (
    "age",
    "education",
    "marital_status",
    "occupation",
    "sex",
    "native_country",
    "race",
    "workclass",
)
DIABETES: Final = (
    "race",
    "gender",
    "age",
    "time_in_hospital",
    "medical_specialty",
    "payer_code",
    "admission_type_id",
)


def adult_frame() -> pd.DataFrame:
    """The rows of Adult without gaps, all columns."""
    frame = files.read(_folder() / "adult_train.csv")
    return frame[~(frame[list(ADULT)] == "?").any(axis=1)].reset_index(drop=True)


def adult(columns: tuple[str, ...] = ADULT) -> Table:
    """The rows of Adult without gaps, and ARX's hierarchies."""
    frame = adult_frame()
    roles = Roles(quasi_identifiers=columns, sensitive=("income",))
    return Table.of(frame[[*ADULT, "income"]], roles, _adult_hierarchies())


def diabetes() -> Table:
    """The hospital stays, with hierarchies by rule.

    Age: bands of 10, 20, 40 years; days: 1, 2, 4; specialty: what comes before its first sign; others: `*`.
    """
    frame = files.read(_folder() / "diabetes_130.csv.gz")[[*DIABETES, "diag_1"]]
    rules: Mapping[str, Callable[[str], list[str]]] = {
        "age": lambda band: [f"{width} years, {_decade(band) * 10 // width}" for width in (20, 40)],
        "time_in_hospital": lambda days: [f"{width} days, {(int(days) - 1) // width}" for width in (2, 4)],
        "medical_specialty": lambda name: [f"group {re.split('[-/&]', name)[0]}"],
    }
    hierarchies: dict[str, Hierarchy] = {}
    for column in DIABETES:
        values = [str(value) for value in sorted(frame[column].unique().tolist())]
        rule = rules.get(column, lambda _: [])
        hierarchies[column] = ValueHierarchy([[value, *rule(value), ANY] for value in values])
    return Table.of(frame, Roles(quasi_identifiers=DIABETES, sensitive=("diag_1",)), hierarchies)


def million(rows: int = 1_000_000) -> Table:
    """Rows of Adult drawn again and again; a tenth of the cells are from other rows, ages move by up to 3."""
    source = adult().native
    randomness = Randomness(1)
    drawn = randomness.integers(len(source), rows)
    columns = {}
    for column in ADULT:
        others = np.where(randomness.uniform(rows) < 0.1, randomness.integers(len(source), rows), drawn)
        columns[column] = source[column].to_numpy()[others]
    columns["age"] = np.clip(columns["age"] + randomness.integers(7, rows) - 3, 1, 100)
    return Table.of(pd.DataFrame(columns), Roles(quasi_identifiers=ADULT), _adult_hierarchies())


def skewed(rows: int) -> Table:
    """Rows of eight columns with many values, few of them common; needs no file.

    Ages of 80 years, 20,000 postcodes, 2 sexes, 150 countries, 300 jobs, 6 kinds of civil state, 16 of
    education, 1,092 days.
    """
    randomness = Randomness(2)

    def drawn(kinds: int, skew: float) -> np.ndarray:
        return (kinds * randomness.uniform(rows) ** skew).astype(np.int64)

    frame = {"age": 18 + drawn(80, 1.5), "day": drawn(1092, 1.0)}
    hierarchies: dict[str, Hierarchy] = {
        "age": IntervalHierarchy.of_widths(18, 98, [5, 10, 20, 40]),
        "day": IntervalHierarchy.of_widths(0, 1092, [7, 28, 364]),
        "zip": PrefixHierarchy(5),
    }
    texts = {"zip": [f"{5 * code:05}" for code in range(20_000)]}
    for column, kinds, widths in (
        ("sex", 2, ()),
        ("country", 150, (15,)),
        ("job", 300, (10, 100)),
        ("civil", 6, (2,)),
        ("education", 16, (4,)),
    ):
        texts[column] = [f"{column} {code}" for code in range(kinds)]
        hierarchies[column] = ValueHierarchy(
            [
                [text, *(f"{width} of {column}, {code // width}" for width in widths), ANY]
                for code, text in enumerate(texts[column])
            ]
        )
    skews = {"zip": 2.0, "sex": 1.0, "country": 6.0, "job": 3.0, "civil": 2.0, "education": 1.5}
    cells = {
        column: pd.Series(labels, dtype="str").take(drawn(len(labels), skews[column])).reset_index(drop=True)
        for column, labels in texts.items()
    }
    return Table.of(pd.DataFrame(frame | cells), Roles(quasi_identifiers=(*frame, *texts)), hierarchies)


TABLES: Final[Mapping[str, Callable[[], Table]]] = {
    "adult": adult,
    "adult5": lambda: adult(ADULT[:5]),
    "diabetes": diabetes,
    "million": million,
    "skewed": lambda: skewed(100_000),
    "ten-million": lambda: million(10_000_000),
    "ten-million-skewed": lambda: skewed(10_000_000),
}


def hierarchy_files() -> dict[str, Path]:
    """ARX's hierarchies of Adult, by column."""
    folder = _folder() / "hierarchies" / "arx_adult"
    return {column: folder / f"{column.replace('_', '-')}.csv" for column in ADULT}


def _adult_hierarchies() -> dict[str, Hierarchy]:
    return {column: arx.read(path) for column, path in hierarchy_files().items()}


def _folder() -> Path:
    place = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("DUETTO_SHARED_DATA", place))


def _decade(band: str) -> int:
    return int(band.strip("[)").split("-")[0]) // 10
