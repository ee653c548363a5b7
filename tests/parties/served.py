"""The control socket of a party in the process of a test, and what tests of clients and commands share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from parties.client import job_text
from parties.contracts.state import State
from parties.jobs.control import Reloaded, make_control_server
from parties.jobs.manager import JobManager
from parties.pki import certificate
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically
from parties.session.draining import Drain
from tests.parties.jobs.institutions import job

SETTINGS = '[party]\nname = "{name}"\n[listen]\naddress = "127.0.0.1:0"\n'


def total(epsilon: str = "1/2", recipients: Sequence[str] = ("alice", "bob")) -> str:
    """A job file for the sum of the numbers of both."""
    queries = [{"name": "total", "kind": "sum", "column": "v"}]
    columns = {"alice": {"v": "value"}, "bob": {"v": "value"}}
    parameters = {"epsilon": epsilon, "queries": queries}
    return job_text(job("statistics", parameters, columns, recipients=recipients, dataset="numbers"))


TOTAL = total()


def drain_of(manager: JobManager) -> Drain:
    """How a manager comes to rest, without a port for peers."""
    return Drain(manager.hold_back, lambda: manager.store.counts().get(State.RUNNING, 0), 60)


@contextmanager
def control(manager: JobManager, home: Path) -> Iterator[Path]:
    """The control socket of a party in its home of the same name, with configuration and certificate."""
    (home / "duetto.toml").write_text(SETTINGS.format(name=home.name))
    (home / "keys").mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    for name, data in zip(("tls.crt", "tls.key"), certificate.make(home.name), strict=True):
        write_atomically(home / "keys" / name, data, PRIVATE)
    (home / "run").mkdir()
    server = make_control_server(manager, Reloaded, drain_of(manager))
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
