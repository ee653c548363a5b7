"""The page of reproductions: what each script found is JSON, and page and plots are made of that alone.

`python scripts/reproduce/page.py docs` makes them anew.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from typing import Any, Final, Protocol

from left_out import LEFT_OUT
from matplotlib import rcParams
from matplotlib.figure import Figure
from scipy.stats import t as student

DATA: Final = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
"""The folder of the tables that the scripts read, unless `--data` names another."""

PLOTS: Final = "reproduction"
"""The folder of plots and of JSON, beside the page."""
ORDER: Final = (
    "splu",
    "splu_medical",
    "idp",
    "rod",
    "chapter4",
    "chapter5",
    "chapter6",
    "chapter7",
    "chapter8",
)
WHOSE: Final = ("paper", "data", "reading", "ours")
"""By whose fault something does not hold."""
LEVEL: Final = 0.95
OPEN: Final = "within noise"
"""The verdict where noise decides."""
INTRO: Final = f"""\
What the papers print and say, beside what is found here, made by `scripts/reproduce`. A statement **holds**
if all of the interval of {100 * LEVEL:g} % of the amount by which it holds (column "holds by") is above zero,
and does **not** if all of it is below; else it is {OPEN}, and no verdict is given. So a wrong "yes" or "no"
has a chance of about 2.5 %, as far as the draws that are named are independent and their means nearly
normal. What fails is by fault of the `paper` (see the [errata](errata.md)), of other `data` than the paper's,
of our `reading` of what it leaves open, or `ours`."""

Margin = tuple[float, float]
"""The interval of the amount by which a statement holds, below zero where it does not."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a paper says of a table or figure, and what is found here.

    Attributes:
        table: of which table or figure.
        says: what the paper says, with method and parameters.
        found: what is found here.
        margin: the interval of the amount by which it holds; two equal ends where nothing is drawn.
        draws: what the interval is over, such as `60 queries`; empty where nothing is drawn.
        whose: by whose fault it does not hold, where it may not: a word of `WHOSE`, and after a colon more.
    """

    table: str
    says: str
    found: str
    margin: Margin
    draws: str = ""
    whose: str = ""

    def __post_init__(self) -> None:
        if self.whose and self.whose.partition(":")[0] not in WHOSE:
            raise ValueError(f"{self.whose!r} begins with none of {', '.join(WHOSE)}.")

    @property
    def verdict(self) -> str:
        """`yes`, `no`, or that noise decides."""
        low, high = self.margin
        return "yes" if low >= 0 and (low > 0 or not self.draws) else "no" if high < 0 else OPEN

    def row(self) -> tuple[str, ...]:
        """The cells of a table of statements."""
        low, high = self.margin
        interval = f"{low:.2g} to {high:.2g}" if self.draws else "exact"
        fault = (self.whose or "not looked into") if self.verdict == "no" else ""
        bold = f"**{self.verdict}**" if self.verdict == "no" else self.verdict
        return (self.table, self.says, self.found, interval, self.draws, bold, fault)


def exactly(holds: bool) -> Margin:
    """Of what is computed and not drawn."""
    return (1.0, 1.0) if holds else (-1.0, -1.0)


def around(mean: float, error: float, *, parts: int = 1, freedom: float = float("inf")) -> Margin:
    """The interval about a mean with a standard error.

    Args:
        mean: of the amount by which a statement holds.
        error: its standard error.
        parts: of a statement that holds only if all do; all intervals cover together.
        freedom: degrees of freedom of the standard error.
    """
    far = float(student.ppf(1 - (1 - LEVEL) / 2 / parts, freedom)) * error
    return mean - far, mean + far


def margin(draws: Sequence[float], *, parts: int = 1) -> Margin:
    """The interval of the mean of independent draws; of one draw it has no end."""
    values = [float(one) for one in draws]
    mean = sum(values) / len(values)
    if len(values) < 2:
        return -float("inf"), float("inf")
    error = sqrt(sum((one - mean) ** 2 for one in values) / (len(values) - 1) / len(values))
    return around(mean, error, parts=parts, freedom=len(values) - 1)


def every(margins: Sequence[Margin]) -> Margin:
    """Of a statement that holds only if all of its parts do; without parts nothing can be judged."""
    if not margins:
        return -float("inf"), float("inf")
    return min(low for low, _ in margins), min(high for _, high in margins)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a section; with a title it is folded."""

    names: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""

    def markdown(self) -> str:
        """As the page shows it."""
        table = markdown(self.names, self.rows)
        return f"<details><summary>{self.title}</summary>\n\n{table}\n</details>" if self.title else table


