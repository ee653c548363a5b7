"""Figures 4, 5, 7, 8, 9 and 12 of the small-sum privacy paper as tables and plots.

Reference: Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, Journal
of Biomedical Informatics 2014, sections 4 and 6. Its tables are CENSUS (IPUMS, 500,000 rows, sensitive:
occupation with 50 values, and age) and a medical one; neither comes with it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from page import DATA, drawn, judged, markdown, missing, write
from splu_statements import statements

from anonymizer.methods.sensitive.anatomy import SENSITIVE, Anatomy
from anonymizer.methods.sensitive.dbr import DistributionRandomization
from anonymizer.methods.sensitive.splu_gen import SpluGen
from anonymizer.splu import guarantees
from anonymizer.splu.answers import AnatomyAnswers, Answers, DbrAnswers, LaplaceAnswers, SpluAnswers
from anonymizer.splu.query import Condition
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

HEADING: Final = "## Small-sum privacy"
FILE: Final = "census_gi_bill.csv.gz"
PLACE: Final = "bpl"
BIRTH: Final = "birth"
PLAIN: Final = ("qob", "nonwhite", "vet_wwko", "home_ownership", "qob_minus_kw")
BANDS: Final = ((0.005, 0.01), (0.01, 0.02), (0.02, 0.03), (0.03, 0.04), (0.04, 0.05))
FIGURE_12: Final = ((0.001, 0.003), (0.003, 0.005), (0.005, 0.007))
MIN_QUERIES: Final = 5
NOTES: Final = f"""\
`scripts/reproduce/splu` rebuilds figures 4, 5, 7, 8, 9 and 12 of Fu et al., *Small sum privacy and large sum
utility in data publishing* (2014); `--write docs` wrote this section and its plots, `--quick` takes two sizes
of tables and few queries. Figures 4 and 5 need no data. The paper's CENSUS table is not at hand; these are
men of US censuses, `{FILE}` in `../shared/data` or `--data`, 214,144 rows x 6.

Sensitive is the state of birth (52 values, as occupation with 50); for two sensitive columns also the
quarter of birth in tenths (as age in ten intervals). Tables of up to 200,000 rows are drawn without
replacement, larger ones with it. A query compares up to three other columns and the sensitive ones with
a value each, all drawn at random; relative errors are means over the different queries that a band of
true counts has. `as printed` is the paper's iteration with its equations 6 to 9, which have f / n as
the probability that a row of another value has a value of count f among its decoys and publishes it;
SPLU-Gen has (gamma - 1) f / (gamma (n - f)). The bound that is printed for figure 4 divides the variance by n
twice (erratum 36) and lies below the exact probability; the corrected one is Chebyshev's.
"""

Query = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A table of a figure: a heading, the names of columns, and rows of numbers or texts."""

    title: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[object]]

    @property
    def file(self) -> str:
        """The name of its plot, without the ending."""
        return f"splu-{self.title.split(':')[0].lower().replace(' ', '-')}"

    def markdown(self) -> str:
        """The table below its plot."""
        plot = drawn(self.title.split(":")[0], self.file)
        return f"### {self.title}\n\n{plot}\n\n{markdown(self.names, self.rows)}"

    def plot(self) -> Figure:
        """The same as curves over the first column."""
        figure = Figure(figsize=(6, 3.5), layout="constrained")
        axes = figure.subplots()
        ticks = [str(row[0]) for row in self.rows]
        for place, name in enumerate(self.names[1:], 1):
            heights = [row[place] if isinstance(row[place], int | float) else np.nan for row in self.rows]
            axes.plot(ticks, np.array(heights, dtype=np.float64), marker="o", label=name)
        axes.set(title=self.title, xlabel=self.names[0])
        axes.legend(fontsize="small")
        return figure


