"""What a run holds against a peer that deviates: what the weakest of its protocols does."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from smc.protocols.against import Against, weakest
from smc.protocols.spec import Record
from smc.registry import RECORDS

_HELPERS: Final = {
    "smc.oblivious.setup": "base-transfers",
    "smc.oblivious.correlated_transfers": "random-transfers",
    "smc.oblivious.silent_consistency": "silent-transfers",
    "smc.oblivious.lanes": "correlated-transfers",
    "smc.oblivious.silent_transfers": "silent-transfers",
    "smc.oblivious.silent_circuits": "silent-transfers",
    "smc.secret.products.gilboa": "product",
    "smc.secret.sharing.masks": "bits-to-words",
    "smc.planning.agreement": "agreement",
    "smc.protocols.cipher_context": "plain-to-encrypted",
    "smc.protocols.trees.membership": "tree",
}
"""Modules that send for the protocols of others, and a protocol that holds as much."""


@cache
def records_of(module: str) -> tuple[Record, ...]:
    """The protocols of a module; of one that sends for others, the one that holds as much."""
    name = _HELPERS.get(module)
    return tuple(record for record in RECORDS if module == record.module or name == record.name)


def level_of(module: str) -> Against:
    """What a module's protocols hold; of one that is not of duetto, semi-honest alone."""
    found = records_of(module)
    return weakest(record.level for record in found) if found else Against.SEMI_HONEST


def level_of_run(modules: Iterable[str]) -> Against:
    """What a run holds whose messages are of these modules."""
    return weakest(level_of(module) for module in modules)
