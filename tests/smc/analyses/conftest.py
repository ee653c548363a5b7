"""What analyses declare of their integers is held against them: see `tests.support.held_bounds`."""

from __future__ import annotations

import pytest

from tests.support import held_bounds

_watched = pytest.fixture(scope="package", autouse=True)(held_bounds.watching)
