"""Measures products of shared words, both parties in one process: seconds, processor time, bytes, rounds."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np
from measuring import guarded, machine, numbers, print_table, tell

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.session import Session
from smc.secret.products import gilboa, lattice_multiply
from smc.secret.products.words import Word

_HEAD = ("way, products", "seconds", "us of processor each", "bytes each", "rounds")
_BITS = 64


def transfers(session: Session, left: Word, right: Word) -> Word:
    """Both inner terms by oblivious transfer; Alice's words choose in the first, and Bob's in the second."""
    alice = session.role is Role.ALICE
    first, second = (left, right) if alice else (right, left)
    if alice:
        chosen = gilboa.choose(session, first, _BITS, 1)
        return (chosen + gilboa.send(session, second[:, None], _BITS))[:, 0]
    sent = gilboa.send(session, first[:, None], _BITS)
    return (sent + gilboa.choose(session, second, _BITS, 1))[:, 0]


def lattice(session: Session, left: Word, right: Word) -> Word:
    """Both inner terms by lattice encryption."""
    own = [left, right] if session.role is Role.ALICE else [right, left]
    return lattice_multiply.multiply(session, own)


WAYS: dict[str, Callable[[Session, Word, Word], Word]] = {"transfers": transfers, "lattice": lattice}


def measure(name: str, count: int) -> tuple[object, ...]:
    """One way; the products are checked."""
    random = Randomness()
    left, right = ({role: random.words(count) for role in Role} for _ in range(2))

    def side(session: Session) -> tuple[Word, float, float, int, int]:
        session.oblivious.setup()
        before, started, worked = session.channel.traffic, time.perf_counter(), time.process_time()
        found = WAYS[name](session, left[session.role], right[session.role])
        made = session.channel.traffic.since(before)
        seconds = time.perf_counter() - started, time.process_time() - worked
        return found, *seconds, made.sent, made.rounds

    alice, bob = run_pair(side, side, timeout=3600)
    wanted = sum(left[role] * right[role.other] for role in Role)
    if not np.array_equal(alice[0] + bob[0], wanted):
        raise SystemExit(f"{name}: the products are wrong")
    work = max(alice[2], bob[2])
    sent = alice[3] + bob[3]
    return (
        f"{name}, {count:,}",
        max(alice[1], bob[1]),
        1e6 * work / count,
        sent / count,
        max(alice[4], bob[4]),
    )


def main() -> int:
    """Measure both ways with all counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=numbers, default=[1_000_000], help="products, with commas")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = []
    for count in options.count:
        for name in WAYS:
            rows.append(measure(name, count))
            tell(f"{rows[-1][0]}: {rows[-1][1]:.4g} s")
    if options.json:
        found = [dict(zip(("case", "seconds", "work", "bytes", "rounds"), row, strict=True)) for row in rows]
        print(json.dumps({"machine": machine(), "results": found}, indent=1))
    else:
        print_table("Products of shared words of 64 bits", _HEAD, rows)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
