"""`scripts/bench/analyses`: analyses between two processes, and what is shown of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parties.bench.analysis import AnalysisCase, Joint, measure_analysis
from parties.bench.workloads import WORKLOADS
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench" / "analyses"


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_are_jobs_that_the_analysis_takes(name):
    workload = WORKLOADS[name]
    analysis = ANALYSES[workload.analysis]
    study = analysis.parse(workload.parameters)
    both, again = workload.data(20), workload.data(20)
    schemas = {role: {key: column.schema for key, column in both[role].items()} for role in Role}
    study.check(schemas[Role.ALICE], schemas[Role.BOB])
    study.check_recipients(frozenset(Role(name) for name in workload.recipients))
    for role in Role:
        assert set(study.columns[role]) <= set(both[role])
        for key, column in both[role].items():
            assert list(column.values) == list(again[role][key].values)


def test_figures_of_two_processes():
    found = measure_analysis(AnalysisCase("exact-both", 40, repeat=2, timeout=60))
    estimate = estimate_cost(
        MATCHING.parse({"method": "exact", "keys": ["id"]}), {}, frozenset(Role), RunSetting((40, 40))
    )
    assert found["result_rows_alice"] == found["result_rows_bob"] == {"matches": 20, "intersection": 1}
    assert len(found["seconds_of_runs"]) == 2
    assert found["payload_alice_to_bob"] < estimate.alice_bytes  # the base transfers are set-up
    assert (
        found["payload_bytes_per_row"] * 40 == found["payload_alice_to_bob"] + found["payload_bob_to_alice"]
    )
    assert found["bytes_bob_to_alice"] > found["payload_bob_to_alice"]
    assert min(found["peak_bytes_alice"], found["peak_bytes_bob"]) > 1 << 20


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["0,5", "5"])
def test_the_script(tmp_path, rows):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [SCRIPT, "exact", "--rows", rows, "--json"],
        check=True,
        env={**os.environ, "DUETTO_BIN": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    results = json.loads(done.stdout)["results"]
    assert [(each["name"], each["rows"], each["result_rows_bob"]) for each in results] == [
        ("exact", int(count), {}) for count in rows.split(",")
    ]


def test_there_are_no_other_workloads():
    with pytest.raises(UsageError, match="exact"):
        Joint(AnalysisCase("exakt", 1), Role.ALICE)
