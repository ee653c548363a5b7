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
from typing import Any

import numpy as np

from parties.bench.people import people
from parties.bench.workloads import made_up
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.matching.suggestion.errors import ErrorModel
from smc.analyses.matching.suggestion.roles import guess_roles
from smc.analyses.matching.suggestion.suggest import PASSES, RECIPES, Assumed, suggest
from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.histogram import EDGES
from smc.analyses.matching.tolerant.parameters import GREEDY, MODES, NONE, TolerantParameters
from smc.analyses.matching.tolerant.plain import Claims, all_links
from smc.analyses.matching.tolerant.records import Records, count_rows, prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT, TolerantStudy
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.secret.noise.laplace import DiscreteLaplace

Pair = tuple[int, int]

STRIPE_ROWS = 1 << 13


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


def made_up_people(rows: int, family: int) -> tuple[Data, Data, set[Pair]]:
    """People in families, six in ten of them common, two fields of each second record wrong."""
    source = made_up()
    common = rows * 6 // 10
    data = people(source, rows, common, family)
    order = source.permutation(rows)
    bob = {
        name: Column([column.texts[row] for row in order], column.schema)
        for name, column in data[Role.BOB].items()
    }
    return data[Role.ALICE], bob, {(int(row), n) for n, row in enumerate(order) if row < common}


def field(text: str) -> dict[str, Any]:
    """A field of a job, from `column` or `column:weight`."""
    column, _, weight = text.partition(":")
    return {"column": column} | ({"weight": int(weight)} if weight else {})


def greedy(links: np.ndarray) -> set[Pair]:
    """The greedy pairing of all pairs that match: the largest margin first, then the earlier rows."""
    order = np.lexsort((links[:, 1], links[:, 0], -links[:, 2]))
    rows: set[int] = set()
    columns: set[int] = set()
    chosen = set()
    for a, b in links[order, :2].tolist():
        if a not in rows and b not in columns:
            chosen.add((a, b))
            rows.add(a)
            columns.add(b)
    return chosen


def nearest(few: Records, rows: np.ndarray, many: Records) -> np.ndarray:
    """The row of `many` with the largest margin that matches, of each of some rows of `few`, or -1."""
    left, terms = few.weigh(rows).astype(np.float32), few.terms[rows, None]
    best = np.full(len(rows), -1, dtype=np.int64)
    most = np.full(len(rows), -1, dtype=np.int64)
    for start in range(0, len(many), STRIPE_ROWS):
        part = slice(start, start + STRIPE_ROWS)
        overlaps = (left @ many.filters.rows[part].astype(np.float32).T).astype(np.int64)
        margins = (overlaps << few.score.grain) + terms + many.terms[part]
        place = margins.argmax(axis=1)
        found = margins[np.arange(len(rows)), place]
        nearer = found > most
        best[nearer], most[nearer] = start + place[nearer], found[nearer]
    return best


def sampled(alice: Records, bob: Records, rows: np.ndarray) -> set[Pair]:
    """Of some of Alice's rows those pairs of all in which either is the nearest of the other.

    They are the first that the greedy pairing takes; it adds second choices of rows whose first was taken.
    """
    found = nearest(alice, rows, bob)
    rows, found = rows[found >= 0], found[found >= 0]
    mutual = nearest(bob, found, alice) == rows
    return set(zip(rows[mutual].tolist(), found[mutual].tolist(), strict=True))


def linked(outcomes: Iterable[Outcome]) -> np.ndarray:
    """The rows of both sides of each pair."""
    rows = (np.array(outcome.tables[0].columns["row"], dtype=int) - 1 for outcome in outcomes)
    return np.stack(list(rows), axis=1)


def scored(name: str, found: Iterable[Iterable[int]], truth: set[Pair], seconds: float | None = None) -> str:
    """One line of the table."""
    pairs = {(int(a), int(b)) for a, b in found}
    right = len(pairs & truth)
    precision, recall = right / max(1, len(pairs)), right / max(1, len(truth))
    f_measure = 2 * right / max(1, len(pairs) + len(truth))
    timed = f"{seconds:8.1f}" if seconds is not None else " " * 8
    return f"{name:34}{len(pairs):8,}{precision:11.4f}{recall:9.4f}{f_measure:11.4f}{timed}"


def drawn(distribution: DiscreteLaplace, source: Randomness) -> list[int]:
    """Noise of a histogram, as the protocol draws it."""
    bits = distribution.bits
    words = source.words(len(EDGES) * len(bits.words)).reshape(len(EDGES), -1)
    return ((words < bits.thresholds) @ bits.weights + bits.offset).tolist()


