"""Tables 4.5, 4.6 and 4.7 of the thesis on the Adult table, beside what it prints."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from chapter4_datasets import (
    SECOND,
    THIRD,
    K,
    Named,
    Reading,
    T,
    adult,
    attacked,
    generalized,
    noisy_age,
    released,
    without_small_classes,
)
from chapter4_printed import EPSILONS, RATES, TABLE_4_5, TABLE_4_6, TABLE_4_7, Grid

from anonymizer.errors import AnonymizerError
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables import files
from anonymizer.tables.table import Table
from anonymizer.utility.learning import holdout, learning_utility

DATA: Final = os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data")
CORNERS: Final = [(epsilon, rate) for epsilon in (1.0, 0.5) for rate in (0.9, 0.5)]
CHOICES: Final = f"""Choices that the text leaves open
- Quasi-identifiers are age, years of education, workclass and marital status, as in Table 4.4 (section 4.3.1
  names hours-per-week in place of education); the level 1 intervals of age begin at 28, 36 and 48, those of
  education at 9, 10, 11 and 13; `?` is a value of workclass and belongs to "other".
- T = {T}, and a candidate is of high confidence while the cumulative probability of the noise that it needs
  is at most T (the formula of section 4.2.2 has it the other way round). A record is confident if all its
  columns are; if instead the product of the probabilities were compared with T, n_q of data set 2 would be
  tens to hundreds.
- k = {K} in T' = k alpha. It does not count where noise is: all rows of a group are candidates of low
  confidence then, so that no record is an outlier.
- n_q is the least number of candidates of a found record in a run; the average is the mean of n_q over runs.
- Noise on numbers is Laplace of scale 1 / epsilon (unit: one year). Categories change with probability
  proportional to e^(-epsilon d / 2), d edges of the tree away from its own value; the text takes distances
  from the column's median, which is one of the other readings, and leaves the minus out."""


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="thesis_chapter4",
        description="Measures privacy (n_q) and utility of the thesis's data sets on the 32,561 Adult "
        "records and prints Tables 4.5, 4.6 and 4.7 with its figures beside ours.",
        epilog="About half an hour on two cores as it stands, two minutes with --quick.",
    )
    parser.add_argument("--data", type=Path, default=Path(DATA), help=f"folder of adult_train.csv; {DATA}")
    parser.add_argument("--runs", type=int, help="runs of each; 10 as the thesis, 2 with --quick")
    parser.add_argument("--rows", type=int, help="training rows of the models; 5,000, 2,000 with --quick")
    parser.add_argument("--quick", action="store_true", help="corners of the tables, few runs")
    parser.add_argument("--json", type=Path, help="write the figures of all runs here as well")
    given = parser.parse_args()
    given.runs = given.runs or (2 if given.quick else 10)
    given.rows = given.rows or (2000 if given.quick else 5000)
    return given


def tell(text: str) -> None:
    """Say what is going on, where it does not mix with the tables."""
    print(text, file=sys.stderr, flush=True)


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard deviation."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ({deviation:.{digits}f})"


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    lines = [" | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, *rows)]
    rule = "|".join("-" * (width + 2) for width in widths)
    print(f"\n{title}\n", f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:]), sep="\n")
    sys.stdout.flush()


Found = dict[tuple[float, float], list[float]]


def measured(table: Table, reading: Reading, cells: Sequence[tuple[float, float]], runs: int) -> Found:
    """n_q of each run by epsilon and rate."""
    tell(f"{reading.name}: {len(cells)} cells, {runs} runs each")
    return {
        (epsilon, rate): [
            attacked(table, reading.steps(epsilon, seed), rate, seed).n_q for seed in range(runs)
        ]
        for epsilon, rate in cells
    }


def risk(
    table: Table, given: argparse.Namespace, title: str, readings: Sequence[Reading], printed: Grid
) -> dict[str, Any]:
    """Measure and print one table of n_q, and the corners of it in the other readings."""
    cells = CORNERS if given.quick else list(printed)
    first, *others = readings
    found = measured(table, first, cells, given.runs)
    epsilons = [one for one in EPSILONS if any(one == epsilon for epsilon, _ in cells)]
    rows = [
        [f"{rate}", *(f"{printed[one, rate]} / {spread(found[one, rate])}" for one in epsilons)]
        for rate in RATES
        if (epsilons[0], rate) in found
    ]
    head = ["alpha", *(f"epsilon {one}" for one in epsilons)]
    print_table(f"{title}: printed / mean (sd) of {given.runs} runs; reading: {first.words}.", head, rows)
    corners = {first.name: {cell: found[cell] for cell in CORNERS}}
    for other in others:
        corners[other.name] = measured(table, other, CORNERS, given.runs)
    head = ["reading", *(f"epsilon {epsilon}, alpha {rate}" for epsilon, rate in CORNERS)]
    lines = [["printed", *(str(printed[cell]) for cell in CORNERS)]]
    lines += [[name, *(spread(one[cell]) for cell in CORNERS)] for name, one in corners.items()]
    print_table("The same in other readings", head, lines)
    for other in others:
        print(f"{other.name}: {other.words}.")
    named = {**corners, "table": found}
    return {name: {f"{e}, {a}": values for (e, a), values in one.items()} for name, one in named.items()}


