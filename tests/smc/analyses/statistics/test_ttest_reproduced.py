"""`scripts/reproduce/thesis_chapter7` runs, and what it finds says what the documents say of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[4] / "scripts" / "reproduce" / "thesis_chapter7"


@pytest.mark.slow
def test_the_thesis_test_rejects_nearly_always_and_the_joint_one_rarely(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [SCRIPT, "--quick", "--write", tmp_path / "docs"],
        check=False,
        env={**os.environ, "DUETTO_BIN": str(python.parent)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "docs" / "reproduction" / "chapter7-figure-7.1.svg").exists()
    page = (tmp_path / "docs" / "reproduction.md").read_text()
    assert done.stdout.strip() in page
    rows = [line.strip("| ").split(" | ") for line in page.splitlines()]
    held = {row[1]: row[5] for row in rows if len(row) in (6, 7)}  # the last cell may be empty
    assert held["errors of type I are likely at epsilon 5: more than 5 %"] == "yes"
    noise = [[float(cell) for cell in row[2:11]] for row in rows if row[0] in ("like the data", "anywhere")]
    assert len(noise) == 6
    assert all(row[0] > row[2] and row[0] > row[6] for row in noise)
