"""What the scripts of a clone do before they have an environment, and beside what they are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import setuptools

ROOT = Path(__file__).parents[2]
REPRODUCE = ROOT / "scripts" / "reproduce"
LAUNCHERS = sorted(
    path.name for path in REPRODUCE.iterdir() if path.is_file() and not path.suffix and path.name != "run"
)


@pytest.fixture
def clone(tmp_path):
    """The scripts in a folder without an environment, which cannot make one."""
    left = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPRODUCE, tmp_path / "scripts" / "reproduce", ignore=left)
    environment = tmp_path / "scripts" / "environment"
    environment.write_text("#!/usr/bin/env bash\necho made an environment >&2\nexit 70\n")
    environment.chmod(0o755)
    return tmp_path


def run(clone, name, *words):
    environment = {key: value for key, value in os.environ.items() if key != "DUETTO_BIN"}
    return subprocess.run(
        [clone / "scripts" / "reproduce" / name, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("name", LAUNCHERS)
def test_help_and_wrong_options_need_no_environment(clone, name):
    called = re.search(r"run. (\w+)", (REPRODUCE / name).read_text())[1]
    program = (REPRODUCE / f"{called}.py").read_text()
    helped = run(clone, name, "--help")
    assert helped.returncode == 0
    options = re.findall(r"^  (--\S+)", helped.stdout, re.MULTILINE)
    assert options == re.findall(r'add_argument\(\s*"(--[a-z]+)"', program)
    assert helped.stdout.splitlines()[0].strip() == program.splitlines()[0].strip('"')
    wrong = run(clone, name, "--nonsense")
    assert (wrong.returncode, "made an environment" in wrong.stderr) == (2, False)
    assert "--nonsense is no option here" in wrong.stderr
    right = run(clone, name, options[0])
    assert (right.returncode, right.stderr) == (70, "made an environment\n")


def test_a_script_beside_a_clone_imports_the_package_and_not_the_clone(tmp_path):
    """As `scripts/environment` installs it: a clone that is called as the package does not hide it."""
    settings = re.search(r"--config-settings \S+", (ROOT / "scripts" / "environment").read_text())
    clone = tmp_path / "shadowed"
    (clone / "shadowed").mkdir(parents=True)
    (clone / "shadowed" / "__init__.py").write_text("VALUE = 5\n")
    (clone / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "shadowed"\nversion = "1"\n[tool.setuptools]\npackages = ["shadowed"]\n'
    )
    script = tmp_path / "script.py"
    script.write_text("import shadowed\nprint(shadowed.VALUE)\n")
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True, timeout=120)
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    installing = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", *(settings[0].split() if settings else ())]
    subprocess.run(
        [*installing, *options, "-e", clone],
        env=plain | {"PYTHONPATH": str(Path(setuptools.__file__).parents[1])},
        check=True,
        timeout=120,
    )
    done = subprocess.run(
        [python, script], env=plain, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "5\n", done.stderr
