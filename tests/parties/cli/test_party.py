"""`duetto party`: a daemon as a process, from its start to its end."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import sqlite3
import subprocess

import pytest
import tomli_w

from commons.exits import BAD_DATA, CONFIG, UNAVAILABLE, USAGE
from parties.cli.party import _too_few_files_survived
from parties.client import job_text
from parties.config import load
from parties.daemon.daemon import Daemon
from parties.jobs.manager import JobManager
from parties.session.server import PeerServer
from scripts.processes import COMMAND, ended, started, tried
from tests.parties.jobs.institutions import ALLOWED, job


def test_more_strangers_than_files_leave_the_control_socket_alive(homes, called):
    """The daemon has its soft limit raised, so idle connections beyond it are no end of the daemon."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = 128
    if hard <= 4 * few:
        pytest.skip("the system allows too few files to open more than the daemon would")
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        process = started(homes["north"])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * few)), hard))
    address = load(homes["north"]).listen
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(3 * few):
                stack.enter_context(
                    contextlib.closing(socket.create_connection((address.host, address.port), 10))
                )
            assert called("party", "status", "--config", homes["north"])[0] == 0
    finally:
        ended(process)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_all_that_runs_jobs_is_loaded_before_strangers_can_connect(homes, monkeypatch):
    """The attack: an import that found no file left ended a daemon that had just said that it is ready."""
    order = []
    load_jobs, open_port = JobManager.load, PeerServer.start
    monkeypatch.setattr(JobManager, "load", lambda self: (order.append("load"), load_jobs(self)))
    monkeypatch.setattr(PeerServer, "start", lambda self: (order.append("open"), open_port(self)))
    daemon = Daemon(load(homes["north"]))
    try:
        daemon.start()
    finally:
        daemon.stop()
    assert order == ["load", "open"]


def test_a_daemon_goes_on_without_a_file_left_and_with_no_other_problem():
    with _too_few_files_survived():
        raise OSError(errno.EMFILE, "Too many open files")
    with pytest.raises(PermissionError), _too_few_files_survived():
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_second_daemon_does_not_start(homes, daemons):
    done = tried("party", "start", "--config", homes["north"])
    assert done.returncode == CONFIG
    assert "runs already" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_daemon_in_order(homes, number):
    process = started(homes["north"], subprocess.PIPE)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert not (homes["north"] / "run/control.sock").exists()


def test_stop_and_status(homes, called):
    process = started(homes["north"])
    assert called("party", "stop", "--config", homes["north"])[0] == 0
    assert process.wait(10) == 0
    ended(process)
    status, _, err = called("party", "status", "--config", homes["north"])
    assert status == UNAVAILABLE
    assert "does not run" in err
    again = called("party", "stop", "--config", homes["north"], "--json")
    assert json.loads(again[1])["stopped"] is False


def test_a_killed_daemon_starts_again(homes):
    for _ in range(2):
        process = started(homes["north"])
        os.kill(process.pid, signal.SIGKILL)
        ended(process)


ENDLESS = {
    "kind": "sql",
    "url": "sqlite:///endless.db",
    "query": "with recursive c(v) as (select 1 union all select v from c) select count(*) as v from c",
    "columns": {"v": {"type": "integer", "lower": 0, "upper": 9}},
}
OVER_IT = job(
    "statistics", {"epsilon": "1", "queries": [{"kind": "sum", "column": "v"}]}, ["v"], dataset="endless"
)


def test_a_stopped_daemon_does_not_wait_for_a_source_that_does_not_end(homes, tmp_path):
    home, path = homes["north"], tmp_path / "job.toml"
    sqlite3.connect(home / "endless.db").close()
    path.write_text(job_text(OVER_IT))
    before = {name: (home / name).read_text() for name in ("catalog.toml", "policy.toml")}
    process = started(home)
    try:
        (home / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"endless": ENDLESS}}))
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [ALLOWED]}))
        asking = [*COMMAND, "job", "submit", str(path), "--config", str(home)]
        with subprocess.Popen(asking, stderr=subprocess.PIPE, text=True) as client:
            with pytest.raises(subprocess.TimeoutExpired):
                client.wait(4)
            assert tried("party", "stop", "--config", home).returncode == 0
            assert process.wait(60) == 0
            client.kill()
    finally:
        process.kill()
        for name, text in before.items():
            (home / name).write_text(text)


def test_a_wrong_pin_keeps_the_daemon_from_starting(homes):
    path = homes["north"] / "duetto.toml"
    text = path.read_text()
    pin = load(homes["north"]).peer("south").pin
    try:
        path.write_text(text.replace(pin, pin[::-1]))
        done = tried("party", "start", "--config", homes["north"], "--json")
        assert done.returncode == BAD_DATA
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "pairing"
        assert "pin of peer 'south'" in error["what"]
        assert "duetto pair" in error["hint"]
    finally:
        path.write_text(text)


@pytest.mark.parametrize("asked", ["gpu", "Native"])
def test_kernels_that_there_are_not_keep_the_daemon_from_starting(homes, monkeypatch, asked):
    monkeypatch.setenv("DUETTO_KERNELS", asked)
    done = tried("party", "start", "--config", homes["north"])
    assert done.returncode == USAGE
    assert "ready" not in done.stdout
    assert f"DUETTO_KERNELS is {asked!r}" in done.stderr


def test_an_address_in_use(homes):
    with socket.create_server(("127.0.0.1", load(homes["north"]).listen.port)):
        done = tried("party", "start", "--config", homes["north"])
    assert done.returncode == CONFIG
    assert "cannot be listened on" in done.stderr
