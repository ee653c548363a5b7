"""Tables 5.2 to 5.14 of the thesis on real logs: users x items over time, de-identified by factorization.

Reference: thesis, chapter 5; errata 16 and 17.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from chapter5_experiments import HOSPITAL, ITERATIONS, SHOP, VARIANTS, Source, experiment
from chapter5_printed import FACTOR_NOISES, NOISES, PRINTED, RANKS, TITLES, Figures
from chapter5_statements import exchanges, mean, statements
from page import DATA, Clock, Panel, Part, Plot, Section, Series, Table, finish, missing

HEADING: Final = "User x item data over time"
NOTES: Final = """\
`scripts/reproduce/thesis_chapter5` rebuilds Tables 5.2 to 5.14 and Figures 5.2, 5.4 and 5.5 of the thesis's
chapter 5 in shape: its web access logs are not public (erratum 17). It takes two real logs from
`../shared/data` or `--data`, and names the file that is missing; `--write docs` wrote this section and its
plots, `--quick` takes one draw and few settings.

- retail: `{shop}`, 2,377 households by categories of products, in weeks 1 to 26 and 27 to 52. The file is a
  published sample of about one purchase in twenty, so that the windows of a household are far less alike than
  all its purchases would be.
- hospital: `{hospital}`, patients by diagnoses and drugs, in their stays 1 to 3 and 4 to 6 in the
  order of the numbers of encounters. That this is the order in time nobody states; by it the age of 99.9 % of
  the patients never falls.

200 users are drawn of the 500 with the most events, again and again; figures are {draws}.
Cells are binary, items have 5 users in each window among all. SGD: gamma = 0.05, lambda = 0.01, 100
iterations. k-anonymization is k-member clustering, as in the thesis, and an interval of a cluster counts by
its middle. Laplace noise has scale phi (the printed Lap(0, 2 phi^2) is taken for its variance). Risks are
those of the printed rule, the part of users in the right cluster times 1 / k. Usefulness: logistic
regression of at most 50 items that 15 to 85 % of the 200 have, tested on all other users; the ratio of mean
F-measures, which is what the tables print (the text says the mean of ratios). That it is above 1 is by our
set-up and these logs, and not by the method: users that are tested are less active than those that models
learn from (of the 500 most active), and of a cluster's equal cells all count as 1 or none, so that an item of
a sparse log becomes commoner, and a model that says yes more often finds more (more recall, less precision);
and a low rank smooths what is chance in 200 rows (more precision). The thesis has a dense log. The original's
F-measure is {useful}; printed, 0.763.

