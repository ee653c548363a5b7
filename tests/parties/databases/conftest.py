"""One PostgreSQL and one MariaDB server for the tests of this folder."""

from __future__ import annotations

import pytest

from tests.parties.databases import mariadb_server, server


@pytest.fixture(scope="session", name="server")
def postgres_server():
    with server.running() as found:
        yield found


@pytest.fixture(scope="session")
def maria():
    with mariadb_server.running() as found:
        yield found
