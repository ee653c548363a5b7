"""Measures the full-text index over a folder of documents: its time, its memory and its answers."""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from measuring import OUT, machine, print_table, tell, write_json

from anonymizer.documents.engines.index import FolderIndex
from anonymizer.tables.randomness import Randomness

VOCABULARY = 200_000
SEARCHES = (
    ("w1",),
    ("w10", "w20"),
    ("w100", "w1000", "w10000"),
    ("w150000", "w3"),
    ("東京",),
    ("東京", "w7"),
)


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="document_engines", description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=400, help="of each document")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start, load, before = machine(), os.getloadavg()[0], _memory()
    wall, cpu = time.perf_counter(), time.process_time()
    with FolderIndex(documents(asked.documents, asked.words)) as index:
        built = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "load": load}
        built |= {"megabytes": _memory() - before, "spilled": _spilled()}
        print_table(
            f"{asked.documents:,} documents of {asked.words} words",
            ["build: wall s", "CPU s", "load", "memory MB", "on the disk MB"],
            [[built[key] for key in ("wall", "cpu", "load", "megabytes", "spilled")]],
        )
        answers = []
        for keywords in SEARCHES:
            wall = time.perf_counter()
            hits = len(index.search(keywords))
            answers.append({"keywords": " ".join(keywords), "hits": hits, "wall": time.perf_counter() - wall})
    rows = [[one["keywords"], one["hits"], one["wall"]] for one in answers]
    print_table("searches", ["keywords", "hits", "wall s"], rows)
    values = {"machine": start, "documents": asked.documents, "words": asked.words, "built": built}
    tell(f"written to {write_json(asked.out, 'document_engines.json', values | {'searches': answers})}")
    return 0


def documents(count: int, words: int) -> Iterator[tuple[str, str]]:
    """Texts whose words are as unevenly frequent as those of a language (Zipf), each tenth with Japanese."""
    randomness = Randomness(1)
    for number in range(count):
        ranks = VOCABULARY ** randomness.uniform(words)
        text = " ".join(f"w{int(rank)}" for rank in ranks)
        yield f"{number:06}.txt", text + ("。東京都の中学校で事故が起きた。" * 5 if number % 10 == 0 else "")


def _memory() -> float:
    """The most memory that the process has taken, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _spilled() -> float:
    """MB of unnamed files that the process has open."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if str(entry.readlink()).endswith("(deleted)"):
                found += entry.stat().st_size
        except OSError:  # the descriptor of the listing itself
            continue
    return found / 2**20


if __name__ == "__main__":
    raise SystemExit(main())
