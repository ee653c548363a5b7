"""The tests that a run of the whole suite leaves out unless asked for, since they take most of its time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

LISTED: Final = Path(__file__).parents[1] / "long.txt"
"""One function a line, as `folder/test_file.py::test_name`; `scripts/long_tests` writes it."""


def function_of(item: pytest.Item) -> str:
    """The function of a test, without its parameters, as the list has it."""
    path = item.path.relative_to(LISTED.parent).as_posix()
    return f"{path}::{getattr(item, 'originalname', item.name)}"


def without_long(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests whose functions are not in the list, and those that are marked as attacks."""
    listed = frozenset(LISTED.read_text(encoding="utf-8").split())
    return [item for item in items if function_of(item) not in listed or "attack" in item.keywords]
