"""What commands say while a job waits and runs: who decides, how far it is, and that it goes on."""

from __future__ import annotations

import re
import shlex
import threading
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from parties.cli import following
from parties.cli.party import party as party_group
from parties.client import Job
from parties.contracts.state import State
from parties.jobs.agreement.decisions import own_person
from smc.forms import Role
from tests.parties.jobs.joined import job_file, wait_final
from tests.parties.served import parsed, waiting


def named(said, *beginning):
    """The command in backquotes that begins so, without the word `duetto`."""
    found = re.findall(r"`duetto ([^`]*)`", " ".join(said.split()))
    (words,) = {words for words in found if words.startswith(" ".join(beginning))}
    return shlex.split(words)


def without_config(words):
    """The words as the fixture `command` takes them, which gives --config itself."""
    place = words.index("--config")
    return [*words[:place], *words[place + 2 :]]


class Meanwhile:
    """Does something when a job has come to a state at a party; what a command prints goes to one thread."""

    def __init__(self, store, state, act):
        self._store, self._state, self._act = store, state, act
        self._thread = threading.Thread(target=self._go)

    def _go(self):
        assert self._store.wait_for(lambda: self._store.counts().get(self._state), 20)
        (job,) = self._store.all(self._state)
        self._act(job.job_id)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._thread.join(20)


def approving(manager):
    person = own_person("Ann")
    return lambda job_id: manager.approve(job_id, person, manager.store.digest(job_id).hex())


def test_waiting_names_the_command_with_which_this_party_decides(served, command, file):
    served.allow("north", approval="person")
    with Meanwhile(served.north.store, State.WAITING_OWN, approving(served.north)):
        done = command("job", "submit", file, "--wait")
    (job,) = served.north.store.all()
    assert "It waits for a person of this party" in done.stderr
    assert named(done.stderr, "job", "approve")[:3] == ["job", "approve", job.job_id]
    assert "62" in done.stdout
    assert command(*without_config(named(done.stderr, "job", "show"))).stdout


def test_waiting_names_the_command_with_which_the_peer_decides(served, command, file):
    served.allow("south", approval="person")
    with Meanwhile(served.north.store, State.WAITING_PEER, approving(served.south)):
        done = command("job", "submit", file, "--wait")
    (job,) = served.north.store.all()
    assert "It waits for a person at south, who decides there" in done.stderr
    assert named(done.stderr, "job", "deny") == ["job", "deny", job.job_id]
    assert "this party" not in done.stderr


def test_what_waits_is_listed_and_shown_with_who_decides(served, command, file):
    job_id = waiting(served, file.read_text())
    assert "a person at south, who decides there" in command("job", "show", job_id).stdout
    for name, found in (("south", [job_id]), ("north", [])):
        listed = parsed(command("job", "list", "--waiting", "--json", name=name))["jobs"]
        assert [entry["job_id"] for entry in listed] == found
    shown = command("job", "show", job_id, name="south").stdout
    command(*without_config(named(shown, "job", "approve")), name="south")
    assert wait_final(served.north, job_id).state is State.FINISHED


def test_progress_is_piped_as_lines_without_control_codes(served, command, file):
    stop = threading.Event()
    served.analysis["north"].stops = {Role.ALICE: stop}
    job_id = served.north.submit(file.read_text()).job_id
    assert served.analysis["north"].reached[Role.ALICE].wait(20)
    shown = " ".join(command("job", "show", job_id).stdout.split())
    assert re.search(r"progress \W*adding 0 %, [0-9.]+ s", shown)
    assert parsed(command("job", "show", job_id, "--json"))["estimated_seconds"] > 0
    threading.Timer(0.3, stop.set).start()
    done = command("job", "watch", job_id)
    assert f"job {job_id}: running." in done.stderr
    assert all(re.fullmatch(r"[\x20-\x7e]*", line) for line in done.stderr.splitlines())
    assert parsed(command("job", "show", job_id, "--json"))["elapsed_seconds"] == 0


def look(state, stage="", done=0, of=0, waits=""):
    """A job as it is looked at."""
    return SimpleNamespace(
        id="ab" * 8,
        peer="south",
        state=state,
        progress=(stage, done, of),
        elapsed=12.0,
        estimated=0.0,
        waits_for=waits,
    )


def test_lines_come_with_changes_and_every_so_often(capsys):
    clock = SimpleNamespace(now=0.0)
    told = following.Following(clock=lambda: clock.now)

    def lines(after, *seen):
        clock.now += after
        told.see(look(*seen))
        return capsys.readouterr().err.splitlines()

    with told:
        (line,) = lines(0, State.PROPOSED, "", 0, 0, "an answer of south to the proposal")
        assert line.endswith("proposed. It waits for an answer of south to the proposal.")
        assert lines(5, State.PROPOSED) == []
        assert lines(0, State.RUNNING) == [f"job {'ab' * 8}: running."]
        assert lines(2, State.RUNNING, "clustering", 1, 10) == [f"job {'ab' * 8}: clustering 10 %, 12 s"]
        assert lines(5, State.RUNNING, "clustering", 2, 10) == []
        (line,) = lines(5, State.RUNNING, "clustering", 3, 10)
        assert line.endswith("clustering 30 %, 12 s, about 35 s left")
        (line,) = lines(1, State.RUNNING, "clustering", 3, 10, "a new connection to south: lost for 3 s")
        assert line.endswith("running. It waits for a new connection to south: lost for 3 s.")
        assert lines(1, State.RUNNING, "clustering", 3, 10, "a new connection to south: lost for 4 s") == []
        assert lines(1, State.RUNNING, "clustering", 3, 10) == [f"job {'ab' * 8}: running."]
        assert lines(20, State.FINISHED) == []


def test_an_interrupt_says_that_the_job_goes_on(served, command, file, monkeypatch):
    job_id = waiting(served, file.read_text())

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Job, "wait", interrupted)
        said = command("job", "watch", job_id, code=130).stderr
    assert f"job {job_id} goes on" in said
    assert named(said, "job", "watch")[:3] == ["job", "watch", job_id]
    assert served.north.store.get(job_id).state is State.WAITING_PEER
    command(*without_config(named(said, "job", "cancel")))
    assert wait_final(served.south, job_id).state is State.CANCELLED


@pytest.mark.parametrize("count", [0, 2])
def test_status_counts_what_waits_for_a_decision_here(served, party, monkeypatch, count):
    monkeypatch.setattr("parties.cli.party.running_pid", lambda _: 7)
    for _ in range(count):
        waiting(served, job_file("1/2"))
    config = str(served.folder / "south" / "duetto.toml")
    said = CliRunner().invoke(party_group, ["status", "--config", config]).stdout
    assert (f"{count} of them wait for a decision" in said) is (count > 0)
    assert (
        parsed(CliRunner().invoke(party_group, ["status", "--config", config, "--json"]))["waiting"] == count
    )
