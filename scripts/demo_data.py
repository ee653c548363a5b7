"""Writes the data of the demo's two hospitals, their catalogs and policies, and the job files.

    demo_data.py DIR      with the homes DIR/north and DIR/south made by `duetto init`

The tumours are scikit-learn's breast-cancer table, split between the two. The persons are made up: their
names are put together from syllables. Catalogs, policies and jobs are copied from `demo_files`. What the
joint results would be without noise or errors goes to truth.json, for the eyes of the demo only.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sklearn.datasets import load_breast_cancer

FILES = Path(__file__).resolve().parent / "demo_files"
FEATURES = (
    *("radius", "texture", "perimeter", "area", "smoothness"),
    *("compactness", "concavity", "concave points", "symmetry", "fractal dimension"),
)
MEASURED = {"radius": 3, "area": 1, "concavity": 4}
DIGITS = 5
NORTH_ROWS = 285
PATIENT = 0
PERCENTILES = range(10, 100, 10)
EDGES = (6, 10, 14, 18, 22, 30)

GIVEN = ("Ale", "Bru", "Cori", "Dele", "Emi", "Fabi", "Gero", "Hani")
GIVEN_ENDS = ("na", "ro", "lia", "mar", "s", "ta", "vin")
SURNAMES = ("Alder", "Birken", "Croft", "Dorn", "Elms", "Farn", "Grun", "Hasel", "Iven", "Jarn", "Kerb")
SURNAME_ENDS = ("berg", "dale", "feld", "gate", "hurst", "ley", "mann", "stedt", "wick")
TOWNS = ("Nordhaven", "Southwick", "Estermouth", "Westerau", "Middleburn")
NORTH_PERSONS = range(70)
SOUTH_PERSONS = range(50, 110)

Rows = list[tuple[str, list[float]]]
"""Diagnosis and the ten mean values of a patient."""


class Person(NamedTuple):
    """A person as a hospital has written it down."""

    card: str
    given_name: str
    surname: str
    born: date
    town: str


def person(number: int) -> Person:
    """The person of that number, the same in both hospitals."""
    return Person(
        f"{37_003 * (number + 11) % 999_983:06}",
        GIVEN[number % 8] + GIVEN_ENDS[number % 7],
        SURNAMES[number % 11] + SURNAME_ENDS[number // 3 % 9],
        date(1930, 1, 1) + timedelta(days=number * 7919 % 25_000),
        TOWNS[number * 3 % 5],
    )


def mistyped(known: Person, number: int) -> Person:
    """South's clerk mistypes a name, a day or a card, now and then."""
    if number % 10 == 3:
        return known._replace(surname=known.surname[:2] + known.surname[3:])
    if number % 10 == 6:
        return known._replace(given_name=known.given_name[:2] + known.given_name[1:])
    if number % 10 == 9:
        card = known.card[:3] + known.card[3:][::-1]
        return known._replace(card=card, born=known.born + timedelta(days=1))
    return known


def persons() -> tuple[list[Person], list[Person]]:
    """Both hospitals' persons; south writes cards with blanks and a zero in front."""
    south = [mistyped(person(number), number) for number in SOUTH_PERSONS]
    spaced = [each._replace(card=f"0{each.card[:3]} {each.card[3:]}") for each in south]
    return [person(number) for number in NORTH_PERSONS], spaced


def tumours() -> Rows:
    table = load_breast_cancer()
    names = [str(name) for name in table.target_names]
    return [
        (names[kind], [float(value) for value in values[: len(FEATURES)]])
        for kind, values in zip(table.target, table.data, strict=True)
    ]


def percentile(values: Iterable[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[-(-percent * len(ordered) // 100) - 1]


def write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)


def write_hospital(home: Path, rows: Rows, known: list[Person], name: str, values: Sequence[float]) -> None:
    letter = home.name[0].upper()
    places = {FEATURES.index(feature): digits for feature, digits in MEASURED.items()}
    write_csv(
        home / "tumours.csv",
        ("patient_id", "diagnosis", *MEASURED),
        [
            (f"{letter}{number:03}", diagnosis, *(f"{tumour[i]:.{digits}f}" for i, digits in places.items()))
            for number, (diagnosis, tumour) in enumerate(rows, 1)
        ],
    )
    write_csv(home / "persons.csv", Person._fields, known)
    write_csv(
        home / f"{name}.csv",
        ("feature", "value"),
        [(feature, f"{value:.{DIGITS}f}") for feature, value in zip(FEATURES, values, strict=True)],
    )
    radii = [tumour[0] for _, tumour in rows]
    write_csv(
        home / "percentiles.csv",
        ("percent", "radius"),
        [(p, f"{percentile(radii, p):.3f}") for p in PERCENTILES],
    )


def truth(rows: Rows) -> dict[str, object]:
    """The exact statistics, and the rows, from 1, of the persons in both lists."""
    radii = [values[0] for _, values in rows]
    bins = {
        kind: [sum(low <= v[0] < high for name, v in rows if name == kind) for low, high in pairwise(EDGES)]
        for kind in ("benign", "malignant")
    }
    table = "; ".join(f"{kind} {' '.join(map(str, counts))}" for kind, counts in bins.items())
    mean, median = sum(radii) / len(radii), percentile(radii, 50)
    return {
        "persons": [
            (NORTH_PERSONS.index(number) + 1, SOUTH_PERSONS.index(number) + 1)
            for number in NORTH_PERSONS
            if number in SOUTH_PERSONS
        ],
        "statistics": f"{len(rows)} patients, mean {mean:.3f}, median {median:.2f}; by bins: {table}",
    }


def main(folder: Path) -> None:
    rows = tumours()
    north, south = rows[:NORTH_ROWS], rows[NORTH_ROWS:]
    north_persons, south_persons = persons()
    norms = [percentile((values[i] for _, values in south), 90) for i in range(len(FEATURES))]
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    write_hospital(folder / "north", north, north_persons, "patient", north[PATIENT][1])
    write_hospital(folder / "south", south, south_persons, "norms", norms)
    (folder / "truth.json").write_text(json.dumps(truth(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