def by_histogram(
    parameters: TolerantParameters, alice: Data, bob: Data, truth: set[Pair], draws: int
) -> None:
    """What least scores chosen by so many histograms with noise lose of the best F-measure, in the clear."""
    sides = (prepare(parameters, read_texts(parameters, data), 1) for data in (alice, bob))
    claims, histogram = Claims.of(parameters, *sides), parameters.histogram
    if histogram is None:
        raise SystemExit("--draws goes with --histogram")
    counts = claims.counts
    print(f"claims by score from {EDGES[0]} on: {counts}; noise of scale {1 / histogram.noise.rate}")
    quality: dict[int, float] = {}

    def f_measure(moved: int) -> float:
        if moved not in quality:
            links = {(int(a), int(b)) for a, b in claims.links(moved)}
            quality[moved] = 2 * len(links & truth) / max(1, len(links) + len(truth))
        return quality[moved]

    best = max(range(EDGES[0], EDGES[-1] + 1), key=f_measure)
    print(f"best moved by {best}: F {f_measure(best):.4f}; stated: F {f_measure(0):.4f}")
    source, found = made_up(), []
    for _ in range(draws):
        noisy = [count + noise for count, noise in zip(counts, drawn(histogram.noise, source), strict=True)]
        found.append(valley.adjustment(noisy, histogram))
    reached = sorted(map(f_measure, found))
    print(
        f"chosen in {draws} draws {min(found)} to {max(found)}: F {sum(reached) / draws:.4f} in the mean, "
        f"{reached[draws // 10]:.4f} in one of ten, {reached[0]:.4f} at least"
    )


def in_the_clear(study: TolerantStudy, alice: Data, bob: Data, truth: set[Pair]) -> str:
    """The same rule with the same blocking in the clear: one line of the table."""
    found = linked(study.reference(alice, bob, frozenset(Role)))
    return scored(f"in the clear, {study.parameters.one_to_one}", found, truth)


def jointly(study: TolerantStudy, alice: Data, bob: Data, truth: set[Pair], timeout: float) -> None:
    """Both parties in this process: prints one line, and the least score if the run chose it."""
    begun = time.perf_counter()
    outcomes = run_pair(
        lambda session: run_study(study, session, alice, frozenset(Role), NO_LIMITS.of_both),
        lambda session: run_study(study, session, bob, frozenset(Role), NO_LIMITS.of_both),
        timeout=timeout,
    )
    seconds = time.perf_counter() - begun
    print(scored(f"joint, {study.parameters.one_to_one}", linked(outcomes), truth, seconds))
    if study.parameters.histogram is not None:
        print("joint:", outcomes[0].details["least_score"], outcomes[0].details["histogram"])


def over_all_pairs(parameters: TolerantParameters, alice: Data, bob: Data, truth: set[Pair]) -> None:
    """The same rule over all pairs in the clear: prints a line for the greedy pairing, one for all."""
    buckets = parameters.buckets([count_rows(parameters, data) for data in (alice, bob)])
    sides = (prepare(parameters, read_texts(parameters, data), buckets) for data in (alice, bob))
    everything = all_links(*sides)
    if parameters.one_to_one != NONE:
        print(scored("in the clear, all pairs, greedy", greedy(everything), truth))
    print(scored("in the clear, all similar pairs", everything[:, :2], truth))


