"""Measures analyses by name and number of rows: seconds, bytes per row, rounds, memory."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from measuring import guarded, machine, numbers, print_table, tell

from parties.bench.analysis import AnalysisCase, measure_analysis
from parties.bench.workloads import WORKLOADS

_MEBI = 1 << 20
_HEAD = (
    "case, rows", "seconds", "estimate", "processor s", "set-up s", "rounds", "bytes per row",
    "MB, A to B", "MB, B to A", "MiB, A", "B"
)  # fmt: skip


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="+", choices=sorted(WORKLOADS), help="what to measure")
    parser.add_argument("--rows", type=numbers, default=[10_000], help="of each side, with commas")
    parser.add_argument("--repeat", type=int, default=1, help="runs in one session; their median is told")
    parser.add_argument("--rtt-ms", type=float, default=0.0, help="emulated round-trip time")
    parser.add_argument("--mbit", type=float, default=0.0, help="emulated rate of each direction")
    parser.add_argument("--bob-rows", type=int, default=0, help="of Bob's side where it has others")
    parser.add_argument(
        "--minimum-group", type=int, default=0, help="test this limit, and a dominance of 9/10"
    )
    parser.add_argument("--unplanned", action="store_true", help="as of jobs that do not name the link")
    parser.add_argument(
        "--loopback", action="store_true", help="planned for the link, but without emulating it"
    )
    parser.add_argument("--lanes", type=int, default=1, help="processes of either side for large batches")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each case")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def row(found: dict[str, Any]) -> tuple[object, ...]:
    """A line of the table."""
    return (
        f"{found['name']}, {found['rows']:,}" + (f" + {found['bob_rows']:,}" if found["bob_rows"] else ""),
        found["seconds"],
        found["estimated_seconds"],
        found["processor_seconds"],
        found["setup_seconds"],
        found["rounds"],
        found["payload_bytes_per_row"],
        found["payload_alice_to_bob"] / 1e6,
        found["payload_bob_to_alice"] / 1e6,
        found["peak_bytes_alice"] // _MEBI,
        found["peak_bytes_bob"] // _MEBI,
    )


def main() -> int:
    """Measure all cases with all numbers of rows."""
    options = parse(sys.argv[1:])
    results = []
    for name in options.case:
        for rows in options.rows:
            case = AnalysisCase(
                name,
                rows,
                options.rtt_ms,
                options.mbit,
                options.repeat,
                options.timeout,
                not options.unplanned,
                not options.loopback,
                options.bob_rows,
                options.minimum_group,
                options.lanes,
            )
            results.append(measure_analysis(case))
            tell(f"{name}, {rows} rows: {results[-1]['seconds']:.4g} s")
    if options.json:
        print(json.dumps({"machine": machine(), "results": results}, indent=1))
    else:
        print_table("Analyses, seconds are medians", _HEAD, map(row, results))
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
