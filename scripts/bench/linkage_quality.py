"""Precision, recall and F-measure of tolerant matching against known pairs: jointly, and in the clear.

Both parties run in this process. The clear rows are the same rule with the same blocking, the same rule over
all pairs, and for one-to-one matching the greedy pairing over all pairs.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from smc.analyses.base import Column, Data, Schema
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.matching.encoding import Filters
from smc.analyses.matching.linkage_plain import all_links
from smc.analyses.matching.records import prepare, read_texts
from smc.analyses.matching.tolerant import TOLERANT
from smc.analyses.matching.tolerant_parameters import GREEDY, MODES, NONE
from smc.analyses.runner import run_analysis
from smc.forms import Role
from smc.pair import run_pair

Pair = tuple[int, int]


def read(path: Path, identity: str) -> tuple[dict[str, int], Data]:
    """Rows by their identity, and all other columns as texts."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {
        name: Column([row[name] for row in rows], Schema("text")) for name in rows[0] if name != identity
    }
    return {row[identity].strip(): number for number, row in enumerate(rows)}, columns


def known_pairs(path: Path, alice: dict[str, int], bob: dict[str, int]) -> set[Pair]:
    """The pairs of identities in the first two columns, in either order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[cell.strip() for cell in row[:2]] for row in csv.reader(file)]
    ordered = [(a, b) for row in rows for a, b in (row, row[::-1]) if a in alice and b in bob]
    return {(alice[a], bob[b]) for a, b in ordered}


def greedy(links: np.ndarray, alice: Filters, bob: Filters) -> set[Pair]:
    """The greedy pairing of all similar pairs: fewest differing bits first, then the earlier rows."""
    differing = (alice.rows[links[:, 0]] != bob.rows[links[:, 1]]).sum(axis=1)
    order = np.lexsort((links[:, 1], links[:, 0], differing))
    rows: set[int] = set()
    columns: set[int] = set()
    chosen = set()
    for a, b in links[order].tolist():
        if a not in rows and b not in columns:
            chosen.add((a, b))
            rows.add(a)
            columns.add(b)
    return chosen


def scored(name: str, found: Iterable[Iterable[int]], truth: set[Pair], seconds: float | None = None) -> str:
    """One line of the table."""
    pairs = {(int(a), int(b)) for a, b in found}
    right = len(pairs & truth)
    precision, recall = right / max(1, len(pairs)), right / max(1, len(truth))
    f_measure = 2 * right / max(1, len(pairs) + len(truth))
    timed = f"{seconds:8.1f}" if seconds is not None else " " * 8
    return f"{name:34}{len(pairs):8,}{precision:11.4f}{recall:9.4f}{f_measure:11.4f}{timed}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="Quality of tolerant matching against known pairs.")
    parser.add_argument("alice", type=Path, help="CSV file with a header")
    parser.add_argument("bob", type=Path)
    parser.add_argument("truth", type=Path, help="CSV file with a header and two columns of identities")
    parser.add_argument("--identity", default="rec_id", help="column that names a row, not compared")
    parser.add_argument("--fields", required=True, help="columns to compare, with commas")
    parser.add_argument(
        "--block", action="append", required=True, help="a pass: column:function, with commas"
    )
    parser.add_argument("--threshold", default="0.6")
    parser.add_argument("--bits", type=int, default=512)
    parser.add_argument("--one-to-one", choices=MODES, default=GREEDY)
    given = parser.parse_args()
    (alice_ids, alice), (bob_ids, bob) = read(given.alice, given.identity), read(given.bob, given.identity)
    truth = known_pairs(given.truth, alice_ids, bob_ids)
    parameters = TOLERANT.parse(
        {
            "fields": [{"column": name} for name in given.fields.split(",")],
            "blocking": [key.split(",") for key in given.block],
            "threshold": given.threshold,
            "bits": given.bits,
            "one_to_one": given.one_to_one,
        }
    )
    both = frozenset(Role)
    begun = time.perf_counter()
    outcomes = run_pair(
        lambda session: run_analysis(TOLERANT, session, parameters, alice, both, NO_LIMITS),
        lambda session: run_analysis(TOLERANT, session, parameters, bob, both, NO_LIMITS),
        timeout=600,
    )
    seconds = time.perf_counter() - begun
    rows = (np.array(outcome.tables[0].columns["row"], dtype=int) - 1 for outcome in outcomes)
    buckets = parameters.buckets((len(alice_ids), len(bob_ids)))
    left, right = (prepare(parameters, read_texts(parameters, data), buckets) for data in (alice, bob))
    print(f"{'':34}{'pairs':>8}{'precision':>11}{'recall':>9}{'F-measure':>11}{'seconds':>8}")
    print(scored(f"joint, {given.one_to_one}", np.stack(list(rows), axis=1), truth, seconds))
    plain = TOLERANT.run_plain(parameters, alice, bob, both)
    rows = (np.array(outcome.tables[0].columns["row"], dtype=int) - 1 for outcome in plain)
    print(scored(f"in the clear, {given.one_to_one}", np.stack(list(rows), axis=1), truth))
    everything = all_links(parameters.rule, left.filters, right.filters)
    if given.one_to_one != NONE:
        print(
            scored("in the clear, all pairs, greedy", greedy(everything, left.filters, right.filters), truth)
        )
    print(scored("in the clear, all similar pairs", everything, truth))


if __name__ == "__main__":
    main()
