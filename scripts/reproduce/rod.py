"""Tables 1 to 3 and figures 1 to 8 of the paper on the risk of disclosure, printed numbers beside ours.

Reference: see `rod_health`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from page import Clock, Margin, Panel, Part, Plot, Section, Series, Statement, Table, exactly, finish, margin
from rod_health import COLUMNS, DISTANCES, MODELS, MOMENTS, Found, health, measured, released
from rod_printed import EQUATION_14, LEARNED_FROM, REAL, TABLE_1, TABLE_2, TABLE_3
from scipy.stats import spearmanr

from anonymizer.choosing.curves import WORDS, choose_curve
from anonymizer.methods.registry import METHODS

Float = NDArray[np.float64]

EPSILONS: Final = (0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
PREFERRED: Final = "synth-copula"
"""Of the kind of DPCopula, which the paper names among others; `dp-noise` where it is not installed."""

OPEN: Final = """\
What the paper leaves open, and what is taken: the parameters of the normal distributions (height 170, 8 cm;
weight 70, 12 kg), how pressures come from BMI (DBP = 50 + 1.2 BMI + N(0, 2), SBP = 85 + 1.5 BMI + N(0, 3)),
rounding (0.1) and bounds; by which algorithm a release is made; how often; the distance function and the
scaling of "risk distance" (the units of the columns here); what the models of figures 6 to 8 predict (SBP
above 122 from the other four, 2,000 released rows to train with, 20,000 fresh people to test with). The paper
prints no numbers for figures 1 to 8, so that only shapes can be compared."""


SHAPES: Final = """\
The distance to the nearest of many points is small in a dense table, whatever epsilon is (section 3.2.2 says
so of y): how many rows Table 1 was made of decides more than epsilon, and the paper does not say it. 5,000
rows are near its Table 1. With 1,000,000 (`--rows 1000000 --repeats 1`, run once in November 2026, 21
minutes) epsilon changes next to nothing: the nearest distance is 1.63 at 0.01 and 1.30 to 1.36 from 0.02 to
10, and accuracy is 0.869 to 0.874 at every epsilon, so that nothing can be seen of Figures 6 to 8 there."""
RESOLVED: Final = 0.7
"""The rank correlation beyond which a figure is taken to rise or fall."""


HEADING: Final = "The risk of disclosure"
Runs = Mapping[float, Sequence[Found]]
"""What was measured, by epsilon."""


def run(word: str, rows: int, repeats: int, seed: int) -> Runs:
    """Make the table, releases of it, and measure them."""
    table, fresh = health(rows, seed), health(20_000, seed + 1000)
    found: dict[float, list[Found]] = {}
    for epsilon in EPSILONS:
        for repeat in range(repeats):
            begun = time.perf_counter()
            one = measured(table, released(table, word, epsilon), fresh, seed + repeat)
            found.setdefault(epsilon, []).append(one)
            print(
                f"{word}, epsilon {epsilon:g}: {time.perf_counter() - begun:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return found


def means(runs: Runs, of: Any) -> dict[float, float]:
    """The mean over the releases at each epsilon of one of their figures."""
    return {epsilon: float(np.mean([of(one) for one in some])) for epsilon, some in runs.items()}


def reciprocal(values: Mapping[float, float], degree: int) -> Float:
    """Coefficients of Eq. 13 or 15 by least squares, without constraints, as the paper has them."""
    epsilons = np.array(list(values))
    matrix = np.stack([epsilons**-power for power in range(degree, -1, -1)], axis=1)
    return np.asarray(np.linalg.lstsq(matrix, np.array(list(values.values())), rcond=None)[0])


def predicted(coefficients: Float, epsilon: float) -> float:
    """The value of a reciprocal curve."""
    degree = len(coefficients) - 1
    return float(sum(c * epsilon ** -(degree - k) for k, c in enumerate(coefficients)))


def nearest_to_table_1(runs: Runs) -> tuple[str, dict[str, float]]:
    """The set distance whose values are nearest to those printed, by the root mean square of log ratios."""
    missed = {}
    for name in DISTANCES:
        ours = means(runs, lambda one, name=name: one.distance(name))
        ratios = [np.log(ours[epsilon] / real) for epsilon, (_, real) in TABLE_1.items()]
        missed[name] = float(np.sqrt(np.mean(np.square(ratios))))
    known = {name: one for name, one in missed.items() if np.isfinite(one)}
    return min(known, key=lambda name: known[name]), missed


def table_1(runs: Runs) -> list[Part]:
    """Risk distances, printed and ours by three distances of sets."""
    ours = {name: means(runs, lambda one, name=name: one.distance(name)) for name in DISTANCES}
    named, missed = nearest_to_table_1(runs)
    curve = reciprocal({e: ours[named][e] for e in (0.02, 0.1, 1.0)}, 2)
    cells = [
        (f"{e:g}", *TABLE_1[e], *(ours[name][e] for name in DISTANCES), predicted(curve, e)) for e in TABLE_1
    ]
    heads = ("epsilon", "printed, predicted", "printed, real", *DISTANCES, f"{named}, predicted")
    falls = ", ".join(f"{ours[name][0.02] / ours[name][10.0]:.2f}-fold by {name}" for name in DISTANCES)
    said = (
        f"Nearest to the printed real distances is the {named} "
        f"(root mean square of log ratios: {', '.join(f'{n} {v:.2f}' for n, v in missed.items())}). From "
        f"epsilon 0.02 to 10 it falls {falls}; printed, 7.4-fold. Beyond 1,000 rows the assignment is of "
        "samples and an upper bound, beyond 2,000 the earth mover's distance is sliced and a lower one."
    )
    return ["### Table 1: Voronoi privacy, predicted and real", Table(heads, cells), said]


def interpolated() -> str:
    """What the printed predictions of Table 1 are."""
    through = reciprocal({e: float(TABLE_1[e][1]) for e in (0.02, 0.1, 1.0)}, 2)
    fitted = ", ".join(f"{predicted(through, e):.1f}" for e in TABLE_1)
    return (
        "The printed predictions are, rounded, Eq. 15 through the printed real values at 0.02, 0.1 and 1: "
        f"{fitted}. Three coefficients go through three points whatever they are, so that four epsilons are "
        "predicted. Of this curve the first coefficient is negative: at epsilon 0.01 it predicts "
        f"{predicted(through, 0.01):.1f}, a negative distance. {SHAPES}\n"
    )


def tables_2_3(runs: Runs) -> list[Part]:
    """Variance errors in percent, printed, recomputed from what is printed, and ours."""
    ours = means(runs, Found.error)
    curves = [
        reciprocal({e: values[e] for e in LEARNED_FROM}, degree)
        for values in (REAL, ours)
        for degree in (1, 2)
    ]
    best, _ = fits(runs, Found.error)
    rows = [
        (f"{e:g}", REAL[e], TABLE_2[e], predicted(curves[0], e), TABLE_3[e], predicted(curves[1], e),
         ours[e], predicted(curves[2], e), predicted(curves[3], e), float(best(np.array([e]))[0]))
        for e in REAL
    ]  # fmt: skip
    heads = ("epsilon", "printed: real", "Table 2", "recomputed", "Table 3", "recomputed",
             "ours: real", "Eq. 13", "Eq. 15", best.family)  # fmt: skip
    gap = max(abs(EQUATION_14 / e - REAL[e]) / REAL[e] for e in REAL)
    said = (
        "Recomputed: Eq. 13 and 15 by least squares through the printed real errors at 0.01, 0.5 and 10. "
        "Eq. 15 has three coefficients and so goes through these three: Table 3 agrees there by "
        "construction. The last column is the monotone, positive curve that `duetto epsilon` takes, learned "
        "from all epsilons. Eq. 14, 1 / (5 epsilon), misses the printed real errors by up to "
        f"{100 * gap:.0f} %."
    )
    return ["### Tables 2 and 3: variance error in percent", Table(heads, rows), said]


def fits(runs: Runs, of: Any) -> tuple[Any, Mapping[str, float]]:
    """The monotone curve that predicts best, and the errors of all families."""
    epsilons = np.array([e for e, some in runs.items() for _ in some])
    values = np.array([of(one) for some in runs.values() for one in some])
    return choose_curve(epsilons, values, "falling")


def _exponential(epsilons: Float, values: Float) -> float:
    """The root mean square that a + b e^(-c epsilon) misses by, over a grid of c."""
    columns = [np.stack([np.ones_like(epsilons), np.exp(-c * epsilons)], axis=1) for c in _DECAYS]
    return min(_missed(matrix, values) for matrix in columns)


def _missed(matrix: Float, values: Float) -> float:
    """The root mean square that least squares miss by."""
    fitted = matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]
    return float(np.sqrt(np.mean(np.square(fitted - values))))


def free(values: Mapping[float, float]) -> dict[str, float]:
    """The root mean square by which curves without constraints, as the paper's, miss the values."""
    epsilons, heights = (np.array(list(one), dtype=float) for one in (values, values.values()))
    powers = {
        "Eq. 15": (0, -1, -2),
        "Eq. 13": (0, -1),
        "polynomial of degree 1": (0, 1),
        "polynomial of degree 2": (0, 1, 2),
    }
    found = {
        name: _missed(np.stack([epsilons**one for one in some], axis=1), heights)
        for name, some in powers.items()
    }
    return found | {"exponential": _exponential(epsilons, heights)}


