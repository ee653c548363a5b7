"""What commands have in common: exit status, the form of errors and of tables, and what they load."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import click
import pytest

from commons.exits import BAD_DATA, CONFIG, DISK, INTERNAL, INTERRUPTED, REFUSED, RETRY, UNAVAILABLE, USAGE
from parties.cli import output
from parties.cli.main import ENTRIES
from parties.errors import (
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
)
from parties.exits import exit_code
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


def test_usage_errors(called):
    status, out, _ = called("init", "--json")
    assert status == USAGE
    assert json.loads(out)["success"] is False
    status, out, err = called("no-such-command")
    assert (status, out) == (USAGE, "")
    assert "no-such-command" in err
    assert called("doctor", "--config", "/nonexistent")[0] == CONFIG


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
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
