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
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from page import DATA, Clock, Panel, Part, Plot, Section, Series, Table, finish, missing
from splu_statements import Figure7, Figure12, Figures89, statements

from anonymizer.methods.sensitive.anatomy import SENSITIVE, Anatomy
from anonymizer.methods.sensitive.dbr import DistributionRandomization
from anonymizer.methods.sensitive.splu_gen import SpluGen
from anonymizer.splu import guarantees
from anonymizer.splu.answers import AnatomyAnswers, Answers, DbrAnswers, LaplaceAnswers, SpluAnswers
from anonymizer.splu.query import Condition
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table as People

HEADING: Final = "Small-sum privacy"
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
of tables and few queries. The paper's curves have no numbers. Figures 4 and 5 need no data. The paper's
CENSUS table is not at hand; these are men of US censuses, `{FILE}` in `../shared/data` or
`--data`, 214,144 rows x 6.

Sensitive is the state of birth (52 values, as occupation with 50); for two sensitive columns also the
quarter of birth in tenths (as age in ten intervals). Tables of up to 200,000 rows are drawn without
replacement, larger ones with it. A query compares up to three other columns and the sensitive ones with
a value each, all drawn at random; relative errors are means over the different queries that a band of
true counts has, of one release, and bars are their standard errors. `as printed` is the paper's iteration,
stopped at 1 %, with its equations 6 to 9, which have f / n as the probability that a row of another value
has a value of count f among its decoys and publishes it; SPLU-Gen has (gamma - 1) f / (gamma (n - f)). The
bound that is printed for figure 4 divides the variance by n twice (erratum 36) and lies below the exact
probability; the corrected one is Chebyshev's.
"""

Query = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Study:
    """A table and its queries."""

    table: People
    sensitive: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, people: pd.DataFrame, rows: int, sensitive: tuple[str, ...], seed: int) -> Study:
        """Rows of the census, with replacement where more are asked for than 200,000."""
        drawn = people.sample(rows, replace=rows > 200_000, random_state=seed).reset_index(drop=True)
        plain = tuple(name for name in PLAIN if BIRTH not in sensitive or name not in ("qob", "qob_minus_kw"))
        frame = drawn[[*plain, *sensitive]]
        return cls(People.of(frame, Roles(quasi_identifiers=plain, sensitive=sensitive)), sensitive, seed)

    def queries(self, tries: int) -> Mapping[Query, int]:
        """Random queries with their true counts, those without rows left out."""
        draw = Randomness(self.seed, "queries")
        plain = self.table.roles.quasi_identifiers
        codes = {name: self.table.codes(name) for name in self.table.names}
        # a bit for each row, so that thousands of queries take seconds
        bits = {
            name: [np.packbits(one.codes == place) for place in range(len(one.values))]
            for name, one in codes.items()
        }
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
                hits = [bits[name][place] for name, place in zip(names, places, strict=True)]
                found[query] = int(np.unpackbits(np.bitwise_and.reduce(hits)).sum(dtype=np.int64))
        return {query: count for query, count in found.items() if count}

    @cache  # noqa: B019 - a few studies that live as long as the script
    def released(self, gamma: int) -> People:
        """A release of SPLU-Gen, of which both estimates are made."""
        made: People = SpluGen(gamma=gamma, random_state=self.seed).fit_transform_table(self.table)
        return made

    def splu(self, gamma: int, *, as_printed: bool = False) -> Answers:
        """What can be asked of a release of SPLU-Gen."""
        return SpluAnswers(self.released(gamma), self.sensitive, gamma, as_printed=as_printed)

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


def errors(answers: Answers, queries: Mapping[Query, int]) -> list[float]:
    """The relative error of each query; none if there are fewer than five queries."""
    if len(queries) < MIN_QUERIES:
        return []
    return [float(abs(answers.answer(query).count - true) / true) for query, true in queries.items()]


def error(answers: Answers, queries: Mapping[Query, int]) -> float:
    """The mean relative error."""
    return float(np.mean(errors(answers, queries)))


def within(queries: Mapping[Query, int], low: float, high: float, most: int) -> Mapping[Query, int]:
    """The first queries with a count in [low, high)."""
    return dict([(query, true) for query, true in queries.items() if low <= true < high][:most])


def percent(band: tuple[float, float]) -> str:
    """A band of selectivities in words."""
    return f"{100 * band[0]:g} to {100 * band[1]:g} %"


def figure_4() -> list[Part]:
    """Bounds of the error of large counts, as printed and corrected, and the exact probability."""
    counts, gamma = (100, 200, 400, 900), 10
    panels, rows = [], []
    for e in (0.03, 0.05, 0.09):
        printed = [guarantees.bound_as_printed(gamma, count, e) for count in counts]
        corrected = [guarantees.chebyshev(gamma, count, e) for count in counts]
        exact = [float(guarantees.error_probability(gamma, count, e)) for count in counts]
        panels.append(
            Panel(f"e = {e}", "T_f", "T_E", (
                Series("bound of T_E", counts, printed, "printed"),
                Series("corrected bound", counts, corrected, "line"),
                Series("exact probability", counts, exact),
            ), "xy")
        )  # fmt: skip
        rows += zip(counts, [e] * len(counts), printed, corrected, exact, strict=True)
    title = "Figure 4: error probability of large counts, gamma = 10"
    names = ("T_f", "e", "T_E printed", "T_E corrected bound", "exact")
    return [f"### {title}", Plot("splu-figure-4", title, panels), Table(names, rows, "Figure 4 in numbers")]


def figure_5() -> tuple[list[Part], list[float]]:
    """How likely small counts miss by more than 30 %, and these probabilities to 3 at gamma = 10."""
    counts = range(1, 11)
    curves = {
        gamma: [float(guarantees.miss_probability(gamma, f, 0.3)) for f in counts] for gamma in (5, 10, 20)
    }
    title = "Figure 5: Pr(|f' - f| > 0.3 f)"
    curves_ = [Series(f"gamma = {gamma}", list(counts), curve) for gamma, curve in curves.items()]
    curves_.append(Series("read in the text", (3,), (0.6,), "printed"))
    table = Table(
        ("f", *(f"gamma = {one}" for one in curves)), list(zip(counts, *curves.values(), strict=True)),
        "Figure 5 in numbers",
    )  # fmt: skip
    plot = Plot("splu-figure-5", title, [Panel("", "count f", "probability", curves_)])
    return [f"### {title}", plot, table], curves[10][:3]


def by_gamma(study: Study, small: Mapping[Query, int], gammas: Sequence[int]) -> Figure7:
    """Relative errors of each query by all methods."""
    fixed = {
        "DBR": errors(study.dbr(), small),
        **{f"Laplace, ln {n}": errors(study.laplace(np.log(n)), small) for n in (3, 2)},
    }
    return {
        gamma: {
            "SPLU-Gen": errors(study.splu(gamma), small),
            "as printed": errors(study.splu(gamma, as_printed=True), small),
            "Anatomy": errors(study.anatomy(gamma), small),
            **fixed,
        }
        for gamma in gammas
    }


def figure_7(people: pd.DataFrame, given: argparse.Namespace) -> tuple[list[Part], Figure7]:
    """Relative errors of counts from 1 to 10, of each query."""
    study = Study.of(people, given.rows[0], (PLACE,), given.seed)
    small = within(study.queries(given.tries), 1, 11, given.queries)
    found = by_gamma(study, small, (2, 4, 6, 8, 10))
    title = f"Figure 7: relative error of {len(small)} counts of at most 10"
    panel, table = shown("gamma = l", {str(gamma): one for gamma, one in found.items()}, "Figure 7")
    return [f"### {title}", Plot("splu-figure-7", title, [panel]), table], found


def figures_8_9(people: pd.DataFrame, given: argparse.Namespace) -> tuple[list[Part], Figures89]:
    """Relative errors of large counts by selectivity and by size of the table; gamma and l are 5."""
    found: Figures89 = {}
    for rows in given.rows:
        study = Study.of(people, rows, (PLACE,), given.seed)
        queries = study.queries(given.tries)
        releases = {
            "SPLU-Gen": study.splu(5),
            "as printed": study.splu(5, as_printed=True),
            "Anatomy": study.anatomy(5),
            "DBR": study.dbr(),
        }
        found[rows] = {}
        for low, high in BANDS:
            some = within(queries, low * rows, high * rows, given.queries)
            found[rows][percent((low, high))] = {name: errors(one, some) for name, one in releases.items()}
        print(f"figures 8 and 9: {rows:,} rows done", file=sys.stderr, flush=True)
    middle = 300_000 if 300_000 in found else given.rows[-1]
    eight = f"Figure 8: relative error by selectivity, {middle:,} rows, gamma = l = 5"
    panel, table = shown("selectivity", found[middle], "Figure 8")
    letters = {"SPLU-Gen": "9(a) SPLU-Gen", "Anatomy": "9(b) Anatomy", "DBR": "9(c) DBR",
               "as printed": "not in the paper: SPLU-Gen, as printed"}  # fmt: skip
    panels = [
        Panel(title, "rows", "relative error", [
            _series(percent(band), {f"{n // 1000:,} k": found[n][percent(band)][name] for n in found})
            for band in BANDS
        ])
        for name, title in letters.items()
    ]  # fmt: skip
    nine = "Figure 9: relative error of large counts by rows, gamma = l = 5"
    rows_of = [
        (letters[name], f"{n:,}", *(_mean(found[n][percent(band)][name]) for band in BANDS))
        for name in letters for n in found
    ]  # fmt: skip
    return [
        f"### {eight}", Plot("splu-figure-8", eight, [panel]), table,
        f"### {nine}", Plot("splu-figure-9", nine, panels, columns=2),
        Table(("figure", "rows", *map(percent, BANDS)), rows_of, "Figure 9 in numbers"),
    ], found  # fmt: skip


def figure_12(people: pd.DataFrame, given: argparse.Namespace) -> tuple[list[Part], Figure12]:
    """Relative errors by two sensitive columns, by the paper's iteration and by the estimate here."""
    study = Study.of(people, given.rows[0], (PLACE, BIRTH), given.seed)
    queries = study.queries(given.tries)
    size = len(study.table)
    bands = {
        percent(band): within(queries, band[0] * size, band[1] * size, given.queries) for band in FIGURE_12
    }
    found: Figure12 = {"as printed": {}, "SPLU-Gen": {}}
    for gamma in (2, 3, 4, 5, 6, 7, 8):
        for name in found:
            answers = study.splu(gamma, as_printed=name == "as printed")
            found[name][gamma] = {band: errors(answers, some) for band, some in bands.items()}
    title = "Figure 12: two sensitive columns, relative error by selectivity"
    panels = [
        Panel(words, "gamma", "relative error", [
            _series(band, {str(gamma): one[band] for gamma, one in found[name].items()}) for band in bands
        ])
        for name, words in (("as printed", "12: the paper's iteration"), ("SPLU-Gen", "the estimate here"))
    ]  # fmt: skip
    rows = [
        (name, gamma, *(_mean(one[band]) for band in bands))
        for name, by_gamma in found.items() for gamma, one in by_gamma.items()
    ]  # fmt: skip
    heads = ("estimate", "gamma", *(f"{band} ({len(some)})" for band, some in bands.items()))
    table = Table(heads, rows, "Figure 12 in numbers; in brackets the number of queries")
    return [f"### {title}", Plot("splu-figure-12", title, panels, apart=True), table], found


