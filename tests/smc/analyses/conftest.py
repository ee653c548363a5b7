"""Sessions get their base transfers from a dealer: see `tests.support.dealt`."""

from __future__ import annotations

import pytest

from tests.support import dealt

_dealt = pytest.fixture(scope="package", autouse=True)(dealt.dealing)