@dataclass(frozen=True, slots=True)
class Series:
    """A curve.

    Attributes:
        label: for the legend; curves of one label have one colour, whatever their kind.
        x: numbers or words.
        y: as many numbers; None where there is none.
        kind: `found` here, `printed` by the paper, or `line` for what is computed and has no points.
        error: half the length of bars of errors, or that below and that above; none if empty.
    """

    label: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    kind: str = "found"
    error: Sequence[float] | Sequence[Sequence[float]] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """Axes of a plot; `log` has the letters of the axes that are logarithmic."""

    title: str
    across: str
    up: str
    series: Sequence[Series]
    log: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture of panels side by side, with one vertical axis unless `apart`; `name` is of its file."""

    name: str
    title: str
    panels: Sequence[Panel]
    columns: int = 4
    apart: bool = False

    def markdown(self) -> str:
        """The line that shows it."""
        return drawn(self.title, self.name)

    def figure(self) -> Figure:
        """All plots of the page look like this: found solid, printed dotted with hollow points."""
        columns = min(self.columns, len(self.panels))
        rows = -(-len(self.panels) // columns)
        size = (2.2 + 3.1 * columns + (1.6 if columns == 1 else 0), 0.5 + 2.9 * rows)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharey=not self.apart).flatten()
        labels = list(dict.fromkeys(one.label for panel in self.panels for one in panel.series))
        legend: dict[str, Any] = {}
        for each, panel in zip(axes, self.panels, strict=False):
            for one in panel.series:
                y = [float("nan") if value is None else value for value in one.y]
                colour = _COLOURS[labels.index(one.label) % len(_COLOURS)]
                look = _LOOKS[one.kind]
                bars = {"yerr": one.error, "capsize": 2} if one.error else {}
                draw = each.errorbar if one.error else each.plot
                drawing = draw(one.x, y, color=colour, markersize=4, **look, **bars)
                name = f"{one.label}, printed" if one.kind == "printed" else one.label
                legend.setdefault(name, drawing if one.error else drawing[0])
            each.set(title=panel.title, xlabel=panel.across)
            each.title.set_fontsize("medium")
            if "x" in panel.log:
                each.set_xscale("log")
            if "y" in panel.log:
                each.set_yscale("log")
            each.grid(alpha=0.25)
            if self.apart or each in axes[::columns]:
                each.set_ylabel(panel.up)
            if any(isinstance(value, str) for one in panel.series for value in one.x):
                each.tick_params(axis="x", labelrotation=30)
        for each, panel in zip(axes, self.panels, strict=False):
            heights = [y for one in panel.series for y in one.y if y is not None]
            # after all panels are drawn: limits of shared axes no longer follow what comes later
            if "y" not in panel.log and min(heights, default=-1.0) >= 0:
                each.set_ylim(bottom=0)
        for each in axes[len(self.panels) :]:
            each.set_visible(False)
        figure.legend(legend.values(), legend.keys(), loc="outside right center", fontsize="small")
        return figure


_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#000000")
_LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "found": {"marker": "o", "linestyle": "-"},
    "printed": {"marker": "s", "linestyle": ":", "markerfacecolor": "none"},
    "line": {"linestyle": "--"},
}
Part = str | Table | Plot


@dataclass(frozen=True, slots=True)
class Section:
    """What a script found.

    Attributes:
        word: of its file of JSON; the page has sections in the `ORDER` of these.
        source: the paper, in a word or two.
        heading: without its signs.
        parts: texts, tables and plots, in their order.
        statements: what the paper says.
        run: how long it took, when and where.
        quick: whether it was a quick run.
    """

    word: str
    source: str
    heading: str
    parts: Sequence[Part]
    statements: Sequence[Statement] = ()
    run: str = ""
    quick: bool = False

    def markdown(self) -> str:
        """The section of the page."""
        shown = [f"## {self.heading}", *([self.run] if self.run else [])]
        shown += [one if isinstance(one, str) else one.markdown() for one in self.parts]
        if self.statements:
            shown += ["### What is said, and what is found", judged(self.statements)]
        if self.quick:
            open_ = [f"{one.table}: {one.says}" for one in self.statements if one.verdict == OPEN]
            listed = "\n- ".join(["It cannot judge:\n", *open_] if open_ else ["It could judge all."])
            shown.append(f"This was a quick run. {listed}")
        return "\n\n".join(one.strip() for one in shown) + "\n"

    def plots(self) -> list[Plot]:
        """Its plots."""
        return [one for one in self.parts if isinstance(one, Plot)]

    def to_json(self) -> str:
        """As a text that `from_json` reads."""
        parts = [one if isinstance(one, str) else {type(one).__name__: asdict(one)} for one in self.parts]
        return json.dumps(asdict(self) | {"parts": parts}, indent=1, default=_plain) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Section:
        """What `to_json` wrote."""
        found = json.loads(text)
        found["parts"] = [one if isinstance(one, str) else _part(one) for one in found["parts"]]
        found["statements"] = [
            Statement(**one | {"margin": tuple(one["margin"])}) for one in found["statements"]
        ]
        return cls(**found)


def _plain(one: Any) -> Any:
    """Numbers of numpy as those of Python."""
    return one.item()


def _part(one: Mapping[str, Any]) -> Part:
    if "Table" in one:
        return Table(**one["Table"])
    plot = dict(one["Plot"])
    panels = [dict(panel) for panel in plot["panels"]]
    for panel in panels:
        panel["series"] = [Series(**each) for each in panel["series"]]
    return Plot(**plot | {"panels": [Panel(**panel) for panel in panels]})


def markdown(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; numbers with three digits."""
    cells = [[f"{one:.3g}" if isinstance(one, float) else str(one) for one in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [names, ["---"] * len(names), *cells]) + "\n"


def judged(statements: Sequence[Statement]) -> str:
    """A table of statements, with how many there are of each verdict; a long one is folded."""
    verdicts = [one.verdict for one in statements]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in ("yes", "no", OPEN))
    names = ("where", "statement", "here", "holds by", "draws", "holds", "whose fault")
    table = Table(names, [one.row() for one in statements], "All statements" if len(statements) > 20 else "")
    return f"Of {len(statements)} statements: {counts}.\n\n{table.markdown()}"