_DECAYS: Final = np.geomspace(0.01, 200, 200)


def curves(runs: Runs) -> list[Part]:
    """Figures 1 and 3 to 5: which curves fit, free and constrained."""
    named, _ = nearest_to_table_1(runs)
    printed = {"Table 1, printed": {e: float(real) for e, (_, real) in TABLE_1.items()},
               "Tables 2 and 3, printed": REAL}  # fmt: skip
    ours = {f"Figure 1, here: Voronoi, {named}": means(runs, lambda one: one.distance(named)),
            "Figure 4, here: variance error": means(runs, Found.error)}  # fmt: skip
    found = {title: free(values) for title, values in (printed | ours).items()}
    names = list(next(iter(found.values())))
    rows = [
        (title, *(one[name] for name in names), min(one, key=lambda name: one[name]))
        for title, one in found.items()
    ]
    kept = {f"Voronoi, {name}": (lambda one, name=name: one.distance(name)) for name in DISTANCES}
    kept |= {f"{moment} error": (lambda one, moment=moment: one.error(moment)) for moment in MOMENTS}
    constrained = []
    for title, of in kept.items():
        if all(np.isfinite(of(one)) for some in runs.values() for one in some):
            best, errors = fits(runs, of)
            constrained.append((title, *(errors[word] for word in WORDS), best.family))
    plot = Plot(
        "rod-curves", "Figures 1 and 4: risk distance and variance error by epsilon",
        [_curve(runs, lambda one: one.distance(named), printed["Table 1, printed"], "1: risk distance", "x"),
         _curve(runs, Found.error, REAL, "4: variance error in percent", "xy")],
        apart=True,
    )  # fmt: skip
    return [
        "### Figures 1, 3, 4 and 5: curves",
        plot,
        "Free curves, as the paper's: root mean square by which least squares miss the values.",
        Table(("values", *names, "best"), rows),
        Table(
            ("figure", *WORDS, "best"), constrained,
            "Monotone curves that are not negative, as `duetto epsilon` takes them: root of the mean "
            "squared error at epsilons left out in turn",
        ),
    ]  # fmt: skip