@dataclass(frozen=True, slots=True)
class Study:
    """A table and its queries."""

    table: Table
    sensitive: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, people: pd.DataFrame, rows: int, sensitive: tuple[str, ...], seed: int) -> Study:
        """Rows of the census, with replacement where more are asked for than 200,000."""
        drawn = people.sample(rows, replace=rows > 200_000, random_state=seed).reset_index(drop=True)
        plain = tuple(name for name in PLAIN if BIRTH not in sensitive or name not in ("qob", "qob_minus_kw"))
        frame = drawn[[*plain, *sensitive]]
        return cls(Table.of(frame, Roles(quasi_identifiers=plain, sensitive=sensitive)), sensitive, seed)

    def queries(self, tries: int) -> Mapping[Query, int]:
        """Random queries with their true counts, those without rows left out."""
        draw = Randomness(self.seed, "queries")
        plain = self.table.roles.quasi_identifiers
        codes = {name: self.table.codes(name) for name in self.table.names}
        found: dict[Query, int] = {}
        for _ in range(tries):
            many = 1 + int(draw.integers(min(3, len(plain)), 1)[0])
            names = [*(plain[i] for i in draw.sample(len(plain), many)), *self.sensitive]
            places = [int(draw.integers(len(codes[name].values), 1)[0]) for name in names]
            query = tuple(
                Condition(name, "=", (str(codes[name].values[place]),))
                for name, place in zip(names, places, strict=True)
            )
            if query not in found:
                hits = [codes[name].codes == place for name, place in zip(names, places, strict=True)]
                found[query] = int(np.logical_and.reduce(hits).sum())
        return {query: count for query, count in found.items() if count}

    def splu(self, gamma: int, *, as_printed: bool = False) -> Answers:
        """A release of SPLU-Gen."""
        made = SpluGen(gamma=gamma, random_state=self.seed).fit_transform_table(self.table)
        return SpluAnswers(made, self.sensitive, gamma, as_printed=as_printed)

    def anatomy(self, l: int) -> Answers:  # noqa: E741 - the name that the literature gives it
        """A release of Anatomy."""
        method = Anatomy(l=l, random_state=self.seed)
        made = method.fit_transform_table(self.table)
        second = method.extra_[SENSITIVE]
        return AnatomyAnswers(made, second, group=method.group, sensitive=self.sensitive[0])

    def dbr(self) -> Answers:
        """A release of distribution-based randomization."""
        made = DistributionRandomization(random_state=self.seed).fit_transform_table(self.table)
        return DbrAnswers(made, self.sensitive)

    def laplace(self, epsilon: float) -> Answers:
        """True counts with Laplace noise."""
        return LaplaceAnswers(self.table, epsilon, Randomness(self.seed, "noise"))


def error(answers: Answers, queries: Mapping[Query, int]) -> float | str:
    """The mean relative error, if there are five queries or more."""
    if len(queries) < MIN_QUERIES:
        return "-"
    return float(np.mean([abs(answers.answer(query).count - true) / true for query, true in queries.items()]))


def within(queries: Mapping[Query, int], low: float, high: float, most: int) -> Mapping[Query, int]:
    """The first queries with a count in [low, high)."""
    return dict([(query, true) for query, true in queries.items() if low <= true < high][:most])


def percent(band: tuple[float, float]) -> str:
    """A band of selectivities in words."""
    return f"{100 * band[0]:g} to {100 * band[1]:g} %"


def figure_4() -> Line:
    """Bounds of the error of large counts, as printed and corrected, and the exact probability."""
    rows = [
        (
            count,
            e,
            guarantees.bound_as_printed(10, count, e),
            guarantees.chebyshev(10, count, e),
            float(guarantees.error_probability(10, count, e)),
        )
        for e in (0.03, 0.05, 0.09)
        for count in (100, 200, 400, 900)
    ]
    names = ("T_f", "e", "T_E printed", "T_E corrected bound", "exact")
    return Line("Figure 4: error probability of large counts, gamma = 10", names, rows)


def figure_5() -> Line:
    """How likely small counts miss by more than 30 %."""
    rows = [
        (f, *(float(guarantees.miss_probability(gamma, f, 0.3)) for gamma in (5, 10, 20)))
        for f in range(1, 11)
    ]
    return Line("Figure 5: Pr(|f' - f| > 0.3 f)", ("f", "gamma = 5", "gamma = 10", "gamma = 20"), rows)


