"""One daemon for a home, and none where others may write; what a killed one left is swept."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys

import pytest

from parties import doctor
from parties.errors import ConfigError, DaemonUnavailable
from parties.pki import home
from parties.pki.lock import only_one, running_pid

HOLDER = """
import sys
from pathlib import Path
from parties.config import load
from parties.pki.lock import only_one
with only_one(load(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(party):
    """Another process that holds the lock of the home."""
    words = [sys.executable, "-c", HOLDER, str(party.path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.communicate()


@pytest.mark.attack
@pytest.mark.parametrize("lost", ["daemon.pid", "run"])
def test_a_deleted_file_lets_no_second_daemon_in(party, holder, lost):
    """Cleaners of `run` folders take away what the lock used to be."""
    del holder
    folder = party.home / "run"
    for file in folder.iterdir():
        file.unlink()
    if lost == "run":
        folder.rmdir()
    with pytest.raises(ConfigError, match="runs already"), only_one(party):
        pytest.fail("two daemons would write one ledger")


def test_the_control_socket_says_who_runs(party, holder):
    assert running_pid(party) == holder.pid
    home.pid_path(party).unlink()
    with pytest.raises(DaemonUnavailable, match="holds the lock of"):
        running_pid(party)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(home.socket_path(party)))
        listener.listen()
        assert running_pid(party) == os.getpid()  # who listens, whatever else is written
    home.socket_path(party).unlink()
    holder.communicate()
    assert running_pid(party) is None


def test_a_left_over_process_id_is_nobody(party):
    home.pid_path(party).write_text(f"{os.getpid()}\n")
    assert running_pid(party) is None
    with only_one(party):
        assert running_pid(party) == os.getpid()
    assert running_pid(party) is None


def test_a_daemon_of_an_earlier_release_counts(party):
    """It locks `run/daemon.pid` and nothing else, and looks at nothing else."""
    with home.pid_path(party).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("4711\n")
        file.flush()
        assert running_pid(party) == 4711
        with pytest.raises(ConfigError, match="runs already"), only_one(party):
            pytest.fail("two daemons would write one ledger")
    with only_one(party), home.pid_path(party).open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_asking_takes_nothing_away_from_a_daemon_that_starts(party, monkeypatch):
    """What asks holds the lock for a moment; the daemon waits for it."""
    asked = os.open(party.home, os.O_RDONLY)
    fcntl.flock(asked, fcntl.LOCK_SH)
    monkeypatch.setattr("parties.pki.lock.time.sleep", lambda _: os.close(asked))
    with only_one(party):
        pass


def test_a_read_only_view_sees_the_daemon(party, holder, tmp_path):
    """Such as a container for health checks has."""
    view = tmp_path / "view"
    view.mkdir()
    look = (
        "import sys; from pathlib import Path; from parties.config import load; "
        "from parties.pki.lock import running_pid; print(running_pid(load(Path(sys.argv[1]))))"
    )
    steps = 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && exec "$3" -c "$4" "$2"'
    words = ["sh", "-c", steps, "sh", party.home, view, sys.executable, look]
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mounts of one's own here: {done.stderr.strip()}")
    assert done.stdout.strip() == str(holder.pid), done.stderr


@pytest.mark.parametrize("name", [".", "duetto.toml", "policy.toml", "catalog.toml", "ledger.jsonl", "audit"])
def test_what_every_user_may_write_is_refused(party, name):
    """Whoever may change the policy decides what is allowed, and the ledger says what is left."""
    path = party.home / name
    if not path.exists():
        path.touch(0o600)
    path.chmod(path.stat().st_mode | 0o002)
    with pytest.raises(ConfigError, match="Every user of this machine may write"), only_one(party):
        pytest.fail("a daemon would start")
    found = {each.check: each for each in doctor.examine_self(party)}["configuration"]
    assert found.verdict is doctor.Status.FAIL
    subprocess.run(found.hint.split("`")[1], shell=True, check=True)
    with only_one(party):
        pass


def test_left_overs_are_swept_when_a_daemon_starts(party):
    (party.home / "results").mkdir()
    old, young = party.home / "results" / ".0123456789abcdef.json.x.new", party.home / ".heads.json.y.new"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (1_600_000_000, 1_600_000_000))
    kept = {path for path in party.home.rglob("*") if path.is_file()} - {old}
    with only_one(party):
        assert {path for path in party.home.rglob("*") if path.is_file()} - {home.pid_path(party)} == kept
