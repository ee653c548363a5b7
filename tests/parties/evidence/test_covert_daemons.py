"""Covert runs of daemons: lanes in processes of their own, a connection that is cut, and both kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from commons.exits import REFUSED
from parties.client import job_text
from parties.contracts.state import State
from parties.evidence.run_case import decode_case
from parties.evidence.store import CASE, RUNNING, EvidenceStore
from scripts.processes import COMMAND, NAMES, duetto, started
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


HOSTILE = """
from dataclasses import replace
from smc.channel.lanes import Lanes
from parties.cli.main import main
bend = Lanes.send

def send(lanes, frame):
    if frame.lane == 2 and frame.kind == "triple-openings" and send.left:
        send.left -= 1
        data = bytearray(frame.data)
        data[0] ^= 1
        frame = replace(frame, data=bytes(data))
    bend(lanes, frame)

send.left = 1
Lanes.send = send
main()
"""
"""A daemon that changes one bit of what its second lane sends, and signs what it has sent."""


def checked(home: Path, job_id: str, **variables: str) -> dict[str, Any]:
    """What `duetto evidence check` says, in a process with other variables."""
    words = ("evidence", "check", job_id, "--config", str(home), "--json")
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, env=environment, timeout=170, check=False
    )
    assert done.returncode in (0, REFUSED), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == REFUSED) == (found["outcome"] == "convicted")
    return found


def cut_run(parties, key):
    """A job over lanes whose connection is cut on the way, and ends well all the same."""
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
    return job_id


def test_lanes_cuts_and_the_other_kernels_change_nothing(parties, key):
    job_id = cut_run(parties, key)
    for name in NAMES:
        assert checked(parties.homes[name], job_id)["outcome"] == "cleared"
    assert checked(parties.homes["north"], job_id, DUETTO_KERNELS="numpy")["outcome"] == "cleared"


def test_a_bit_that_one_lane_changes_convicts_after_a_cut_by_either_kernels(parties, key):
    """Of the daemon that sent it; nobody has seen it in the run."""
    parties.kill("south")
    with (parties.homes["south"] / "log").open("ab") as log:
        parties.processes["south"] = started(parties.homes["south"], log, (sys.executable, "-c", HOSTILE))
    job_id = cut_run(parties, key)
    assert checked(parties.homes["north"], job_id)["outcome"] == "cleared"
    for kernels in ("", "numpy"):
        found = checked(parties.homes["south"], job_id, DUETTO_KERNELS=kernels)
        assert (found["outcome"], found["signed"]) == ("convicted", "end")
        assert (found["frame"]["lane"], found["frame"]["kind"]) == (2, "triple-openings")