Each cell: printed / {logs}. Windows 1, 2, 3 of Table 5.2 are 2, 4, 8 hours as printed; {windows}.
"""
OPEN: Final = """\
The thesis prints Algorithm 3 without the second optimisation of V that its text has (erratum 16), and leaves
open whether NMF does as well. `V once more` is the least of Eq. 2.10 for the de-identified users. MDAV takes
means of clusters where k-member takes the middles of intervals. The scale of NMF's factors is as it comes out
of starting values that are alike for users and items; noise of one phi is more or less for other scales.
"""
PICTURES: Final = {
    "error": ("Figure 5.2: error by iterations of SGD", "iterations", "sum of absolute errors"),
    "re-identification": ("Figure 5.4: re-identification by noise on factors", "phi", "risk"),
    "linkage": ("Figure 5.5: linkage by noise on factors", "phi", "risk"),
    "usefulness": ("Usefulness by risk", "risk of re-identification", "usefulness"),
}
"""Of each picture its title and the names of its axes."""


def tables(logs: Mapping[str, Figures]) -> list[Table]:
    """All printed tables."""
    parts = []
    for table, (title, name) in TITLES.items():
        rows = list(dict.fromkeys(row for each, row, _ in PRINTED if each == table))
        columns = list(dict.fromkeys(column for each, _, column in PRINTED if each == table))
        lines = []
        for row in rows:
            cells = []
            for column in columns:
                key = (table, row, column)
                ours = (f"{one[key]:.3f}" if key in one else "-" for one in logs.values())
                cells.append(" / ".join([f"{PRINTED[key]:g}", *ours]))
            lines.append([row, *cells])
        parts.append(Table((name, *columns), lines, title))
    return parts


def compared(logs: Mapping[str, Figures]) -> Plot:
    """Tables 5.2, 5.4, 5.5, 5.10 and 5.11, printed and here."""
    panels = []
    for table, across, column in (
        ("5.2", "window", "linkage"), ("5.4", "k", "re-identification"), ("5.4", "k", "linkage"),
        ("5.5", "phi", "re-identification"), ("5.5", "phi", "linkage"), ("5.10", "k", "Uti"),
        ("5.11", "phi", "Uti"),
    ):  # fmt: skip
        rows = [row for each, row, name in PRINTED if (each, name) == (table, column)]
        places = [float(row) for row in rows]
        shown = [
            Series(log, places, [one.get((table, row, column)) for row in rows]) for log, one in logs.items()
        ]
        printed = Series("web logs", places, [PRINTED[table, row, column] for row in rows], "printed")
        panels.append(Panel(f"Table {table}: {column}", across, "", [*shown, printed]))
    return Plot("chapter5-tables", "Tables 5.2 to 5.11", panels, apart=True)


def variants(logs: Mapping[str, Figures]) -> Table:
    """What the thesis leaves open."""
    names = ("re-identification", "linkage", "Uti")
    rows = [
        [row, *(" / ".join(f"{one['variants', row, name]:.3f}" for one in logs.values()) for name in names)]
        for row in dict.fromkeys(
            row for found in logs.values() for table, row, _ in found if table == "variants"
        )
    ]
    return Table(("setting", *names), rows)


def plots(logs: Mapping[str, Figures]) -> dict[str, Plot]:
    """Figures 5.2, 5.4 and 5.5, and usefulness by risk, a panel for each log."""
    made = {}
    for name, (title, across, up) in PICTURES.items():
        panels = []
        for log, found in logs.items():
            curves = [one for rank in RANKS for one in _curves(name, found, rank)]
            if name == "usefulness":
                points = [
                    (found["5.5", f"{one:g}", "re-identification"], found["5.11", f"{one:g}", "Uti"])
                    for one in NOISES
                    if ("5.11", f"{one:g}", "Uti") in found
                ]
                curves.append(Series("noise on cells", *map(list, zip(*points, strict=True))))
            panels.append(Panel(log, across, up, curves))
        if any(panel.series for panel in panels):
            made[name] = Plot(f"chapter5-{name}", title, panels, apart=name == "error")
    return made


def _curves(name: str, found: Figures, rank: int) -> list[Series]:
    """The line of one rank, and the printed one where there is any."""
    column = f"r = {rank}"
    if name == "error":
        rows = [(one, found.get(("5.2 error", f"{one}", column))) for one in ITERATIONS]
    elif name == "usefulness":
        keys = [(f"{one:g}", column) for one in FACTOR_NOISES]
        rows = [(found["5.8", *key], found["5.8 Uti", *key]) for key in keys if ("5.8 Uti", *key) in found]
    else:
        table = "5.8" if name == "re-identification" else "5.9"
        rows = [(one, found.get((table, f"{one:g}", column))) for one in FACTOR_NOISES]
    rows = [row for row in rows if row[1] is not None]
    curves = [Series(column, *map(list, zip(*rows, strict=True)))] if rows else []
    if name not in ("error", "usefulness"):
        printed = [PRINTED[table, f"{one:g}", column] for one in FACTOR_NOISES]
        curves.append(Series(column, list(FACTOR_NOISES), printed, "printed"))
    return curves


def section(sources: Sequence[Source], drawn: Mapping[str, Sequence[Figures]], run: str) -> Section:
    """What the page has of it."""
    logs = {name: mean(some) for name, some in drawn.items()}
    draws = len(next(iter(drawn.values())))
    notes = NOTES.format(
        shop=SHOP,
        hospital=HOSPITAL,
        draws="of one draw" if draws == 1 else f"means over {draws} draws",
        useful=", ".join(f"{found['F', 'original', 'F']:.2f} ({name})" for name, found in logs.items()),
        logs=" / ".join(logs),
        windows="; ".join(f"{one.name}: {', '.join(one.windows)}" for one in sources),
    )
    names = ("log", "on cells", "risk", "usefulness", "on factors", "risk", "usefulness")
    rows = [(log, *row) for log, found in logs.items() for row in exchanges(found)]
    parts: list[Part] = [notes, compared(logs), *tables(logs)]
    for name, plot in plots(logs).items():
        parts += [f"### {PICTURES[name][0]}", plot]
    if rows:
        parts += [
            "Of each noise on cells the noise on factors that is most useful with no more re-identification:",
            Table(names, rows),
        ]
    parts += ["### What the thesis leaves open", OPEN, variants(logs)]
    found = [
        replace(one, says=f"{log}: {one.says}") for log, some in drawn.items() for one in statements(some)
    ]
    return Section("chapter5", "Thesis, chapter 5", HEADING, parts, found, run)


def parts(quick: bool) -> list[dict[str, Sequence[object]]]:
    """The settings of one draw, in parts that take about as long: those on cells, and those of each rank."""
    if quick:
        few = {"ks": (2, 10), "factor_noises": (0.1, 0.2)}
        ranks, cells = (10, 40), {"ranks": (), "noises": (0.3, 1.5), "variants": tuple(VARIANTS)}
        return [{**few, **cells}, *({**few, "ranks": (rank,), "noises": ()} for rank in ranks)]
    cells = {"ranks": (), "variants": tuple(VARIANTS)}
    return [cells, *({"ranks": (rank,), "noises": ()} for rank in RANKS)]


def run(source: Source, seed: int, part: Mapping[str, Sequence[object]]) -> Figures:
    """A part of one draw of users."""
    found = experiment(source, seed, **part)
    told = ", ".join(f"{name} {len(values)}" for name, values in part.items())
    print(f"{source.name}, seed {seed}, {told}: {len(found)} figures", file=sys.stderr, flush=True)
    return found


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="thesis_chapter5", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of {SHOP} and {HOSPITAL}; {DATA}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--draws",
        type=int,
        default=3,
        help="of 200 users; 3. A draw takes about six minutes of the processor",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes; 2")
    parser.add_argument("--quick", action="store_true", help="one draw, few settings: two minutes")
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    return parser.parse_args()


def main() -> int:
    """Print the section, and write it where that is asked for."""
    given, clock = parse(), Clock()
    gone = missing(given.data, SHOP, HOSPITAL)
    if gone:
        print(gone, file=sys.stderr)
        return 66
    sources = [Source.shop(given.data / SHOP), Source.hospital(given.data / HOSPITAL)]
    draws = 1 if given.quick else given.draws
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = [
            (one.name, draw, pool.submit(run, one, given.seed + draw, part))
            for one in sources
            for draw in range(draws)
            for part in parts(given.quick)
        ]
        found: dict[str, list[Figures]] = {one.name: [{} for _ in range(draws)] for one in sources}
        for name, draw, result in waiting:
            found[name][draw] |= result.result()
    return finish(replace(section(sources, found, clock.told()), quick=given.quick), given)


if __name__ == "__main__":
    sys.exit(main())