def _mean(values: Sequence[float]) -> float | str:
    return float(np.mean(values)) if len(values) else "-"


def _series(label: str, by_place: Mapping[str, Sequence[float]]) -> Series:
    """Means and their standard errors."""
    some = {place: one for place, one in by_place.items() if len(one) > 1}
    deviations = [float(np.std(one, ddof=1) / np.sqrt(len(one))) for one in some.values()]
    places = [int(place) if place.isdigit() else place for place in some]
    return Series(label, places, [float(np.mean(one)) for one in some.values()], error=deviations)


def shown(across: str, found: Mapping[str, Mapping[str, Sequence[float]]], name: str) -> tuple[Panel, Table]:
    """Means by place as curves of each method, and as a table."""
    methods = list(next(iter(found.values())))
    curves = [_series(each, {place: one[each] for place, one in found.items()}) for each in methods]
    rows = [
        (place, *(_mean(one[each]) for each in methods), len(one[methods[0]])) for place, one in found.items()
    ]
    table = Table((across, *methods, "queries"), rows, f"{name} in numbers")
    return Panel("", across, "relative error", curves), table


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
    given.tries, given.queries = (3000, 20) if given.quick else (12_000, 100)
    return given


def main() -> int:
    """Print all tables, and write them and their plots where that is asked for."""
    given, clock = parse(), Clock()
    if gone := missing(given.data, FILE):
        print(gone, file=sys.stderr)
        return 66
    people = pd.read_csv(given.data / FILE)
    people[BIRTH] = pd.qcut(people["qob_minus_kw"].rank(method="first"), 10, labels=False)
    four, (five, exact) = figure_4(), figure_5()
    (seven, small), (eight, large) = figure_7(people, given), figures_8_9(people, given)
    twelve, two = figure_12(people, given)
    return finish(
        Section(
            "splu", "SPLU", HEADING, [NOTES, *four, *five, *seven, *eight, *twelve],
            statements(exact, small, large, two), clock.told(), given.quick,
        ),
        given,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
