"""Compares the estimates of comparisons and analyses with measured seconds, with both kinds of kernels."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator

from measuring import guarded, machine, names, numbers, print_table, run, tell

from parties.bench.analysis import AnalysisCase, measure_analysis
from parties.bench.case import Case, usual_modulus
from parties.speed import KEPT, slowdown
from smc.forms import ComparisonType
from smc.oblivious.kernels import VARIABLE

KEY_BITS = 2048
ANALYSES = "histogram:1000,median:1000,vectors:1000,tolerant-ranks:1000,matched-moments:10000,clusters:2000"


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="prices", description=__doc__)
    parser.add_argument("--kernels", type=names, default=["native", "numpy"])
    parser.add_argument("--engines", type=names, default=["oblivious", "silent"])
    parser.add_argument("--types", type=names, default=["PN-NP-SS"])
    parser.add_argument("--bits", type=numbers, default=[32, 64])
    parser.add_argument("--batches", type=numbers, default=[1000, 100_000])
    parser.add_argument("--analyses", type=names, default=names(ANALYSES), help="NAME:ROWS, with commas")
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs in one session, of which the least counts"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def measured(given: argparse.Namespace) -> Iterator[tuple[str, float, float]]:
    """What each case is, the seconds estimated, and those measured.

    The machine's speed is tried some times, as by a daemon that has run for a while, and anew before each
    case: it differs between kernels and from one minute to the next.
    """
    for _ in range(KEPT):
        slowdown(again=True)
        time.sleep(1)
    for kind in map(ComparisonType.parse, given.types):
        for batch in given.batches:
            for bits in given.bits:
                for engine in given.engines:
                    slowdown(again=True)
                    modulus = usual_modulus(engine, bits)
                    found = run(Case(kind, bits, batch, KEY_BITS, engine, modulus, repeat=given.repeat))
                    if "error" not in found:
                        what = f"{batch:,} x {kind}, {bits} bits, {engine}"
                        yield what, found["predicted_seconds"], min(found["seconds_of_runs"])
    for text in given.analyses:
        slowdown(again=True)
        name, _, rows = text.partition(":")
        found = measure_analysis(AnalysisCase(name, int(rows), repeat=given.repeat))
        tell(f"{text}: {found['seconds']:.4g} s")
        yield text, found["estimated_seconds"], min(found["seconds_of_runs"])


def main() -> int:
    """Measure all cases with each kind of kernels."""
    given = parse()
    results = []
    for kernels in given.kernels:
        os.environ[VARIABLE] = kernels  # both for the estimates here and for the processes of the parties
        for what, estimate, seconds in measured(given):
            results.append((what, kernels, estimate, seconds, estimate / seconds))
    if given.json:
        print(json.dumps({"machine": machine(), "results": results}, indent=1))
    else:
        head = ("case", "kernels", "estimate", "measured", "estimate / measured")
        print_table("Estimates beside the least of the measured seconds", head, results)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
