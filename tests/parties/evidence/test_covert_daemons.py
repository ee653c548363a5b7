"""Covert runs of daemons: lanes in processes of their own, a connection that is cut, and both kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from parties.client import job_text
from parties.contracts.state import State
from parties.evidence.run_case import decode_case
from parties.evidence.store import CASE, RUNNING, EvidenceStore
from scripts.processes import COMMAND, NAMES, duetto
from scripts.soak.kinds import furnish, kinds
from scripts.soak.two_parties import TwoParties
from tests.support.waiting import until

ROWS = 30_000


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """The fingerprint of the auditor's keys."""
    folder = tmp_path_factory.mktemp("office")
    return json.loads(duetto("evidence", "auditor", "make", folder, "--name", "office", "--json"))["key"]


@pytest.fixture
def parties(key):
    def give(home: Path, number: int) -> None:
        furnish(home, number, ROWS, auditors={"office": key})
        config = home / "duetto.toml"
        text = config.read_text()
        assert "[compute]" not in re.sub("#.*", "", text)
        config.write_text(f"{text}\n[compute]\nlanes = 2\n")

    with tempfile.TemporaryDirectory(prefix="duetto-") as short:  # sockets have short names
        made = TwoParties(Path(short), furnish=give, lines=True)
        for name in NAMES:
            made.start(name)
        yield made
        made.close()


def checked(home: Path, job_id: str, **variables: str) -> dict[str, object]:
    """What `duetto evidence check` says, in a process with other variables."""
    words = ("evidence", "check", job_id, "--config", str(home), "--json")
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, env=environment, timeout=170, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_lanes_cuts_and_the_other_kernels_change_nothing(parties, key):
    document = dict(kinds(NAMES)["comparison, plain result"])
    document["job"] = {**document["job"], "security": "covert"}
    document |= {"audit": {"auditor": "office", "key": key, "rate": "1"}, "compute": {"lanes": 2}}
    with parties.party("north") as party:
        job_id = party.submit(job_text(document)).id
        seen = (job for job in party.job(job_id).watch() if job.state is State.RUNNING and job.progress[1])
        assert next(seen, None) is not None
        parties.lines["south"].cut(0.3)
        assert party.job(job_id).wait().state is State.FINISHED
    for name in NAMES:
        store = EvidenceStore(parties.homes[name])
        # A peer that has finished may say so before this side's session has ended.
        until(lambda store=store: store.standing(job_id).state != RUNNING)
        case = decode_case(store.read(job_id, CASE))
        assert {1, 2} <= set(case.sent), "no lanes were taken"
        assert checked(parties.homes[name], job_id)["outcome"] == "cleared"
    assert checked(parties.homes["north"], job_id, DUETTO_KERNELS="numpy")["outcome"] == "cleared"
