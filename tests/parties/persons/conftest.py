"""Two joined parties, of which some have persons with keys."""

from __future__ import annotations

import pytest

from tests.parties.jobs.joined import Pair
from tests.support import dealt

_dealt = pytest.fixture(scope="package", autouse=True)(dealt.dealing)


@pytest.fixture
def pair(tmp_path):
    joined = Pair(tmp_path)
    yield joined
    joined.close()
