"""A home restored from a backup as `duetto party restore` says, with the daemons of two parties."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

from scripts.processes import duetto
from scripts.soak.two_parties import JOB, TwoParties

NEWER = ("ledger.jsonl", "heads.json", "exact-jobs.log", "audit")
"""What to bring of the lost home, if it is there."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The parties, stopped, and a folder with a backup of north; both homes lie beside it, one job later."""
    folder = tmp_path_factory.mktemp("p")
    parties = TwoParties(folder)
    try:
        for name in parties.homes:
            parties.start(name)
        with parties.party("north") as north:
            north.run(JOB, progress=False, timeout=240)
            duetto("party", "backup", folder / "n.bak", "--config", parties.homes["north"])
            north.run(JOB, progress=False, timeout=240)
        for name, home in parties.homes.items():
            parties.kill(name, signal.SIGTERM)
            home.rename(folder / f"{name}.lost")
        yield parties, folder
    finally:
        parties.close()


@pytest.fixture
def lost(ran):
    """The same with south as it was, running, and without a home of north."""
    parties, folder = ran
    shutil.copytree(folder / "south.lost", parties.homes["south"])
    parties.start("south")
    yield ran
    parties.kill("south", signal.SIGTERM)
    for home in parties.homes.values():
        shutil.rmtree(home)


def restored(lost, called, newer):
    """The home again, with the newest copies of these; what the command has said."""
    parties, folder = lost
    home = parties.homes["north"]
    status, said, _ = called("party", "restore", folder / "n.bak", "--home", home)
    assert status == 0
    for name in newer:
        found, place = folder / "north.lost" / name, home / name
        if found.is_dir():
            shutil.rmtree(place)
            shutil.copytree(found, place)
        elif found.exists():
            shutil.copy(found, place)
    return home, " ".join(said.split())


def finding(called, home):
    """What `party health` says of the audit log, and its status."""
    status, out, _ = called("party", "health", "--config", home, "--json")
    (found,) = (one for one in json.loads(out)["checks"] if one["check"] == "audit log")
    return status, found


def one_more_job(parties):
    with parties.party("north") as north:
        north.run(JOB, progress=False, timeout=240)


def test_all_newest_copies_brought_back(lost, called):
    parties, _ = lost
    home, said = restored(lost, called, NEWER)
    assert all(name in said for name in NEWER)
    parties.start("north")
    try:
        status, found = finding(called, home)
        assert (status, found["verdict"]) == (0, "ok"), found
        one_more_job(parties)
        assert called("log", "verify", "--config", home)[0] == 0
    finally:
        parties.kill("north", signal.SIGTERM)


def test_the_newest_log_is_lost_and_its_gap_recorded(lost, called):
    parties, _ = lost
    home, said = restored(lost, called, NEWER[:-1])
    assert "duetto log record-gap" in said
    parties.start("north")
    try:
        status, found = finding(called, home)
        assert (status, found["verdict"]) == (1, "fail")
        assert "duetto log record-gap" in found["hint"]
        assert called("log", "record-gap", "--config", home)[0] != 0  # the daemon runs
    finally:
        parties.kill("north", signal.SIGTERM)
    status, out, _ = called("log", "record-gap", "--as", "Ann", "--config", home, "--json")
    assert status == 0
    missing = json.loads(out)["lost"]
    assert missing
    assert json.loads(called("log", "record-gap", "--config", home, "--json")[1])["lost"] == []
    parties.start("north")
    try:
        status, found = finding(called, home)
        assert (status, found["verdict"]) == (0, "warn"), found
        one_more_job(parties)
        status, out, _ = called("log", "verify", "--config", home, "--json")
        (gap,) = json.loads(out)["gaps"]
        assert (status, json.loads(out)["problems"]) == (0, [])
        assert f"from its entry {missing[0]} to {missing[-1]}" in gap
        assert "Ann" in gap
        assert f"GAP: {gap}" in called("log", "verify", "--config", home)[1].replace("\n", " ")
    finally:
        parties.kill("north", signal.SIGTERM)
    # What is lost after the gap is found as before.
    path = max((home / "audit").glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if b'"decided"' in line)
    path.write_bytes(b"".join(lines[:last]))
    status, out, _ = called("log", "verify", "--config", home, "--json")
    assert status == 77
    assert all("is not in the log" in problem for problem in json.loads(out)["problems"])
