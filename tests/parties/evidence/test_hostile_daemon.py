"""A daemon that deviates is convicted by a third machine, which has a sealed bundle and two certificates."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from parties.client import job_text
from parties.contracts.state import State
from scripts.processes import NAMES, duetto, started, tried
from scripts.soak.kinds import furnish, kinds
from scripts.soak.two_parties import TwoParties

KINDS = kinds(NAMES)
ROWS = 60
HOSTILE = """
import sys
from smc.channel.channel import Channel
from parties.cli.main import main
kind, bend = sys.argv.pop(1), Channel._put

def put(channel, name, data, total):
    if name == kind and len(data) and put.left:
        put.left -= 1
        data = bytearray(data)
        data[0] ^= 1
        data = bytes(data)
    bend(channel, name, data, total)

put.left = 1
Channel._put = put
main()
"""
"""A daemon that changes one bit of the first message of a kind, and signs what it has sent."""


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """The folder of the auditor's machine, and the fingerprint of its keys."""
    folder = tmp_path_factory.mktemp("office")
    made = json.loads(duetto("evidence", "auditor", "make", folder, "--name", "office", "--json"))
    return folder, made["key"]


@pytest.fixture
def parties(office):
    def give(home: Path, number: int) -> None:
        furnish(home, number, ROWS, auditors={"office": office[1]})

    with tempfile.TemporaryDirectory(prefix="duetto-") as short:  # sockets have short names
        made = TwoParties(Path(short), furnish=give)
        yield made
        made.close()


@pytest.mark.parametrize(
    ("job", "kind"),
    [
        ("matching, exact sums", "opened-shares"),
        ("statistics, noisy", "triple-openings"),
        ("clustering, horizontal with noise", "digit-offers"),
    ],
)
def test_it_is_convicted_and_the_other_cleared(parties, office, tmp_path, job, kind):
    folder, key = office
    parties.start("north")
    hostile = (sys.executable, "-c", HOSTILE, kind)
    with (parties.homes["south"] / "log").open("ab") as log:
        parties.processes["south"] = started(parties.homes["south"], log, hostile)
    document = dict(KINDS[job]) | {"audit": {"auditor": "office", "key": key, "rate": "1"}}
    document["job"] = {**document["job"], "security": "covert"}
    with parties.party("north") as party:
        job_id = party.submit(job_text(document)).id
        ended = party.job(job_id).wait()
    assert ended.state is State.FINISHED  # the deviation is unseen
    found = {}
    for name in NAMES:
        home, made = parties.homes[name], tmp_path / name
        duetto("job", "certificate", job_id, "-o", f"{made}.certificate", "--config", home)
        words = ("evidence", "bundle", job_id, "--auditor", folder / "auditor.json", "-o", f"{made}.bundle")
        duetto(*words, "--config", home)
        duetto("evidence", "verdict", f"{made}.bundle", "--keys", folder, "-o", f"{made}.verdict")
    words = [word for each in NAMES for word in ("--certificate", f"{tmp_path / each}.certificate")]
    for name in NAMES:
        made = tmp_path / name
        found[name] = json.loads(duetto("evidence", "verify", f"{made}.verdict", *words, "--json"))
        assert (found[name]["confirmed_by"], found[name]["whole_run"]) == ([*NAMES], True)
    verdicts = {name: each["verdict"] for name, each in found.items()}
    assert verdicts["north"]["outcome"] == "cleared", verdicts["north"]
    assert verdicts["south"]["outcome"] == "convicted"
    assert verdicts["south"]["frame"]["kind"] == kind
    done = tried("evidence", "check", job_id, "--config", parties.homes["south"])
    assert (done.returncode, kind in done.stdout) == (77, True), done.stdout + done.stderr
