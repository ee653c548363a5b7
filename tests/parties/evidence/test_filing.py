"""Verdicts are filed: checked, written into the ledger, and kept; and what is due stands in the ledger."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import pytest

from parties.audit.files import read_log
from parties.audit.lines import AUDIT_DUE
from parties.auditors.audit import audit
from parties.auditors.keys import make_keys
from parties.auditors.verdicts import sign_missing, sign_verdict, signed_text
from parties.certificates.verification import read_certificate
from parties.cli import filing
from parties.cli.main import main
from parties.clock import CLOCK
from parties.contracts.state import State
from parties.evidence.store import BROKEN_OFF, CASE, COIN, DUE, JUDGED, RUNNING, EvidenceStore
from parties.ledger.book import open_ledger
from parties.ledger.entries import DUE as DUE_ENTRY
from parties.ledger.entries import VERDICT
from parties.pki.signing import key_text
from scripts.soak.kinds import furnish, kinds
from smc.analyses.registry import ANALYSES
from smc.forms import Role
from tests.parties.evidence.covert import Deviating, covert, shown
from tests.parties.evidence.leaving import Leaving, nothing_of, up_to_the_gate
from tests.parties.jobs.joined import ROLES
from tests.support.keys import toy

NAMES = ("north", "south")
JOB = kinds(NAMES)["statistics, noisy"]
ROWS = 40
CONFIG = '[party]\nname = "{name}"\n[listen]\naddress = "127.0.0.1:0"\n'


@pytest.fixture(scope="module")
def keys():
    return make_keys("office")


@pytest.fixture
def ready(institutions, keys):
    """Both parties let this auditor look, and have configurations that commands can read."""
    for number, name in enumerate(NAMES):
        home = institutions.folder / name
        furnish(home, number, ROWS, auditors={"office": keys.public.fingerprint})
        (home / "duetto.toml").write_text(CONFIG.format(name=name))
    return institutions


@pytest.fixture
def run(ready, keys, capsys, tmp_path):
    """Jobs, verdicts and commands."""

    def submitted(rate="1"):
        document = covert(JOB, rate)
        document["audit"]["key"] = keys.public.fingerprint
        job_id = ready.submit(document)
        ready.ended(job_id)
        return job_id

    def judged(name, job_id, show=lambda case: case, **heads):
        case, inputs, frames = shown(ready, name, job_id)
        case = show(case)
        found = audit(case, inputs, frames, ANALYSES, toy(ROLES[name]))
        found = replace(found, heads={**found.heads, **heads})
        path = tmp_path / f"{name}.verdict"
        path.write_text(json.dumps(sign_verdict(case, found, keys, CLOCK.stamp())))
        return path

    def called(*words):
        with pytest.raises(SystemExit) as left:
            main(["evidence", *map(str, words), "--config", str(ready.folder / "north"), "--json"])
        return int(left.value.code or 0), json.loads(capsys.readouterr().out)

    def entries(job_id, event):
        digest = ready.network.managers["north"].store.get(job_id).digest
        found = open_ledger(ready.folder / "north").of_job(digest)
        return [entry for entry in found if entry.event == event]

    return SimpleNamespace(submit=submitted, judge=judged, call=called, entries=entries)


def test_a_verdict_about_this_party_lets_its_record_go(ready, run, tmp_path):
    job_id = run.submit()
    assert [entry.why for entry in run.entries(job_id, DUE_ENTRY)] == [COIN]
    code, said = run.call("delete", job_id)
    assert (code, said["success"]) == (2, False)
    assert run.call("list")[1]["runs"][0]["verdict"] == ""
    path = run.judge("north", job_id)
    code, said = run.call("file", path)
    assert (code, said["about"], said["outcome"], said["auditor"]) == (0, "north", "cleared", "office")
    (entry,) = run.entries(job_id, VERDICT)
    assert (entry.sequence, entry.about, entry.outcome) == (said["entry"], "north", "cleared")
    assert run.call("file", path)[1]["entry"] == entry.sequence
    assert len(run.entries(job_id, VERDICT)) == 1
    (listed,) = run.call("list")[1]["runs"]
    assert (listed["state"], listed["verdict"], listed["peer_verdict"]) == (DUE, "cleared", "")
    assert run.call("delete", job_id)[1]["verdicts_left"] is True
    folder = ready.folder / "north" / "evidence" / job_id
    (kept,) = (one for one in folder.iterdir() if one.name not in ("receipt", "state.json"))
    assert kept.read_bytes() == path.read_bytes()
    assert run.call("receipt", job_id, "-o", tmp_path / "receipt")[0] == 0  # for an audit of the peer
    assert EvidenceStore(ready.folder / "north").standing(job_id).state == JUDGED
    assert run.call("check", job_id)[0] == 2  # nothing is left to be checked
    assert run.call("delete", job_id)[1]["verdicts_left"] is False
    assert len(run.entries(job_id, VERDICT)) == 1
    assert run.call("file", path)[0] == 0  # of a job of which nothing is kept
    assert run.call("list")[1]["runs"][0]["state"] == JUDGED


def test_a_verdict_about_the_peer_keeps_the_record_here(run):
    """The auditor may still ask this party for its own."""
    job_id = run.submit()
    assert run.call("file", run.judge("south", job_id))[0] == 0
    (listed,) = run.call("list")[1]["runs"]
    assert (listed["verdict"], listed["peer_verdict"]) == ("", "cleared")
    assert run.call("delete", job_id)[0] == 2


def test_a_verdict_that_a_party_shows_nothing_does_not_let_its_record_go(ready, run, keys, tmp_path):
    job_id = run.submit()
    document = ready.network.managers["south"].certificate(job_id)
    certificate = read_certificate(json.dumps(document).encode())
    path = tmp_path / "missing"
    path.write_text(json.dumps(sign_missing(certificate, Role.ALICE, keys, CLOCK.stamp())))
    assert run.call("file", path)[1]["outcome"] == "missing"
    assert run.call("delete", job_id)[0] == 2


def test_a_peer_that_deviates_stands_convicted_in_the_ledger(ready, run):
    ready.network.bends[Role.BOB] = lambda transport: Deviating(transport, "triple-openings")
    job_id = run.submit()
    assert run.call("file", run.judge("south", job_id))[1]["outcome"] == "convicted"
    (entry,) = run.entries(job_id, VERDICT)
    assert (entry.about, entry.outcome, entry.auditor) == ("south", "convicted", "office")


def test_what_is_no_verdict_on_a_run_here_is_not_filed(ready, run, keys, tmp_path):
    """Nobody but the auditor of the contract decides, about its run, its parties and their keys."""
    job_id = run.submit()
    path = run.judge("north", job_id)
    document = json.loads(path.read_text())
    document["verdict"]["outcome"] = "convicted"
    forged = tmp_path / "forged"
    forged.write_text(json.dumps(document))
    case = shown(ready, "north", job_id)[0]
    other = make_keys("other").signing
    body = json.loads(path.read_text())["verdict"]
    body["keys"]["bob"] = key_text(other.public_key())
    strange = tmp_path / "keys"
    strange.write_text(json.dumps({"verdict": body, "signature": keys.signing.sign(signed_text(body)).hex()}))
    record = run.judge("north", job_id, end=case.end._replace(sent=bytes(32)))
    attacks = [(forged, "signature"), (strange, "keys"), (record, "record")]
    for attack, what in attacks:
        code, said = run.call("file", attack)
        assert code == 65, said
        assert what in json.dumps(said)
    assert run.entries(job_id, VERDICT) == []
    assert {one.name for one in (ready.folder / "north" / "evidence" / job_id).iterdir()} == {
        "case",
        "frames",
        "inputs",
        "state.json",
    }


def test_another_auditor_decides_nothing(run):
    """A stranger signs the very same findings, under the name of the auditor whom the contract names."""
    job_id = run.submit()
    path = run.judge("north", job_id)
    body, stranger = json.loads(path.read_text())["verdict"], make_keys("office")
    body["auditor"] = stranger.public.document()
    signature = stranger.signing.sign(signed_text(body)).hex()
    path.write_text(json.dumps({"verdict": body, "signature": signature}))
    code, said = run.call("file", path)
    assert (code, "contract names the auditor" in json.dumps(said)) == (65, True)
    assert run.entries(job_id, VERDICT) == []


@pytest.mark.parametrize("entry", ["digest", "party", "peer"])
def test_a_verdict_on_another_job_or_party_under_the_name_of_this_one_is_refused(run, keys, entry):
    job_id = run.submit()
    path = run.judge("north", job_id)
    body = json.loads(path.read_text())["verdict"]
    body[entry] = "00" * 32 if entry == "digest" else "west"
    path.write_text(json.dumps({"verdict": body, "signature": keys.signing.sign(signed_text(body)).hex()}))
    code, said = run.call("file", path)
    assert (code, "is about another" in json.dumps(said)) == (65, True)
    assert run.entries(job_id, VERDICT) == []


def test_where_nothing_else_is_kept_the_certificate_says_what_was_signed_at_the_gate(run, ready):
    """A party that has deleted its record still files no verdict on another run than that of its own."""
    job_id = run.submit()
    found = shown(ready, "south", job_id)[0].gate._replace(sent=bytes(32))
    right, wrong = run.judge("south", job_id).read_bytes(), run.judge("south", job_id, gate=found)
    EvidenceStore(ready.folder / "north").delete(job_id)
    code, said = run.call("file", wrong)
    assert (code, "another record at the gate" in json.dumps(said)) == (65, True)
    wrong.write_bytes(right)
    assert run.call("file", wrong)[1]["outcome"] == "cleared"


def test_while_a_run_goes_on_nothing_of_it_is_filed_shown_or_deleted(run, ready, tmp_path):
    job_id = run.submit()
    path = run.judge("north", job_id)
    store = EvidenceStore(ready.folder / "north")
    store.set_standing(replace(store.standing(job_id), state=RUNNING))
    for words in (
        ("file", path),
        ("check", job_id),
        ("delete", job_id, "--yes"),
        ("receipt", job_id, "-o", tmp_path / "kept"),
    ):
        assert run.call(*words)[0] == 2
    assert run.entries(job_id, VERDICT) == []
    assert store.has(job_id, CASE)


def test_another_office_neither_gets_nor_opens_nor_judges(run, keys, ready, monkeypatch, capsys, tmp_path):
    """By its keys, under the very name of the auditor whom the contract names."""
    monkeypatch.setattr("parties.cli.evidence.load_identity", lambda config: ready._identities[config.name])
    job_id, office, other = run.submit(), tmp_path / "office", tmp_path / "other"
    keys.write(office)
    make_keys("office").write(other)
    sealed = tmp_path / "sealed"
    bundle = ("bundle", job_id, "-o", sealed, "--auditor")
    code, said = run.call(*bundle, other / "auditor.json")
    assert (code, "contract names the auditor" in json.dumps(said)) == (65, True)
    assert run.call(*bundle, office / "auditor.json")[0] == 0

    def called(*words):
        with pytest.raises(SystemExit) as left:
            main(["evidence", *map(str, words), "--json"])
        return int(left.value.code or 0), json.loads(capsys.readouterr().out)

    assert called("open", sealed, "--keys", office)[1]["outcome"] == "cleared"
    for words in (("open", sealed), ("verdict", sealed, "-o", tmp_path / "found")):
        assert called(*words, "--keys", other)[0] == 65
    # At the party the record is not sealed: there the contract alone says who the auditor is.
    code, said = run.call("verdict", job_id, "-o", tmp_path / "found", "--keys", other)
    assert (code, "contract names the auditor" in json.dumps(said)) == (65, True)
    assert not (tmp_path / "found").exists()


def test_a_verdict_on_a_job_that_is_not_known_here_is_refused(run, keys):
    job_id = run.submit()
    path = run.judge("north", job_id)
    body = json.loads(path.read_text())["verdict"] | {"job_id": "00" * 8}
    signature = keys.signing.sign(signed_text(body)).hex()
    path.write_text(json.dumps({"verdict": body, "signature": signature}))
    code, said = run.call("file", path)
    assert (code != 0, said["error"]["code"]) == (True, "unknown-job")


@pytest.fixture
def pinned(ready, monkeypatch):
    """Lets commands find the keys of both parties, which have no files here."""
    identities = ready.network.identities
    monkeypatch.setattr(filing, "load_identity", lambda config: ready._identities[config.name])
    monkeypatch.setattr(filing, "load_peer", lambda config, peer: identities[peer])
    monkeypatch.setattr("parties.config.Config.peer", lambda config, name: name)
    return identities


def test_a_run_that_broke_off_has_no_certificate_and_is_checked_by_the_pinned_keys(
    ready, run, pinned, keys, monkeypatch
):
    ready.network.bends[Role.BOB] = lambda transport: Deviating(transport, "evidence-recorded")
    job_id = run.submit()
    assert ready.network.managers["north"].store.get(job_id).state is State.FAILED
    assert [entry.why for entry in run.entries(job_id, DUE_ENTRY)] == [BROKEN_OFF]
    path = run.judge("north", job_id)
    right = path.read_bytes()
    body = json.loads(right)["verdict"] | {"digest": "00" * 32}
    path.write_text(json.dumps({"verdict": body, "signature": keys.signing.sign(signed_text(body)).hex()}))
    code, said = run.call("file", path)
    assert (code, "another job than the contract" in json.dumps(said)) == (65, True)
    path.write_bytes(right)
    assert run.call("delete", job_id)[0] == 2
    assert run.call("file", path)[1]["outcome"] == "unsigned"
    assert run.call("list")[1]["runs"][0]["verdict"] == "unsigned"
    monkeypatch.setattr(filing, "load_peer", lambda config, peer: pinned["north"])
    code, said = run.call("file", path)
    assert (code, "keys of the parties" in json.dumps(said)) == (65, True)
    assert run.call("delete", job_id)[1]["success"] is True  # nothing more follows from such a run


def test_a_verdict_on_less_than_the_peer_has_signed_is_not_filed(ready, run, pinned):
    """South leaves after the gate, and shows the auditor a record without it: north has its signature."""
    ready.network.bends[Role.BOB] = Leaving
    job_id = run.submit()
    code, said = run.call("file", run.judge("south", job_id, nothing_of))
    assert (code, "shown less than" in json.dumps(said)) == (65, True)
    assert run.entries(job_id, VERDICT) == []
    assert run.call("file", run.judge("south", job_id))[1]["outcome"] == "convicted"


def test_a_verdict_on_half_of_a_run_is_not_filed(ready, run):
    job_id = run.submit()
    half = run.judge("south", job_id, lambda case: up_to_the_gate(case, [])[0])
    code, said = run.call("file", half)
    assert (code, "at the end" in json.dumps(said)) == (65, True)
    assert run.entries(job_id, VERDICT) == []
    assert run.call("file", run.judge("south", job_id))[1]["outcome"] == "cleared"


def test_of_a_run_that_broke_off_a_receipt_convicts_who_shows_nothing(
    ready, run, pinned, keys, capsys, tmp_path
):
    """The auditor signs by it that south shows nothing, and it confirms the verdict offline."""
    ready.network.bends[Role.BOB] = Leaving
    job_id, kept, found, office = run.submit(), tmp_path / "kept", tmp_path / "found", tmp_path / "office"
    keys.write(office)
    assert run.call("receipt", job_id, "-o", kept)[0] == 0
    code, said = run.call("verdict", kept, "--missing", "bob", "--keys", office, "-o", found)
    assert (code, said["verdict"]["outcome"]) == (0, "missing")
    assert run.call("file", found)[1]["outcome"] == "missing"
    for words, confirmed in (((), []), (("--receipt", str(kept)), ["north"])):
        with pytest.raises(SystemExit) as left:
            main(["evidence", "verify", str(found), *words, "--json"])
        assert int(left.value.code or 0) == 0
        assert json.loads(capsys.readouterr().out)["confirmed_by"] == confirmed
    with pytest.raises(SystemExit):
        main(["evidence", "verify", str(found)])
    assert keys.public.fingerprint in capsys.readouterr().out.replace("\n", "")


def test_a_run_that_ended_with_the_daemon_is_due_in_ledger_and_log(ready, run):
    """The daemon says so when it starts again."""
    job_id = run.submit("1/1000000")
    assert run.entries(job_id, DUE_ENTRY) == []
    store = EvidenceStore(ready.folder / "north")
    store.set_standing(replace(store.standing(job_id), state=RUNNING))
    ready.stop("north")
    with sqlite3.connect(ready.folder / "north" / "jobs.sqlite") as database:
        database.execute("update jobs set state = 'running' where job_id = ?", (job_id,))
    database.close()
    for _ in range(2):
        ready.start("north")
        assert [entry.why for entry in run.entries(job_id, DUE_ENTRY)] == [BROKEN_OFF]
        ready.stop("north")
    assert store.standing(job_id).why == BROKEN_OFF
    lines = [line.about for line in read_log(ready.folder / "north").lines if line.event == AUDIT_DUE]
    assert [(line["job_id"], line["why"]) for line in lines] == [(job_id, BROKEN_OFF)]
