"""What tests of the gate share: a table of people, and how its releases are written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import GateError
from anonymizer.gate.gate import Gate
from anonymizer.methods.contract.method import Method
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.release import Release
from anonymizer.tables.table import Table
from tests.anonymizer.tables import HIERARCHIES, ROLES

RANDOM = np.random.default_rng(9)


def people(rows: int = 120) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"person {number}" for number in RANDOM.permutation(rows)],
            "age": RANDOM.integers(0, 16, rows),
            "city": RANDOM.choice(list("abcde"), rows),
            "job": RANDOM.choice(list("xyz"), rows),
            "illness": RANDOM.choice(list("uvw"), rows),
            # four people each, since numbers of one row or two are a finding
            "account": 2**53 + 1 + np.resize(RANDOM.permutation(10**6)[: max(1, rows // 4)], rows) * 2,
        }
    )


WITH_NAMES = replace(ROLES, identifiers=("name",))


def table(rows: int = 120) -> Table:
    return Table.of(people(rows), WITH_NAMES, HIERARCHIES)


def pipeline(*methods: Method) -> Pipeline:
    return Pipeline(steps=[(f"{number}-{m.name}", m) for number, m in enumerate(methods, 1)])


def rules(error: pytest.ExceptionInfo[GateError]) -> list[str]:
    return [one["rule"] for one in error.value.findings]


def written(release: Release, name: str | Path, **given) -> Manifest:
    return Gate(**given).write(release, Path(name)).manifest
