"""The commands about a party, alone and with two daemons as processes."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from parties.cli import output
from parties.cli.main import ENTRIES, main
from parties.config import load
from parties.errors import (
    BAD_DATA,
    CONFIG,
    DISK,
    INTERNAL,
    INTERRUPTED,
    REFUSED,
    RETRY,
    UNAVAILABLE,
    USAGE,
    BudgetError,
    ConfigError,
    DaemonUnavailable,
    DataError,
    JobError,
    PairingError,
    PeerBusy,
    PeerRefused,
    PeerUnreachable,
    PolicyError,
    exit_code,
)
from scripts.processes import COMMAND
from smc.errors import (
    Cancelled,
    DomainError,
    DuettoError,
    FreshnessError,
    KeyMaterialError,
    NoRouteError,
    PeerLost,
    UsageError,
)

REPOSITORY = Path(__file__).parents[2]


def duetto(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command as a process."""
    return subprocess.run(
        [*COMMAND, *map(str, words)], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )


def called(capsys, *words: object) -> tuple[int, str, str]:
    """Run the command in this process: exit status, stdout, stderr."""
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> dict[str, Path]:
    """Two paired parties."""
    folder = tmp_path_factory.mktemp("p")
    homes = {name: folder / name for name in ("north", "south")}
    made = {}
    for name, home in homes.items():
        done = duetto(
            "init", name, "--address", f"127.0.0.1:{free_port()}", "--home", home, "--key", 2048, "--json"
        )
        assert done.returncode == 0, done.stderr
        made[name] = json.loads(done.stdout)
    for name, peer in (("north", "south"), ("south", "north")):
        done = duetto(
            "pair",
            made[peer]["pairing_file"],
            "--config",
            homes[name],
            "--fingerprint",
            made[peer]["fingerprint"].lower(),
        )
        assert done.returncode == 0, done.stderr
    return homes


def started(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*COMMAND, "party", "start", "--config", str(home), "--json"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    ready = process.stdout.readline()
    if not ready:
        raise AssertionError(process.communicate(timeout=20)[1])
    assert json.loads(ready)["ready"] is True
    return process


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=10)


@pytest.fixture
def daemons(homes) -> Iterator[dict[str, subprocess.Popen[str]]]:
    processes = {name: started(home) for name, home in homes.items()}
    yield processes
    for process in processes.values():
        ended(process)


def checks(done: tuple[int, str, str]) -> dict[tuple[str, str], str]:
    return {(c["subject"], c["check"]): c["verdict"] for c in json.loads(done[1])["checks"]}


def test_two_daemons_see_each_other(homes, daemons, capsys):
    done = called(capsys, "doctor", "--config", homes["north"], "--peer", "south", "--json")
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
    status = called(capsys, "party", "status", "--config", homes["south"], "--json")
    assert json.loads(status[1])["pid"] == daemons["south"].pid


def test_a_frozen_daemon_is_not_said_to_run(homes, daemons, capsys, monkeypatch):
    monkeypatch.setattr("parties.client.asking.ASK_SECONDS", 1.0)
    daemons["south"].send_signal(signal.SIGSTOP)
    try:
        status, _, err = called(capsys, "party", "status", "--config", homes["south"])
        assert status == UNAVAILABLE
        assert "does not answer" in err
        done = called(capsys, "doctor", "--config", homes["south"], "--peer", "north", "--json")
        assert checks(done)["self", "daemon"] == "fail"
    finally:
        daemons["south"].send_signal(signal.SIGCONT)


def test_more_strangers_than_files_leave_the_control_socket_alive(homes, capsys):
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
            assert called(capsys, "party", "status", "--config", homes["north"])[0] == 0
    finally:
        ended(process)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_second_daemon_does_not_start(homes, daemons):
    done = duetto("party", "start", "--config", homes["north"])
    assert done.returncode == CONFIG
    assert "runs already" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_daemon_in_order(homes, number):
    process = started(homes["north"])
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert not (homes["north"] / "run/control.sock").exists()


