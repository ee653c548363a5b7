"""The Python client, over the real control service on a Unix socket."""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading

import pytest

from parties.client import Party, job_text
from parties.client.result import Result
from parties.contracts.state import State
from parties.errors import (
    BudgetError,
    ConfigError,
    DaemonUnavailable,
    DataError,
    JobError,
    PeerRefused,
    PolicyError,
)
from parties.exits import exit_code
from parties.jobs.faults import _CLASSES, from_code, pack, unpack
from parties.ledger.entries import LedgerError
from smc.errors import Cancelled, DomainError, DuettoError, PeerAborted, PeerLost, UsageError
from smc.forms import Role
from tests.parties.jobs.joined import job_file
from tests.parties.served import SETTINGS


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
    assert ">62</td>" in result._repr_html_()
    assert [one.id for one in party.jobs()] == [job.id]
    assert party.job(job.id[:10]).refresh().describe()["direction"] == "outgoing"
    assert job.contract["spec"]["job"]["analysis"] == "addition"
    assert job.facts["route"] == "plain addition"


def test_frames(party, file, monkeypatch):
    pytest.importorskip("pandas")
    result = party.submit(file).wait(timeout=20).result()
    assert result.frame().to_dict("list") == {"total": [62]}
    assert result.frame("sum").shape == (1, 1)
    with pytest.raises(JobError, match="'total'"):
        result.frame("total")
    assert {name: frame.shape for name, frame in result.frames().items()} == {"sum": (1, 1)}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="duetto\\[frames\\]"):
        result.frame()


def test_frames_of_several_tables_and_of_none():
    pytest.importorskip("pandas")
    tables = {"results": {"query": ["mean"], "value": [3]}, "ages": {"age": [1, 2]}}
    result = Result("1", tables, (), {}, {}, {})
    with pytest.raises(JobError, match=r"2 tables: 'results', 'ages'\. Name one .* frames\(\)"):
        result.frame()
    assert list(result.frames()) == ["results", "ages"]
    assert result.frame("ages").to_dict("list") == result.frames()["ages"].to_dict("list") == tables["ages"]
    none = Result("1", {}, (), {}, {}, {})
    assert none.frames() == {}
    for name in (None, "ages"):
        with pytest.raises(JobError, match="no table for this party"):
            none.frame(name)


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
    assert "'value'" in caught.value.hint
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
    assert (again.what, again.hint, again.stable_code) == (error.what, error.hint, error.stable_code)


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
    (home / "duetto.toml").write_text(SETTINGS.format(name="west"))
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


def test_jobs_come_in_pages_and_by_state(party):
    names = [party.submit(job_file()).wait(timeout=20).id for _ in range(5)][::-1]
    assert [job.id for job in party.jobs(limit=2)] == names[:2]
    assert [job.id for job in party.jobs(limit=2, before=names[1])] == names[2:4]
    assert [job.id for job in party.jobs("finished")] == names
    assert party.jobs("failed", "running") == []
    listed = party.jobs(limit=1)[0]
    assert listed.contract["spec"]["job"]["title"] == "both sums"
    assert listed.title == "both sums"
    assert abs((dt.datetime.now(dt.UTC) - listed.created).total_seconds()) < 600
    assert listed.leakage["alice"] == ["the sum"]
    frame = party.jobs_frame("finished", limit=2)
    assert [*frame["id"]] == names[:2]
    assert [*frame["state"], *frame["title"]] == [*["finished"] * 2, *["both sums"] * 2]
    with pytest.raises(UsageError, match="Did you mean 'running'") as caught:
        party.jobs("runing")
    assert "runing" in caught.value.what
    with pytest.raises(JobError, match="There is no job"):
        party.jobs(before="0" * 16)


@pytest.mark.parametrize("kind", [*_CLASSES.values()], ids=[*_CLASSES])
def test_every_error_comes_over_the_socket_and_out_of_the_records(kind):
    error = kind("What happened.", "What to do.", code="particular")
    found = unpack(pack(error))
    assert (type(found), found.stable_code) == (kind, "particular")
    assert (found.what, found.hint) == ("What happened.", "What to do.")
    assert exit_code(from_code(kind.code, "What happened.", "What to do.")) == exit_code(
        kind("What happened.")
    )
