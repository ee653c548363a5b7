"""`duetto party stop --drain`, the signal for it, and what commands say of a daemon that is drained."""

from __future__ import annotations

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from commons.exits import OK, USAGE
from parties.audit.files import read_log
from parties.client import Party
from parties.config import MAX_DRAIN_SECONDS, load
from parties.doctor import examine_self
from parties.errors import DaemonUnavailable
from parties.findings import DAEMON, DRAINING, Finding, Status, ill_of
from parties.pki.home import socket_path
from scripts.processes import started, tried
from smc.errors import UsageError


@pytest.mark.parametrize("way", ["command", "signal"])
def test_a_daemon_that_is_drained_without_jobs_ends_at_once(homes, way):
    process = started(homes["north"], subprocess.PIPE)
    if way == "command":
        done = tried("party", "stop", "--drain", "--seconds", "30", "--config", homes["north"])
        assert (done.returncode, done.stdout) == (OK, "stopped\n")
        assert "draining: 0 jobs running" in done.stderr
    else:
        process.send_signal(signal.SIGUSR1)
    _, log = process.communicate(timeout=30)
    assert (process.returncode, "may take" in log) == (OK, True), log
    assert read_log(homes["north"]).lines[-1].event == "daemon-stopped"


def test_status_health_and_doctor_say_that_it_is_drained(served, called, monkeypatch):
    home = served.folder / "north"
    for place in ("cli.party", "doctor"):
        monkeypatch.setattr(f"parties.{place}.running_pid", lambda _: 7)
    with Party(home) as party:
        assert party.status()["draining"] is None
        for seconds in (-1, MAX_DRAIN_SECONDS + 1, float("nan"), float("inf")):
            with pytest.raises(UsageError, match="range"):
                party.drain(seconds)
        assert party.status()["draining"] is None
        assert party.drain(600) == {"sessions": 0, "seconds_left": 600}
        said = party.status()["draining"]
    assert (said["sessions"], 590 < said["seconds_left"] <= 600) == (0, True)
    code, out, _ = called("party", "status", "--config", home)
    assert (code, "draining: 0 jobs running, no other begins; the daemon ends within" in out) == (OK, True)
    found = examine_self(load(home))
    (draining,) = [one for one in found if one.check == DRAINING]
    assert (draining.verdict, draining in ill_of(found)) == (Status.WARN, True)


def test_what_makes_a_party_ill():
    def one(check, verdict):
        return Finding("self", check, verdict, "")

    well = [one(check, Status.OK) for check in (DAEMON, "disk")] + [one("policy", Status.WARN)]
    ill = [one("disk", Status.FAIL), one(DAEMON, Status.WARN), one(DRAINING, Status.WARN)]
    assert ill_of(well + ill) == ill


def test_seconds_are_for_draining(homes, called):
    code, _, problem = called("party", "stop", "--seconds", "5", "--config", homes["north"])
    assert (code, "--drain" in problem) == (USAGE, True)
    assert called("party", "stop", "--drain", "--seconds", "0", "--config", homes["north"])[0] == USAGE


def test_a_daemon_of_another_release_is_told_from_one_that_is_silent(homes, called):
    config = load(homes["north"])
    socket = socket_path(config)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        with Party(config.path) as party, pytest.raises(DaemonUnavailable, match="another release"):
            party.drain()
    finally:
        server.stop(0).wait()
        socket.unlink(missing_ok=True)