def test_stop_and_status(homes, capsys):
    process = started(homes["north"])
    assert called(capsys, "party", "stop", "--config", homes["north"])[0] == 0
    assert process.wait(10) == 0
    ended(process)
    status, _, err = called(capsys, "party", "status", "--config", homes["north"])
    assert status == UNAVAILABLE
    assert "does not run" in err
    again = called(capsys, "party", "stop", "--config", homes["north"], "--json")
    assert json.loads(again[1])["stopped"] is False


def test_a_killed_daemon_starts_again(homes):
    for _ in range(2):
        process = started(homes["north"])
        os.kill(process.pid, signal.SIGKILL)
        ended(process)


ENDLESS = """
[datasets.endless]
kind = "sql"
url = "sqlite:///endless.db"
query = "with recursive c(v) as (select 1 union all select v from c) select count(*) as v from c"
[datasets.endless.columns.v]
type = "integer"
lower = 0
upper = 9
"""
OVER_IT = """
[job]
analysis = "statistics"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "endless"
columns = { v = "v" }
[bob]
dataset = "endless"
columns = { v = "v" }
[parameters]
epsilon = "1"
[[parameters.queries]]
kind = "sum"
column = "v"
"""
ALLOWING = """
[[rules]]
analyses = ["statistics"]
peers = ["south"]
datasets = ["endless"]
columns = ["v"]
recipients = ["both"]
epsilon_per_job = "1"
epsilon_total = "1"
approval = "auto"
"""


def test_a_stopped_daemon_does_not_wait_for_a_source_that_does_not_end(homes, tmp_path):
    home, job = homes["north"], tmp_path / "job.toml"
    sqlite3.connect(home / "endless.db").close()
    job.write_text(OVER_IT)
    before = {name: (home / name).read_text() for name in ("catalog.toml", "policy.toml")}
    process = started(home)
    try:
        (home / "catalog.toml").write_text(ENDLESS)
        (home / "policy.toml").write_text(ALLOWING)
        asking = [*COMMAND, "job", "submit", str(job), "--config", str(home)]
        with subprocess.Popen(asking, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True) as client:
            with pytest.raises(subprocess.TimeoutExpired):
                client.wait(4)
            assert duetto("party", "stop", "--config", home).returncode == 0
            assert process.wait(20) == 0
            client.kill()
    finally:
        process.kill()
        for name, text in before.items():
            (home / name).write_text(text)


def test_doctor_without_the_peer(homes, capsys):
    done = called(capsys, "doctor", "--config", homes["north"], "--json")
    assert done[0] == UNAVAILABLE
    assert checks(done)["south", "reachability"] == "fail"


def test_doctor_with_an_open_key(homes, capsys):
    key = homes["north"] / "keys/tls.key"
    key.chmod(0o644)
    try:
        done = called(capsys, "doctor", "--config", homes["north"], "--json")
        assert done[0] == CONFIG
        assert checks(done)["self", "keys"] == "fail"
        start = duetto("party", "start", "--config", homes["north"])
        assert start.returncode == CONFIG
        assert "chmod 600" in start.stderr
        assert "ready" not in start.stdout
    finally:
        key.chmod(0o600)


@pytest.mark.parametrize(
    ("name", "what"), [("policy.toml", "rule 1: nmae"), ("catalog.toml", "'dataset' is not a known key")]
)
def test_doctor_and_health_read_policy_and_catalog_as_jobs_do(homes, capsys, name, what):
    path = homes["north"] / name
    text = path.read_text()
    try:
        path.write_text({"policy.toml": '[[rules]]\nnmae = "x"\n', "catalog.toml": "[dataset.x]\n"}[name])
        for words, code in (("doctor",), CONFIG), (("party", "health"), 1):
            done = called(capsys, *words, "--config", homes["north"], "--json")
            assert done[0] == code
            (found,) = [one for one in json.loads(done[1])["checks"] if one["check"] == "configuration"]
            assert found["verdict"] == "fail"
            assert name in found["what"]
    finally:
        path.write_text(text)


