"""`duetto doctor` and `duetto party health`: what they find in a home, in its daemon and at the peer."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime, timedelta

import pytest

from commons.exits import CONFIG, UNAVAILABLE
from parties.ledger.book import Ledger
from parties.ledger.entries import DENIED
from scripts.processes import tried
from tests.support.clocks import Moved
from tests.support.waiting import freeze


def checks(done: tuple[int, str, str]) -> dict[tuple[str, str], str]:
    return {(c["subject"], c["check"]): c["verdict"] for c in json.loads(done[1])["checks"]}


def test_two_daemons_see_each_other(homes, daemons, called):
    done = called("doctor", "--config", homes["north"], "--peer", "south", "--json")
    assert done[0] == 0
    found = checks(done)
    for check in (
        "pairing",
        "name",
        "reachability",
        "tls",
        "pin",
        "version",
        "clock",
        "latency",
        "bandwidth",
        "network",
    ):
        assert found["south", check] == "ok" or check in {"latency", "bandwidth"}
    assert found["self", "daemon"] == found["self", "kernels"] == "ok"
    status = called("party", "status", "--config", homes["south"], "--json")
    assert json.loads(status[1])["pid"] == daemons["south"].pid


def test_files_of_a_cluster_that_are_not_there_are_named(homes, called):
    files = "".join(f'dask_{name} = "cluster.{name}"\n' for name in ("ca", "certificate", "key"))
    other = homes["north"] / "with-cluster.toml"
    other.write_text(
        f'{(homes["north"] / "duetto.toml").read_text()}\n[compute]\ndask = "tls://127.0.0.1:9"\n{files}'
    )
    done = called("doctor", "--config", other, "--peer", "south", "--json")
    other.unlink()
    (found,) = [one for one in json.loads(done[1])["checks"] if one["check"] == "configuration"]
    assert found["verdict"] == "fail"
    assert "dask_ca of [compute] names" in found["what"]
    assert "remove dask" in found["hint"]


def test_kernels_that_are_switched_off_are_said_to_be(homes, called, monkeypatch):
    monkeypatch.setenv("DUETTO_KERNELS", "numpy")
    done = called("doctor", "--config", homes["north"], "--peer", "south", "--json")
    (found,) = [one for one in json.loads(done[1])["checks"] if one["check"] == "kernels"]
    assert found["what"] == "comparisons run in numpy, as DUETTO_KERNELS asks of this command"


def test_a_frozen_daemon_is_not_said_to_run(homes, daemons, called, monkeypatch):
    monkeypatch.setattr("parties.client.asking.ASK_SECONDS", 1.0)
    freeze(daemons["south"].pid)
    try:
        status, _, err = called("party", "status", "--config", homes["south"])
        assert status == UNAVAILABLE
        assert "does not answer" in err
        done = called("doctor", "--config", homes["south"], "--peer", "north", "--json")
        assert checks(done)["self", "daemon"] == "fail"
    finally:
        daemons["south"].send_signal(signal.SIGCONT)


def test_what_is_in_order_is_one_line_and_a_fault_has_its_own(homes, called, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, printed, _ = called("doctor", "--config", homes["north"])
    own, *_ = [line for line in printed.splitlines() if line.startswith("✓ this party: ")]
    assert "keys, certificate, ledger" in own
    assert "✗ south, reachability: " in printed
    assert status == UNAVAILABLE
    assert "Ready" not in printed
    assert not set("┏│└") & set(printed)
    every = called("doctor", "--config", homes["north"], "-v")[1].splitlines()
    found = json.loads(called("doctor", "--config", homes["north"], "--json")[1])["checks"]
    assert len([line for line in every if line.startswith(("this party", "south"))]) == len(found)


def test_doctor_without_the_peer(homes, called):
    done = called("doctor", "--config", homes["north"], "--json")
    assert done[0] == UNAVAILABLE
    assert checks(done)["south", "reachability"] == "fail"


def test_doctor_with_an_open_key(homes, called):
    key = homes["north"] / "keys/tls.key"
    key.chmod(0o644)
    try:
        done = called("doctor", "--config", homes["north"], "--json")
        assert done[0] == CONFIG
        assert checks(done)["self", "keys"] == "fail"
        start = tried("party", "start", "--config", homes["north"])
        assert start.returncode == CONFIG
        assert "chmod 600" in start.stderr
        assert "ready" not in start.stdout
    finally:
        key.chmod(0o600)


@pytest.mark.parametrize(
    ("name", "what"), [("policy.toml", "rule 1: nmae"), ("catalog.toml", "'dataset' is not a known key")]
)
def test_doctor_and_health_read_policy_and_catalog_as_jobs_do(homes, called, name, what):
    path = homes["north"] / name
    text = path.read_text()
    try:
        path.write_text({"policy.toml": '[[rules]]\nnmae = "x"\n', "catalog.toml": "[dataset.x]\n"}[name])
        for words, code in (("doctor",), CONFIG), (("party", "health"), 1):
            done = called(*words, "--config", homes["north"], "--json")
            assert done[0] == code
            (found,) = [one for one in json.loads(done[1])["checks"] if one["check"] == "configuration"]
            assert found["verdict"] == "fail"
            assert name in found["what"]
    finally:
        path.write_text(text)


def test_what_health_advises_names_the_configuration(homes, called):
    printed = called("party", "health", "--config", homes["north"])[1]
    assert f"`duetto party start --config {homes['north']}`" in printed


def test_doctor_and_health_warn_where_the_last_entry_lies_ahead(homes, called):
    """Written while the clock was wrong: until the next entry nothing is deleted or ended."""
    path = homes["north"] / "ledger.jsonl"
    before = path.read_bytes() if path.exists() else None
    ahead = Moved(datetime.now(UTC) + timedelta(days=200)).clock
    Ledger(path, ahead).decide(DENIED, "a" * 64, "south", actor="Ann", uid=1)
    try:
        for words in (("doctor",), ("party", "health")):
            done = called(*words, "--config", homes["north"], "--json")
            found = {(one["subject"], one["check"]): one for one in json.loads(done[1])["checks"]}
            assert found["self", "clock"]["verdict"] == "warn"
            assert "nothing is deleted or ended" in found["self", "clock"]["what"]
            assert "Set the clock" in found["self", "clock"]["hint"]
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    done = called("doctor", "--config", homes["north"], "--json")
    assert checks(done)["self", "clock"] == "ok"
