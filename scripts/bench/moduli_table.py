"""Measures shared results beside XOR results, and shares of 63 and 64 bits beside those of 62, in turns."""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import OUT, figure, guarded, machine, print_table, run, tell, write_json

from parties.bench.case import Case
from smc.forms import ComparisonType

WORD = 1 << 64
KEY_BITS = 2048


@dataclass(frozen=True, slots=True)
class Bar:
    """A case, and what its time is compared with.

    Attributes:
        name: of the case.
        type: the comparison type.
        bits: bit bound of x and y.
        delta_modulus: of the shares of delta.
        against: the name of the case that its time is divided by; empty for that case itself.
        most: the quotient that is asked for.
    """

    name: str
    type: str
    bits: int
    delta_modulus: int = 2
    against: str = ""
    most: float = 1.0

    def case(self, batch: int, engine: str, repeat: int) -> Case:
        """The benchmark; inputs are shared modulo 2**64."""
        kind = ComparisonType.parse(self.type)
        return Case(kind, self.bits, batch, KEY_BITS, engine, WORD, self.delta_modulus, repeat=repeat)


BARS = (
    Bar("XOR", "PN-NP-SS", 32),
    Bar("modulo 2^64", "PN-NP-SS", 32, WORD, "XOR", 1.2),
    Bar("modulo 10^9 + 7", "PN-NP-SS", 32, 10**9 + 7, "XOR", 1.2),
    Bar("62 bits", "SS-SS-SS", 62),
    Bar("63 bits", "SS-SS-SS", 63, 2, "62 bits", 1.3),
    Bar("64 bits", "SS-SS-SS", 64, 2, "62 bits", 1.3),
    Bar("64 bits, one known", "PN-SS-SS", 64, 2, "62 bits", 1.3),
)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1_000_000, help="comparisons in a run")
    parser.add_argument("--engine", default="oblivious", help="oblivious or silent")
    parser.add_argument("--turns", type=int, default=3, help="sessions of each case, in turns")
    parser.add_argument("--repeat", type=int, default=1, help="runs in one session")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    return parser.parse_args(arguments)


def main() -> int:
    """Measure all cases in turns, and print quotients of medians."""
    options = parse(sys.argv[1:])
    found: dict[str, list[dict[str, Any]]] = {bar.name: [] for bar in BARS}
    for _ in range(options.turns):
        for bar in BARS:
            found[bar.name].append(run(bar.case(options.batch, options.engine, options.repeat)))
    failed = [run for runs in found.values() for run in runs if run.get("wrong") or "error" in run]
    for one in failed:
        tell(f"{one['type']}, {one['bits']} bits: {one.get('error') or 'wrong results'}")
    if not failed:
        seconds = {name: statistics.median(one["seconds"] for one in runs) for name, runs in found.items()}
        rows = [
            (
                f"{bar.type}, {bar.name}",
                seconds[bar.name],
                seconds[bar.name] / seconds[bar.against] if bar.against else None,
                bar.most if bar.against else None,
                found[bar.name][0]["rounds"],
                found[bar.name][0]["route"],
            )
            for bar in BARS
        ]
        head = ("case", "seconds", "times XOR or 62 bits", "bar", "rounds", "route")
        print_table(f"{figure(options.batch)} comparisons, engine {options.engine}", head, rows)
    content = {"machine": machine(), "cases": found}
    tell(f"written to {write_json(options.out, 'moduli.json', content)}")
    return 70 if failed else 0


if __name__ == "__main__":
    sys.exit(guarded(main))
