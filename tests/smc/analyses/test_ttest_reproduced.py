"""`scripts/reproduce/thesis_chapter7` runs, and what it finds says what the documents say of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "reproduce" / "thesis_chapter7"


@pytest.mark.slow
def test_the_thesis_test_rejects_nearly_always_and_the_joint_one_rarely(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [SCRIPT, "--quick", "--out", tmp_path / "out"],
        check=False,
        env={**os.environ, "DUETTO_BIN": str(python.parent)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr
    assert "Table 7.1" in done.stdout
    found = json.loads((tmp_path / "out" / "chapter7.json").read_text())
    grid = [dict(zip(found["heads"], row, strict=True)) for row in found["grid"]]
    assert len(grid) == 9
    assert all(row["algorithm 8"] > 0.2 for row in grid)
    assert all(row["joint"] < 0.4 for row in grid)
    noise = {row["dummies"]: row["noise"] for row in found["table_7_1"]["rows"]}
    assert all(row[0] > row[2] and row[0] > row[6] for row in noise.values())
