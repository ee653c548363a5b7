"""Sessions get their base transfers from a dealer: see `tests.support.dealt`; what analyses declare of their
integers is held against them: see `tests.support.held_bounds`."""

from __future__ import annotations

import pytest

from tests.support import dealt, held_bounds

_dealt = pytest.fixture(scope="package", autouse=True)(dealt.dealing)
_watched = pytest.fixture(scope="package", autouse=True)(held_bounds.watching)
