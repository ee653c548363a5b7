"""An empty record of exact jobs. Sessions get base transfers from a dealer: see `tests.support.dealt`."""

from __future__ import annotations

import pytest

from parties.disclosure.history import History
from tests.support import dealt

_dealt = pytest.fixture(scope="package", autouse=True)(dealt.dealing)


@pytest.fixture
def history(tmp_path):
    (tmp_path / "keys").mkdir(mode=0o700)
    return History(tmp_path, lambda: "2024-01-01T00:00:00Z")
