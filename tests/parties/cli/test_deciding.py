"""`duetto job approve`, `deny` and `cancel`: who decides, on what, and by which name."""

from __future__ import annotations

import json
import os
import re

import pytest
from click.testing import CliRunner

from parties.cli.jobs import COMMANDS
from parties.client import Party
from parties.contracts.contract import Contract
from parties.contracts.state import State
from parties.errors import (
    JobError,
)
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from tests.parties.jobs.joined import job_file, wait_final
from tests.parties.served import parsed, waiting


def test_approve_deny_and_cancel_commands(served, command, file):
    for verb, state, code in (
        ("approve", "finished", 0),
        ("deny", "denied", 77),
        ("cancel", "cancelled", 130),
    ):
        served.allow("south", approval="person")
        job_id = parsed(command("job", "submit", file, "--json"))["job_id"]
        words = ["job", verb, job_id, "--json", "--as", "Ann"]
        parsed(command(*words, *(["--reason", "no"] if verb == "deny" else []), name="south"))
        events = [(entry.event, entry.actor, entry.uid) for entry in served.south.ledger.entries()]
        assert (state.replace("finished", "approved"), "Ann", os.getuid()) in events
        wait_final(served.north, job_id)
        assert served.north.store.get(job_id).state.value == state
        done = command("job", "watch", job_id, "--json", code=code)
        assert json.loads(done.stdout)["success"] is (code == 0)


def test_what_job_show_names_is_what_is_approved(served, command, file):
    served.allow("south", approval="person")
    job_id = parsed(command("job", "submit", file, "--json"))["job_id"]
    shown = command("job", "show", job_id, name="south").stdout
    decide = re.search(r"duetto (job approve \S+ --digest [0-9a-f]{64})", " ".join(shown.split()))
    words = decide[1].split()
    done = command(*words[:-1], "00" * 32, name="south", code=65)
    assert "is not the contract" in done.stderr
    command(*words, name="south")
    wait_final(served.south, job_id)
    (entry,) = (entry for entry in served.south.ledger.entries() if entry.event == "approved")
    assert (entry.job, entry.uid) == (words[-1], os.getuid())
    assert "name" in command("job", "cancel", job_id, "--as", "=1+1", code=2).stderr


@pytest.fixture
def alike(monkeypatch):
    """All jobs begin with the same eight letters, as whoever proposes them could bring about."""
    name = Contract.job_id.fget
    monkeypatch.setattr(Contract, "job_id", property(lambda self: "abcdef01" + name(self)[8:]))


@pytest.mark.parametrize("verb", ["approve", "deny", "cancel"])
def test_a_name_that_several_jobs_begin_with_decides_nothing(served, command, file, alike, verb):
    first, second = waiting(served, file.read_text()), waiting(served, file.read_text())
    assert first[:8] == second[:8]

    def standing():
        store = served.south.store
        return [store.get(name).state for name in (first, second)], len(served.south.ledger.entries())

    before = standing()
    assert before[0] == [State.WAITING_OWN] * 2
    assert "2 jobs begin with" in command("job", verb, first[:8], name="south", code=65).stderr
    for words in ("", first[:1], first[:7]):
        said = command("job", verb, words, name="south", code=65).stderr
        assert "too short to decide" in said
    for name in (first[:8], first[:7]):
        decision = pb.Decision(job_id=name, actor="Ann", uid=1, shown=served.south.store.digest(first).hex())
        with Party(served.folder / "south") as south, pytest.raises(JobError):
            south.call(verb.capitalize(), decision)
    assert standing() == before
    command("job", verb, first[:15], name="south")
    assert wait_final(served.south, first).state.value == {"approve": "finished", "deny": "denied"}.get(
        verb, "cancelled"
    )
    assert served.south.store.get(second).state is State.WAITING_OWN


