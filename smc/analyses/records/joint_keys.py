"""The rows of both sides under keys that can be compared: hashed with a salt that both have drawn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.records.joint_hashes import hash_jointly
from smc.analyses.records.key_parameters import KeyParameters, check_keys
from smc.analyses.records.keying import keyed_rows
from smc.analyses.records.keys import KeyedRows
from smc.analyses.studies.columns import PERSONS, Data
from smc.analyses.studies.memory import MEBI, Memory
from smc.forms import Role
from smc.protocols.exchange.records import counts_cost
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.public_records import TOSS_COST
from smc.protocols.session import Session
from smc.protocols.spec import Cost

KEYING_COST: Final[Cost] = counts_cost(1) + TOSS_COST
"""What `key_rows` costs."""

KEYING_SECONDS: Final = 0.02
"""Estimated time of a run whatever its rows."""

ALIGNED_MEMORY: Final = Memory(25 * MEBI, 690)
"""What aligning rows in secret takes, without further columns."""


@dataclass(frozen=True, slots=True)
class HashedRows:
    """The rows of one side that take part.

    Attributes:
        keys: distinct, shape (n, 2): hashed to 128 bits under a salt of the run.
        numbers: the row of the data set that each key stands for, from 0, shape (n,).
        data: the local columns.
    """

    keys: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    data: Data

    @property
    def persons(self) -> NDArray[np.int64] | None:
        """Whom each row is about; None where each row is a person of its own."""
        return self.data[PERSONS].array[self.numbers] if PERSONS in self.data else None

    def column(self, name: str) -> NDArray[np.int64]:
        """The values that go with the keys."""
        return self.data[name].array[self.numbers]


def key_rows(
    session: Session, parameters: KeyParameters, data: Data, release: Release
) -> tuple[HashedRows, RowCount]:
    """Hash the local keys under a salt drawn with the peer, once the sizes of both sets are allowed.

    Args:
        session: this side.
        parameters: the key columns.
        data: the local columns.
        release: with the limits on sets.

    Returns:
        The local rows, and how many the peer has.

    Raises:
        DomainError: this party's keys repeat, or are missing; nothing was sent.
        DisclosureRefused: a limit on sets stands against the run, at both sides.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    session.report("keys", 0, 1)
    keyed = keyed_of(parameters, data, session.role)
    keys, peer_count = hash_jointly(session, keyed, release)
    return HashedRows(keys, keyed.numbers, data), peer_count


def check_key_rows(parameters: KeyParameters, data: Data, role: Role, limits: Limits) -> NDArray[np.int64]:
    """Check what `key_rows` would refuse of one side's rows, if the peer brings as many.

    Returns:
        The numbers of the rows that take part, from 0, shape (n,).

    Raises:
        UsageError: a column cannot be a key.
        DomainError: as `key_rows`.
        DisclosureRefused: the set is too small.
    """
    check_keys(parameters, {name: column.schema for name, column in data.items()}, role)
    keyed = keyed_of(parameters, data, role)
    limits.check_sets(len(keyed), len(keyed))
    return keyed.numbers


def plain_keys(
    parameters: KeyParameters, data: Data, role: Role
) -> tuple[list[tuple[Hashable, ...]], NDArray[np.int64]]:
    """The keys of one side in the clear, and the row that each stands for, from 0."""
    keyed = keyed_of(parameters, data, role)
    return keyed.plain(), keyed.numbers


def keyed_of(parameters: KeyParameters, data: Data, role: Role) -> KeyedRows:
    """The rows of one side under their keys, not yet hashed. Raises as `keyed_rows`."""
    return keyed_rows(data, parameters.recipes, parameters.duplicates, role.value)