def test_what_health_advises_names_the_configuration(homes, capsys):
    printed = called(capsys, "party", "health", "--config", homes["north"])[1]
    assert f"`duetto party start --config {homes['north']}`" in printed


def test_a_wrong_pin_keeps_the_daemon_from_starting(homes):
    path = homes["north"] / "duetto.toml"
    text = path.read_text()
    pin = load(homes["north"]).peer("south").pin
    try:
        path.write_text(text.replace(pin, pin[::-1]))
        done = duetto("party", "start", "--config", homes["north"], "--json")
        assert done.returncode == BAD_DATA
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "pairing"
        assert "pin of peer 'south'" in error["what"]
        assert "duetto pair" in error["hint"]
    finally:
        path.write_text(text)


def test_an_address_in_use(homes):
    with socket.create_server(("127.0.0.1", load(homes["north"]).listen.port)):
        done = duetto("party", "start", "--config", homes["north"])
    assert done.returncode == CONFIG
    assert "cannot be listened on" in done.stderr


def test_pair_asks_and_heeds_no(homes, monkeypatch, capsys):
    file, path = homes["south"] / "south.pair", homes["north"] / "duetto.toml"
    paired, pin = path.read_bytes(), load(homes["north"]).peer("south").pin
    alone = paired[: paired.index(b"[[peers]]")]
    path.write_bytes(alone)
    try:
        unasked = called(capsys, "pair", file, "--config", homes["north"], "--json")
        assert unasked[0] == USAGE
        assert json.loads(unasked[1])["error"]["code"] == "usage"
        for answer, status, after in (("n\n", BAD_DATA, alone), ("y\n", 0, paired)):
            monkeypatch.setattr("sys.stdin", io.StringIO(answer))
            done = called(capsys, "pair", file, "--config", homes["north"])
            assert done[0] == status
            assert pin in done[2]
            assert path.read_bytes() == after
    finally:
        path.write_bytes(paired)
    again = called(capsys, "pair", file, "--config", homes["north"], "--json")
    assert again[0] == 0  # the signing key was compared before
    assert path.read_bytes() == paired
    wrong = called(capsys, "pair", file, "--config", homes["north"], "--fingerprint", "AAAA-BBBB")
    assert wrong[0] == BAD_DATA


def test_keys_show_what_the_peer_was_given(homes, capsys):
    done = called(capsys, "keys", "show", "--config", homes["north"], "--json")
    shown = json.loads(done[1])
    assert shown["fingerprint"] == load(homes["south"]).peer("north").pin
    assert shown["paillier_bits"] == 2048
    text = called(capsys, "keys", "show", "--config", homes["north"])[1]
    assert shown["fingerprint"] in text


def test_init_refuses(homes, tmp_path, capsys):
    done = called(capsys, "init", "north", "--address", "h:1", "--home", homes["north"])
    assert done[0] == CONFIG
    assert "nothing was changed" in done[2]
    for words in (["--key", "1024"], ["--key", "paper-1024"], ["--key", "2048", "--listen", "x"]):
        done = called(capsys, "init", "north", "--address", "h:1", "--home", tmp_path / "new", *words)
        assert done[0] == CONFIG
        assert not (tmp_path / "new").exists()


def test_usage_errors(capsys):
    status, out, _ = called(capsys, "init", "--json")
    assert status == USAGE
    assert json.loads(out)["success"] is False
    status, out, err = called(capsys, "no-such-command")
    assert (status, out) == (USAGE, "")
    assert "no-such-command" in err
    assert called(capsys, "doctor", "--config", "/nonexistent")[0] == CONFIG


