"""Measures `duetto sanitize` over a folder, from files to files: its time, its memory and its outcome.

Court cases: second halves of documents of the Text Anonymization Benchmark, with the first halves of all as
the web and the applicants as names. Invented texts: those of scripts/gen_corpus, in four languages, without
names; the web has texts of other templates.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader
from itertools import islice
from pathlib import Path
from typing import Any

from measuring import OUT, machine, print_table, tell, write_json

GEN_CORPUS = Path(__file__).resolve().parents[1] / "gen_corpus"
LANGUAGES = ("en", "ja", "de", "fr")


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="document_folder", description=__doc__)
    parser.add_argument("--court", type=Path, help="tab_echr_documents.csv of the benchmark")
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "reports").mkdir()
        options = invented(home, asked.documents)
        if asked.court:
            options = court(home, asked.court, asked.documents)
        found = sanitized(home, options)
    heads = ("documents", "wall s", "CPU s", "load", "memory MB", "status", "released")
    name = "court cases" if asked.court else "invented texts"
    print_table(f"duetto sanitize, {name}", list(heads), [[found[head] for head in heads]])
    if found["status"]:
        tell(str(found["outcome"]))
    values = {"machine": machine(), "what": name, **found}
    tell(f"written to {write_json(asked.out, f'document_folder_{name.split(maxsplit=1)[0]}.json', values)}")
    return 0


def court(home: Path, table: Path, count: int) -> list[str]:
    """Write second halves as reports, and all first halves as the web; the options of the command."""
    csv.field_size_limit(1 << 30)
    (home / "web").mkdir()
    names = [("document", "name")]
    with table.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            text, name = row["text"], f"{row['doc_id']}.txt"
            cut = max(text.find("\n", len(text) // 2), len(text) // 2)
            (home / "web" / name).write_text(text[:cut], encoding="utf-8")
            if number < count:
                (home / "reports" / name).write_text(text[cut:], encoding="utf-8")
                names.append((name, row["applicant"]))
    with (home / "names.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(names)
    return ["--web", "web", "--names", "names.csv"]


def invented(home: Path, count: int) -> list[str]:
    """Write texts of the corpus, as many of each language: one half as reports, the other as the web."""
    corpus = SourceFileLoader("gen_corpus", str(GEN_CORPUS)).load_module()
    for half, folder in (("held", home / "reports"), ("built", home / "web")):
        folder.mkdir(exist_ok=True)
        for place, language in enumerate(LANGUAGES):
            writer, templates = corpus.Writer(language, half), list(corpus.templates(language, half))
            for number in range(len(range(place, count, len(LANGUAGES)))):
                text, _ = corpus.marked(writer.text(templates[number % len(templates)][1]))
                (folder / f"{language}-{number:04}.txt").write_text(text, encoding="utf-8")
    return ["--web", "web"]


def sanitized(home: Path, options: list[str]) -> dict[str, Any]:
    """Run the command, and say what it took and what came of it."""
    reports = sum(1 for _ in (home / "reports").iterdir())
    command = [
        Path(sys.executable).with_name("duetto"),
        "sanitize",
        "reports",
        *options,
        "-o",
        "out",
        "--json",
    ]
    load, before = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    released = sum(1 for _ in islice((home / "out").glob("*.txt"), reports)) if done.returncode == 0 else 0
    told = json.loads(done.stdout or "{}")
    said = told.get("attackers") if done.returncode == 0 else told.get("error", done.stderr[-2000:])
    return {
        "documents": reports,
        "wall s": time.perf_counter() - wall,
        "CPU s": used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
        "load": load,
        "memory MB": used.ru_maxrss / 1024,
        "status": done.returncode,
        "released": released,
        "outcome": said,
    }


if __name__ == "__main__":
    sys.exit(main())
