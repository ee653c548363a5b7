"""Measures comparisons with numpy's and with compiled kernels: seconds of processor time of one party."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any
from unittest import mock

from measuring import guarded, machine, numbers, print_table, tell

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.kernels import VARIABLE
from smc.pair import run_pair
from smc.protocols.session import Session

KINDS = ("numpy", "native")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="comparisons in a batch")
    parser.add_argument("--bits", type=numbers, default=[32, 64], help="of the numbers, with commas")
    parser.add_argument("--repeat", type=int, default=3, help="batches of each kind, by turns; medians count")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def seconds(count: int, bits: int, *, silent: bool) -> float:
    """Processor time of Alice's thread for a batch after the set-up; results are checked."""
    shift = 64 - bits
    x, y = (Randomness().words(count) >> shift for _ in range(2))

    def side(session: Session) -> tuple[Any, float]:
        engine = session.oblivious
        engine.setup_silent() if silent else engine.setup()
        before = time.thread_time()
        if session.role is Role.ALICE:
            shares = engine.greater_equal_x(x, bits, silent=silent)
        else:
            shares = engine.greater_equal_y(y, bits, silent=silent)
        return shares, time.thread_time() - before

    (one, taken), (other, _) = run_pair(side, timeout=600)
    if not ((one ^ other) == (x >= y)).all():
        raise RuntimeError("a comparison is wrong")
    return taken


def main() -> int:
    """Measure both kinds by turns."""
    options = parse(sys.argv[1:])
    found = []
    for bits in options.bits:
        for silent in (False, True):
            runs: dict[str, list[float]] = {kind: [] for kind in KINDS}
            for _ in range(options.repeat):
                for kind in KINDS:
                    with mock.patch.dict("os.environ", {VARIABLE: kind}):
                        runs[kind].append(seconds(options.count, bits, silent=silent))
            medians = {kind: statistics.median(runs[kind]) for kind in KINDS}
            found.append({"bits": bits, "silent": silent, "runs": runs, **medians})
            tell(f"{bits} bits, {'silent' if silent else 'extended'}: {medians}")
    if options.json:
        print(json.dumps({"machine": machine(), "results": found}, indent=1))
    else:
        rows = (
            (each["bits"], "silent" if each["silent"] else "extended", each["numpy"], each["native"],
             each["native"] / each["numpy"])
            for each in found
        )  # fmt: skip
        print_table("Processor seconds of a party", ("bits", "transfers", "numpy", "compiled", "ratio"), rows)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
