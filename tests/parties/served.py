"""The control socket of a party in the process of a test, and what tests of clients and commands share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parties.jobs.control import make_control_server
from parties.jobs.manager import JobManager

SETTINGS = '[party]\nname = "{name}"\n[listen]\naddress = "127.0.0.1:0"\n'


@contextmanager
def control(manager: JobManager, home: Path) -> Iterator[Path]:
    """The control socket of a party in its home, which is called like it, and there its configuration."""
    (home / "duetto.toml").write_text(SETTINGS.format(name=home.name))
    (home / "run").mkdir()
    server = make_control_server(manager)
    server.add_insecure_port(f"unix:{home}/run/control.sock")
    server.start()
    yield home
    server.stop(0).wait()


def waiting(served, text):
    """Name of a job of north that waits for a person at south."""
    served.allow("south", approval="person")
    return served.north.submit(text).job_id


def parsed(done):
    document = json.loads(done.stdout)
    assert document["success"] is True
    return document