def glance(sections: Sequence[Section]) -> str:
    """The table of the first screen: of each paper the tables and figures by their verdict."""
    rows = []
    for section in sections:
        by_table: dict[str, list[Statement]] = {}
        for one in section.statements:
            by_table.setdefault(one.table, []).append(one)
        by_word: dict[str, list[str]] = {}
        for table, some in by_table.items():
            by_word.setdefault(_in_a_word(some), []).append(table)
        link = f"[{section.source}](#{anchor(section.heading)})"
        for word in ("holds", "partly", "not", "open"):
            some = [one for table in by_word.get(word, ()) for one in by_table[table]]
            faults = dict.fromkeys(one.whose.partition(":")[0] for one in some if one.verdict == "no")
            if some:
                rows.append((link, together(by_word[word]), word, ", ".join(filter(None, faults))))
        if not by_table:
            rows.append((link, "see there", "", ""))
    names = ("source", "tables and figures", "verdict", "whose fault")
    counts = [one.verdict for section in sections for one in section.statements]
    told = ", ".join(f"{counts.count(one)} {one}" for one in ("yes", "no", OPEN))
    return (
        f"{markdown(names, rows)}\n`partly`: some statements about it hold, others do not or are {OPEN}; "
        f"`open`: all are. Of {len(counts)} statements: {told}. What is not here, "
        "and why, is [at the end](#left-out-and-why)."
    )


