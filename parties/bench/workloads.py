"""What `scripts/bench/analyses` measures: analyses with parameters and made-up data, by name.

Both processes make the data of both sides from the same public seed, so nothing is handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from parties.bench.cohorts import JOBS, cohorts
from parties.bench.people import FIELDS, people
from smc.analyses.matching.suggestion import menu
from smc.analyses.studies.columns import Column, Data, Schema
from smc.forms import Role
from smc.numeric.random import Randomness

BOTH: Final = ("alice", "bob")

_SEED: Final = b"duetto made up data"


def made_up() -> Randomness:
    """A source of numbers that are the same in every process."""
    stream = Cipher(algorithms.AES(_SEED.ljust(32)), modes.CTR(bytes(16))).encryptor()
    return Randomness(lambda count: stream.update(bytes(count)))


@dataclass(frozen=True, slots=True)
class Workload:
    """An analysis to be measured.

    Attributes:
        analysis: its name in the registry.
        parameters: as in a job file.
        data: from the rows of each side to the columns of both; the same in both processes.
        recipients: who gets the results.
    """

    analysis: str
    parameters: Mapping[str, Any]
    data: Callable[[int], Mapping[Role, Data]]
    recipients: tuple[str, ...] = BOTH


def _texts(rows: int) -> Mapping[Role, Data]:
    """Half of each side's rows have a key that the other side has, too."""
    numbers = made_up().permutation(2 * rows)
    start = rows // 2
    schema = Schema("text")
    return {
        role: {
            "id": Column([f"P{number:09d}" for number in numbers[first : first + rows].tolist()], schema),
        }
        for role, first in ((Role.ALICE, 0), (Role.BOB, start))
    }


def _numbers(rows: int) -> Mapping[Role, Data]:
    """As `_texts`, with whole numbers."""
    numbers = made_up().permutation(2 * rows)
    start = rows // 2
    schema = Schema("integer", lower=0, upper=2 * rows)
    return {
        role: {"id": Column(numbers[first : first + rows], schema)}
        for role, first in ((Role.ALICE, 0), (Role.BOB, start))
    }


