"""What cut sessions are compared with."""

from __future__ import annotations

import pytest

from tests.parties.session.cut_sessions import run_with


@pytest.fixture(scope="package")
def usual():
    """The traffic of a run that nothing happens to."""
    run, connections = run_with(None)
    assert connections >= 1
    return run.traffic
