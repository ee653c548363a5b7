"""`duetto log`: what happened, and whether the log is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parties.served import parsed


@pytest.fixture
def job(served, command, file):
    return parsed(command("job", "submit", file, "--wait", "--json"))["job_id"]


def test_what_happened_to_a_job(job, command):
    lines = parsed(command("log", "show", "--json"))["lines"]
    assert [line["number"] for line in lines] == list(range(len(lines)))
    of_job = parsed(command("log", "show", "--job", job[:8], "--event", "state", "--json"))["lines"]
    assert [line["state"] for line in of_job] == ["approved", "running", "kept", "finished"]
    assert parsed(command("log", "show", "--lines", "2", "--json"))["lines"] == lines[-2:]
    assert parsed(command("log", "show", "--lines", "0", "--json"))["lines"] == lines
    shown = command("log", "show").stdout
    assert "finished" in shown
    assert "approved by rule 'additions'" in shown
    assert "below 0" in command("log", "show", "--lines", "-1", code=2).stderr


@pytest.mark.parametrize("name", ["north", "south"])
def test_the_decision_on_the_whole_contract_is_about_its_job(job, command, name):
    """A decision names the digest of the contract, which begins like the job's name only for a draft."""
    found = parsed(command("log", "show", "--job", job, "--event", "decided", "--json", name=name))["lines"]
    every = parsed(command("log", "show", "--event", "decided", "--json", name=name))["lines"]
    assert found == every
    assert any(not line["digest"].startswith(job) for line in found)
    assert command("log", "show", "--event", "decided", name=name).stdout.count(job) == len(found)


def test_verify_says_what_is_wrong(served, job, command):
    whole = parsed(command("log", "verify", "--json"))
    assert whole["problems"] == []
    assert whole["head"].startswith(f"{whole['lines'] - 1}:")
    assert command("log", "verify", "--head", whole["head"]).stdout.count("WRONG") == 0
    number, head = whole["head"].split(":")
    for noted, words in (
        (f"{number}:{'0' * 64}", "another hash"),
        (f"{int(number) + 1}:{head}", "is missing"),
    ):
        assert words in command("log", "verify", "--head", noted, code=77).stdout
    for wrong in ("", "x:y", f"-1:{head}", f"1{head}"):
        assert "NUMBER:HASH" in command("log", "verify", "--head", wrong, code=2).stderr
    (path,) = (served.config("north").home / "audit").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    decisions = [place for place, line in enumerate(lines) if b'"decided"' in line]
    # Cut off at the end, with a decision of the ledger in what is missing.
    path.write_bytes(b"".join(lines[: decisions[-1]]))
    done = command("log", "verify", "--json", code=77)
    assert "of the ledger, approved at" in json.loads(done.stdout)["problems"][0]
    path.write_bytes(b"".join(lines).replace(b'"finished"', b'"failed"'))
    assert "does not continue the one before" in command("log", "verify", code=77).stdout
    path.unlink()
    done = command("log", "verify", "--json", code=77)
    assert "The log is empty, and the ledger has 2 decisions." in json.loads(done.stdout)["problems"]


@pytest.mark.usefixtures("job")
def test_a_log_without_its_beginning_is_said_to_begin_later(served, command):
    """The first lines dropped, and the file named after what is left, as if older files were moved away."""
    (path,) = (served.config("north").home / "audit").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    assert parsed(command("log", "show", "--event", "begun", "--json"))["lines"][0]["ledger"] == 0
    rest = next(place for place, line in enumerate(lines) if b'"decided"' in line) + 1
    path.unlink()
    path.with_name(f"{rest:012d}.jsonl").write_bytes(b"".join(lines[rest:]))
    assert f"begins with line {rest}" in command("log", "verify", code=None).stdout


def test_a_log_that_cannot_be_read_is_not_an_empty_one(served, command, monkeypatch):
    folder = served.config("north").home / "audit"

    def forbidden(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", forbidden)
    done = command("log", "verify", code=77)
    said = f"{folder} cannot be used: Permission denied. Free space on the disk, or give this user the right"
    assert said in done.stdout
    command("log", "show", code=74)