def _people(rows: int) -> Mapping[Role, Data]:
    """Persons, nine in ten of whom both sides have, with errors."""
    return people(made_up(), rows, rows * 9 // 10)


def _points(rows: int) -> Mapping[Role, Data]:
    """Eight measures of five kinds of persons, each about as frequent on both sides."""
    source, columns, kinds = made_up(), 8, 5
    middles = source.words(kinds * columns).reshape(kinds, columns) % np.uint64(700)
    schema = Schema("integer", lower=0, upper=1000)
    tables = {}
    for role in Role:
        kind = source.words(rows) % np.uint64(kinds)
        spread = (source.words(4 * rows * columns) % np.uint64(75)).reshape(4, rows, columns).sum(axis=0)
        values = (middles[kind] + spread).astype(np.int64)
        tables[role] = {f"m{i}": Column(values[:, i].copy(), schema) for i in range(columns)}
    return tables


def _features(rows: int) -> Mapping[Role, Data]:
    """Vectors of 128 numbers; half of Bob's are near to Alice's."""
    source, schema = made_up(), Schema("integer", lower=-128, upper=127)
    first, second = (source.words(rows * 16).view(np.int8).reshape(rows, 128).astype(np.int64) for _ in Role)
    half = rows // 2
    second[:half] = np.clip(first[:half] + second[:half] // 16, -128, 127)
    return {
        role: {f"f{i}": Column(values[:, i].copy(), schema) for i in range(128)}
        for role, values in zip(Role, (first, second), strict=True)
    }


def _measures(rows: int) -> Mapping[Role, Data]:
    """A kind out of 1000 and an amount of up to a million."""
    source = made_up()
    schemas = {
        "kind": Schema("category", categories=tuple(str(index) for index in range(1000))),
        "amount": Schema("integer", lower=0, upper=1_000_000),
    }
    return {
        role: {
            name: Column((source.words(rows) % np.uint64(most)).astype(np.int64), schemas[name])
            for name, most in (("kind", 1000), ("amount", 1_000_001))
        }
        for role in Role
    }


def _make_matched(rows: int) -> Mapping[Role, Data]:
    """Half of each side's rows have a key that the other side has, too; four measures each."""
    source, numbers = made_up(), made_up().permutation(2 * rows)
    schema = Schema("integer", lower=0, upper=4095)
    tables: dict[Role, Data] = {}
    for role, first, names in ((Role.ALICE, 0, MATCHED[0]), (Role.BOB, rows // 2, MATCHED[1])):
        keys = [f"P{number:09d}" for number in numbers[first : first + rows].tolist()]
        values = (source.words(rows * len(names)) % np.uint64(4096)).astype(np.int64).reshape(rows, -1)
        tables[role] = {"id": Column(keys, Schema("text"))} | {
            name: Column(values[:, place].copy(), schema) for place, name in enumerate(names)
        }
    return tables


def _cohorts(rows: int) -> Mapping[Role, Data]:
    return cohorts(made_up(), rows)


MATCHED: Final = (("a0", "a1", "a2", "a3"), ("b0", "b1", "b2", "b3"))
"""The measures of Alice and of Bob in statistics over matched rows."""

_MATCHED_MOMENTS: Final = {
    "epsilon": "1",
    "layout": "vertical",
    "maximum_rows": 2_000_000,
    "alice_columns": list(MATCHED[0]),
    "bob_columns": list(MATCHED[1]),
    "match": {"keys": ["id"], "duplicates": "error", "normalization": {"id": []}},
    "queries": [
        {"name": "fit", "kind": "regression", "target": "b3", "on": [*MATCHED[0], *MATCHED[1][:3]]},
        {"name": "together", "kind": "covariance", "columns": ["a0", "b0"]},
    ],
}

_KEYS: Final = {"method": "exact", "keys": ["id"], "output": "keys"}
_SUMS: Final = [{"side": side, "column": "id"} for side in BOTH]

_TOLERANT: Final = {
    "method": "tolerant",
    "fields": [{"column": name} for name in FIELDS],
    "threshold": "0.6",
    "blocking": [
        ["born:value"],
        ["street:prefix6", "house:value"],
        ["surname:soundex", "born:prefix4"],
        ["surname:soundex", "given_name:soundex"],
        ["given_name:prefix3", "postcode:value"],
    ],
}

_RANKS: Final = {
    "fields": [
        {"column": name, "weight": weight}
        for name, weight in {"given_name": 3, "surname": 2, "born": 3, "postcode": 1}.items()
    ],
    "ranks": 1,
    "blocking": [
        ["born:value", "given_name:prefix1"],
        ["street:prefix6", "house:value", "given_name:prefix1"],
        ["surname:soundex", "born:prefix6"],
        ["surname:soundex", "given_name:soundex", "born:prefix3"],
        ["given_name:prefix3", "postcode:value"],
    ],
}

_REGISTRY: Final = {
    **menu.recipe(FIELDS, 1_000_000, has_dashes=False),
    "overflow": "accept",
}
"""What `duetto matching suggest` gives for a million rows."""

_CLUSTERS: Final = {"clusters": 5, "columns": [f"m{i}" for i in range(8)], "iterations": 10}

_CLUSTERS_MATCHED: Final = {
    "clusters": 5,
    "layout": "vertical",
    "alice_columns": list(MATCHED[0]),
    "bob_columns": list(MATCHED[1]),
    "match": {"keys": ["id"], "duplicates": "error", "normalization": {"id": []}},
    "iterations": 10,
    "start": "random",
    "labels": False,
}

_HISTOGRAM: Final = {"queries": [{"kind": "histogram", "column": "kind"}]}

_VECTORS: Final = {"method": "vectors", "columns": [f"f{i}" for i in range(128)]}

WORKLOADS: Final[Mapping[str, Workload]] = MappingProxyType(
    {
        **{name: Workload(*job, _cohorts) for name, job in JOBS.items()},
        "clusters": Workload("clustering", {**_CLUSTERS, "start": "random"}, _points),
        "clusters-plus-plus": Workload("clustering", _CLUSTERS, _points),
        "clusters-many": Workload("clustering", {**_CLUSTERS, "start": "random", "clusters": 20}, _points),
        "clusters-narrow": Workload(
            "clustering", {**_CLUSTERS, "start": "random", "columns": ["m0"]}, _points
        ),
        "clusters-matched": Workload("clustering", _CLUSTERS_MATCHED, _make_matched),
        "exact": Workload("matching", _KEYS, _texts, ("alice",)),
        "exact-both": Workload("matching", _KEYS, _texts),
        "exact-numbers": Workload("matching", _KEYS, _numbers, ("alice",)),
        "exact-size": Workload("matching", {**_KEYS, "output": "size"}, _texts),
        "exact-sums": Workload("matching", {**_KEYS, "output": "statistics", "values": _SUMS}, _numbers),
        "histogram": Workload("statistics", {**_HISTOGRAM, "epsilon": "1"}, _measures),
        "histogram-gaussian": Workload(
            "statistics", {**_HISTOGRAM, "noise": "gaussian", "rho": "1/100"}, _measures
        ),
        "matched-moments": Workload("statistics", _MATCHED_MOMENTS, _make_matched),
        "median": Workload(
            "statistics", {"epsilon": "1", "queries": [{"kind": "median", "column": "amount"}]}, _measures
        ),
        "median-fine": Workload(
            "statistics",
            {"epsilon": "1", "queries": [{"kind": "median", "column": "amount", "step": "16"}]},
            _measures,
        ),
        "tolerant": Workload("matching", {**_TOLERANT, "one_to_one": "greedy"}, _people),
        "tolerant-ranks": Workload("matching", {**_TOLERANT, **_RANKS}, _people),
        "tolerant-registry": Workload("matching", _REGISTRY, _people),
        "tolerant-pairs": Workload("matching", {**_TOLERANT, "one_to_one": "none"}, _people),
        "vectors": Workload("matching", {**_VECTORS, "threshold": "100"}, _features),
        "vectors-narrow": Workload(
            "matching", {**_VECTORS, "columns": ["f0", "f1", "f2", "f3"], "threshold": "100"}, _features
        ),
        "vectors-cosine": Workload(
            "matching", {**_VECTORS, "similarity": "cosine", "threshold": "0.9"}, _features
        ),
    }
)
"""By the name that the script is given; one line each."""