def figure_7(people: pd.DataFrame, given: argparse.Namespace) -> Line:
    """Relative errors of counts from 1 to 10."""
    study = Study.of(people, given.rows[0], (PLACE,), given.seed)
    small = within(study.queries(given.tries), 1, 11, given.queries)
    others = [error(study.dbr(), small), *(error(study.laplace(e), small) for e in (np.log(3), np.log(2)))]
    rows = [
        (gamma, error(study.splu(gamma), small), error(study.splu(gamma, as_printed=True), small),
         error(study.anatomy(gamma), small), *others)
        for gamma in (2, 4, 6, 8, 10)
    ]  # fmt: skip
    names = ("gamma = l", "SPLU-Gen", "as printed", "Anatomy", "DBR", "Laplace, ln 3", "Laplace, ln 2")
    return Line(f"Figure 7: relative error of {len(small)} counts of at most 10", names, rows)


def figures_8_9(people: pd.DataFrame, given: argparse.Namespace) -> list[Line]:
    """Relative errors of large counts by selectivity and by size of the table; gamma and l are 5."""
    found: dict[int, list[tuple[float | str, ...]]] = {}
    for rows in given.rows:
        study = Study.of(people, rows, (PLACE,), given.seed)
        queries = study.queries(given.tries)
        releases = (study.splu(5), study.splu(5, as_printed=True), study.anatomy(5), study.dbr())
        found[rows] = []
        for low, high in BANDS:
            some = within(queries, low * rows, high * rows, given.queries)
            found[rows].append((float(len(some)), *(error(one, some) for one in releases)))
        print(f"figures 8 and 9: {rows:,} rows done", file=sys.stderr, flush=True)
    names = ("SPLU-Gen", "as printed", "Anatomy", "DBR")
    middle = 300_000 if 300_000 in found else given.rows[-1]
    lines = [
        Line(
            f"Figure 8: relative error by selectivity, {middle:,} rows, gamma = l = 5",
            ("selectivity", *names, "queries"),
            [(percent(band), *row[1:], int(row[0])) for band, row in zip(BANDS, found[middle], strict=True)],
        )
    ]
    for place, name in enumerate(names, 1):
        rows_of = [(f"{rows:,}", *(row[place] for row in found[rows])) for rows in found]
        title = f"Figure 9{'abcd'[place - 1]}: {name}, relative error by rows"
        lines.append(Line(title, ("rows", *map(percent, BANDS)), rows_of))
    return lines


def figure_12(people: pd.DataFrame, given: argparse.Namespace) -> Line:
    """Relative errors of counts by two sensitive columns."""
    study = Study.of(people, given.rows[0], (PLACE, BIRTH), given.seed)
    queries = study.queries(given.tries)
    size = len(study.table)
    bands = [within(queries, low * size, high * size, given.queries) for low, high in FIGURE_12]
    rows = []
    for gamma in (2, 3, 4, 5, 6, 7, 8):
        answers = study.splu(gamma)
        rows.append((gamma, *(error(answers, some) for some in bands)))
    names = tuple(f"{percent(band)} ({len(some)})" for band, some in zip(FIGURE_12, bands, strict=True))
    return Line("Figure 12: two sensitive columns, relative error by selectivity", ("gamma", *names), rows)


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="splu", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of {FILE}; {DATA}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="two sizes of tables, few queries")
    parser.add_argument(
        "--write", type=Path, help="a folder for the section of reproduction.md, such as docs"
    )
    given = parser.parse_args()
    given.rows = (100_000, 300_000) if given.quick else (100_000, 200_000, 300_000, 400_000, 500_000)
    given.tries, given.queries = (1500, 15) if given.quick else (4000, 60)
    return given


def main() -> int:
    """Print all tables, and write them and their plots where that is asked for."""
    given = parse()
    if gone := missing(given.data, FILE):
        print(gone, file=sys.stderr)
        return 66
    people = pd.read_csv(given.data / FILE)
    people[BIRTH] = pd.qcut(people["qob_minus_kw"].rank(method="first"), 10, labels=False)
    lines = [figure_4(), figure_5(), figure_7(people, given), *figures_8_9(people, given)]
    lines.append(figure_12(people, given))
    found = judged(statements({one.title.split(":")[0]: one.rows for one in lines}), "figure")
    parts = [
        HEADING,
        NOTES,
        *(one.markdown() for one in lines),
        f"### What the paper says of them\n\n{found}",
    ]
    text = "\n\n".join(part.strip() for part in parts)
    print(text)
    if given.write is not None:
        write(given.write, HEADING, text, {one.file: one.plot() for one in lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
