"""Libraries that are slow to import are so where they are used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

RELEASE = """
import json, sys
from parties.cli.main import main
sys.argv = ["duetto", "anonymize", "data.csv", "--spec", "s.toml", "-o", "out.csv"]
try:
    main()
except SystemExit as ended:
    status = ended.code
print(json.dumps([status, sorted({name.split(".")[0] for name in sys.modules})]))
"""
SPECIFICATION = """
[roles]
quasi_identifiers = ["age"]
sensitive = ["illness"]
[[steps]]
method = "mondrian"
k = 2
"""


@pytest.mark.parametrize("library", ["ot", "jax", "mbi", "matplotlib", "optuna", "pandas", "sklearn"])
def test_a_release_without_a_report_needs_none_of(library, loaded):
    assert library not in loaded


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """What a release of a small table has imported."""
    folder = tmp_path_factory.mktemp("release")
    rows = "".join(f"{30 + i},{'flu' if i % 2 else 'cold'}\n" for i in range(8))
    (folder / "data.csv").write_text("age,illness\n" + rows)
    (folder / "s.toml").write_text(SPECIFICATION)
    done = subprocess.run(
        [sys.executable, "-c", RELEASE], cwd=folder, capture_output=True, text=True, check=True, timeout=120
    )
    status, names = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return set(names)
