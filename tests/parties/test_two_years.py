"""Two daemons live through two years with a moved clock: renewals announced, accepted, and once forgotten.

The clock of their processes, of TLS included, is moved by libfaketime; waiting goes by the real one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from glob import glob
from pathlib import Path

import pytest
import tomli_w

from commons.exits import CONFIG
from parties.client import job_text
from scripts.processes import COMMAND, NAMES, ended, free_port, started
from tests.parties.jobs.institutions import ALLOWED, job, write_table
from tests.support.waiting import until

LIBRARIES = glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
pytestmark = pytest.mark.skipif(not LIBRARIES, reason="needs libfaketime (Debian: faketime)")

CELLS = {"north": {"age": [20, 30, 40]}, "south": {"age": [50, 60]}}
COUNT = job(
    "statistics",
    {"epsilon": "1", "maximum_rows": 100, "queries": [{"kind": "mean", "column": "age"}]},
    ["age"],
)


class Institutions:
    """Two homes, and what is run in them on a day of their lives."""

    def __init__(self, folder: Path) -> None:
        self.day = 0
        self.homes = {name: folder / name for name in NAMES}
        self.file = folder / "job.toml"
        self.file.write_text(job_text(COUNT))

    @property
    def clock(self) -> dict[str, str]:
        moved = {"LD_PRELOAD": LIBRARIES[0], "FAKETIME": f"+{self.day}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return {**os.environ, **moved}

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            env=self.clock,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def called(self, name: str, *words: object) -> dict[str, object]:
        done = self.run(*words, "--config", self.homes[name], "--json")
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return json.loads(done.stdout)

    @contextmanager
    def daemons(self, day: int) -> Iterator[None]:
        """Both daemons, on a day after the pairing."""
        self.day = day
        with ExitStack() as running:
            for home in self.homes.values():
                running.callback(ended, started(home, environment=self.clock))
            yield

    def compute(self) -> None:
        """A job from north, decided by the rules of both."""
        assert self.called("north", "job", "submit", self.file, "--wait")["tables"]

    def days(self, name: str, subject: str) -> int:
        """For how long the certificates of somebody are good, as the doctor of a party says."""
        done = self.run("doctor", "--config", self.homes[name], "--json")
        for check in json.loads(done.stdout)["checks"]:
            if (check["subject"], check["check"]) == (subject, "certificate"):
                return int(re.fullmatch(r"ends in (\d+) days", check["what"])[1])
        raise AssertionError(done.stdout)


@pytest.fixture
def institutions(tmp_path) -> Institutions:
    made = Institutions(tmp_path)
    for name, home in made.homes.items():
        address = f"127.0.0.1:{free_port()}"
        done = made.run("init", name, "--address", address, "--home", home, "--key", 2048, "--json")
        assert done.returncode == 0, done.stderr
        write_table(home / "people.csv", CELLS[name])
        columns = {"age": {"type": "integer", "lower": 0, "upper": 100}}
        (home / "catalog.toml").write_text(
            tomli_w.dumps(
                {"datasets": {"people": {"source": "people.csv", "maximum_rows": 100, "columns": columns}}}
            )
        )
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [dict(ALLOWED)]}))
    for name, peer in (NAMES, NAMES[::-1]):
        fingerprint = json.loads(made.run("keys", "show", "--config", made.homes[peer], "--json").stdout)[
            "fingerprint"
        ]
        made.called(name, "pair", made.homes[peer] / f"{peer}.pair", "--fingerprint", fingerprint)
    path = made.homes["north"] / "duetto.toml"
    path.write_text(path.read_text().replace("[party]\n", "[party]\naccept_renewals = true\n"))
    return made


@pytest.mark.slow
def test_two_years(institutions):
    here = institutions
    with here.daemons(day=0):
        here.compute()
    with here.daemons(day=345):
        assert here.days("north", "south") == 19
        for name in NAMES:
            assert here.called(name, "keys", "renew")["taken_up"] is True
        # A job greets in both directions. North has a rule that accepts, south a person.
        here.compute()
        until(lambda: here.days("north", "south") > 300)
        assert here.days("south", "north") == 19
        assert here.called("south", "keys", "accept", "north")["certificate_days"] > 300
        here.compute()
    with here.daemons(day=367):
        # The first certificates have ended.
        here.compute()
        assert here.days("north", "south") == here.days("south", "north") > 300
    here.day = 740
    # The second ones have ended too, and nobody has renewed.
    refused = here.run("party", "start", "--config", here.homes["north"])
    assert refused.returncode == CONFIG
    assert "duetto keys renew" in refused.stderr
    for name in NAMES:
        here.called(name, "keys", "renew")
    for name, peer in (NAMES, NAMES[::-1]):
        here.called(name, "pair", here.homes[peer] / f"{peer}.pair")
    with here.daemons(day=741):
        here.compute()
    for name in NAMES:
        verified = here.called(name, "ledger", "verify")
        assert verified["success"] is True
        spent = here.called(name, "log", "show", "--event", "state", "--lines", "0")["lines"]
        assert sum(line["state"] == "finished" for line in spent) == 5
        assert here.called(name, "log", "verify")["problems"] == []
