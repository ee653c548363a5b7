"""Paillier by the threads of a daemon, and on a Dask cluster over TLS on this machine, by turns."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measuring import guarded, machine, print_table, tell

from anonymizer.search.measure import ReleaseMeasure
from anonymizer.search.search import search
from anonymizer.utility.objectives import fidelity
from parties.cluster.executor import ClusterExecutor
from smc.ciphers.keys import generate
from smc.ciphers.masks import MaskTables
from smc.ciphers.paillier import Paillier
from smc.numeric.random import Randomness
from tests.anonymizer.search.test_search import people, space
from tests.parties.cluster.local import LocalCluster

LIFE_SECONDS = 3600


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="scripts/bench/cluster", description=__doc__)
    parser.add_argument("--bits", type=int, nargs="*", default=[2048, 3072], help="of the keys")
    parser.add_argument("--count", type=int, default=2000, help="encryptions")
    parser.add_argument("--products", type=int, default=200, help="products with numbers as long as the key")
    parser.add_argument("--rows", type=int, default=1000000, help="of the table of a search")
    parser.add_argument("--workers", type=int, default=2, help="worker processes, and threads beside them")
    parser.add_argument("--repeat", type=int, default=3, help="runs, after one that is not counted")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def seconds(act: Callable[[], object]) -> float:
    """Wall time."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def cases(bits: int, options: argparse.Namespace) -> Iterator[tuple[str, Callable[[Paillier], object]]]:
    """What is measured with a cipher, after its name. The key is the peer's: nothing takes the secret one."""
    values, random = list(range(options.count)), Randomness()
    yield f"{options.count:,} encryptions", lambda cipher: cipher.encrypt(values)
    factors = random.below(1 << (bits - 1), options.products)
    yield (
        f"{options.products:,} products",
        lambda cipher: cipher.scale(cipher.encrypt_trivially([*range(options.products)]), factors),
    )


def measured(
    act: Callable[[Paillier], object],
    ciphers: Callable[[Executor | None], Paillier],
    places: Any,
    repeat: int,
) -> dict[str, list[float]]:
    """Seconds of all runs but the first, in which both sides compute their tables, by place and by turns."""
    taken: dict[str, list[float]] = {name: [] for name in places}
    for turn in range(repeat + 1):
        for name, executor in places.items():
            found = seconds(lambda: act(ciphers(executor)))  # noqa: B023 - called at once
            tell(f"{name}, run {turn}: {found:.2f} s")
            taken[name] += [found] * bool(turn)
    return taken


def searched(there: ClusterExecutor, rows: int, repeat: int) -> dict[str, Any]:
    """A search of the anonymizer over six points, by this process and by the workers, by turns."""
    free = space()
    measure = ReleaseMeasure(free, people(rows), fidelity, random_state=5)
    runs: dict[str, list[float]] = {"threads": [], "cluster": []}
    for turn in range(repeat + 1):
        for name, workers in (("threads", None), ("cluster", there)):
            found = seconds(lambda: search(free, measure, 1.0, workers=workers))  # noqa: B023 - called at once
            tell(f"search, {name}, run {turn}: {found:.2f} s")
            runs[name] += [found] * bool(turn)
    medians = {name: statistics.median(taken) for name, taken in runs.items()}
    return {"bits": None, "work": f"a search of 6 points, {rows:,} rows", "runs": runs, **medians}


def main() -> int:
    """Measure."""
    options, found = parse(sys.argv[1:]), []
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(Path(folder), options.workers, seconds=LIFE_SECONDS) as running,
        ThreadPoolExecutor(options.workers) as threads,
    ):
        there = ClusterExecutor(running.dask())
        there.submit(pow, 2, 3).result()
        for bits in options.bits:
            key, tables = generate(bits, Randomness()).public, MaskTables()

            def cipher(executor: Executor | None, key: Any = key, tables: MaskTables = tables) -> Paillier:
                return Paillier(key, Randomness(), threads, tables, executor)

            for work, act in cases(bits, options):
                tell(f"{bits} bits, {work}, load {os.getloadavg()[0]:.1f}")
                runs = measured(act, cipher, {"threads": None, "cluster": there}, options.repeat)
                medians = {name: statistics.median(taken) for name, taken in runs.items()}
                found.append({"bits": bits, "work": work, "runs": runs, **medians})
        found.append(searched(there, options.rows, options.repeat))
        there.shutdown()
    if options.json:
        print(json.dumps({"machine": machine(), "results": found}, indent=1))
    else:
        rows = [
            (
                each["bits"] or "",
                each["work"],
                each["threads"],
                each["cluster"],
                each["cluster"] / each["threads"],
            )
            for each in found
        ]
        title = f"Seconds with {options.workers} threads, and with as many workers of one thread"
        print_table(title, ("bits", "work", "threads", "cluster", "ratio"), rows)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
