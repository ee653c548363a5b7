"""Figures 10 and 11 of the small-sum privacy paper, on a medical table in place of its own.

Reference: see `splu`, section 6.3. Its table CADRMP (42,264 patients) is not at hand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from page import DATA, Clock, Plot, Section, Statement, every, finish, margin, missing
from splu import Study, by_gamma, errors, percent, shown, within
from splu_statements import Errors, Figure7, paired

from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

HEADING: Final = "Small-sum privacy on a medical table"
FILE: Final = "diabetes_130.csv.gz"
DIAGNOSIS: Final = "diag_1"
PLAIN: Final = ("race", "gender", "age", "admission_type_id", "insulin", "diabetesMed")
BANDS: Final = tuple((n / 100, (n + 1) / 100) for n in range(1, 9))
NOTES: Final = f"""\
`scripts/reproduce/splu_medical` rebuilds figures 10 and 11 of Fu et al. (2014); `--write docs` wrote this
section, `--quick` takes few queries. The paper's table CADRMP is not at hand; this is the first stay of each
patient of `{FILE}` in `../shared/data` or `--data`, 71,518 rows, sensitive its first diagnosis (697 values,
the commonest 7.3 %, so that no query has 8 % and few have more than 2 %), beside {", ".join(PLAIN)}. Queries,
errors and `as printed` are those of [Small-sum privacy](#small-sum-privacy). The paper's curves have no
numbers."""
STAND_IN: Final = "data: other patients"


def study(path: Path, seed: int) -> Study:
    """The first stay of each patient."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    order = frame["encounter_id"].astype(int).sort_values(kind="stable").index
    first = frame.loc[order].drop_duplicates("patient_nbr").reset_index(drop=True)
    roles = Roles(quasi_identifiers=PLAIN, sensitive=(DIAGNOSIS,))
    # declared, since a diagnosis of one patient may be in no published row
    known = Column("category", categories=tuple(sorted(first[DIAGNOSIS].unique())))
    table = Table.of(first[[*PLAIN, DIAGNOSIS]], roles, schema=Schema({DIAGNOSIS: known}))
    return Study(table, (DIAGNOSIS,), seed)


def statements(small: Figure7, large: dict[str, Errors]) -> list[Statement]:
    """What section 6.3 says."""
    gammas = [gamma for gamma in small if gamma >= 4]
    others = ("Anatomy", "DBR", "Laplace, ln 3", "Laplace, ln 2")
    last = small[gammas[-1]]
    strong = [one[name] for one in small.values() for name in ("SPLU-Gen", "Anatomy", "DBR")]
    kept = {band: one for band, one in large.items() if one["SPLU-Gen"]}
    many = f"{len(last['DBR'])} queries"
    return [
        Statement(
            "Figure 10", "SPLU-Gen errs more on small counts than all others, at gamma 4 and more",
            ", ".join(f"{np.mean(small[g]['SPLU-Gen']):.2f}" for g in gammas)
            + f"; the others {max(np.mean(small[g][name]) for g in gammas for name in others):.2f} at most",
            every([
                paired(small[g]["SPLU-Gen"], small[g][name], len(gammas) * len(others))
                for g in gammas for name in others
            ]), many, STAND_IN,
        ),
        Statement(
            "Figure 10", "counts with Laplace noise at epsilon = ln 3 err less than all others",
            f"{np.mean(last['Laplace, ln 3']):.2f}, the others {min(map(np.mean, strong)):.2f} and more",
            every([paired(one, last["Laplace, ln 3"], len(strong)) for one in strong]), many, STAND_IN,
        ),
        Statement(
            "Figure 11", "errors of SPLU-Gen and Anatomy on large counts are below 30 %",
            "; ".join(f"{band}: {_listed(one)}" for band, one in kept.items()),
            every([
                margin([0.3 - each for each in one[name]], parts=2 * len(kept))
                for one in kept.values() for name in ("SPLU-Gen", "Anatomy")
            ]), f"{min(len(one['DBR']) for one in kept.values())} to "
            f"{max(len(one['DBR']) for one in kept.values())} queries a band", STAND_IN,
        ),
    ]  # fmt: skip


def _listed(one: Errors) -> str:
    return ", ".join(f"{np.mean(one[name]):.2f}" for name in ("SPLU-Gen", "Anatomy"))


def section(whole: Study, tries: int, most: int, gammas: Sequence[int], clock: Clock) -> Section:
    """What the page has of it."""
    queries, size = whole.queries(tries), len(whole.table)
    small = within(queries, 1, 11, most)
    found = by_gamma(whole, small, gammas)
    releases = {
        "SPLU-Gen": whole.splu(gammas[-1]),
        "as printed": whole.splu(gammas[-1], as_printed=True),
        "Anatomy": whole.anatomy(gammas[-1]),
        "DBR": whole.dbr(),
    }
    bands = {percent(band): within(queries, band[0] * size, band[1] * size, most) for band in BANDS}
    large = {
        band: {name: errors(one, some) for name, one in releases.items()} for band, some in bands.items()
    }
    kept = {band: one for band, one in large.items() if one["SPLU-Gen"]}
    ten = f"Figure 10: relative error of {len(small)} counts of at most 10"
    eleven = f"Figure 11: relative error by selectivity, gamma = l = {gammas[-1]}"
    left, numbers = shown("gamma = l", {str(gamma): one for gamma, one in found.items()}, "Figure 10")
    right, more = shown("selectivity", kept, "Figure 11")
    parts = [
        NOTES, f"### {ten}", Plot("splu-figure-10", ten, [left]), numbers,
        f"### {eleven}", Plot("splu-figure-11", eleven, [right]), more,
    ]  # fmt: skip
    told = statements(found, large)
    return Section("splu_medical", "SPLU, section 6.3", HEADING, parts, told, clock.told(), most < 100)


def main() -> int:
    """Print the section, and write it where that is asked for."""
    parser = argparse.ArgumentParser(prog="splu_medical", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of {FILE}; {DATA}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few queries and values of gamma")
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    given = parser.parse_args()
    clock = Clock()
    if gone := missing(given.data, FILE):
        print(gone, file=sys.stderr)
        return 66
    size = (5000, 20, (2, 4, 9)) if given.quick else (60_000, 150, (2, 3, 4, 5, 6, 7, 8, 9))
    return finish(section(study(given.data / FILE, given.seed), *size, clock), given)


if __name__ == "__main__":
    sys.exit(main())
