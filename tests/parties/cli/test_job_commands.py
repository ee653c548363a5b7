"""`duetto job`: submit, list, show, watch, results and what is deleted of them."""

from __future__ import annotations

import json
import threading

from parties.cli.output import emit
from parties.cli.terms import print_jobs
from parties.contracts.state import State
from smc.forms import Role
from tests.parties.jobs.joined import job_file, wait_final, wait_state
from tests.parties.served import parsed, waiting


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
    assert shown.startswith("both sums, with south, finished ")
    assert "alice and bob learned" not in shown
    details = command("job", "result", job_id, "--details").stdout
    assert "alice and bob learned: the sum" in details
    assert "Against a peer that deviates from the protocol: nothing is promised (semi-honest)." in details
    assert (folder / f"{job_id}-sum.csv").read_text() == "total\n62\n"
    wait_final(served.south, job_id)
    assert parsed(command("job", "result", job_id, "--json", name="south"))["tables"]
    for verb in ("list", "show", "watch"):
        words = ("job", verb) if verb == "list" else ("job", verb, job_id)
        assert job_id[:8] in command(*words).stdout


def test_a_list_has_short_names_ages_and_words(served, command, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = file.read_text()
    title = "a title that is longer than the column in which it stands " * 2
    names = [waiting(served, text.replace("both sums", one, 1)) for one in ("one", title.strip())]
    lines = command("job", "list", name="south").stdout.splitlines()
    assert lines[0].split() == ["ID", "STATE", "WITH", "WHEN", "TITLE"]
    assert [line[:8] for line in lines if line[0] != " "][1:3] == [name[:8] for name in names[::-1]]
    assert "waits for you  north" in lines[1]
    assert lines[-1].startswith("2 jobs wait for your decision: `duetto job approve")
    assert max(map(len, lines[:-1])) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert not set("┏│└") & set("".join(lines))
    words = " ".join(" ".join(line[38:] for line in lines).split())
    assert title.strip() in words


def test_names_in_a_list_are_as_long_as_it_takes_to_tell_them_apart(capsys):
    common = {"state": "finished", "peer": "south", "updated": "", "title": "t", "analysis": "a"}
    common |= {"waits_for": "", "result_deleted": "", "older_release": False}
    jobs = [{**common, "job_id": f"abcdef0{end}"} for end in ("12244", "12355")]
    emit({}, lambda out: print_jobs(out, jobs), as_json=False)
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == ["abcdef0122", "abcdef0123"]


def test_errors_of_commands(served, command, file):
    done = command("job", "show", "0" * 16, "--json", code=65)
    assert json.loads(done.stdout)["error"]["code"] == "unknown-job"
    file.write_text(file.read_text().replace('"1/2"', "0.5"))
    done = command("job", "submit", file, code=65)
    assert done.stdout == ""
    assert "Write a fraction as a string" in done.stderr
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


def make_old(store, most=1000):
    """The first jobs as an earlier process wrote them in 2020."""
    day = "2020-01-01T00:00:00Z"
    store._database.execute(
        f"update jobs set created = '{day}', updated = '{day}' "
        f"where number in (select number from jobs order by number limit {most})"
    )
    store._wrote.clear()


def test_results_are_deleted_when_asked(served, party, command):
    jobs = [party.submit(job_file()).wait(timeout=20) for _ in range(3)]
    assert parsed(command("job", "prune", "--older-than", "1d", "--json"))["deleted"] == 0
    assert "is deleted" in command("job", "forget", jobs[0].id).stdout
    assert "deleted" in command("job", "list").stdout
    assert command("job", "result", jobs[0].id, code=65).stderr.startswith("error: The result of job")
    assert command("job", "result", jobs[1].id)
    assert "no result here" in command("job", "forget", jobs[0].id, code=65).stderr
    assert "Write it as 90d" in command("job", "prune", "--older-than", "90", code=2).stderr
    make_old(served.north.store)
    assert parsed(command("job", "prune", "--older-than", "90d", "--json"))["deleted"] == 2
    for job in jobs:
        assert parsed(command("job", "certificate", job.id, "--json"))["signature"]
        assert parsed(command("job", "show", job.id, "--json"))["result_deleted"]


def test_results_are_deleted_as_configured(served):
    store = served.north.store
    job_id = served.north.submit(job_file()).job_id
    wait_final(served.north, job_id)
    make_old(store)
    served.north.housekeeper.look()
    assert store.summary(job_id).kept
    served.north.housekeeper.keep_days = 90
    served.north.housekeeper.look()
    assert store.summary(job_id).deleted


def test_results_that_lie_aside_are_found_and_written(served, command, tmp_path):
    store = served.north.store
    jobs = [served.north.submit(job_file()).job_id for _ in range(2)]
    outcomes = {}
    for job_id in jobs:
        wait_final(served.north, job_id)
        outcomes[job_id] = json.loads(store.outcome(job_id))
    store.put_aside(jobs[1])
    make_old(store, 1)
    assert parsed(command("job", "prune", "--older-than", "90d", "--json"))["deleted"] == 1
    found = parsed(command("job", "aside", "--json"))["aside"]
    assert {one["job_id"]: one["why"].split()[0] for one in found} == dict(
        zip(jobs, ("deleted", "put"), strict=True)
    )
    assert "put aside" in command("job", "aside").stdout
    for job_id in jobs:
        file = tmp_path / job_id
        command("job", "aside", job_id[:8], "-o", str(file))
        assert json.loads(file.read_text()) == outcomes[job_id]
        assert file.stat().st_mode & 0o077 == 0
    for words in ((jobs[0],), ("ffffffff", "-o", str(tmp_path / "x"))):
        assert "List them" in command("job", "aside", *words, code=2).stderr
