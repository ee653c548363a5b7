"""What an operator sees of a real daemon: readiness, health, metrics, logs, and the audit log."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
from contextlib import ExitStack, suppress

import pytest

from parties.audit.files import read_log
from parties.config import load
from parties.daemon import metrics
from parties.daemon.metrics import MetricsServer
from scripts.processes import COMMAND, duetto, free_port, introduced, tried

CATALOG = """
[datasets.people]
source = "people.csv"
[datasets.people.columns.age]
type = "integer"
lower = 0
upper = 120
"""
POLICY = """
[[rules]]
name = "counts"
peers = ["*"]
datasets = ["people"]
analyses = ["statistics"]
columns = ["*"]
recipients = ["both"]
approval = "person"
epsilon_total = "2"
epsilon_per_job = "1"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A party with a catalog, a policy and metrics, and a peer that it has paired."""
    folder = tmp_path_factory.mktemp("o")
    for name in ("north", "south"):
        introduced(folder / name)
    north = folder / "north"
    (north / "catalog.toml").write_text(CATALOG)
    (north / "people.csv").write_text("age\n44\n")
    (north / "policy.toml").write_text(POLICY)
    duetto("pair", folder / "south" / "south.pair", "--yes", "--config", north)
    with (north / "duetto.toml").open("a") as file:
        file.write(f'\n[metrics]\nport = {free_port()}\n\n[log]\nlevel = "warning"\n')
    return north


@pytest.fixture(scope="module")
def daemon(home):
    """It runs, started as systemd would start it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(home / "notify"))
        manager.settimeout(30)
        process = subprocess.Popen(
            [*COMMAND, "party", "start", "--config", str(home), "--log-level", "info"],
            env={**os.environ, "NOTIFY_SOCKET": str(home / "notify")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            assert manager.recv(100) == b"READY=1"
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=30)
    assert process.returncode == 0
    last = read_log(home).lines[-1]
    assert last.event == "daemon-stopped"
    assert f"the audit log ends with line {last.sequence}, hash {last.hash}" in log.decode()


def asked(home, path="/metrics", method="GET", **headers):
    port = load(home).metrics_port
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    line.request(method, path, headers={"Host": f"127.0.0.1:{port}", **headers})
    answer = line.getresponse()
    body = answer.read().decode()
    line.close()
    return answer.status, body


@pytest.mark.usefixtures("daemon")
def test_metrics_are_openmetrics_and_name_no_data(home):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    status, body = asked(home)
    assert status == 200
    figures = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }
    assert figures["duetto_jobs", "finished"] == 0
    assert figures["duetto_ledger_whole",] == figures["duetto_policy_readable",] == 1
    assert figures["duetto_budget_epsilon", "counts", "people", "south"] == 2
    assert figures["duetto_budget_spent_epsilon", "counts", "people", "south"] == 0
    assert (
        300 < figures["duetto_certificate_days", "south"] <= figures["duetto_certificate_days", "north"] + 1
    )
    assert figures["duetto_audit_lines",] >= 1
    assert figures["duetto_draining",] == 0
    assert figures["process_resident_memory_bytes",] > 1 << 20
    assert str(home) not in body


@pytest.mark.usefixtures("daemon")
def test_metrics_go_on_where_the_policy_is_wrong(home):
    (home / "policy.toml").write_text("[[rules]]")
    body = asked(home)[1]
    assert "duetto_policy_readable 0.0" in body
    assert "duetto_ledger_whole 1.0" in body
    (home / "policy.toml").write_text(POLICY)
    assert "duetto_policy_readable 1.0" in asked(home)[1]


@pytest.mark.usefixtures("daemon")
def test_metrics_answer_this_machine_and_nothing_else(home):
    assert asked(home, Host="evil.example")[0] == 421
    assert asked(home, Host="")[0] == 421
    assert asked(home, path="/")[0] == 404
    assert asked(home, path="/metrics/../../etc/passwd")[0] == 404
    assert asked(home, method="POST")[0] == 501
    port = load(home).metrics_port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with pytest.raises(OSError, match=r"refused|unreachable|timed"):
            socket.create_connection((address, port), timeout=2)


