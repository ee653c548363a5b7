"""Distributions of others, installed as anybody would."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def installed_example(name: str, folder: Path) -> Path:
    """Install an example without a network; where its packages lie.

    Args:
        name: of its folder in the documentation.
        folder: that is empty.
    """
    shutil.copytree(EXAMPLES / name, folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
    target = folder / "installed"
    done = subprocess.run(
        [*command, "--no-index", "--target", str(target), str(folder / "source")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target