def _curve(
    runs: Runs, of: Callable[[Found], float], printed: Mapping[float, float], title: str, log: str
) -> Panel:
    values = means(runs, of)
    spread = [float(np.std([of(one) for one in some])) for some in runs.values()]
    grid = np.geomspace(min(values), max(values), 100).tolist()
    lines = []
    for degree in (1, 2):
        curve = reciprocal(values, degree)
        heights = [predicted(curve, one) for one in grid]
        # what is below zero cannot be drawn on a logarithmic axis
        shown = [None if "y" in log and one <= 0 else one for one in heights]
        lines.append(Series(f"Eq. {11 + 2 * degree}, free, by what is found", grid, shown, "line"))
    best, _ = fits(runs, of)
    lines.append(Series("monotone, positive", grid, best(np.array(grid)).tolist(), "line"))
    measured_ = Series("real", list(values), list(values.values()), error=spread)
    return Panel(title, "epsilon", "", [measured_, Series("real", list(printed), list(printed.values()),
                 "printed"), *lines], log)  # fmt: skip


def figure_2(runs: Runs) -> list[Part]:
    """Variance errors of each column in percent."""
    shown = {name: means(runs, lambda one, name=name: 100 * one.errors["variance"][name]) for name in COLUMNS}
    rows = []
    for epsilon in runs:
        by_column = [one[epsilon] for one in shown.values()]
        rows.append(
            (f"{epsilon:g}", *by_column, float(np.mean(by_column)), float(np.log10(np.mean(by_column))))
        )
    curves_ = [Series(name, list(one), list(one.values())) for name, one in shown.items()]
    plot = Plot(
        "rod-figure-2", "Figure 2", [Panel("", "epsilon", "variance error in percent", curves_, "xy")]
    )
    heads = ("epsilon", *COLUMNS, "average", "log10 of it")
    return ["### Figure 2: variance error in percent", plot, Table(heads, rows, "Figure 2 in numbers")]


