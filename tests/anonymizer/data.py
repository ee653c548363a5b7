"""The real tables that some tests use; where they are missing, those tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))


def shared(name: str) -> Path:
    """The path of a real table or hierarchy."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    return path
