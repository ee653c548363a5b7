"""The order of the tests of a run: none may depend on what ran before it."""

from __future__ import annotations

from itertools import groupby
from typing import Final

import pytest

from smc.numeric.random import Randomness
from tests.support.seeds import run_seed

ORDERS: Final = ("usual", "reversed", "shuffled")


def ordered(items: list[pytest.Item], order: str) -> list[pytest.Item]:
    """The tests in one of `ORDERS`; the run's seed shuffles the files and, within each file, its tests."""
    if order == "reversed":
        return items[::-1]
    if order == "usual":
        return items
    random = Randomness.from_seed(run_seed().encode(), "order of tests")
    files = [list(group) for _, group in groupby(items, lambda item: item.path)]
    return [item for file in random.shuffled(files) for item in random.shuffled(file)]