RISKS: Final[Mapping[str, Callable[[Found], float]]] = {
    "Voronoi": lambda one: one.raw.nearest,
    "y-privacy, median": lambda one: one.scaled.median,
    "p-privacy": lambda one: one.p,
}


def accuracy(one: Found) -> float:
    """The mean over the models."""
    return float(np.mean(list(one.accuracy.values())))


def figures_6_8(runs: Runs) -> list[Part]:
    """Risk and accuracy at each epsilon."""
    learned = {name: means(runs, lambda one, name=name: one.accuracy[name]) for name in MODELS}
    risks = {name: means(runs, of) for name, of in RISKS.items()}
    rows = [
        (f"{e:g}", *(one[e] for one in risks.values()), *(one[e] for one in learned.values())) for e in runs
    ]
    panels = []
    for number, (name, risk) in enumerate(risks.items(), 6):
        order = sorted(runs, key=lambda e, risk=risk: risk[e])
        panels.append(
            Panel(f"{number}: {name}", name, "accuracy", [
                Series(model, [risk[e] for e in order], [one[e] for e in order])
                for model, one in learned.items()
            ])
        )  # fmt: skip
    plot = Plot("rod-figures-6-8", "Figures 6 to 8: accuracy by risk", panels)
    table = Table(("epsilon", *RISKS, *MODELS), rows, "Figures 6 to 8 in numbers")
    return ["### Figures 6 to 8: risk and accuracy", plot, table]


def statements(runs: Runs) -> list[Statement]:
    """What the paper says of shapes, looked for in what was measured."""
    many = len(next(iter(runs.values())))
    draws = f"{many} releases at each of {len(runs)} epsilons"
    every_one = [(epsilon, one) for epsilon, some in runs.items() for one in some]
    told = []
    for table, says, one, other, sign in (
        ("Table 1", "the risk distance falls with epsilon", None, RISKS["Voronoi"], -1),
        ("Figure 2", "the error of variance falls with epsilon", None, Found.error, -1),
        ("Figure 6", "accuracy falls as the Voronoi distance grows", RISKS["Voronoi"], accuracy, -1),
        ("Figure 7", "accuracy falls as y grows", RISKS["y-privacy, median"], accuracy, -1),
        ("Figure 8", "accuracy grows with p", RISKS["p-privacy"], accuracy, 1),
    ):
        left = [epsilon if one is None else one(found) for epsilon, found in every_one]
        rank = _rank(left, [other(found) for _, found in every_one])
        beyond = f"{says}: rank correlation of releases beyond {sign * RESOLVED:g}"
        told.append(
            Statement(
                table, beyond, f"{rank:.2f}", _beyond(sign * rank, len(left)), draws, "reading: the size"
            )
        )
    named, _ = nearest_to_table_1(runs)
    for table, says, printed, of, factor in (
        ("Table 1", f"the printed real distances come out by the nearest of three distances, {named}",
         {e: real for e, (_, real) in TABLE_1.items()}, lambda one: one.distance(named), 1.25),
        ("Tables 2, 3", "the printed real errors of variance come out", REAL, Found.error, 2.0),
    ):  # fmt: skip
        far = [
            float(np.sqrt(np.mean([np.log(of(runs[e][place]) / one) ** 2 for e, one in printed.items()])))
            for place in range(many)
        ]
        shown = ", ".join(f"{np.exp(one):.2f}" for one in far)
        rule = f"{says}, to a factor of {factor} (root mean square of logarithms)"
        by = margin([np.log(factor) - one for one in far])
        told.append(Statement(table, rule, shown, by, f"{many} releases", "reading: size and method"))
    for table, says, printed, of, best in (
        ("Figure 1", "Eq. 15 fits the risk best", {e: float(r) for e, (_, r) in TABLE_1.items()},
         lambda one: one.distance(named), ("Eq. 15",)),
        ("Section 3.3.2", "a reciprocal curve fits the error of variance best", REAL, Found.error,
         ("Eq. 15", "Eq. 13")),
    ):  # fmt: skip
        fitted = free(printed)
        told.append(
            Statement(
                table, f"{says}, free curves, printed values", _named(fitted), exactly(_by(fitted, best) > 0)
            )
        )
        each = [free({e: of(some[place]) for e, some in runs.items()}) for place in range(many)]
        told.append(
            Statement(
                table, f"{says}, free curves, values found here", "; ".join(map(_named, each)),
                margin([_by(one, best) for one in each]), f"{many} releases", "reading: size and method",
            )
        )  # fmt: skip
    return told