@pytest.mark.parametrize("verb", ["approve", "deny", "cancel"])
@pytest.mark.parametrize("word", ["zzz", "z" * 8, "z" * 40, "0" * 16, "../jobs", "\u202e" * 9])
def test_of_an_unknown_job_the_message_leads_to_the_names(served, command, file, verb, word):
    job_id = waiting(served, file.read_text())
    said = command("job", verb, word, name="south", code=65).stderr
    (listing,) = re.findall(r"`duetto (job list)`", " ".join(said.split()))
    assert job_id[:8] in command(*listing.split(), name="south").stdout.replace("\n", "")
    assert served.south.store.get(job_id).state is State.WAITING_OWN
    command("job", verb, job_id[:8], name="south")
    assert served.south.store.get(job_id).state is not State.WAITING_OWN


def test_a_result_is_deleted_by_a_clear_name_only(served, command, party, alike):
    jobs = [party.submit(job_file()).wait(timeout=20).id for _ in range(2)]
    assert "2 jobs begin with" in command("job", "forget", jobs[0][:8], code=65).stderr
    assert "too short" in command("job", "forget", jobs[0][:7], code=65).stderr
    assert all(served.north.store.summary(name).kept for name in jobs)


@pytest.mark.parametrize("verb", ["approve", "deny", "cancel", "forget"])
def test_the_help_says_how_a_job_is_named(verb):
    (group,) = [one for one in COMMANDS if one.name == "job"]
    said = " ".join(CliRunner().invoke(group, [verb, "--help"]).output.split())
    assert "at least its first 8 characters; it fails if several jobs begin so" in said


def test_an_approval_without_digest_shows_what_it_approves(served, command, file):
    served.allow("south", approval="person")
    job_id = parsed(command("job", "submit", file, "--json"))["job_id"]
    shown = command("job", "approve", job_id, name="south").stdout
    assert shown.startswith("north asks: both sums\n")
    assert re.search(r"\n  you learn +the sum\n", shown)
    assert re.search(r"\n  costs +epsilon 0\.5.*: 0\.5 of your \S+ with north will be spent, ", shown)
    assert f"Contract {served.south.store.digest(job_id).hex()[:8]}" in shown


def test_whoever_decides_sees_who_asks_and_why(served, command):
    said = job_file().replace("[job]", '[job]\nasked_by = "Dr Weber"\npurpose = "Report for the board"', 1)
    job_id = waiting(served, said)
    shown = command("job", "approve", job_id, name="south").stdout
    assert shown.startswith("north (Dr Weber) asks: both sums\nWhy: Report for the board\n")
    spec = served.south.store.get(job_id).contract.spec
    assert (spec.asked_by, spec.purpose) == ("Dr Weber", "Report for the board")


@pytest.mark.parametrize(
    ("answer", "words", "state"), [("n", [], "waits"), ("y", [], "goes"), ("", ["--yes"], "goes")]
)
def test_on_a_terminal_an_approval_is_asked_for(served, command, file, monkeypatch, answer, words, state):
    asked = []
    monkeypatch.setattr("parties.cli.jobs.is_at_terminal", lambda: True)
    monkeypatch.setattr(
        "parties.cli.jobs.click.confirm", lambda question, **_: asked.append(question) or answer == "y"
    )
    job_id = waiting(served, file.read_text())
    done = command("job", "approve", job_id, "--as", "Ann", *words, name="south", code=None)
    assert asked == ([] if words else ["Approve as Ann?"])
    if state == "waits":
        assert done.exit_code != 0
        assert "Nothing was approved" in done.stderr
        assert served.south.store.get(job_id).state is State.WAITING_OWN
    else:
        assert wait_final(served.south, job_id).state is State.FINISHED


def test_who_approves_sees_what_is_learned_and_the_limits_of_both(served, command, party, file):
    for name, lines in (("north", "minimum_group = 7"), ("south", 'dominance = "0.8"\napproval = "person"')):
        policy = served.folder / name / "policy.toml"
        policy.write_text(policy.read_text().replace('approval = "auto"', "") + lines)
    job = party.submit(file)
    command("job", "approve", job.id)
    shown = command("job", "show", job.id, name="south").stdout
    assert re.search(r"limits of alice: (?=.*minimum group 7)(?=.*maximum ratio 10)(?!.*dominance)", shown)
    assert re.search(r"limits of bob: (?=.*dominance 4/5)(?!.*minimum group)", shown)
    assert "alice and bob would learn: the sum" in shown
