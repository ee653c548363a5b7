"""`duetto party status` and `duetto doctor`, on whose ledger stands against jobs."""

from __future__ import annotations

from dataclasses import replace

from click.testing import CliRunner

from parties import doctor
from parties.cli.party import party as party_group
from parties.config import Peer, load
from parties.ledger.doubts import Notes, Whose


def test_status_and_doctor_say_whose_ledger_stands_against_jobs(served, monkeypatch):
    """Of the peer's and of the local one: with what to do, and nothing where all is well."""
    config = load(served.folder / "north")
    monkeypatch.setattr("parties.cli.party.running_pid", lambda _: 7)

    def status():
        words = ["status", "--config", str(config.path)]
        return " ".join(CliRunner().invoke(party_group, words).stdout.split())

    peer = Peer("south", replace(config.listen, port=1), config.path, "")

    def found():
        return {
            "self": next(one for one in doctor.examine_self(config) if one.check == "ledger"),
            "south": doctor._peer_ledger(config, peer),
        }

    assert {one.verdict for one in found().values()} == {doctor.Status.OK}
    assert "south" not in status()
    notes = Notes(config.home / "doubts.json")
    for whose, subject, other, hint in (
        (Whose.PEER, "south", "self", "Ask south to bring back the newest copy of its ledger"),
        (Whose.OWN, "self", "south", "Bring back the newest copy of the ledger"),
    ):
        notes.add("south", whose)
        assert "jobs with south are refused" in status()
        assert hint in status()
        assert found()[subject].verdict is doctor.Status.FAIL
        assert hint in found()[subject].hint
        assert found()[other].verdict is doctor.Status.OK
    notes.clear("south")
    assert {one.verdict for one in found().values()} == {doctor.Status.OK}
    (config.home / "heads.json").write_text("[]")
    (broken,) = (one for one in doctor.examine_self(config) if one.check == "ledger")
    assert broken.verdict is doctor.Status.FAIL
    assert "heads.json" in status()