def _by(fitted: Mapping[str, float], best: Sequence[str]) -> float:
    """How much less the best of some curves misses by than all others."""
    return min(v for name, v in fitted.items() if name not in best) - min(fitted[name] for name in best)


def _named(fitted: Mapping[str, float]) -> str:
    first, second = sorted(fitted, key=lambda name: fitted[name])[:2]
    return f"{first} {fitted[first]:.3g}, then {second} {fitted[second]:.3g}"


def _rank(one: Sequence[float], other: Sequence[float]) -> float:
    """The rank correlation; 0 where one does not change."""
    constant = min(np.ptp(one), np.ptp(other)) == 0
    return 0.0 if constant else float(spearmanr(one, other).statistic)


def _beyond(rank: float, points: int) -> Margin:
    """By how much a rank correlation exceeds what is asked for, by Fisher's z (Bonett and Wright, 2000)."""
    z, far = np.arctanh(np.clip(rank, -0.9999, 0.9999)), 1.96 * np.sqrt((1 + rank**2 / 2) / (points - 3))
    return float(np.tanh(z - far) - RESOLVED), float(np.tanh(z + far) - RESOLVED)


def section(word: str, rows: int, repeats: int, seed: int) -> Section:
    """What the page has of it."""
    clock = Clock()
    runs = run(word, rows, repeats, seed)
    intro = (
        "`scripts/reproduce/rod` rebuilds tables 1 to 3 and figures 1 to 8 of Chen, Yu and Dargahi, "
        "*Evaluating the risk of disclosure and utility in a synthetic dataset* (2021); `--rows` and "
        "`--repeats` say how large, `--method` by which method, `--quick` takes 1,000 rows and 2 releases, "
        f"`--write docs` wrote this section. This run: {rows:,} rows x 5, `{word}`, releases at each "
        f"epsilon: {repeats}. {OPEN}"
    )
    parts: list[Part] = [
        intro, *table_1(runs), interpolated(), *tables_2_3(runs), *curves(runs), *figure_2(runs),
        *figures_6_8(runs),
    ]  # fmt: skip
    return Section("rod", "RoD", HEADING, parts, statements(runs), clock.told())


def main() -> int:
    """Print the section, and write it and its plots where that is asked for."""
    parser = argparse.ArgumentParser(prog="rod", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, help="5,000, 1,000 with --quick")
    parser.add_argument("--repeats", type=int, help="releases at each epsilon; 3, 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="few rows: a minute of the processor at most")
    known = sorted(word for word, one in METHODS.items() if "epsilon" in one().get_params())
    usual = PREFERRED if PREFERRED in METHODS else "dp-noise"
    parser.add_argument("--method", choices=known, default=usual, help=f"with an epsilon; {usual}")
    parser.add_argument("--seed", type=int, default=1, help="of the table and of measures, not of releases")
    parser.add_argument(
        "--write", type=Path, help="a folder for the section of reproduction.md, such as docs"
    )
    given = parser.parse_args()
    rows = given.rows or (1000 if given.quick else 5000)
    repeats = given.repeats or (2 if given.quick else 3)
    if rows < 100 or repeats < 1:
        parser.error("give at least 100 rows and one release")
    return finish(replace(section(given.method, rows, repeats, given.seed), quick=given.quick), given)


if __name__ == "__main__":
    sys.exit(main())
