"""Jobs of all kinds for soak tests and benchmarks: the jobs of `scripts/wire_jobs.toml` on homes of any size.

A home gets one data set `people` with the columns of those jobs, and one of each model that they name. Half
of each side's cards are the other side's, too; everything else is made up.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import tomli_w

from scripts.small_models import FOREST, LINEAR
from smc.analyses.predictors.text import pieces, text_of
from smc.analyses.studies.facts import MAX_PARTS
from smc.numeric.random import Randomness

SURNAMES = tuple(a + b for a in ("Ad", "Bran", "Die", "En", "Fal") for b in ("ler", "dt", "ger"))
SIDES = ("alice", "bob")
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "card": {"type": "text"},
    "surname": {"type": "text"},
    "born": {"type": "date", "lower": "1950-01-01", "upper": "2000-12-31"},
    "age": {"type": "integer", "lower": 0, "upper": 120, "unit": "years"},
    "weight": {"type": "decimal", "scale": 1, "lower": "20", "upper": "250", "unit": "kg"},
    "cost": {"type": "integer", "lower": 0, "upper": 100_000, "unit": "EUR"},
    "smoker": {"type": "category", "values": ["no", "yes"]},
}
MODELS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "model": {
        "term": {"type": "text"},
        "factor": {"type": "decimal", "scale": 3, "lower": "-10", "upper": "10"},
    },
    "forests": {"forest": {"type": "text"}},
    "formulas": {"weights": {"type": "text"}},
}
"""The columns of models, by their data sets."""
_CELLS: Mapping[str, list[tuple[str, ...]]] = {
    "model": [("(intercept)", "-4"), ("age", "0.05"), ("weight", "0.01")],
    "forests": [(piece,) for piece in pieces(text_of(FOREST))],
    "formulas": [(piece,) for piece in pieces(text_of(LINEAR))],
}
MAXIMUM_ROWS = 1_000_000
RULE: Mapping[str, Any] = {
    "name": "everything",
    "analyses": ["*"],
    "peers": ["*"],
    "datasets": ["people", *MODELS],
    "columns": ["*"],
    "keys": ["*"],
    "may_state": ["where", "derived", "bounds", "centres"],
    "recipients": ["both"],
    "epsilon_per_job": "10",
    "epsilon_total": "1000000",
    "exact_aggregates": True,
    "overlap": 0,
    "row_results": True,
    "figures_per_job": MAX_PARTS,
    "answers_total": 1_000_000_000_000,
    "runs_total": 1_000_000,
    "maximum_ratio": 0,
    "types": ["*-*-*"],
    "approval": "auto",
}
VECTORS: Mapping[str, Any] = {"name": "vectors", "parameters": {"method": ["vectors"]}}
"""What a rule for matching by likeness has besides, since that tells more than other jobs."""


def furnish(home: Path, number: int, rows: int, **entries: Any) -> None:
    """Give a home its data, catalog and policy.

    Args:
        home: a party's folder.
        number: 0 for the first party, 1 for the second.
        rows: of its data set; at most a million.
        entries: of the rule, other than `RULE` has them.
    """
    source = Randomness.from_seed(b"kinds", str(number))
    drawn = {
        "surname": source.below(len(SURNAMES), rows),
        "born": source.below(365 * 50, rows),
        "age": source.below(121, rows),
        "weight": source.below(2301, rows),
        "cost": source.below(100_001, rows),
        "smoker": source.below(2, rows),
    }
    people = [
        (
            f"C{row + number * rows // 2:09d}",
            SURNAMES[drawn["surname"][row]],
            date(1950, 1, 1) + timedelta(drawn["born"][row]),
            drawn["age"][row],
            f"{20 + drawn['weight'][row] / 10:.1f}",
            drawn["cost"][row],
            ("no", "yes")[drawn["smoker"][row]],
        )
        for row in range(rows)
    ]
    datasets = {"people": {"key": "card"} | _write(home, "people", COLUMNS, people)}
    datasets |= {name: _write(home, name, columns, _CELLS[name]) for name, columns in MODELS.items()}
    (home / "catalog.toml").write_text(tomli_w.dumps({"datasets": datasets}))
    rules = [{**RULE, **entries}, {**RULE, **VECTORS, **entries}]
    (home / "policy.toml").write_text(tomli_w.dumps({"rules": rules}))


def _write(
    home: Path, name: str, columns: Mapping[str, Mapping[str, Any]], cells: list[tuple[Any, ...]]
) -> dict[str, Any]:
    """Write a data set's file; its table of the catalog."""
    with (home / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([[*columns], *cells])
    return {"source": f"{name}.csv", "maximum_rows": MAXIMUM_ROWS, "columns": {**columns}}


def kinds(names: tuple[str, str], seconds: int = 600) -> dict[str, dict[str, Any]]:
    """Job files by what they are, between these two parties.

    Args:
        names: Alice and Bob.
        seconds: that a run may take.
    """
    text = Path(__file__).parents[1].joinpath("wire_jobs.toml").read_text(encoding="utf-8")
    found = {}
    for job in tomllib.loads(text)["jobs"]:
        found[job["name"]] = _document(job, names, seconds)
        if "then" in job:
            found[f"{job['name']}, then"] = _document(job["then"], names, seconds)
    return found


def _document(job: Mapping[str, Any], names: tuple[str, str], seconds: int) -> dict[str, Any]:
    sides = {side: {"dataset": _dataset(job[side]), "columns": job[side]} for side in SIDES if side in job}
    parameters = dict(job["parameters"])
    if "maximum_rows" in parameters:
        parameters["maximum_rows"] = MAXIMUM_ROWS
    head = {"analysis": job["analysis"], "recipients": job["recipients"]}
    return {
        "job": {**head, **dict(zip(SIDES, names, strict=True))},
        **sides,
        "parameters": parameters,
        "limits": {"seconds": seconds},
    }


def _dataset(columns: Mapping[str, str]) -> str:
    """The data set that has these columns."""
    return next((name for name, held in MODELS.items() if {*columns.values()} <= {*held}), "people")
