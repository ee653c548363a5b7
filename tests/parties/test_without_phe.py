"""duetto runs whole where the library `phe` is not installed, which is under a licence of its own kind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import tomli_w

from parties.client import job_text
from scripts import processes
from scripts.processes import COMMAND, NAMES, ended, free_port, paired, started, tried
from tests.parties.jobs.institutions import ALLOWED, job

CATALOG = """
[datasets.numbers]
source = "numbers.csv"
[datasets.numbers.columns.value]
type = "integer"
lower = 0
upper = 1000
"""
GUARDED = (
    COMMAND[0],
    "-c",
    f"import ctypes; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0); {COMMAND[2]}",
)
"""The program as under `MemoryDenyWriteExecute` of our unit: no memory can be written first and run then.

PR_SET_MDWE of Linux 6.3; an older one refuses the call, and nothing is tested.
"""

COLUMNS = {"alice": {"x": "value"}, "bob": {"y": "value"}}


@pytest.fixture
def without(tmp_path, monkeypatch):
    """The environment of processes, of this one's children too, in which `phe` cannot be imported."""
    hidden = tmp_path / "hidden"
    (hidden / "phe").mkdir(parents=True)
    (hidden / "phe" / "__init__.py").write_text("raise ImportError('not installed')")
    paths = [str(hidden), str(Path(__file__).parents[2])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setattr(processes, "tried", tried)  # programs, which the tests of parties do without
    return tmp_path


def run(*words):
    done = subprocess.run(
        [*COMMAND, *map(str, words), "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_keys_daemons_and_jobs_need_no_phe(without):
    homes = paired(without)
    for home in homes.values():
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [ALLOWED]}))
        (home / "catalog.toml").write_text(CATALOG)
        (home / "numbers.csv").write_text("value\n5\n50\n500\n")
    processes = [started(homes[name], command=GUARDED) for name in NAMES]
    try:
        assert len(run("keys", "show", "--config", homes["north"])["fingerprint"]) > 16
        given = {"type": "PN-NP-PN", "bits": 10, "engine": "paillier"}
        document = job("comparison", given, COLUMNS, recipients=["alice"], dataset="numbers")
        file = without / "job.toml"
        file.write_text(job_text(document))
        done = run("job", "submit", file, "--wait", "--config", homes["north"])
        (table,) = done["tables"].values()
        assert [1, 1, 1] in [[int(value) for value in column] for column in table.values()]
        said = run("doctor", "--peer", "south", "--config", homes["north"])
        assert said["healthy"]
        assert "phe" not in re.findall(r"\w+", json.dumps(said))
    finally:
        for process in processes:
            ended(process)


def test_up_makes_a_party_and_serves_its_pages_without_a_word_of_phe(without):
    pytest.importorskip("uvicorn")
    home, errors = without / "home", without / "errors"
    words = ("up", "--name", "north", "--address", f"127.0.0.1:{free_port()}", "--key", "2048")
    with errors.open("w") as stderr:
        serving = subprocess.Popen(
            [*COMMAND, *words, "--no-browser", "--json", "--config", str(home)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
        )
        try:
            found = json.loads(serving.stdout.readline())
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(60)
            serving.stdout.close()
    assert (found["name"], found["daemon_started"]) == ("north", True)
    assert found["link"].startswith("http://")
    assert "phe" not in re.findall(r"\w+", errors.read_text())


def test_what_needs_phe_says_so(without):
    code = (
        "from smc.ciphers import phe_format\n"
        "from smc.errors import UsageError\n"
        "from smc.forms import Role\n"
        "from tests.support.keys import toy\n"
        "key = toy(Role.ALICE)\n"
        "assert phe_format.read_private_key(phe_format.write_private_key(key)) == key\n"
        "try: phe_format.private_to_phe(key)\n"
        "except UsageError as error: print(error.what, error.hint)\n"
    )
    done = subprocess.run([COMMAND[0], "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "phe is not installed" in done.stdout
    assert "THIRD_PARTY.md" in done.stdout
