"""The messages that open values, by the names of their classes: a renamed class fails to import here, while a
name in quotes would let a test that nothing was opened pass for ever."""

from __future__ import annotations

from smc.secret.sharing.opening import OpenedBits, OpenedShares

SHARES = OpenedShares.__name__
BITS = OpenedBits.__name__
OPENINGS = frozenset({SHARES, BITS})
KINDS = frozenset({OpenedShares.kind(), OpenedBits.kind()})
