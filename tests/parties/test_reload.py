"""Peers are paired, changed and removed while two real daemons run; a broken file changes nothing."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import tomli_w

from commons.exits import CONFIG
from parties.client import Party
from parties.config import load
from parties.contracts.state import State
from parties.errors import PeerUntrusted
from scripts.processes import NAMES, ended, introduced, started
from tests.parties.jobs.institutions import ALLOWED, job
from tests.support.commands import tried
from tests.support.waiting import until

JOB = job("preparation", {"count": 100, "bits": 8}, {})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two parties that have never heard of each other."""
    folder = tmp_path_factory.mktemp("r")
    found = {}
    for name in NAMES:
        found[name] = introduced(folder / name)
        (folder / name / "policy.toml").write_text(tomli_w.dumps({"rules": [ALLOWED]}))
    return found


@pytest.fixture
def daemons(made):
    """The daemons by name; each writes a file `log` in its home."""
    processes = {}
    for name in NAMES:
        home = Path(made[name]["home"])
        with (home / "log").open("wb") as log:
            processes[name] = started(home, log)
    yield processes
    for process in processes.values():
        ended(process)


def run(home, words, code=0):
    done = tried(*words, "--config", home, "--json")
    assert done.returncode == code or code is None, done.stdout + done.stderr
    return json.loads(done.stdout)


def finished(home):
    with Party(home) as party:
        job = party.submit(JOB)
        return job.wait(timeout=60).state


def test_peers_come_and_go_while_the_daemons_run(made, daemons):
    north, south = (Path(made[name]["home"]) for name in NAMES)
    for name, peer in (NAMES, NAMES[::-1]):
        words = ["pair", made[peer]["pairing_file"], "--fingerprint", made[peer]["fingerprint"]]
        assert run(made[name]["home"], words)["taken_up"] is True
    assert finished(north) is finished(south) is State.FINISHED

    config = north / "duetto.toml"
    whole = config.read_text()
    pin = load(north).peer("south").pin
    for broken, what in (
        (whole + "\n[nonsense]\n", "nonsense"),
        (whole + "[[peers]]\n", "peer 2"),
        (whole.replace(pin, pin[::-1]), "pin of peer"),
    ):
        config.write_text(broken)
        done = tried("party", "reload", "--config", north)
        assert done.returncode in (CONFIG, 65)
        assert what in done.stderr
        config.write_text(whole)  # clients read it, too
        assert finished(north) is State.FINISHED
    policy = north / "policy.toml"
    allowed = policy.read_text()
    policy.write_text("rules = 3")
    assert "policy.toml" in tried("party", "reload", "--config", north).stderr
    policy.write_text(allowed + "\n# looked at in November\n")
    assert "read anew and in order: policy\n" in tried("party", "reload", "--config", north).stdout
    assert "Peers, policy and catalog are as they were." in tried("party", "reload", "--config", north).stdout

    config.write_text(whole + "\n[jobs]\nkeep_results_days = 3\n")
    assert run(north, ["party", "reload"]) == {
        "success": True, "added": [], "removed": [], "changed": [], "later": [], "files": []
    }  # fmt: skip
    config.write_text(whole + "\n[limits]\nsessions = 2\n")
    assert run(north, ["party", "reload"])["later"] == ["limits"]

    alone = whole[: whole.index("[[peers]]")]
    config.write_text(alone)
    assert run(north, ["party", "reload"])["removed"] == ["south"]
    with pytest.raises(PeerUntrusted):
        finished(south)
    config.write_text(whole)
    daemons["north"].send_signal(signal.SIGHUP)
    assert until(lambda: run(south, ["doctor", "--peer", "north"], code=None)["healthy"])
    assert finished(south) is finished(north) is State.FINISHED


def test_a_broken_file_at_the_signal_is_logged_and_changes_nothing(made, daemons):
    north = Path(made["north"]["home"])
    config = north / "duetto.toml"
    whole = config.read_text()
    config.write_text(whole + "\n[nonsense]\n")
    daemons["north"].send_signal(signal.SIGHUP)
    refused = "reload refused, nothing has changed"
    assert until(lambda: refused in (north / "log").read_text())
    config.write_text(whole)
    assert finished(north) is State.FINISHED
    assert "nonsense" in (north / "log").read_text()
