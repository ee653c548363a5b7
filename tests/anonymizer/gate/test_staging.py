"""Folders of releases that are being made: whose they are, and what becomes of those of killed runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anonymizer.gate.staging import Staging, clear_stale, staging

LIVES = """
import sys
from pathlib import Path
from anonymizer.gate.staging import Staging
staged = Staging()
staged.place(Path(sys.argv[1]) / "out.csv").write_text("secret")
print("made", flush=True)
sys.stdin.read()
"""


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob(".duetto-*"))


@pytest.fixture
def other(tmp_path):
    """Another process that is making a release."""
    with subprocess.Popen(
        [sys.executable, "-c", LIVES, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"made\n"
        yield process
        process.kill()


def test_what_a_killed_run_has_left_is_taken_away_by_the_next(tmp_path, other):
    [place] = left(tmp_path)
    assert (place / "out.csv").read_text() == "secret"
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert left(tmp_path) == [place]
    with staging() as staged:
        own = staged.place(tmp_path / "next.csv").parent
        assert left(tmp_path) == [own]
    assert left(tmp_path) == []


def test_what_a_live_run_makes_stays(tmp_path, other):
    [place] = left(tmp_path)
    clear_stale(tmp_path)
    with staging() as staged:
        own = {staged.place(tmp_path / name).parent for name in ("one.csv", "two.csv")}
        clear_stale(tmp_path)
        assert {*left(tmp_path)} == {place, *own}
    assert left(tmp_path) == [place]
    assert (place / "out.csv").read_text() == "secret"


def test_only_folders_of_ones_own_are_taken_away(tmp_path, monkeypatch):
    Staging().place(tmp_path / "out.csv")
    [made] = left(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    made.with_name(f"{made.name}-link").symlink_to(elsewhere)
    made.with_name(f"{made.name}-file").write_text("x")
    (tmp_path / ".duetto-settings").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: os.getuid() + 1)
        clear_stale(tmp_path)
    assert len(left(tmp_path)) == 4
    clear_stale(tmp_path)
    assert (elsewhere / "kept").exists()
    assert (tmp_path / ".duetto-settings").is_dir()
