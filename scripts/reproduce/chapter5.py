"""Tables 5.2 to 5.14 of the thesis on real logs: users x items over time, de-identified by factorization.

Reference: thesis, chapter 5; errata 16 and 17.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from chapter5_experiments import SHOP, WEB, Source, experiment
from chapter5_printed import FACTOR_NOISES, KS, NOISES, PRINTED, RANKS, TITLES, Figures

DATA: Final = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
HEADING: Final = "## User x item data over time"
NOTES: Final = """\
`scripts/reproduce/thesis_chapter5` rebuilds Tables 5.2 to 5.14 of the thesis's chapter 5 in shape: its web
access logs are not public (erratum 17). It takes two real logs from `../shared/data` or `--data`, and names
the file that is missing; `--write docs` wrote this section, `--quick` takes one draw and few settings.

- retail: `shop_log.csv.gz`, households by categories of products, weeks 1 to 26 and 27 to 52. The file is a
  published sample of about one purchase in twenty, so that the windows of a household are far less alike than
  all its purchases would be.
- web: `msweb_visits.csv`, users by areas of a web site. It has no times: every second visit of a user is in
  the second window, which is one week cut in two. An area is listed once for a user, so that both windows of
  a user have no area in common: nobody can be linked, and what the thesis says of linkage is not looked at.

200 users are drawn of the 500 with the most events, again and again; figures are means over {draws} draws.
Cells are binary, items have 5 users in each window among all. SGD: gamma = 0.05, lambda = 0.01, 100
iterations. k-anonymization is k-member clustering, as in the thesis, and an interval of a cluster counts by
its middle. Laplace noise has scale phi (the printed Lap(0, 2 phi^2) is taken for its variance). Risks are
those of the printed rule, the part of users in the right cluster times 1 / k. Usefulness: logistic
regression of at most 50 items that 15 to 85 % of the 200 have, tested on all other users; the ratio of mean
F-measures, which is what the tables print (the text says the mean of ratios). It is above 1 where a release
makes an item commoner: intervals of clusters count by their middles, and a model that says yes more often
finds more.

