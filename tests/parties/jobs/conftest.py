"""Two joined parties for the tests of jobs. Their sessions get base transfers from a dealer: see
`tests.support.dealt`."""

from __future__ import annotations

import pytest

from tests.parties.jobs.institutions import Institutions
from tests.parties.jobs.joined import Pair
from tests.support import dealt

_dealt = pytest.fixture(scope="package", autouse=True)(dealt.dealing)


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
