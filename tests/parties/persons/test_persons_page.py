"""The commands of docs/persons.md run as they stand there, at a party whose daemon is a process."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import tomli_w
from click.testing import CliRunner

from parties.cli.main import duetto
from parties.client import Party, job_text
from parties.config import load
from parties.contracts.state import State
from parties.ledger.book import open_ledger
from parties.persons.gate import NO_FILE
from scripts.processes import ended, paired, started
from tests.parties.jobs.institutions import ALLOWED, job, write_table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "persons.md"
WORDS = "five long words for this"
COUNT = job(
    "statistics",
    {"epsilon": "1", "maximum_rows": 100, "queries": [{"kind": "mean", "column": "age"}]},
    ["age"],
)


@pytest.fixture
def homes(tmp_path):
    made = paired(tmp_path)
    for name, home in made.items():
        write_table(home / "people.csv", {"age": [20, 30, 40]})
        columns = {"age": {"type": "integer", "lower": 0, "upper": 100}}
        declared = {"people": {"source": "people.csv", "maximum_rows": 100, "columns": columns}}
        (home / "catalog.toml").write_text(tomli_w.dumps({"datasets": declared}))
        approval = {"role": "steward", "count": 2} if name == "north" else "auto"
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [{**ALLOWED, "approval": approval}]}))
    return made


def run(home, line, typed=""):
    done = CliRunner().invoke(duetto, [*shlex.split(line), *config_of(line, home)], input=typed)
    return done.exit_code, done.output


def config_of(line, home):
    return [] if line.startswith("person key") else ["--config", str(home)]


def test_the_commands_do_what_the_page_says(homes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [re.fullmatch(r"north\$ duetto (.+)", line)[1] for line in "".join(blocks).splitlines()]
    home, keys, job_id, said = homes["north"], {}, "", {}
    assert NO_FILE in run(home, "person list")[1]
    daemons = [started(folder) for folder in homes.values()]
    try:
        for written in lines:
            line = re.sub(r"KEY-OF-(\w+)", lambda found: keys[found[1].lower()], written)
            if line.startswith("job approve") and not job_id:
                with Party(homes["south"]) as south:
                    job_id = south.submit(job_text(COUNT)).id
            typed = {"person key": f"{WORDS}\n{WORDS}\n", "person sign": f"{WORDS}\ny\n"}
            begin = " ".join(line.split()[:2])
            status, output = run(home, line.replace("ID", job_id), typed.get(begin, f"{WORDS}\n"))
            assert status == 0, f"{line}\n{output}"
            if begin == "person key":
                keys[line.split()[2].removesuffix(".key")] = re.search(r"^ed25519:\S+$", output, re.M)[0]
                assert (tmp_path / line.split()[2]).stat().st_mode & 0o777 == 0o600
            said[line] = output
            if line.endswith("klein.key") and begin == "job approve":
                with Party(home) as north:
                    assert north.job(job_id).wait(timeout=60).state is State.FINISHED
        status, certificate = run(home, f"job certificate {job_id}")
        assert status == 0
        path = tmp_path / "north.json"
        path.write_text(json.dumps(json.loads(certificate)))
    finally:
        for process in daemons:
            ended(process)
    assert (
        "Not in force yet: persons.toml (1 of 2 stewards: Prof Klein)" in said["person sign --key klein.key"]
    )
    assert "1 of 2 approvals: Dr Weber" in said["job list --waiting"].replace("\n", " ")
    assert "Valid signatures of persons" in said["ledger verify"]
    done = CliRunner().invoke(duetto, ["job", "verify", str(path), "--any-key"])
    assert (done.exit_code, "Dr Weber" in done.output, "Prof Klein" in done.output) == (0, True, True), (
        done.output
    )
    actors = [entry.actor for entry in open_ledger(load(home).home).entries() if entry.event == "approved"]
    assert actors == ["Dr Weber, Prof Klein"]
