"""Table 7.1 and figure 7.1 of the thesis, simulated: the noise of its t-test, and type I errors.

Values are normal about 100 with variance s**2, cut to [0, 200]; both groups have n / 2 of them and equal
means.
The thesis says neither delta nor where its two dummy records come from, so the table is printed for several
deltas and two kinds of dummies, with the distance to the printed figures; nothing is chosen in silence.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import log, sqrt
from pathlib import Path
from statistics import NormalDist, fmean, median
from typing import Any, Final

import numpy as np

from anonymizer.dp.ttest import SmoothTTest
from smc.analyses.base import Schema
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.draws import Floats, noise_like, normals, uniforms
from smc.analyses.statistics.plan import plan
from smc.analyses.statistics.rows import Rows
from smc.analyses.statistics.ttest_student import Sample, Welch, critical
from smc.errors import UsageError
from smc.numeric.random import Randomness

PRINTED: Final = {
    (100, 20): 256.04, (100, 200): 33.07, (100, 2000): 10.32,
    (1000, 20): 78.72, (1000, 200): 13.06, (1000, 2000): 7.23,
    (10000, 20): 30.33, (10000, 200): 8.98, (10000, 2000): 7.70,
}  # fmt: skip
"""Table 7.1: S / alpha for epsilon 5, by n and s**2."""
MOST: Final = 200.0
EPSILON: Final = 5.0
LEVEL: Final = 0.05
DELTAS: Final = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
DUMMIES: Final = ("like the data", "anywhere")
EPSILONS: Final = (1, 2, 5, 10, 20, 50, 100)
FIGURE: Final = (10000, 200)
_NORMAL: Final = NormalDist()


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
        return np.clip(100 + sqrt(variance) * normals(size, self.random), 0, MOST)

    def groups(self, n: int, variance: float) -> tuple[Floats, Floats]:
        """Two groups with equal means."""
        return self.values(n // 2, variance), self.values(n // 2, variance)

    def dummies(self, kind: str, variance: float) -> tuple[float, float]:
        """The two dummy records."""
        drawn = self.values(2, variance) if kind == DUMMIES[0] else MOST * uniforms(2, self.random)
        return float(drawn[0]), float(drawn[1])

    def mechanisms(
        self, n: int, variance: float, epsilon: float, delta: float, kind: str
    ) -> Iterator[tuple[SmoothTTest, Floats, Floats]]:
        """The mechanism with dummies for each of some data sets."""
        for _ in range(self.tables):
            dummies = self.dummies(kind, variance)
            if dummies[0] != dummies[1]:
                yield SmoothTTest(epsilon, delta, MOST, dummies), *self.groups(n, variance)

    def noise(self, n: int, variance: float, delta: float, kind: str, method: str) -> float:
        """The median of S / alpha."""
        found = self.mechanisms(n, variance, EPSILON, delta, kind)
        return median(getattr(test, method)(a, b) / test.alpha for test, a, b in found)

    def wrongly(self, n: int, variance: float, epsilon: float, delta: float, kind: str, method: str) -> float:
        """How often Student's law rejects equal means by t with noise; exactly, for each data set."""
        chances = []
        for test, a, b in self.mechanisms(n, variance, epsilon, delta, kind):
            exact = test.exact(a, b)
            scale = getattr(test, method)(a, b) / test.alpha
            limit = critical(LEVEL, exact.freedom)
            chances.append(sum(_NORMAL.cdf((side * exact.t - limit) / scale) for side in (-1, 1)))
        return fmean(chances)

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
        parameters = STATISTICS.parse(
            {"epsilon": str(epsilon), "queries": [{"kind": "t-test", "column": "x", "by": "group"}]}
        )
        schemas = {
            "x": Schema("decimal", 1, 0, int(10 * MOST)),
            "group": Schema("category", lower=0, upper=1, categories=("a", "b")),
        }
        try:
            statistic = plan(parameters, schemas)[0].statistic
        except UsageError:
            return None, None
        rejected = without = 0
        for _ in range(self.tests):
            both = np.rint(10 * np.concatenate(self.groups(n, variance))).astype(np.int64)
            columns = {"x": both, "group": np.repeat([0, 1], [n // 2, n // 2])}
            exact = statistic.local(Rows(columns, np.arange(len(both)), len(both)))
            noise = [noise_like(law, 1, self.random)[0] for law in statistic.laws]
            entries = [int(entry + drawn) for entry, drawn in zip(exact, noise, strict=True)]
            table = statistic.result(entries, statistic.laws, self.random).table
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


def show(title: str, heads: list[str], rows: list[list[Any]]) -> None:
    """Print a table."""
    texts = [heads, *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    print(f"\n{title}")
    for row in texts:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _text(cell: Any) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def tell(text: str) -> None:
    """Say what is going on, beside the tables."""
    print(text, file=sys.stderr, flush=True)


def table_7_1(study: Study, deltas: tuple[float, ...]) -> dict[str, Any]:
    """The noise for all deltas and dummies, and which of them is nearest to the table."""
    found: dict[tuple[str, float], list[float]] = {}
    for kind in DUMMIES:
        for delta in deltas:
            tell(f"table 7.1: dummies {kind}, delta {delta:g}")
            found[kind, delta] = [study.noise(*cell, delta, kind, "algorithm_8") for cell in PRINTED]
    distances = {
        key: sqrt(fmean(log(ours / theirs) ** 2 for ours, theirs in zip(row, PRINTED.values(), strict=True)))
        for key, row in found.items()
    }
    nearest = min(distances, key=lambda key: distances[key])
    heads = ["dummies", "delta", *(f"{n}/{s}" for n, s in PRINTED), "distance"]
    rows: list[list[Any]] = [["thesis", "?", *PRINTED.values(), ""]]
    rows += [[*key, *row, distances[key]] for key, row in found.items()]
    show("Table 7.1: S / alpha by n / s**2, epsilon 5, algorithm 8 (medians)", heads, rows)
    print(
        "distance: root mean square of the logarithms of ours / theirs. "
        f"Nearest: dummies {nearest[0]}, delta {nearest[1]:g}."
    )
    smooth = [study.noise(*cell, nearest[1], nearest[0], "smooth") for cell in PRINTED]
    show("The same with the bound that is shown to be smooth", heads[:-1], [[*nearest, *smooth]])
    return {
        "rows": [{"dummies": k, "delta": d, "noise": row} for (k, d), row in found.items()],
        "nearest": {"dummies": nearest[0], "delta": nearest[1], "distance": distances[nearest]},
        "smooth": smooth,
    }


def errors(study: Study, cells: list[tuple[int, int, float]], delta: float, kind: str) -> list[list[Any]]:
    """How often equal means are rejected at 5 %: Welch's test without noise, the thesis's, the joint one."""
    rows: list[list[Any]] = []
    for n, variance, epsilon in cells:
        tell(f"type I errors: n {n}, s**2 {variance}, epsilon {epsilon:g}")
        ways = [
            study.wrongly(n, variance, epsilon, delta, kind, method) for method in ("algorithm_8", "smooth")
        ]
        rows.append(
            [n, variance, epsilon, study.plainly(n, variance), *ways, *study.jointly(n, variance, epsilon)]
        )
    return rows


def draw(path: Path, rows: list[list[Any]]) -> bool:
    """Figure 7.1 as PNG, if matplotlib is installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        tell("no plot: matplotlib is not installed (pip install 'duetto[plots]')")
        return False
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
    for place, name in ((4, "thesis, algorithm 8"), (5, "thesis, smooth bound"), (6, "joint Welch test")):
        axes.plot([row[2] for row in rows], [row[place] for row in rows], marker="o", label=name)
    axes.axhline(LEVEL, color="grey", linestyle=":", label="5 %")
    axes.set(xscale="log", xlabel="epsilon", ylabel="type I error", ylim=(0, 1))
    axes.set_title("Figure 7.1: n = 10,000, m = 200, s² = 200")
    axes.legend()
    figure.savefig(path, dpi=150)
    return True


def main() -> None:
    """Run all simulations and write them to a folder."""
    parser = argparse.ArgumentParser(prog="thesis_chapter7", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few draws: rough figures in about a minute")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("build/reproduce"))
    options = parser.parse_args()
    study = Study(seeded(options.seed), *((5, 20) if options.quick else (40, 400)))
    found = table_7_1(study, DELTAS[1:4] if options.quick else DELTAS)
    delta, kind = found["nearest"]["delta"], found["nearest"]["dummies"]
    heads = ["n", "s**2", "epsilon", "no noise", "algorithm 8", "smooth bound", "joint", "not computed"]
    grid = errors(study, [(*cell, EPSILON) for cell in PRINTED], delta, kind)
    how = f"(thesis: delta {delta:g}, dummies {kind})"
    show(f"Type I error at 5 % on the grid of table 7.1 {how}", heads, grid)
    figure = errors(study, [(*FIGURE, float(epsilon)) for epsilon in EPSILONS], delta, kind)
    show(f"Figure 7.1: type I error at 5 % {how}; the thesis prints no figures", heads, figure)
    options.out.mkdir(parents=True, exist_ok=True)
    written = {"table_7_1": found, "heads": heads, "grid": grid, "figure_7_1": figure, "seed": options.seed}
    (options.out / "chapter7.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    draw(options.out / "figure-7.1.png", figure)
    tell(f"written to {options.out}")


if __name__ == "__main__":
    main()
