"""Times `duetto anonymize` as a whole command, of this state and of another one by turns.

    scripts/bench/anonymizer_command --other ../old/.venv/bin/duetto --repeat 5

Adult, six quasi-identifiers, k = 5: 14 of its columns, beside another state 13, since an older one cannot
accept the column of weights; with `--rows` also so many rows x 9 drawn of it. Each state makes the same
release; printed are medians of seconds by the clock, of seconds of the processor, and the most memory. The
table is read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import tomli_w
from anonymizer_tables import adult_frame, hierarchy_files, million

from anonymizer.tables.randomness import Randomness
from scripts.bench.measuring import machine, tell

QUASI = ("age", "education", "marital_status", "race", "sex", "native_country")

WEIGHT = "fnlwgt"

ACCEPTED = {
    "finding": "named-like-identifier",
    "column": WEIGHT,
    "why": "a weight of the sampling, by which nobody is found",
}


@dataclass(frozen=True)
class Run:
    """What one run took: seconds by the clock, seconds of the processor, MiB at most."""

    clock: float
    processor: float
    memory: float


def words_of(
    folder: Path, source: Path, method: str, k: int, accept: Sequence[dict[str, str]] = ()
) -> list[str]:
    """Write a specification; the words of the command that follow `duetto anonymize`."""
    specification = {
        "roles": {"quasi_identifiers": list(QUASI), "sensitive": ["income"]},
        "hierarchies": {column: {"file": str(hierarchy_files()[column])} for column in QUASI},
        "steps": [{"method": method, "k": k}],
    }
    if accept:
        specification["accept"] = list(accept)
    place = folder / f"{source.stem}-{method}.toml"
    place.write_text(tomli_w.dumps(specification), encoding="utf-8")
    return [str(source), "--spec", str(place), "-o", str(folder / "release.csv")]


def run(program: Path, words: Sequence[str], folder: Path) -> Run:
    """Run a command once; what it released is removed again.

    Raises:
        RuntimeError: it failed.
    """
    alone = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }  # each its own sources
    quiet = subprocess.DEVNULL
    begun = time.perf_counter()
    with subprocess.Popen([program, "anonymize", *words], stdout=quiet, stderr=quiet, env=alone) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    clock = time.perf_counter() - begun
    if process.returncode:
        raise RuntimeError(f"{program} ended with {process.returncode}")
    for place in [*folder.glob("release.csv*"), *folder.rglob("duetto-releases*")]:
        place.unlink()
    return Run(clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def cases(folder: Path, rows: int, weighted: bool) -> Iterator[tuple[str, list[str]]]:
    """Names of the cases and the words of their commands.

    Args:
        folder: where tables and specifications are written.
        rows: of the large table; 0 leaves it out.
        weighted: Adult has its column of weights, which the gate asks about.
    """
    sources = folder / "sources"
    sources.mkdir()
    path, large = sources / "adult.csv", sources / "large.csv"
    frame = adult_frame().drop(columns="education_num")  # a renaming of education, which the gate refuses
    if not weighted:
        frame = frame.drop(columns=WEIGHT)
    accept = [ACCEPTED] if weighted else []
    frame.to_csv(path, index=False)
    for method in ("local-recoding", "mondrian"):
        yield f"Adult, {len(frame):,} x {frame.shape[1]}, {method}", words_of(folder, path, method, 5, accept)
    if rows:
        drawn = million(rows).native
        drawn["income"] = frame["income"].to_numpy()[Randomness(3).integers(len(frame), rows)]
        drawn.to_csv(large, index=False)
        yield f"{rows:,} x {drawn.shape[1]}, local-recoding", words_of(folder, large, "local-recoding", 5)


def main() -> None:
    """Print a line for each case and state."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--other", type=Path, help="the program `duetto` of another state")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="of the large table; 0 leaves it out")
    arguments = parser.parse_args()
    programs = {"this": Path(sys.executable).with_name("duetto")}
    if arguments.other:
        programs["other"] = arguments.other.resolve()
    tell(json.dumps(machine()))
    with tempfile.TemporaryDirectory(prefix="anonymizer-command-") as place:
        folder = Path(place)
        # An older state refuses a specification that accepts a finding.
        for name, words in cases(folder, arguments.rows, weighted=arguments.other is None):
            found: dict[str, list[Run]] = {state: [] for state in programs}
            for _ in range(arguments.repeat):
                for state, program in programs.items():
                    found[state].append(run(program, words, folder))
            for state, runs in found.items():
                clock, processor, memory = (
                    median(values)
                    for values in zip(*((r.clock, r.processor, r.memory) for r in runs), strict=True)
                )
                print(f"{name}, {state}: {clock:.2f} s, {processor:.2f} s of the processor, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
