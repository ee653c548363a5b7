"""Measures factorization of users by items, and attacks by assignment: CPU and wall seconds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from anonymizer_distances import timed
from measuring import OUT, guarded, machine, print_table, tell, write_json
from scipy.sparse import csr_matrix

from anonymizer.risk.distance.matching import assign
from anonymizer.series.factorization import KINDS, factorize
from anonymizer.tables.randomness import Randomness


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_series", description=__doc__)
    parser.add_argument("--rank", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="leave out what takes a minute")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start, found = machine(), []
    shapes = [(200, 1000, 20_000)] if asked.quick else [(200, 1000, 20_000), (10_000, 10_000, 1_000_000)]
    for users, items, cells in shapes:
        matrix = sparse(users, items, cells)
        for kind in KINDS:
            name = f"{kind}, {users:,} x {items:,}, {matrix.nnz:,} cells not zero"
            found.append(
                timed(
                    name,
                    lambda kind=kind, matrix=matrix: factorize(
                        matrix, asked.rank, kind=kind, iterations=asked.iterations, seed=1
                    ),
                )
            )
    for users, most in (
        ((2_000, 10_000),) if asked.quick else ((2_000, 10_000), (10_000, 10_000), (30_000, 5_000))
    ):
        points = Randomness(1).normal(users * 20).reshape(users, 20)
        others = points + 0.3 * Randomness(2).normal(users * 20).reshape(users, 20)
        how = "exact" if users <= most else "by candidates"
        case = timed(
            f"assignment of {users:,} users, {how}",
            lambda points=points, others=others, most=most: assign(points, others, most_exact=most).excess,
        )
        found.append(case)
    heads = ["case", "CPU seconds", "wall seconds", "load before", "load after", "dearer at most"]
    keys = ["measure", "cpu", "wall", "load_before", "load_after"]
    rows = [
        [*(one[key] for key in keys), one["result"][:8] if one["measure"].startswith("assign") else "-"]
        for one in found
    ]
    print_table(f"rank {asked.rank}, {asked.iterations} iterations", heads, rows)
    for one in found:
        one.pop("result")
    tell(f"written to {write_json(asked.out, 'anonymizer_series.json', {'machine': start, 'cases': found})}")
    return 0


def sparse(users: int, items: int, cells: int) -> csr_matrix:
    """Ones at random places, some items far commoner than others."""
    random = Randomness(1)
    rows = random.integers(users, cells)
    columns = np.minimum(items * random.uniform(cells) ** 2, items - 1).astype(np.int64)
    found = csr_matrix((np.ones(cells), (rows, columns)), shape=(users, items))
    found.sum_duplicates()
    found.data[:] = 1.0
    return found


if __name__ == "__main__":
    sys.exit(guarded(main))