def of_a_sample(parameters: TolerantParameters, alice: Data, bob: Data, truth: set[Pair], size: int) -> str:
    """The nearest pairs of so many of Alice's rows in the clear: one line of the table."""
    left, right = (prepare(parameters, read_texts(parameters, data), 1) for data in (alice, bob))
    rows = np.sort(made_up().permutation(len(left))[:size])
    taken = set(rows.tolist())
    wanted = {pair for pair in truth if pair[0] in taken}
    return scored("in the clear, nearest of a sample", sampled(left, right, rows), wanted)


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Quality of tolerant matching against known pairs.")
    parser.add_argument(
        "files", type=Path, nargs="*", help="CSV files with a header: Alice's, Bob's, and pairs of identities"
    )
    parser.add_argument("--made-up", type=int, metavar="ROWS", help="instead of files, made-up people")
    parser.add_argument("--family", type=int, default=3, help="members of a made-up family")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--plain", action="store_true", help="in the clear only, and blocked only")
    only.add_argument("--joint", action="store_true", help="jointly only, for tables of any size")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds of the joint run")
    parser.add_argument(
        "--sample",
        type=int,
        metavar="ROWS",
        help="nothing but nearest pairs of all, of so many of Alice's rows",
    )
    parser.add_argument("--identity", default="rec_id", help="column that names a row, not compared")
    parser.add_argument("--fields", help="columns to compare, column:weight, with commas")
    parser.add_argument("--block", action="append", help="a pass: column:function, with commas")
    parser.add_argument("--threshold", default="0.6")
    parser.add_argument("--bits", type=int, default=64, help="of each field")
    recipe = parser.add_argument_group("instead of fields, passes and threshold, a recipe from Alice's file")
    recipe.add_argument("--suggest", choices=RECIPES, help="as duetto matching suggest --recipe")
    recipe.add_argument("--role", action="append", default=[], metavar="ROLE=COLUMN")
    recipe.add_argument("--compare", action="append", default=[], metavar="ROLE")
    recipe.add_argument("--passes", type=int, default=PASSES)
    recipe.add_argument("--overlap", type=float, default=0.6)
    recipe.add_argument("--errors", type=float, default=1.0, help="multiplies the shares of the error model")
    parser.add_argument("--one-to-one", choices=MODES, default=GREEDY)
    parser.add_argument("--rounds", type=int, default=1, help="of the greedy pairing")
    parser.add_argument("--ranks", type=int, help="join passes in secret, with so many rows of a key a side")
    parser.add_argument("--histogram", metavar="EPSILON", help="choose the threshold in the run, with ranks")
    parser.add_argument("--draws", type=int, help="in the clear only: so many histograms with noise")
    parser.add_argument("--overflow", choices=("refuse", "accept"), default="refuse")
    given = parser.parse_args()
    if bool(given.made_up) is bool(given.files) or len(given.files) not in (0, 3):
        parser.error("name three files, or --made-up ROWS")
    if not given.suggest and not (given.fields and given.block):
        parser.error("name --fields and --block, or --suggest")
    return given


def suggested(given: argparse.Namespace, alice: Data) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that Alice's file gives, and the column of each role."""
    roles = guess_roles(alice, dict(text.split("=", 1) for text in given.role))
    assumed = Assumed(
        overlap=given.overlap,
        errors=ErrorModel().times(given.errors),
        histogram=given.histogram or "",
        recipe=given.suggest,
        passes=given.passes,
        compare=tuple(given.compare),
    )
    begun = time.process_time()
    found = suggest({role: alice[name] for role, name in roles.items()}, assumed)
    expected, parameters = found.expected, dict(found.parameters)
    print(*(f"pass {' + '.join(key)}" for key in parameters["blocking"]), sep="\n")
    print(*parameters["fields"], f"least score {parameters['least_score']}", sep="\n")
    print(
        f"expected: precision {expected.precision:.4f}, recall {expected.recall:.4f}, "
        f"F {expected.f_measure:.4f}; {time.process_time() - begun:.0f} s of processor time; "
        f"a run of the whole file {found.bytes / found.rows:,.0f} bytes a row, {found.seconds:.0f} s"
    )
    del parameters["method"]
    return parameters | {"overflow": given.overflow}, roles


def stated(given: argparse.Namespace) -> dict[str, Any]:
    """The parameters that the command line states."""
    return {
        "fields": [field(text) | {"bits": given.bits} for text in given.fields.split(",")],
        "blocking": [key.split(",") for key in given.block],
        "threshold": given.threshold,
        "one_to_one": given.one_to_one,
        "overflow": given.overflow,
        **({"rounds": given.rounds} if given.one_to_one == GREEDY and not given.ranks else {}),
        **({"ranks": given.ranks} if given.ranks else {}),
    }


def main() -> None:
    """Run and print."""
    given = arguments()
    if given.made_up:
        alice, bob, truth = made_up_people(given.made_up, given.family)
    else:
        (alice_ids, alice), (bob_ids, bob) = (read(path, given.identity) for path in given.files[:2])
        truth = known_pairs(given.files[2], alice_ids, bob_ids)
    if given.suggest:
        parameters, roles = suggested(given, alice)
        alice, bob = ({role: data[name] for role, name in roles.items()} for data in (alice, bob))
    else:
        parameters = stated(given)
    histogram = {"histogram": {"epsilon": given.histogram}} if given.histogram else {}
    study = TOLERANT.parse(parameters | histogram)
    if given.draws:
        by_histogram(study.parameters, alice, bob, truth, given.draws)
        return
    print(f"{'':34}{'pairs':>8}{'precision':>11}{'recall':>9}{'F-measure':>11}{'seconds':>8}")
    if given.sample:
        print(of_a_sample(study.parameters, alice, bob, truth, given.sample))
        return
    if not given.plain:
        jointly(study, alice, bob, truth, given.timeout)
    if not given.joint:
        print(in_the_clear(study, alice, bob, truth))
    if not (given.plain or given.joint):
        over_all_pairs(study.parameters, alice, bob, truth)


if __name__ == "__main__":
    main()
