"""One PostgreSQL server for the tests of this folder."""

from __future__ import annotations

import pytest

from tests.parties.databases.server import running


@pytest.fixture(scope="session")
def server():
    with running() as found:
        yield found
