"""The notebooks of docs/notebooks run from top to bottom, as `scripts/check` sees to, and are stored with
their outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
def test_all_notebooks_run_and_give_outputs_of_the_stored_kinds():
    for name in ("pandas", "matplotlib", "narwhals"):
        pytest.importorskip(name)
    command = [sys.executable, str(ROOT / "scripts" / "run_notebooks"), "--check"]
    place = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=place, timeout=170, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored_and_none_is_an_error(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [one for cell in cells if cell["cell_type"] == "code" for one in cell["outputs"]]
    assert len(outputs) >= 3
    assert {one["output_type"] for one in outputs} <= {"stream", "display_data"}
    assert cells[0]["cell_type"] == "markdown"


def test_the_three_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["anonymizer", "joint_statistics", "linkage"]