Each cell: printed / retail / web. Windows 1, 2, 3 of Table 5.2 are 2, 4, 8 hours as printed; {windows}.
"""


def mean(found: Sequence[Figures]) -> Figures:
    """The mean of each figure."""
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def tables(sources: Mapping[str, Figures]) -> str:
    """All tables in Markdown."""
    parts = []
    for table, (title, name) in TITLES.items():
        rows = list(dict.fromkeys(row for each, row, _ in PRINTED if each == table))
        columns = list(dict.fromkeys(column for each, _, column in PRINTED if each == table))
        lines = [f"| {name} | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
        for row in rows:
            cells = []
            for column in columns:
                key = (table, row, column)
                ours = (f"{one[key]:.3f}" if key in one else "-" for one in sources.values())
                cells.append(" / ".join([f"{PRINTED[key]:g}", *ours]))
            lines.append(f"| {row} | {' | '.join(cells)} |")
        parts += [f"**{title}**", "", *lines, ""]
    return "\n".join(parts)


def statements(found: Figures) -> list[tuple[str, str, bool]]:
    """What the thesis says of the tables, what is found, and whether it holds, by the settings that ran."""

    def row(table: str, rows: Sequence[float], column: str) -> list[float]:
        keys = [(table, f"{one:g}", column) for one in rows]
        return [found[key] for key in keys if key in found]

    def falls(values: Sequence[float]) -> bool:
        return all(later <= before + SLACK for before, later in pairwise(values))

    def told(values: Sequence[float]) -> str:
        return ", ".join(f"{one:.2f}" for one in values)

    ranks = [rank for rank in RANKS if ("5.3", f"{rank}", "linkage") in found]
    columns = [f"r = {rank}" for rank in ranks]
    longer = row("5.2", (1, 2, 3), "linkage")
    alone, apart = (row("5.3", ranks, column) for column in ("re-identification", "linkage"))
    exact = row("5.4", KS, "re-identification")
    noise = row("5.5", NOISES, "re-identification")
    link = row("5.5", NOISES, "linkage")
    most = [max(found[key] * float(key[1]) for key in found if key[0] == "5.6")]
    by_noise = [row("5.8", FACTOR_NOISES, column) for column in columns]
    by_rank = [[found["5.8", f"{one:g}", c] for c in columns] for one in FACTOR_NOISES if
               ("5.8", f"{one:g}", columns[0]) in found]  # fmt: skip
    ks = [k for k in KS if ("5.4", f"{k}", "linkage") in found]
    wide = [found["5.4", f"{ks[0]}", "linkage"], longer[-1]]
    most_noise = f"{NOISES[-1]:g}"
    limit, use = found["5.5", most_noise, "re-identification"], found["5.11", most_noise, "Uti"]
    better = [
        found[table, f"{rank}", "Uti"]
        for table, noise_ in (("5.13", "0.1"), ("5.14", "0.15"))
        for rank in ranks
        if (table, f"{rank}", "Uti") in found and found["5.8", noise_, f"r = {rank}"] <= limit + SLACK
    ]
    least = max(better, default=0.0)
    return [
        ("5.2: a longer observation links more users", told(longer), falls(longer[::-1])),
        ("5.3: factorization alone hardly lowers re-identification", told(alone), min(alone) >= 0.9),
        ("5.3: a lower rank links fewer users, and fewer than without", told(apart),
         falls(apart[::-1]) and apart[-1] < longer[-1]),
        ("5.4: k-anonymization is found with about 1 / k, never more", told(exact),
         all(0.8 / k <= one <= 1 / k + 1e-9 for k, one in zip(ks, exact, strict=True))),
        ("5.4: k = 2 lowers linkage by more than half", told(wide), wide[0] < wide[1] / 2),
        ("5.5: noise lowers re-identification", told(noise), falls(noise)),
        ("5.5: small noise lowers linkage by more than half", told([link[0], longer[-1]]),
         link[0] < longer[-1] / 2),
        ("5.6: with factorization the risk times k is 1 at most", told(most), most[0] <= 1 + 1e-9),
        ("5.8: more noise on factors, less risk, at every rank", told([one[-1] for one in by_noise]),
         all(map(falls, by_noise))),
        ("5.8: a lower rank, less risk, at every noise", told([one[0] for one in by_rank]),
         all(falls(one[::-1]) for one in by_rank)),
        (f"5.8, 5.11, 5.13, 5.14: some noise on factors has no more risk than phi = {most_noise} on cells, "
         "and is more useful", f"{least:.2f}, {use:.2f}" if better else f"none has, {use:.2f}", least > use),
    ]  # fmt: skip


SLACK: Final = 0.02
"""By so much a figure of a falling row may lie above the one before: they are means of few draws."""


def section(sources: Sequence[Source], figures: Mapping[str, Figures], draws: int) -> str:
    """The whole text."""
    windows = "; ".join(f"{one.name}: {', '.join(one.windows)}" for one in sources)
    parts = [HEADING, "", NOTES.format(draws=draws, windows=windows), tables(figures)]
    parts += [
        "### What the thesis says of them",
        "",
        "| log | statement | here | holds |",
        "| --- " * 4 + "|",
    ]
    for name, found in figures.items():
        parts += [
            f"| {name} | {says} | {here} | {'yes' if holds else '**no**'} |"
            for says, here, holds in statements(found)
            if name != "web" or "link" not in says
        ]
    return "\n".join(parts).rstrip() + "\n"


def written(folder: Path, text: str) -> None:
    """Put the section into the page of reproductions, in place of an older one."""
    page = folder / "reproduction.md"
    before = page.read_text(encoding="utf-8") if page.exists() else "# Reproduction\n"
    kept = re.sub(
        rf"\n*^{re.escape(HEADING)}\n.*?(?=^## |\Z)", "\n\n", before, flags=re.DOTALL | re.MULTILINE
    )
    page.write_text(f"{kept.rstrip()}\n\n{text}", encoding="utf-8")


def run(source: Source, seed: int, quick: bool) -> Figures:
    """One draw of users."""
    if quick:
        return experiment(
            source, seed, ks=(2, 10), ranks=(10, 40), noises=(0.3, 1.5), factor_noises=(0.1, 0.2)
        )
    return experiment(source, seed)


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="thesis_chapter5", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of {SHOP} and {WEB}; {DATA}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=3, help="of 200 users; 3")
    parser.add_argument("--jobs", type=int, default=2, help="processes; 2")
    parser.add_argument("--quick", action="store_true", help="one draw, few settings: a minute")
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    return parser.parse_args()


def main() -> int:
    """Print the section, and write it where that is asked for."""
    given = parse()
    sources = []
    for name, read in ((SHOP, Source.shop), (WEB, Source.web)):
        path = given.data / name
        if not path.exists():
            print(f"{path} is missing; name its folder with --data.", file=sys.stderr)
            return 66
        sources.append(read(path))
    draws = 1 if given.quick else given.draws
    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            one.name: [pool.submit(run, one, given.seed + draw, given.quick) for draw in range(draws)]
            for one in sources
        }
        figures = {name: mean([each.result() for each in results]) for name, results in waiting.items()}
    text = section(sources, figures, draws)
    print(text)
    if given.write is not None:
        written(given.write, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