def test_every_listed_command_exists():
    from parties.cli.main import duetto as group

    context = click.Context(group)
    for name, entry in ENTRIES.items():
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(limit=1000) == entry.summary
    assert group.get_command(context, "nothing") is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), USAGE),
        (NoRouteError("x"), USAGE),
        (DomainError("x"), BAD_DATA),
        (DataError("x"), BAD_DATA),
        (JobError("x"), BAD_DATA),
        (PairingError("x"), BAD_DATA),
        (PeerLost("x"), UNAVAILABLE),
        (PeerUnreachable("x"), UNAVAILABLE),
        (DaemonUnavailable("x"), UNAVAILABLE),
        (PeerRefused("x"), UNAVAILABLE),
        (PeerRefused("x", code="policy"), REFUSED),
        (PolicyError("x"), REFUSED),
        (BudgetError("x"), REFUSED),
        (PeerBusy("x"), RETRY),
        (ConfigError("x"), CONFIG),
        (KeyMaterialError("x"), CONFIG),
        (FreshnessError("x"), INTERNAL),
        (DuettoError("x"), INTERNAL),
        (ValueError("x"), INTERNAL),
        (Cancelled("x"), INTERRUPTED),
        (KeyboardInterrupt(), INTERRUPTED),
    ],
)
def test_exit_status(error, status):
    assert exit_code(error) == status


@click.command()
@click.argument("kind")
@output.json_option
def failing(kind: str, as_json: bool) -> None:
    """A command that fails."""
    raise {
        "known": DataError("What.", "Do so.", code="some-code"),
        "defect": ValueError("secret-canary"),
        "interrupt": KeyboardInterrupt(),
        "full": OSError(errno.ENOSPC, "No space left on device", "/home/policy.toml"),
        "locked": OSError(
            errno.EROFS, "Read-only file system", "/home/.policy.toml.new", None, "/home/policy.toml"
        ),
        "absent": OSError(errno.ENOENT, "No such file or directory", "/home/secret-canary"),
    }[kind]


def run_failing(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        failing.main(list(words), standalone_mode=False)
    out, err = capsys.readouterr()
    return int(left.value.code), out, err


def test_errors_have_one_form(capsys, monkeypatch):
    monkeypatch.delenv("DUETTO_DEBUG", raising=False)
    assert run_failing(capsys, "known") == (BAD_DATA, "", "error: What.\nhint:  Do so.\n")
    status, out, err = run_failing(capsys, "known", "--json")
    assert (status, err) == (BAD_DATA, "")
    assert json.loads(out) == {
        "success": False,
        "error": {"code": "some-code", "what": "What.", "hint": "Do so."},
    }
    assert run_failing(capsys, "interrupt")[0] == INTERRUPTED
    status, out, err = run_failing(capsys, "defect")
    assert (status, out) == (INTERNAL, "")
    assert "canary" not in err
    assert "Traceback" not in err
    for kind, what, hint in (
        ("full", "/home/policy.toml cannot be used: No space left on device.", "Free space"),
        (
            "locked",
            "/home/policy.toml cannot be used: Read-only file system.",
            "Make the file system writable",
        ),
    ):
        status, out, err = run_failing(capsys, kind)
        assert (status, out, err.startswith(f"error: {what}\nhint:  {hint}")) == (DISK, "", True)
    assert run_failing(capsys, "absent")[0] == INTERNAL  # a missing file that nobody expected is a defect
    monkeypatch.setenv("DUETTO_DEBUG", "1")
    assert "Traceback" in run_failing(capsys, "defect")[2]


def test_tables_take_texts_as_they_are(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    output.emit(
        {},
        lambda out: out.print(output.table("", ("[b]name", "n"), [("[red]x[/red]", 1), (None, 22)])),
        as_json=False,
    )
    out = capsys.readouterr().out
    assert "[red]x[/red]" in out
    assert "[b]name" in out
    assert "\x1b" not in out


def test_the_command_line_imports_no_heavy_library():
    heavy = ("pandas", "pyarrow", "sklearn")
    code = f"import sys, parties.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
