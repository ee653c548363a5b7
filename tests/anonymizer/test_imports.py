"""Libraries that are slow to import are so where they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def test_noise_needs_opendp_and_says_so(tmp_path):
    noise = """
[columns]
age = { type = "integer", bounds = [0, 99] }
[[steps]]
method = "dp-noise"
epsilon = 1.0
columns = ["age"]
"""
    specification = SPECIFICATION.partition("[[steps]]")[0] + noise
    status, _, said = run(tmp_path, specification, "import sys; sys.modules['opendp'] = None")
    assert status == 69
    assert "duetto[anonymizer]" in said


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """What a release of a small table has imported."""
    status, names, said = run(tmp_path_factory.mktemp("release"), SPECIFICATION)
    assert status == 0, said
    return names


def run(folder: Path, specification: str, before: str = "") -> tuple[int, set[str], str]:
    """Make a release in a process of its own: its status, what it has imported, its errors."""
    rows = "".join(f"{30 + i},{'flu' if i % 2 else 'cold'}\n" for i in range(8))
    (folder / "data.csv").write_text("age,illness\n" + rows)
    (folder / "s.toml").write_text(specification)
    command = [sys.executable, "-c", f"{before}\n{RELEASE}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    status, names = json.loads(done.stdout.splitlines()[-1])
    return status, set(names), done.stderr
