"""The script that rebuilds the figures of the small-sum privacy paper."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce" / "splu.py"


def test_a_missing_table_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--data", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 66
    assert f"{tmp_path / 'census_gi_bill.csv.gz'} is missing" in done.stderr
