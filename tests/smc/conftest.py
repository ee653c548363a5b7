"""Sessions of the tests draw what the run's seed says, so that a failing run can be repeated."""

from __future__ import annotations

import pytest

from smc import pair
from tests.support.seeds import seeded


@pytest.fixture(autouse=True)
def _sessions_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, "Randomness", seeded)
