#!/usr/bin/env python3
"""The tests under many seeds: all of them under the first, those that a seed could change under each other.

scripts/test --seeds 20 [--seed SEED] [arguments of pytest]

The seeds follow from the first, `SEED`, `SEED.1`, `SEED.2` and so on, so each run can be repeated by itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.support.seeds import run_seed

INTERRUPTED = 2
"""From this exit status of pytest on nothing can be said of a run."""


def run(seeds: Sequence[str], words: Sequence[str]) -> tuple[int, dict[str, list[str]]]:
    """Run the tests under each seed.

    Args:
        seeds: the first is that of the whole run.
        words: arguments of pytest.

    Returns:
        How many tests were seeded; the tests that failed, with the seeds under which they did.
    """
    failed = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="seeds-") as folder:
        first, note = Path(folder, "first.json"), Path(folder, "note.json")
        for number, seed in enumerate(seeds):
            # One word each: pytest takes a file that stands by itself for where the tests are.
            kept = [f"--note={note}", f"--only-seeded-of={first}"] if number else [f"--note={first}"]
            print(f"seed {seed}, {number + 1} of {len(seeds)}", flush=True)
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "--seed", seed, *kept, *words], check=False
            )
            if done.returncode >= INTERRUPTED:
                raise SystemExit(done.returncode)
            for test in json.loads((note if number else first).read_text(encoding="utf-8"))["failed"]:
                failed[test].append(seed)
        return len(json.loads(first.read_text(encoding="utf-8"))["seeded"]), failed


def main() -> None:
    """Print which tests fell under which seeds; exit status 1 if any did."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=False, allow_abbrev=False)
    parser.add_argument("--seeds", type=int, required=True)
    parser.add_argument("--seed")
    given, words = parser.parse_known_args()
    first = run_seed(given.seed)
    seeds = [first, *(f"{first}.{number}" for number in range(1, given.seeds))]
    seeded, failed = run(seeds, words)
    print(f"{seeded} tests are seeded; of all tests {len(failed)} failed under {len(seeds)} seeds.")
    for test, fell in sorted(failed.items()):
        print(f"{test}: {len(fell)} of {len(seeds)}, --seed {', '.join(fell)}")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
