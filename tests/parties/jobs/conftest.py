"""Two joined parties for the tests of jobs."""

from __future__ import annotations

import pytest

from tests.parties.jobs.institutions import Institutions
from tests.parties.jobs.joined import Pair


@pytest.fixture
def pair(tmp_path):
    joined = Pair(tmp_path)
    yield joined
    joined.close()


@pytest.fixture
def institutions(tmp_path):
    made = Institutions(tmp_path)
    yield made
    made.close()
