"""The Python client and the job commands, over the real control service on a Unix socket."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from click.testing import CliRunner

from parties.cli.jobs import COMMANDS
from parties.cli.policy import COMMANDS as POLICY_COMMANDS
from parties.client import Party, ask_daemon, job_text
from parties.config import load
from parties.errors import (
    BudgetError,
    ConfigError,
    DaemonUnavailable,
    DataError,
    JobError,
    PeerBusy,
    PeerRefused,
    PolicyError,
    exit_code,
)
from parties.jobs.control import ROOM, Kind, make_control_server
from parties.jobs.faults import METADATA, from_code, pack, unpack
from parties.jobs.state import State
from parties.ledger.entries import LedgerError
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from smc.errors import Cancelled, DomainError, DuettoError, PeerAborted, PeerLost, UsageError
from smc.forms import Role
from tests.parties.jobs.joined import Pair, approve, job_file, wait_final, wait_state

CONFIG = """
[party]
name = "{name}"
[listen]
address = "127.0.0.1:0"
"""


@pytest.fixture
def served():
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        pair = Pair(Path(folder))
        servers = []
        for name, manager in list(pair.network.managers.items()):
            home = pair.folder / name
            (home / "duetto.toml").write_text(CONFIG.format(name=name))
            (home / "run").mkdir()
            server = make_control_server(manager)
            server.add_insecure_port(f"unix:{home}/run/control.sock")
            server.start()
            servers.append(server)
        yield pair
        for server in servers:
            server.stop(0).wait()
        pair.close()


@pytest.fixture
def party(served):
    with Party(served.folder / "north") as opened:
        yield opened


@pytest.fixture
def command(served):
    def run(*words, name="north", code=0):
        group = {one.name: one for one in (*COMMANDS, *POLICY_COMMANDS)}[words[0]]
        arguments = [*words[1:], "--config", str(served.folder / name / "duetto.toml")]
        done = CliRunner().invoke(group, [str(word) for word in arguments])
        assert done.exit_code == code, done.output
        return done

    return run


@pytest.fixture
def file(served):
    path = served.folder / "job.toml"
    path.write_text(job_file("1/2"))
    return path


def test_submit_wait_and_result(party, file):
    seen = []
    job = party.submit(file).wait(lambda j: seen.append(j.state), timeout=20)
    assert job.state is State.FINISHED
    assert seen[-1] is State.FINISHED
    result = job.result()
    assert result.tables == {"sum": {"total": [62]}}
    assert result.notes == ("exact",)
    assert result.traffic["rounds"] >= 1
    assert result.leakage["public"] == ["the number of rows"]
    assert "<td>62</td>" in result._repr_html_()
    assert [one.id for one in party.jobs()] == [job.id]
    assert party.job(job.id[:10]).refresh().describe()["direction"] == "outgoing"
    assert job.contract["spec"]["job"]["analysis"] == "addition"
    assert job.facts["route"] == "plain addition"


def waiting(served, text):
    """Name of a job of north that waits for a person at south."""
    served.allow("south", approval="person")
    return served.north.submit(text).job_id


def watching(party, job_id, number):
    """So many open watches of a job: those that the daemon holds, and those that it refused."""
    calls = [party._stub.Watch(pb.JobName(job_id=job_id)) for _ in range(number)]
    held, refused = [], []
    for call in calls:
        try:
            next(call)
            held.append(call)
        except grpc.RpcError:
            refused.append(call)
    return held, refused


def test_forty_who_wait_lock_nobody_out(served, file):
    """Of those who wait for a person none keeps the person from deciding."""
    job_id, other = waiting(served, file.read_text()), waiting(served, file.read_text())
    with Party(served.folder / "south") as south:
        held, refused = watching(south, job_id, 40)
        assert (len(held), refused) == (40, [])
        assert len(list(south._stub.List(pb.ListRequest(), timeout=5))) == 2
        assert south.status(5)["jobs"] == {"waiting-own-approval": 2}
        given_up = pb.Decision(job_id=other, actor="Ann", uid=1000)
        assert south.call("Cancel", given_up, 5).state == "cancelled"
        approved = pb.Decision(job_id=job_id, actor="Ann", uid=1000, shown=south.job(job_id).shown)
        assert south.call("Approve", approved, 5).state == "approved"
        for call in held:
            *_, last = call
            assert last.state == "finished"


def test_watchers_beyond_the_room_are_told_and_can_wait_all_the_same(served, file, monkeypatch):
    monkeypatch.setattr("parties.client.LOOK_SECONDS", 0.05)
    job_id = waiting(served, file.read_text())
    with Party(served.folder / "south") as south:
        held, refused = watching(south, job_id, ROOM[Kind.WATCH] + 3)
        assert (len(held), len(refused)) == (ROOM[Kind.WATCH], 3)
        assert {type(unpack(dict(call.trailing_metadata())[METADATA])) for call in refused} == {PeerBusy}
        job = south.job(job_id)
        with pytest.raises(JobError) as caught:
            job.wait(timeout=0.2)
        assert caught.value.stable_code == "timeout"
        threading.Timer(0.2, approve, [served.south, job_id]).start()
        assert job.wait(timeout=20).state is State.FINISHED


def test_submits_that_hang_lock_nobody_out(served, file, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(served.south, "check", lambda toml: release.wait(20) and {})
    with Party(served.folder / "south") as south:
        calls = [south._stub.Check.future(pb.JobText(toml="x")) for _ in range(ROOM[Kind.WORK])]
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                south.call("Check", pb.JobText(toml="x"), 0.2)
            except PeerBusy:
                break
            except JobError:  # one of the sixteen was later than this one
                continue
        assert south.jobs() == []
        assert south.status(5)["jobs"] == {}
        release.set()
        refused = [call for call in calls if call.exception(10) is not None]
        assert len(refused) < len(calls) / 2, "those that were let in have ended in order"


def test_a_daemon_that_does_not_answer_is_not_said_to_run(served, monkeypatch):
    monkeypatch.setattr("parties.client.ASK_SECONDS", 0.3)
    config = load(served.folder / "south")
    assert ask_daemon(config, 7)["party"] == "south"
    release = threading.Event()
    monkeypatch.setattr(served.south.ledger, "entries", lambda: release.wait(20) and ())
    with pytest.raises(DaemonUnavailable, match="Process 7 holds the lock of south, but does not answer"):
        ask_daemon(config, 7)
    release.set()


def test_frames(party, file, monkeypatch):
    pytest.importorskip("pandas")
    result = party.submit(file).wait(timeout=20).result()
    assert result.frame().to_dict("list") == {"total": [62]}
    assert result.frame("sum").shape == (1, 1)
    with pytest.raises(JobError, match="'total'"):
        result.frame("total")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="duetto\\[frames\\]"):
        result.frame()


def test_a_job_as_path_text_or_mapping(file):
    text = file.read_text()
    assert job_text(file) == job_text(str(file)) == job_text(text) == text
    assert 'analysis = "addition"' in job_text({"job": {"analysis": "addition"}})
    with pytest.raises(JobError):
        job_text("none.toml")
    with pytest.raises(JobError):
        job_text({"job": {"analysis": None}})


def test_errors_arrive_whole_and_of_their_class(served, party):
    with pytest.raises(DataError, match="declares no column") as caught:
        party.submit(job_file().replace('"value"', '"valeu"'))
    assert "'value'" in caught.value.mend
    with pytest.raises(BudgetError):
        party.submit(job_file("2"))
    with pytest.raises(UsageError):
        party.submit(job_file().replace("epsilon", "epsilom"))
    with pytest.raises(JobError) as unknown:
        party.job("0" * 16)
    assert unknown.value.stable_code == "unknown-job"
    served.network.down = True
    away = party.submit(job_file())
    assert away.state is State.PROPOSED
    assert "cannot be reached" in away.describe()["waits_for"]
    away.cancel()
    served.network.down = False
    served.forbid("south")
    with pytest.raises(PeerRefused) as refused:
        party.submit(job_file())
    assert exit_code(refused.value) == 77
    with pytest.raises(PeerRefused):
        raise unpack(pack(refused.value))


def test_a_defect_is_told_by_type_only(served, party, monkeypatch):
    def broken(*_, **__):
        raise ValueError("canary")

    monkeypatch.setattr(served.north.store, "all", broken)
    with pytest.raises(DuettoError) as caught:
        party.jobs()
    assert caught.value.stable_code == "internal"
    assert "ValueError" in caught.value.what
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        DomainError("a", "b"),
        LedgerError("a", "b"),
        PeerAborted("a"),
        Cancelled("a"),
        DuettoError("a", code="x"),
    ],
)
def test_errors_survive_the_way(error):
    again = unpack(pack(error))
    assert type(again) is type(error)
    assert (again.what, again.mend, again.stable_code) == (error.what, error.mend, error.stable_code)


def test_codes_give_classes():
    assert isinstance(from_code("peer-lost", "w", "m"), PeerLost)
    assert isinstance(from_code("denied", "w", "m"), PolicyError)
    assert isinstance(from_code("interrupted", "w", "m"), JobError)
    assert from_code("interrupted", "w", "m").stable_code == "interrupted"


def test_waiting_ends_in_time_and_the_job_goes_on(served, party):
    stop = threading.Event()
    served.analysis["north"].stops = {Role.ALICE: stop}
    job = party.submit(job_file())
    with pytest.raises(JobError) as caught:
        job.wait(timeout=0.3)
    assert caught.value.stable_code == "timeout"
    stop.set()
    assert job.wait(timeout=20).state is State.FINISHED


def test_a_cancelled_job_raises_when_waited_for(served, party):
    served.allow("south", approval="person")
    job = party.submit(job_file())
    with pytest.raises(JobError, match="has no result"):
        job.result()
    assert job.cancel().state is State.CANCELLED
    with pytest.raises(Cancelled):
        job.wait(timeout=5)


def test_a_denied_job_raises_when_waited_for(served, party):
    served.allow("south", approval="person")
    job = party.submit(job_file())
    with Party(served.folder / "south") as south:
        assert south.job(job.id).deny("no").state is State.DENIED
    with pytest.raises(PolicyError, match="denied"):
        job.wait(timeout=5)


def test_long_results_and_lists_are_streamed(served, party):
    job = party.submit(job_file()).wait(timeout=20)
    outcome = {"tables": [{"name": "t", "columns": {"x": ["y" * 100] * 60_000}}], "notes": [], "details": {}}
    served.north.store._results.write(job.id, json.dumps(outcome))
    assert len(job.result().tables["t"]["x"]) == 60_000


def test_no_daemon(served, tmp_path):
    home = served.folder / "west"
    home.mkdir()
    (home / "duetto.toml").write_text(CONFIG.format(name="west"))
    with Party(home) as party, pytest.raises(DaemonUnavailable, match="west"):
        party.jobs()
    with pytest.raises(ConfigError):
        Party(tmp_path / "none")


def test_status(party, served, file):
    party.submit(file).wait(timeout=20)
    status = party.status()
    assert (status["party"], status["peers"], status["jobs"]) == ("north", ["south"], {"finished": 1})
    assert status["ledger_whole"]
    path = served.folder / "north" / "ledger.jsonl"
    path.write_text("broken\n")
    status = party.status()
    assert not status["ledger_whole"]
    assert "entry 0" in status["ledger_problem"]


# The commands


def parsed(done):
    document = json.loads(done.stdout)
    assert document["success"] is True
    return document


def test_job_commands(served, command, file):
    submitted = parsed(command("job", "submit", file, "--wait", "--json"))
    assert submitted["tables"] == {"sum": {"total": [62]}}
    job_id = submitted["job_id"]
    assert parsed(command("job", "list", "--json"))["jobs"][0]["job_id"] == job_id
    shown = parsed(command("job", "show", job_id, "--json"))
    assert shown["contract"]["spec"]["limits"] == {"seconds": 60}
    assert set(shown["leakage"]) == {"alice", "bob", "public"}
    assert parsed(command("job", "watch", job_id[:8], "--json"))["state"] == "finished"
    folder = served.folder / "tables"
    shown = command("job", "result", job_id, "--csv", folder).stdout
    assert "62" in shown
    assert "alice and bob learned: the sum" in shown
    assert (folder / f"{job_id}-sum.csv").read_text() == "total\n62\n"
    wait_final(served.south, job_id)
    assert parsed(command("job", "result", job_id, "--json", name="south"))["tables"]
    for verb in ("list", "show", "watch"):
        words = ("job", verb) if verb == "list" else ("job", verb, job_id)
        assert job_id in command(*words).stdout.replace("\n", "")


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


def test_an_approval_without_digest_shows_what_it_approves(served, command, file):
    served.allow("south", approval="person")
    job_id = parsed(command("job", "submit", file, "--json"))["job_id"]
    assert "would learn: the sum" in command("job", "approve", job_id, name="south").stdout


def test_errors_of_commands(served, command, file):
    done = command("job", "show", "0" * 16, "--json", code=65)
    assert json.loads(done.stdout)["error"]["code"] == "unknown-job"
    file.write_text(file.read_text().replace('"1/2"', "0.5"))
    done = command("job", "submit", file, code=65)
    assert done.stdout == ""
    assert "Write it as a string" in done.stderr
    assert "number with a point" in done.stderr


def test_a_running_job_is_shown(served, command, file):
    stop = threading.Event()
    served.analysis["north"].stops = {Role.ALICE: stop}
    job_id = parsed(command("job", "submit", file, "--json"))["job_id"]
    wait_state(served.north, job_id, State.RUNNING)
    assert served.analysis["north"].reached[Role.ALICE].wait(20)
    shown = parsed(command("job", "show", job_id, "--json"))
    assert (shown["stage"], shown["done"], shown["of"]) == ("adding", 0, 2)
    stop.set()
    wait_final(served.north, job_id)


STATISTICS = """
[job]
analysis = "statistics"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "numbers"
columns = { v = "value" }
[bob]
dataset = "numbers"
columns = { v = "value" }
[parameters]
epsilon = "1/2"
[[parameters.queries]]
name = "total"
kind = "sum"
column = "v"
"""


def test_who_approves_sees_what_is_learned_and_the_limits_of_both(served, command, party, file):
    for name, lines in (("north", "minimum_group = 7"), ("south", 'dominance = "0.8"\napproval = "person"')):
        policy = served.folder / name / "policy.toml"
        policy.write_text(policy.read_text().replace('approval = "auto"', "") + lines)
    job = party.submit(file)
    command("job", "approve", job.id)
    shown = command("job", "show", job.id, name="south").stdout
    assert re.search(r"limits of alice: (?=.*minimum_group 7)(?=.*maximum_ratio 10)(?!.*dominance)", shown)
    assert re.search(r"limits of bob: (?=.*dominance 4/5)(?!.*minimum_group)", shown)
    assert "alice and bob would learn: the sum" in shown


def test_check_and_policy_need_no_daemon(served, command):
    path = served.folder / "statistics.toml"
    path.write_text(STATISTICS)
    policy = served.folder / "north" / "policy.toml"
    refused = parsed(command("job", "check", path, "--json", code=77))
    assert "'statistics' is not among analyses" in refused["verdict"]["reasons"][0]["what"]
    assert "analyses: Add 'statistics' to analyses." in command("policy", "test", path, code=77).stdout
    policy.write_text(policy.read_text().replace('"addition"', '"statistics"'))
    report = parsed(command("job", "check", path, "--json"))
    assert report["paired"] is False
    assert (report["epsilon"], report["rows"], report["verdict"]["rule"]) == ("1/2", 2, "additions")
    assert "Allowed by rule 'additions'" in command("job", "check", path).stdout
    assert parsed(command("policy", "test", path, "--json"))["verdict"]["allowed"]


PEOPLE = """
[datasets.people]
source = "people.csv"
[datasets.people.columns.name]
type = "text"
"""
TOLERANT = """
[job]
analysis = "matching"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "people"
columns = { name = "name" }
[bob]
dataset = "people"
columns = { name = "name" }
[parameters]
method = "tolerant"
threshold = "0.8"
fields = [{ column = "name" }]
blocking = [["name:prefix1"]]
"""


PAIRING = SimpleNamespace(identity=SimpleNamespace(paillier=SimpleNamespace(bits=2048)))


def test_check_and_estimate_print_what_becomes_of_the_own_rows(served, command, monkeypatch):
    monkeypatch.setattr("parties.cli.jobs.own_pairing", lambda _: PAIRING)
    home = served.folder / "north"
    (home / "people.csv").write_text("\n".join(["name", *(f"a{number}" for number in range(40))]))
    with (home / "catalog.toml").open("a") as catalog:
        catalog.write(PEOPLE)
    policy = home / "policy.toml"
    text = policy.read_text().replace('"addition"', '"matching"').replace('"numbers"', '"people"')
    policy.write_text(text.replace('"value"', '"name"') + "row_results = true\nruns_total = 9\n")
    path = served.folder / "tolerant.toml"
    path.write_text(TOLERANT)
    report = parsed(command("job", "check", path, "--json", code=77))
    assert report["preview"]["details"]["passes"] == [{"key": "name:prefix1", "full": 24, "keyless": 0}]
    for verb, code in (("check", 77), ("estimate", 0)):
        printed = command("job", verb, path, code=code).stdout
        assert (
            "Pass 1 (name:prefix1): 60 % of this side's rows find their bucket full, 0 % have no key."
            in printed
        )
        assert 'overflow = "accept"' in printed
    path.write_text(TOLERANT + 'overflow = "accept"\n')
    printed = command("job", "check", path).stdout
    assert "60 % of this side's rows" in printed
    assert "would refuse" not in printed


def test_data_commands(served, command):
    assert parsed(command("data", "list", "--json"))["datasets"][0]["name"] == "numbers"
    described = parsed(command("data", "describe", "numbers", "--json"))["columns"][0]
    assert (described["name"], described["upper"], described["unit"]) == ("value", 1000, "years")
    assert parsed(command("data", "check", "--json"))["rows"] == {"numbers": 2}
    assert "numbers" in command("data", "list").stdout
    assert "1000" in command("data", "describe", "numbers").stdout
    (served.folder / "north" / "numbers.csv").write_text("value\n1\nx\n")
    assert "row 2 (line 3)" in command("data", "check", "numbers", code=65).stderr
    catalog = served.folder / "north" / "catalog.toml"
    declared = catalog.read_text()
    alike = '[datasets.more]\npopulation = "numbers"'
    more = declared.replace("[datasets.numbers]", alike).replace("datasets.numbers.", "datasets.more.")
    catalog.write_text(declared + more)
    checked = command("data", "check", code=65)
    assert "'numbers': numbers.csv, row 2 (line 3)" in checked.stderr
    assert "'more': numbers.csv, row 2 (line 3)" in checked.stderr
    refused = json.loads(command("data", "check", "--json", code=65).stdout)
    assert "2 data sets" in refused["error"]["what"]
    (served.folder / "north" / "good.csv").write_text("value\n1\n")
    catalog.write_text(declared + declared.replace("numbers", "good"))
    checked = command("data", "check", code=65)
    assert ("good" in checked.stdout, "row 2 (line 3)" in checked.stderr) == (True, True)
    command("data", "describe", "nubmers", code=65)


def test_jobs_come_in_pages_and_by_state(party):
    names = [party.submit(job_file()).wait(timeout=20).id for _ in range(5)][::-1]
    assert [job.id for job in party.jobs(limit=2)] == names[:2]
    assert [job.id for job in party.jobs(limit=2, before=names[1])] == names[2:4]
    assert [job.id for job in party.jobs("finished")] == names
    assert party.jobs("failed", "running") == []
    listed = party.jobs(limit=1)[0]
    assert listed.contract["spec"]["job"]["title"] == "both sums"
    assert listed.leakage["alice"] == ["the sum"]
    with pytest.raises(UsageError, match="Did you mean 'running'") as caught:
        party.jobs("runing")
    assert "runing" in caught.value.what
    with pytest.raises(JobError, match="There is no job"):
        party.jobs(before="0" * 16)


def test_results_are_deleted_when_asked(served, party, command):
    jobs = [party.submit(job_file()).wait(timeout=20) for _ in range(3)]
    assert parsed(command("job", "prune", "--older-than", "1d", "--json"))["deleted"] == 0
    assert "is deleted" in command("job", "forget", jobs[0].id).stdout
    assert "deleted" in command("job", "list").stdout
    assert command("job", "result", jobs[0].id, code=65).stderr.startswith("error: The result of job")
    assert command("job", "result", jobs[1].id)
    assert "no result here" in command("job", "forget", jobs[0].id, code=65).stderr
    assert "Write it as 90d" in command("job", "prune", "--older-than", "90", code=2).stderr
    served.north.store._database.execute("update jobs set updated = '2020-01-01T00:00:00Z'")
    assert parsed(command("job", "prune", "--older-than", "90d", "--json"))["deleted"] == 2
    for job in jobs:
        assert parsed(command("job", "certificate", job.id, "--json"))["signature"]
        assert parsed(command("job", "show", job.id, "--json"))["result_deleted"]


def test_results_are_deleted_as_configured(served):
    store = served.north.store
    job_id = served.north.submit(job_file()).job_id
    wait_final(served.north, job_id)
    store._database.execute("update jobs set updated = '2020-01-01T00:00:00Z'")
    served.north._prune()
    assert store.summary(job_id).kept
    served.north._keep_days = 90
    served.north._prune()
    assert store.summary(job_id).deleted
