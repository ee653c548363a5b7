"""Two joined parties, as for the tests of what covert runs leave behind."""

from __future__ import annotations

from tests.parties.evidence.conftest import institutions

__all__ = ["institutions"]