@pytest.mark.usefixtures("daemon")
def test_a_daemon_that_is_well(home):
    done = tried("party", "health", "--config", home, "--json")
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)
    assert document["healthy"]
    assert {"daemon", "ledger", "audit log", "certificate", "disk"} <= {
        c["check"] for c in document["checks"]
    }
    status, body = asked(home, path="/healthz")
    assert (status, json.loads(body)) == (200, {"healthy": True, "ill": []})
    assert asked(home, path="/healthz", Host="evil.example")[0] == 421


def test_what_was_in_force_stands_in_the_log(home, daemon):
    started = next(line for line in read_log(home).lines if line.event == "daemon-started")
    assert started.about["pid"] == daemon.pid
    assert {"configuration_digest", "policy_digest", "catalog_digest"} <= started.about.keys()
    before = started.about["policy_digest"]
    (home / "policy.toml").write_text(POLICY.replace('"2"', '"3"'))
    duetto("party", "reload", "--config", home)
    reloaded = read_log(home).lines[-1]
    assert reloaded.event == "reloaded"
    assert reloaded.about["policy_digest"] != before
    assert reloaded.about["catalog_digest"] == started.about["catalog_digest"]
    (home / "policy.toml").write_text(POLICY)


def test_a_party_that_is_ill(home, tmp_path):
    copied = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(home), str(copied)], check=True)
    (copied / "run").exists() and [file.unlink() for file in (copied / "run").iterdir()]
    done = tried("party", "health", "--config", copied)
    assert done.returncode == 1
    assert "daemon: does not run" in done.stdout
    (path,) = (copied / "audit").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"pid":', b'"pid": '))
    done = tried("party", "health", "--config", copied, "--json")
    assert done.returncode == 1
    (ill,) = [c for c in json.loads(done.stdout)["checks"] if c["check"] == "audit log"]
    assert ill["verdict"] == "fail"
    assert "broken: line 2" in ill["what"]


def test_a_file_in_place_of_the_control_socket_is_no_defect(home):
    south = home.parent / "south"
    (south / "run" / "control.sock").mkdir()
    done = tried("party", "start", "--config", south)
    assert (done.returncode, "is not a socket" in done.stderr) == (78, True), done.stderr
    subprocess.run(done.stderr.split("`")[1], shell=True, check=True)
    assert not (south / "run" / "control.sock").exists()


class Nothing:
    """No figures."""

    def collect(self):
        return []


def test_a_burst_of_monitors_is_not_turned_away(home):
    """As many as a server that is busy with one of them has to keep waiting."""
    server = MetricsServer(free_port(), Nothing())  # it listens, and accepts nobody before it is started
    with ExitStack() as connections:
        for _ in range(60):
            connections.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=0.5))
    server.start()
    server.stop()


@pytest.mark.attack
def test_who_drips_bytes_at_the_metrics_holds_few_threads_and_none_for_long(monkeypatch, caplog):
    """Before, each of 1,560 such callers was a thread, and each that left early a trace in the log."""
    monkeypatch.setattr(metrics, "CALLER_SECONDS", 1.0)
    server = MetricsServer(free_port(), Nothing())
    server.start()
    before = threading.active_count()
    with ExitStack() as connections:
        dripping = [
            connections.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            for _ in range(4 * metrics.CALLERS)
        ]
        for plain in dripping:
            plain.sendall(b"GET /metrics")
            plain.settimeout(0.05)
        closed = False
        for _ in range(1_000):  # a byte in time prolongs nothing
            try:
                dripping[0].sendall(b"x")
                closed = not dripping[0].recv(1)
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
            if closed:
                break
        assert closed
        # Each has a timer beside it.
        assert threading.active_count() - before <= 2 * metrics.CALLERS
        for plain in dripping:
            plain.settimeout(60)
            with suppress(ConnectionError):
                assert plain.recv(1) == b""
    server.stop()
    assert caplog.messages == []


def test_what_goes_wrong_with_metrics_is_one_record_of_the_log(caplog, capsys):
    class Broken:
        def collect(self):
            raise ZeroDivisionError

    server = MetricsServer(free_port(), Broken())
    server.start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as plain:
        plain.sendall(f"GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert plain.recv(1) == b""
    server.stop()
    assert caplog.messages == ["a request for metrics was not answered: ZeroDivisionError"]
    assert capsys.readouterr().err == ""
