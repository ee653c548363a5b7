"""Audits in processes of their own: what a run sends depends on nothing in which two processes differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parties.contracts.state import State
from smc.forms import Role
from tests.parties.evidence.covert import Deviating, covert
from tests.parties.evidence.test_covert_jobs import KINDS, NAMES, SHORT, prepare
from tests.support.grids import grid

ROOT = Path(__file__).parents[3]
AUDITS = """
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from tests.parties.evidence.covert import finding

homes = SimpleNamespace(folder=Path(sys.argv[1]))
found = [finding(homes, name, job) for job in sys.argv[2:] for name in ("north", "south")]
print(json.dumps([each.outcome.value for each in found]))
"""
OTHERS = (
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "COLUMNS": "20"},
    {"PYTHONHASHSEED": "2", "DUETTO_KERNELS": "numpy", "PYTHONOPTIMIZE": "1"},
)
"""Orders of sets of texts, time zones, languages, kernels: at least one differs from those of the run."""

MIXED = (SHORT, "matching, exact sums", "clustering, horizontal")


def audited(folder, jobs, **variables):
    """What audits of both sides of jobs say, in another process."""
    done = subprocess.run(
        [sys.executable, "-c", AUDITS, str(folder), *jobs],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kinds", grid([(MIXED,), *(((kind,),) for kind in KINDS)], [(MIXED,)]))
def test_an_honest_run_is_cleared_and_another_one_convicted_in_any_process(institutions, kinds):
    prepare(institutions)
    jobs = []
    for kind in kinds:
        jobs.append(institutions.submit(covert(KINDS[kind])))
        states = {record.state for record in institutions.ended(jobs[-1]).values()}
        assert states == {State.FINISHED}, kind
    institutions.network.bends[Role.BOB] = lambda transport: Deviating(transport, "triple-openings")
    jobs.append(institutions.submit(covert(KINDS[SHORT])))
    institutions.ended(jobs[-1])
    for variables in OTHERS:
        *honest, north, south = audited(institutions.folder, jobs, **variables)
        assert honest == ["cleared"] * len(NAMES) * len(kinds)
        assert (north == "convicted", south) == (False, "convicted")
