"""Sessions of the tests draw what the run's seed says, so that a failing run can be repeated; their base
transfers come from a dealer, see `tests.support.dealt`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import pytest

from smc import pair
from smc.analyses.studies import traced
from tests.support import dealt
from tests.support.seeds import seeded


@pytest.fixture(autouse=True)
def _sessions_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, "Randomness", seeded)


@pytest.fixture(autouse=True)
def _no_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test puts in place of a part of a program is not in traces of others."""
    monkeypatch.setattr(traced, "_TRACES", deque(maxlen=2))


@pytest.fixture(scope="module", autouse=True)
def _dealt(request: pytest.FixtureRequest) -> Iterator[None]:
    if "oblivious" in request.path.parts:
        yield
    else:
        yield from dealt.dealing()