Build = Callable[[int], tuple[Named, float]]


def utility(table: Table, given: argparse.Namespace) -> dict[str, Any]:
    """Measure and print Table 4.7."""
    second, third = SECOND[0].steps, THIRD[0].steps
    built: dict[str, Build] = {
        "1": lambda _: (generalized(), 1.0),
        "2 (0.5, 0.5)": lambda seed: (second(0.5, seed), 0.5),
        "5": lambda _: (without_small_classes(), 1.0),
        "3 (0.5, 0.9)": lambda seed: (third(0.5, seed), 0.9),
        "3 (1.0, 0.5)": lambda seed: (third(1.0, seed), 0.5),
        "4": lambda _: (generalized(age=2), 1.0),
        "3 (0.5, 0.5)": lambda seed: (third(0.5, seed), 0.5),
        "noisy age, 1 (0.15, 0.9)": lambda seed: (noisy_age(0.15, seed), 0.9),
    }
    found: dict[str, dict[str, list[float]]] = {}
    for name, build in built.items():
        tell(f"utility of data set {name}")
        one = found[name] = {"n_q": [], "utility": [], "F": []}
        for seed in range(given.runs):
            steps, rate = build(seed)
            release, pipeline = released(table, steps, rate, seed)
            one["n_q"].append(simulate_attack(table, release, pipeline, rate=rate, k=K).n_q)
            training, test = holdout(table, 0.1, seed)
            release, pipeline = released(training, steps, rate, seed)
            score = learning_utility(
                training,
                release,
                test,
                target="income",
                recoding=pipeline,
                rows=given.rows,
                random_state=seed,
            )
            one["utility"].append(score.ratio)
            one["F"].append(score.release)
    print_table(
        f"Table 4.7: SVM with RBF kernel, 10 % test rows, {given.runs} runs, mean (sd)",
        ["data set (epsilon, alpha)", "n_q printed", "Uti printed", "n_q", "Uti", "F of the release"],
        [
            [name, *beside, spread(one["n_q"]), spread(one["utility"], 3), spread(one["F"], 3)]
            for name, one in found.items()
            for beside in [[str(figure) for figure in TABLE_4_7.get(name, ("-", "-"))]]
        ],
    )
    print(
        f"Features are the four quasi-identifiers; models learn {given.rows:,} training rows drawn at\n"
        "random. F is that of income > 50K, Uti is F of the release by F of the original (Definition 4.6).\n"
        "Test rows are generalized as the release is, so that its labels are known; they get no noise.\n"
        "The last line is another combination: noise on age, data set 1, sampling."
    )
    return found


def simple(table: Table, given: argparse.Namespace) -> dict[str, Any]:
    """Measure and print what single methods do."""
    single = {"1": generalized(), "4": generalized(age=2), "5": without_small_classes()}
    found = {name: attacked(table, steps, 1.0, 0).n_q for name, steps in single.items()}
    sampled = {
        rate: [attacked(table, generalized(), rate, seed).n_q for seed in range(given.runs)] for rate in RATES
    }
    print_table(
        f"Data sets without noise, {given.runs} runs; the thesis has 4, 22 and 10 for 1, 4 and 5",
        [*(f"data set {name}" for name in found), *(f"1, alpha {rate}" for rate in sampled)],
        [[*(f"{n_q:g}" for n_q in found.values()), *map(spread, sampled.values())]],
    )
    return {"alone": found, "sampled": sampled}


def main() -> int:
    """Measure all and print."""
    given = parse()
    try:
        table = adult(files.read(given.data / "adult_train.csv"))
        print(f"Adult, {len(table):,} records\n\n{CHOICES}")
        figures = {
            "single": simple(table, given),
            "table_4_5": risk(table, given, "Table 4.5, n_q of data set 2", SECOND, TABLE_4_5),
            "table_4_6": risk(table, given, "Table 4.6, n_q of data set 3", THIRD, TABLE_4_6),
            "table_4_7": utility(table, given),
        }
        if given.json:
            files.write_text(json.dumps(figures, indent=1) + "\n", given.json)
    except AnonymizerError as error:
        tell(f"thesis_chapter4: {error}")
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
