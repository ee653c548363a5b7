"""Table 7.1 and figure 7.1 of the thesis, simulated: the noise of its t-test, and type I errors.

Values are normal about 100 with variance s**2, cut to [0, 200]; both groups have n / 2 of them and equal
means.
The thesis says neither delta nor where its two dummy records come from, so the table is shown for several
deltas and two kinds of dummies, with the distance to the printed figures; nothing is chosen in silence.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import log, sqrt
from pathlib import Path
from statistics import NormalDist, fmean, median
from typing import Final

import numpy as np
from page import (
    Clock,
    Margin,
    Panel,
    Part,
    Plot,
    Section,
    Series,
    Statement,
    Table,
    around,
    every,
    exactly,
    finish,
)
from private_ttest import SmoothTTest

from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.draws import Floats, noise_like, normals, uniforms
from smc.analyses.statistics.kinds.ttest_student import Sample, Welch, critical
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from smc.numeric.random import Randomness

PRINTED: Final = {
    (100, 20): 256.04, (100, 200): 33.07, (100, 2000): 10.32,
    (1000, 20): 78.72, (1000, 200): 13.06, (1000, 2000): 7.23,
    (10000, 20): 30.33, (10000, 200): 8.98, (10000, 2000): 7.70,
}  # fmt: skip
"""Table 7.1: S / alpha for epsilon 5, by n and s**2."""
HEADING: Final = "The t-test with dummy data"
NOTES: Final = """\
`scripts/reproduce/thesis_chapter7` rebuilds Table 7.1 and Figure 7.1 of the thesis's chapter 7; it needs no
data, `--write docs` wrote this section and its plot, `--quick` takes few draws. Values are normal about 100
with variance s^2, cut to [0, 200]; both groups have n / 2 of them and equal means. Table 7.1 says neither
delta (erratum 20) nor where the two dummy records come from: it is shown for several deltas and for dummies
drawn like the data or anywhere in [0, 200], medians of {tables} data sets, the same for all deltas.
"Variance" is taken for the scale of the noise (erratum 19). Algorithm 8's value is not beta-smooth
(erratum 40), and with it the release is not private as claimed; `smooth bound` is of `private_ttest.py`.
Errors of type I of the noisy t are exact for each data set, by Student's t distribution; those of
`no noise` (Welch's test of the data) and `joint` (the test of joint jobs, from noisy sums) are of {tests}
tests. Where jobs refuse an epsilon, or a test could not be computed, there is a dash or its part. The thesis
prints no figures of its Figure 7.1.
"""
MAX_VALUE: Final = 200.0
EPSILON: Final = 5.0
LEVEL: Final = 0.05
DELTAS: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
DUMMIES: Final = ("like the data", "anywhere")
EPSILONS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
FIGURE: Final = (10000, 200)
_NORMAL: Final = NormalDist()


Data = tuple[tuple[float, float], Floats, Floats]
"""The dummies and both groups."""


@dataclass(frozen=True)
class Study:
    """What is simulated.

    Attributes:
        random: all draws come from it.
        tables: data sets for a figure of the mechanism.
        tests: joint tests for a figure of these.
    """

    random: Randomness
    tables: int
    tests: int

    def values(self, size: int, variance: float) -> Floats:
        """Values of a group."""
        return np.clip(100 + sqrt(variance) * normals(size, self.random), 0, MAX_VALUE)

    def groups(self, n: int, variance: float) -> tuple[Floats, Floats]:
        """Two groups with equal means."""
        return self.values(n // 2, variance), self.values(n // 2, variance)

    def dummies(self, kind: str, variance: float) -> tuple[float, float]:
        """The two dummy records."""
        drawn = self.values(2, variance) if kind == DUMMIES[0] else MAX_VALUE * uniforms(2, self.random)
        return float(drawn[0]), float(drawn[1])

    def data(self, n: int, variance: float, kind: str) -> list[Data]:
        """Dummies and groups, as many times as tables are drawn."""
        drawn = ((self.dummies(kind, variance), *self.groups(n, variance)) for _ in range(self.tables))
        return [one for one in drawn if one[0][0] != one[0][1]]

    def wrongly(
        self, n: int, variance: float, epsilon: float, delta: float, kind: str
    ) -> tuple[float, float, float]:
        """How often Student's distribution rejects equal means by t with noise, exactly for each data set.

        Returns:
            By Algorithm 8 and by the smooth bound, and the standard error of the first.
        """
        chances = []
        for dummies, a, b in self.data(n, variance, kind):
            test = SmoothTTest(epsilon, delta, MAX_VALUE, dummies)
            exact = test.exact(a, b)
            limit = critical(LEVEL, exact.freedom)
            scales = (test.algorithm_8(a, b) / test.alpha, test.smooth(a, b) / test.alpha)
            chances.append(
                [sum(_NORMAL.cdf((side * exact.t - limit) / scale) for side in (-1, 1)) for scale in scales]
            )
        first, second = np.mean(chances, axis=0).tolist()
        return first, second, float(np.std(chances, axis=0, ddof=1)[0] / sqrt(len(chances)))

    def plainly(self, n: int, variance: float) -> float:
        """How often Welch's test of the data themselves rejects equal means."""
        rejected = 0
        for _ in range(self.tests):
            samples = [Sample.of(x.sum(), (x**2).sum(), len(x)) for x in self.groups(n, variance)]
            tested = Welch.of(samples)
            rejected += tested is not None and tested.p_value <= LEVEL
        return rejected / self.tests

    def jointly(self, n: int, variance: float, epsilon: float) -> tuple[float | None, float | None]:
        """How often the joint test rejects equal means, and how often it cannot be computed.

        Nothing for an epsilon that jobs refuse: there the noise is not drawn exactly enough.
        """
        study = STATISTICS.parse(
            {"epsilon": str(epsilon), "queries": [{"kind": "t-test", "column": "x", "by": "group"}]}
        )
        schemas = {
            "x": Schema("decimal", 1, 0, int(10 * MAX_VALUE)),
            "group": Schema("category", lower=0, upper=1, categories=("a", "b")),
        }
        try:
            statistic = plan(study.parameters, schemas)[0].statistic
        except UsageError:
            return None, None
        rejected = without = 0
        for _ in range(self.tests):
            both = np.rint(10 * np.concatenate(self.groups(n, variance))).astype(np.int64)
            columns = {"x": both, "group": np.repeat([0, 1], [n // 2, n // 2])}
            exact = statistic.local(LocalRows(columns, np.arange(len(both)), len(both)))
            noise = [noise_like(distribution, 1, self.random)[0] for distribution in statistic.distributions]
            entries = [int(entry + drawn) for entry, drawn in zip(exact, noise, strict=True)]
            table = statistic.result(entries, statistic.distributions, self.random).table
            if table is None:
                without += 1
            else:
                rejected += dict(zip(table["quantity"], table["value"], strict=True))["p_value"] <= LEVEL
        computed = self.tests - without
        return rejected / computed if computed else None, without / self.tests


def seeded(seed: int) -> Randomness:
    """The same draws for the same seed."""
    calls = count()

    def source(size: int) -> bytes:
        return hashlib.shake_256(f"{seed} {next(calls)}".encode()).digest(size)

    return Randomness(source)


def told(text: str) -> None:
    """Say what is going on."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Found:
    """What the simulation has found.

    Attributes:
        values: S / alpha by Algorithm 8 of each data set, by kind of dummies and delta, in the order of the
            printed table.
        smooth: the medians of the nearest kind and delta, by the smooth bound.
        errors: type I errors by n, s**2 and epsilon: without noise, Algorithm 8, smooth bound, joint test,
            and how often the joint test cannot be computed.
        doubts: the standard errors of those of Algorithm 8.
    """

    values: Mapping[tuple[str, float], list[list[float]]]
    smooth: list[float]
    errors: Mapping[tuple[int, int, float], tuple[float | None, ...]]
    doubts: Mapping[tuple[int, int, float], float]

    @property
    def noise(self) -> dict[tuple[str, float], list[float]]:
        """The medians of `values`."""
        return {key: [median(one) for one in some] for key, some in self.values.items()}

    @property
    def distances(self) -> dict[tuple[str, float], float]:
        """The root mean square of the logarithms of ours by printed."""
        return {key: distance(row) for key, row in self.noise.items()}

    @property
    def nearest(self) -> tuple[str, float]:
        """The dummies and the delta that are nearest to the table."""
        distances = self.distances
        return min(distances, key=lambda key: distances[key])


def noise_of(drawn: Sequence[Data], deltas: Sequence[float]) -> dict[float, list[float]]:
    """S / alpha by Algorithm 8 for each delta, of the same data."""
    found: dict[float, list[float]] = {delta: [] for delta in deltas}
    for dummies, a, b in drawn:
        path = SmoothTTest(EPSILON, deltas[0], MAX_VALUE, dummies).path(a, b)
        for delta in deltas:
            test = SmoothTTest(EPSILON, delta, MAX_VALUE, dummies)
            value = (np.exp(-test.beta * np.arange(len(path))) * path).max()
            found[delta].append(float(value) / test.alpha)
    return found


def smooth_of(drawn: Sequence[Data], delta: float) -> float:
    """The median of S / alpha by the bound that is smooth."""
    tests = ((SmoothTTest(EPSILON, delta, MAX_VALUE, dummies), a, b) for dummies, a, b in drawn)
    return median(test.smooth(a, b) / test.alpha for test, a, b in tests)


def distance(row: Sequence[float]) -> float:
    """How far a row is from the printed one."""
    return sqrt(fmean(log(ours / theirs) ** 2 for ours, theirs in zip(row, PRINTED.values(), strict=True)))


def simulated(study: Study, deltas: Sequence[float], epsilons: Sequence[float]) -> Found:
    """Run everything."""
    values: dict[tuple[str, float], list[list[float]]] = {(kind, d): [] for kind in DUMMIES for d in deltas}
    drawn = {(kind, cell): study.data(*cell, kind) for kind in DUMMIES for cell in PRINTED}
    for kind in DUMMIES:
        for cell in PRINTED:
            told(f"Table 7.1: dummies {kind}, n {cell[0]}, s**2 {cell[1]}")
            for delta, some in noise_of(drawn[kind, cell], deltas).items():
                values[kind, delta].append(some)
    kind, delta = Found(values, [], {}, {}).nearest
    smooth = [smooth_of(drawn[kind, cell], delta) for cell in PRINTED]
    errors, doubts = {}, {}
    for n, variance, epsilon in [*((*cell, EPSILON) for cell in PRINTED), *((*FIGURE, e) for e in epsilons)]:
        if (n, variance, epsilon) not in errors:
            told(f"type I errors: n {n}, s**2 {variance}, epsilon {epsilon:g}")
            *ways, doubts[n, variance, epsilon] = study.wrongly(n, variance, epsilon, delta, kind)
            joint = study.jointly(n, variance, epsilon)
            errors[n, variance, epsilon] = (study.plainly(n, variance), *ways, *joint)
    return Found(values, smooth, errors, doubts)


def statements(found: Found, study: Study) -> list[Statement]:
    """What the thesis says of them, and what is found."""
    ours = dict(zip(PRINTED, found.values[found.nearest], strict=True))
    sizes, variances = (sorted({cell[place] for cell in PRINTED}) for place in (0, 1))
    by_n = [[ours[n, s] for n in sizes] for s in variances]
    by_s = [[ours[n, s] for s in variances] for n in sizes]
    at_5 = {cell: found.errors[*cell, EPSILON][1] or 0.0 for cell in PRINTED}
    curve = {e: row[1] or 0.0 for (n, s, e), row in sorted(found.errors.items()) if (n, s) == FIGURE}
    joint = [row[3] for row in found.errors.values() if row[3] is not None]
    level = fmean(joint)

    def falls(rows: Sequence[Sequence[Sequence[float]]]) -> Margin:
        pairs = [pair for row in rows for pair in pairwise(row)]
        return every([_median_ratio(before, later, len(pairs)) for before, later in pairs])

    def listed(rows: Sequence[Sequence[Sequence[float]]]) -> str:
        return "; ".join(", ".join(f"{median(one):.3g}" for one in row) for row in rows)

    drops = [
        around(curve[less] - curve[more], sqrt(sum(found.doubts[*FIGURE, e] ** 2 for e in (less, more))),
               parts=len(curve) - 1, freedom=study.tables - 1)
        for less, more in pairwise(curve)
    ]  # fmt: skip
    sets = f"{study.tables} data sets"
    return [
        Statement("Table 7.1", "more records, less noise (by s^2)", listed(by_n), falls(by_n), sets, "paper"),
        Statement("Table 7.1", "more variance, less noise (by n)", listed(by_s), falls(by_s), sets, "paper"),
        Statement(
            "Table 7.1", "a rather large noise: more than the limit of t, 2, everywhere",
            f"{min(map(median, ours.values())):.3g} at least",
            every([_median_ratio(one, [2.0] * len(one), len(ours)) for one in ours.values()]), sets, "paper",
        ),
        Statement(
            "Table 7.1", "the printed figures come out, to a factor of 1.5 (root mean square of logarithms)",
            f"{np.exp(found.distances[found.nearest]):.2f} with the delta and the dummies that fit best",
            exactly(found.distances[found.nearest] <= log(1.5)), "", "paper: erratum 48",
        ),
        Statement(
            "Section 7.2", "errors of type I are likely at epsilon 5: more than 5 %",
            f"{min(at_5.values()):.2f} to {max(at_5.values()):.2f}",
            every([
                around(one - LEVEL, found.doubts[*cell, EPSILON], parts=len(at_5), freedom=study.tables - 1)
                for cell, one in at_5.items()
            ]), sets, "paper",
        ),
        Statement(
            "Figure 7.1", "errors of type I fall with epsilon",
            ", ".join(f"{one:.3g}" for one in curve.values()), every(drops), sets, "paper",
        ),
        Statement(
            "joint jobs", "Welch's test from noisy sums errs in at most 6 % of tests, over all settings",
            f"{level:.3f}; {min(joint):.3f} to {max(joint):.3f}",
            around(0.06 - level, sqrt(level * (1 - level) / study.tests / len(joint))),
            f"{len(joint)} times {study.tests} tests", "ours",
        ),
    ]  # fmt: skip


def _median_ratio(one: Sequence[float], other: Sequence[float], parts: int) -> Margin:
    """The logarithm of the ratio of two medians, by the standard errors of medians of normal values."""
    error = sqrt(sum(1.2533**2 * np.var(np.log(some), ddof=1) / len(some) for some in (one, other)))
    ratio = log(median(one) / median(other))
    return around(ratio, error, parts=parts, freedom=min(len(one), len(other)) - 1)


def section(found: Found, study: Study, clock: Clock) -> Section:
    """What the page has of it."""
    kind, delta = found.nearest
    distances, cells = found.distances, list(PRINTED)
    sizes, variances = (sorted({cell[place] for cell in cells}) for place in (0, 1))
    fits = [key for key, one in distances.items() if one <= 1.1 * distances[kind, delta]]
    heads = ("dummies", "delta", *(f"{n} / {s}" for n, s in PRINTED), "distance")
    rows: list[tuple[object, ...]] = [("thesis", "?", *PRINTED.values(), "")]
    rows += [(one, f"{d:g}", *row, distances[one, d]) for (one, d), row in found.noise.items()]
    smooth = [(f"{kind}, smooth bound", f"{delta:g}", *found.smooth, "")]
    alike = ", ".join(f"{one} with {d:g}" for one, d in fits if (one, d) != (kind, delta)) or "no others"
    names = ("n", "s^2", "epsilon", "no noise", "Algorithm 8", "smooth bound", "joint", "not computed")
    errors = [
        (f"{n}", f"{s}", f"{e:g}", *("-" if one is None else one for one in row))
        for (n, s, e), row in found.errors.items()
    ]
    notes = NOTES.format(tables=study.tables, tests=study.tests)
    more = [one / other for one, other in zip(found.smooth, found.noise[kind, delta], strict=True)]
    nearest = (
        f"The table is met best by dummies {kind} and delta {delta:g} (distance "
        f"{distances[kind, delta]:.2f}, the root mean square of the logarithms of ours by "
        f"printed); within a tenth of that are {alike}. No "
        "delta is tuned: what follows takes the nearest. On the same data the bound that is smooth is "
        f"{min(more):.2f} to {max(more):.2f} times Algorithm 8's value."
    )
    noise = Plot("chapter7-table-7.1", "Table 7.1: S / alpha, epsilon 5", [
        Panel(f"s^2 = {s}", "n", "S / alpha (median)", [
            *(Series(one, sizes, [row[cells.index((n, s))] for n in sizes])
              for one, row in ((f"{kind}, delta {delta:g}", found.noise[kind, delta]),
                               ("smooth bound", found.smooth))),
            Series("Table 7.1", sizes, [PRINTED[n, s] for n in sizes], "printed"),
        ], "xy")
        for s in variances
    ])  # fmt: skip
    rows_of = [(e, row) for (n, s, e), row in sorted(found.errors.items()) if (n, s) == FIGURE]
    ways = [
        Series(name, [e for e, row in rows_of if row[place] is not None],
               [row[place] for _, row in rows_of if row[place] is not None])
        for place, name in ((0, "no noise"), (1, "Algorithm 8"), (2, "smooth bound"), (3, "joint Welch test"))
    ]  # fmt: skip
    ways.append(Series("5 %", [rows_of[0][0], rows_of[-1][0]], [LEVEL, LEVEL], "line"))
    title = "Figure 7.1: errors of type I at 5 %"
    panel = Panel("n = 10,000, m = 200, s^2 = 200", "epsilon", "error of type I", ways, "x")
    parts: list[Part] = [
        notes, "### Table 7.1: S / alpha by n / s^2, epsilon 5 (medians)", noise,
        Table(heads, [*rows, *smooth], "Table 7.1 in numbers"), nearest,
        f"### {title}, dummies {kind}, delta {delta:g}", Plot("chapter7-figure-7.1", title, [panel]),
        Table(names, errors, "Figure 7.1 and the grid of Table 7.1 in numbers"),
    ]  # fmt: skip
    return Section("chapter7", "Thesis, chapter 7", HEADING, parts, statements(found, study), clock.told())


def main() -> int:
    """Run all simulations, print the section, and write it where that is asked for."""
    parser = argparse.ArgumentParser(prog="thesis_chapter7", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few draws: rough figures in about a minute")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    given = parser.parse_args()
    clock, study = Clock(), Study(seeded(given.seed), *((5, 20) if given.quick else (40, 400)))
    found = simulated(study, DELTAS[1:4] if given.quick else DELTAS, EPSILONS)
    return finish(replace(section(found, study, clock), quick=given.quick), given)


if __name__ == "__main__":
    sys.exit(main())
