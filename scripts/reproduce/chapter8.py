"""Tables 8.1 and 8.2 and Figures 8.4 and 8.5 of the thesis, as `scripts/bench/thesis_tables` measured them.

It measures nothing: it reads the tables of docs/benchmarks.md. Reference: thesis, chapter 8.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from page import Panel, Part, Plot, Section, Series, Statement, exactly, finish

HEADING: Final = "Secure comparison"
MEASURED: Final = Path(__file__).parents[2] / "docs" / "benchmarks.md"
NOTES: Final = """\
`scripts/bench/thesis_tables` measures Tables 8.1 to 8.3 and Figures 8.4 and 8.5 of the thesis's chapter 8;
`scripts/reproduce/thesis_chapter8 --write docs` made this section of the tables in
[Benchmarks](benchmarks.md#the-thesiss-tables), which has all figures, Table 8.3, and what was measured how
(348 s on 2 cores, November 2026). The thesis prints Figures 8.4 and 8.5 without numbers but those of Table
8.1. Times are of another machine than the thesis's, bytes and rounds are exact."""
BITS: Final = (5, 10, 25, 50, 100)
Rows = dict[str, list[float]]


def table(text: str, title: str) -> Rows:
    """The rows of a table of the page of benchmarks, by their first cell."""
    lines = text[text.index(f"\n{title}") :].split("\n\n")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: [float(one.replace(",", "")) for one in rest] for first, *rest in cells}


def section(text: str) -> Section:
    """What the page has of it, from the page of benchmarks."""
    first, steps = table(text, "Table 8.1"), table(text, "Table 8.2")
    ms, kb = "ours, 1024-bit key: ms", "ours, 1024-bit key: KB of messages"
    time, size = first["thesis, 1024-bit key: ms"], first["thesis, 1024-bit key: KB"]
    others = {
        number: {
            name.removesuffix(", 1024-bit key"): row
            for name, row in table(text, f"Figure {number}").items()
            if name.endswith(", 1024-bit key") and not name.startswith("thesis")
        }
        for number in ("8.4", "8.5")
    }
    panels = [
        Panel(f"Figure {number}", "bits", up, [
            *(Series(name, BITS, row) for name, row in others[number].items()),
            Series("ours", BITS, printed, "printed"),
        ], "xy")
        for number, up, printed in (("8.4", "ms", time), ("8.5", "KB", size))
    ]  # fmt: skip
    inside = "Step 2 (type 3 inside)"
    panels.append(
        Panel("Table 8.2: type 3 inside step 2", "bits", "ms", [
            Series("ours", BITS, steps[f"{inside}: ours, 1024"]),
            Series("ours", BITS, steps[f"{inside}: thesis"], "printed"),
        ], "xy")
    )  # fmt: skip
    slow = "ours: exponents as long as N, two cores"
    told = [
        _below("Table 8.1", "no more bytes than printed, in every column", kb, first[kb], size, "ours"),
        _below("Table 8.1", "no more time than printed, in every column", ms, first[ms], time, slow),
        _below(
            "Table 8.1", "no more time than printed, in every column, by [VBdHE15] on DGK's cipher", "ms",
            others["8.4"]["[VBdHE15], DGK's cipher"], time, "ours",
        ),
        *(
            _below("Table 8.2", f"{step}: no more time than printed", "ms", steps[f"{step}: ours, 1024"],
                   steps[f"{step}: thesis"], whose)
            for step, whose in (
                ("Step 1 (shared to encrypted)", "paper: erratum 38"), (inside, slow),
                ("Step 3 (Conversion 4)", "paper: erratum 38"),
            )
        ),
        *(
            _below("Figure 8.4", f"less time than {name}, in every column", "ms", first[ms],
                   others["8.4"][name], "ours")
            for name in ("[BO07]", "[GHJR15]", "[VBdHE15]")
        ),
        *(
            _below("Figure 8.5", f"less traffic than {name}, in every column", "KB", first[kb],
                   others["8.5"][name], "ours")
            for name in ("[BO07]", "[GHJR15]", "[VBdHE15]")
        ),
    ]  # fmt: skip
    parts: list[Part] = [
        NOTES, Plot("chapter8-comparison", "Figures 8.4 and 8.5, Table 8.2", panels, apart=True),
    ]  # fmt: skip
    return Section("chapter8", "Thesis, chapter 8", HEADING, parts, told)


def _below(
    where: str, says: str, unit: str, ours: Sequence[float], printed: Sequence[float], whose: str
) -> Statement:
    pairs = list(zip(BITS, ours, printed, strict=True))
    shown = ", ".join(f"{bits} bit: {one:g} and {other:g}" for bits, one, other in pairs)
    holds = all(one <= other for _, one, other in pairs)
    return Statement(where, says, f"{unit.rpartition(': ')[2]}: {shown}", exactly(holds), "", whose)


def main() -> int:
    """Print the section, and write it where that is asked for."""
    parser = argparse.ArgumentParser(prog="thesis_chapter8", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="the same: nothing is measured")
    parser.add_argument("--write", type=Path, help="a folder for the section of reproduction.md, as docs")
    given = parser.parse_args()
    return finish(section(MEASURED.read_text("utf-8")), given)


if __name__ == "__main__":
    sys.exit(main())
