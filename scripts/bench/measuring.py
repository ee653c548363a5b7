"""What the benchmark scripts share: cases one after the other, texts, the machine, results as JSON."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from parties.bench.case import Case
from parties.bench.measurement import measure
from smc.errors import DuettoError

OUT = Path("build/bench")


def numbers(text: str) -> list[int]:
    """A list of whole numbers, with commas."""
    return [int(part) for part in text.split(",")]


def names(text: str) -> list[str]:
    """A list of names, with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def tell(text: str) -> None:
    """Say what is going on, where it does not mix with the tables."""
    print(text, file=sys.stderr, flush=True)


def run(case: Case) -> dict[str, Any]:
    """Measure a case between two processes; a failure is a result as well.

    Returns:
        The figures, or those that name the case with `error`.
    """
    what = f"{case.engine}, {case.type}, {case.bits} bits, batch {case.batch}, {case.key_bits}-bit keys"
    link = f", {case.rtt_ms:g} ms" * bool(case.rtt_ms) + f", {case.mbit:g} Mbit/s" * bool(case.mbit)
    try:
        found = measure(case, lambda _: None)
    except DuettoError as error:
        tell(f"{what}{link}: {error.stable_code}")
        return {**case.to_json(), "engine_asked": case.engine, "error": error.stable_code, "why": str(error)}
    tell(f"{what}{link}: {found['seconds']:.4g} s" + (f", {found['wrong']} WRONG" if found["wrong"] else ""))
    return found


def machine() -> dict[str, Any]:
    """Where and how this ran."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_at_start": list(os.getloadavg()),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return found[0] if found else platform.processor() or platform.machine()


def write_json(folder: Path, name: str, content: dict[str, Any]) -> Path:
    """Write the results of a script."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, columns aligned."""
    cells = [list(head), *([cell if isinstance(cell, str) else figure(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(_pad(cell, width, column) for column, (cell, width) in _columns(row, widths)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|"
    print(f"\n{title}\n", lines[0], rule, *lines[1:], sep="\n", flush=True)


def _columns(row: Sequence[str], widths: Sequence[int]) -> Iterable[tuple[int, tuple[str, int]]]:
    return enumerate(zip(row, widths, strict=True))


def _pad(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def figure(value: object) -> str:
    """A number with three digits that count, or a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def guarded(main: Callable[[], int]) -> int:
    """Run a script; a refusal is told in words."""
    try:
        return main()
    except DuettoError as error:
        tell(f"{Path(sys.argv[0]).name}: {error}")
        return 64
    except KeyboardInterrupt:
        return 130
