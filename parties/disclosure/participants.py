"""Who takes part in an exact job: this party's persons as hashes, to be compared with those of earlier jobs.

What tells persons apart can change between two jobs: a column of texts is declared as one of numbers, and
`0007` and `7` are one person. So a job brings, beside the hashes of its persons, those that the same cells
would have otherwise (`ParticipantSet.aliases`), and earlier records are read with these replaced.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from parties.ledger.accounting import Account
from smc.analyses.studies.facts import Whom

Persons = NDArray[np.uint64]
"""Hashes of persons, sorted, each once; shape (n,)."""


@dataclass(frozen=True, slots=True)
class ParticipantSet:
    """The local persons of one job.

    Attributes:
        job: name of the job.
        account: the population, with its data sets.
        dataset: the local data set.
        peer: the other party.
        persons: who takes part.
        minimum: the least number of persons in which it differs from any other, unless in none, and about
            whom figures of several tables together are; by this party's policy, as what follows.
        group: the least number of persons whom figures of one table are about.
        dominance: the largest part of a sum that may come from one person; 1 for none.
        known: how often the ledger says that exact figures were released about each set, by its digest; as
            many records have to be there.
        whom: whom the figures that the peer gets are about; None where it gets none.
        aliases: other hashes under which earlier records may have these persons, sorted, each with the one
            that they have here; shape (n, 2).
    """

    job: str
    account: Account
    dataset: str
    peer: str
    persons: Persons
    minimum: int
    group: int = 0
    dominance: Fraction = Fraction(1)
    known: Counter[str] = field(default_factory=Counter)
    whom: Whom | None = None
    aliases: Persons = field(default_factory=lambda: np.empty((0, 2), np.uint64), repr=False)

    def rename(self, persons: Persons) -> Persons:
        """Persons of an earlier record, in their order, by the hashes that they have in this job."""
        if not len(self.aliases):
            return persons
        places = np.searchsorted(self.aliases[:, 0], persons).clip(max=len(self.aliases) - 1)
        return np.where(self.aliases[places, 0] == persons, self.aliases[places, 1], persons)


def persons_of(identities: NDArray[np.void] | None) -> Persons:
    """The set of persons with these 16-byte hashes (`catalog.columns.persons.identities`); none of None.

    The first half of each is kept: two of a million persons coincide with a probability below 2**-24 and then
    count as one.
    """
    found: Persons = np.empty(0, np.uint64) if identities is None else np.unique(halves(identities))
    return found


def aliases_of(aliases: NDArray[np.void] | None) -> Persons:
    """`ParticipantSet.aliases` of pairs of 16-byte hashes, shape (n, 2); none of None."""
    if aliases is None:
        return np.empty((0, 2), np.uint64)
    pairs = np.stack([halves(column) for column in aliases.T], axis=1)
    found: Persons = pairs[np.argsort(pairs[:, 0])]
    return found


def halves(identities: NDArray[np.void]) -> Persons:
    """The first half of each of these hashes, in their order."""
    return np.ascontiguousarray(identities).view("<u8").reshape(-1, 2)[:, 0].astype(np.uint64)


def difference(one: Persons, other: Persons) -> int:
    """The number of persons in one of two sets and not in the other."""
    return len(one) + len(other) - 2 * len(np.intersect1d(one, other, assume_unique=True))