def together(names: Sequence[str]) -> str:
    """Names such as `Table 5.2` and `Table 5.3` as one list, each kind said once."""
    by_kind: dict[str, list[str]] = {}
    for name in names:
        kind, _, number = name.partition(" ")
        kind = kind.removesuffix("s") if kind in ("Tables", "Figures") else kind
        by_kind.setdefault(kind, []).append(number)
    return "; ".join(
        f"{kind}{'s' * (len(numbers) > 1 and kind in ('Table', 'Figure'))} {', '.join(numbers)}".strip()
        for kind, numbers in by_kind.items()
    )


def _in_a_word(statements: Sequence[Statement]) -> str:
    verdicts = {one.verdict for one in statements}
    return {"yes": "holds", "no": "not", OPEN: "open"}[verdicts.pop()] if len(verdicts) == 1 else "partly"


def anchor(heading: str) -> str:
    """Where a link to a heading leads."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def drawn(title: str, name: str) -> str:
    """A line that shows the plot of this name."""
    return f"![{title}]({PLOTS}/{name}.svg)"


def missing(folder: Path, *names: str) -> str:
    """What to say of the first of these files that is not in the folder; empty if all are there."""
    gone = [folder / name for name in names if not (folder / name).exists()]
    return f"{gone[0]} is missing; name its folder with --data." if gone else ""


@dataclass(frozen=True, slots=True)
class Clock:
    """Times a run from when it is made."""

    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=time.process_time)

    def told(self) -> str:
        """How long the run took, when and where."""
        seconds, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        load = f", load {os.getloadavg()[0]:.0f} at its end" if hasattr(os, "getloadavg") else ""
        return (
            f"The run of {datetime.now(UTC):%d %B %Y} took {seconds:,.0f} s by the clock and {cpu:,.0f} s "
            f"of the processor, on {_processor()}, {os.cpu_count()} cores{load}."
        )


def _processor() -> str:
    """The processor's name."""
    known = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.+)", known.read_text()) if known.exists() else None
    return named[1] if named else platform.machine()


class _Given(Protocol):
    quick: bool
    write: Path | None


def finish(section: Section, given: _Given) -> int:
    """Print a section, and write it where that is asked for; what a script ends with."""
    print(section.markdown())
    if given.write is not None:
        write(given.write, section)
    return 0


def write(folder: Path, section: Section) -> None:
    """Put a section and its plots beside the page, and make the page of all sections anew.

    Args:
        folder: of the page, such as `docs`; made if it is not there.
        section: what was found.
    """
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    (folder / PLOTS / f"{section.word}.json").write_text(section.to_json(), encoding="utf-8")
    draw(folder, section)
    build(folder)


def draw(folder: Path, section: Section) -> None:
    """Write the plots of a section."""
    # ids of drawings hang on this alone, so that the same figures give the same files
    rcParams["svg.hashsalt"] = "reproduction"
    for one in section.plots():
        metadata = {"Date": None, "Creator": None}
        one.figure().savefig(folder / PLOTS / f"{one.name}.svg", format="svg", metadata=metadata)


def read(folder: Path) -> list[Section]:
    """All sections that are beside a page, in their order."""
    sections = [Section.from_json(one.read_text("utf-8")) for one in (folder / PLOTS).glob("*.json")]
    return sorted(sections, key=lambda one: ORDER.index(one.word))


def build(folder: Path) -> None:
    """Make the page of what is in its folder of JSON."""
    sections = read(folder)
    left = "\n\n".join(["## Left out, and why", markdown(("source", "what", "why"), LEFT_OUT)])
    parts = ["# Reproduction", INTRO, glance(sections), *(one.markdown() for one in sections), left]
    text = "\n\n".join(one.strip() for one in parts) + "\n"
    (folder / "reproduction.md").write_text(text, encoding="utf-8")


def main() -> int:
    """Make the page and all plots anew."""
    parser = argparse.ArgumentParser(prog="page", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="of the page, such as docs")
    given = parser.parse_args()
    for section in read(given.folder):
        draw(given.folder, section)
    build(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
