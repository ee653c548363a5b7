"""Two joined parties; nothing of their sessions is dealt, since all of it has to follow from the seeds."""

from __future__ import annotations

import pytest

from tests.parties.jobs.institutions import Institutions


@pytest.fixture
def institutions(tmp_path):
    made = Institutions(tmp_path)
    yield made
    made.close()
