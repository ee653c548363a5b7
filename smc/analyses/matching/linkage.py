"""Tolerant matching, jointly: compare the records that meet in a bucket, and tell recipients their pairs.

For each pass, a stretch of buckets at a time:

    filters in shuffled places of each bucket  -->  shared overlaps of all pairs of a bucket
    margins = overlaps and sizes               -->  shared bits "alike"
    one to one: alike & both rows still free   -->  the closest pairs of each bucket
    chosen bits times the other row's number   -->  shared words, per pair or per row

Rows have random numbers, which stand for them towards the other side. One-to-one pairing carries each row's
partner (or none) from pass to pass in words that neither party sees (`smc.secret.register`); at the end each
recipient learns one word per own row. Otherwise a recipient learns one word per pair of places.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.release import Release
from smc.analyses.matching.blocking import EMPTY, Index
from smc.analyses.matching.places import Bit, Pairs, Places, Word, across, newly, stretches
from smc.analyses.matching.records import Records
from smc.analyses.matching.tolerant_parameters import GREEDY, TolerantParameters
from smc.errors import DisclosureRefused, ProtocolViolation
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret import pairing
from smc.secret.bits import BOTH
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts
from smc.secret.register import Register

Links = NDArray[np.int64]

_MARK: Final = np.uint64(1)


class Linkage(ABC):
    """One side of a run.

    Args:
        session: the own side.
        parameters: of the job.
        own: the own records.
        counts: rows of each role, public, none 0.
        recipients: who learns the pairs.
        release: opens them.
    """

    def __init__(
        self,
        session: Session,
        parameters: TolerantParameters,
        own: Records,
        counts: dict[Role, int],
        recipients: frozenset[Role],
        release: Release,
    ) -> None:
        self._session = session
        self._parameters = parameters
        self._own = own
        self._counts = counts
        self._recipients = [role for role in Role if role in recipients]
        self._release = release
        self.numbers: Final = session.random.permutation(len(own)) + 1
        """What stands for the own rows towards the other side, shape (n,): 1 to n, at random."""
        places = parameters.buckets(tuple(counts.values())) * parameters.bucket
        self._registers = {role: Register(session, role, max(places, counts[role])) for role in Role}

    def links(self) -> Links | None:
        """Run.

        Returns:
            The numbers that stand for Alice's and Bob's row of each pair, shape (k, 2), each pair once; None
            for a party that is no recipient.

        Raises:
            DisclosureRefused: there are fewer matches than the policies ask for; nothing but that was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        passes = len(self._own.layouts)
        for number, layout in enumerate(self._own.layouts):
            self._session.report("pass", number, passes)
            places = Places.shuffled(self._session, layout)
            marks = self._begin(places)
            for part in stretches(*places.rows.shape):
                pairs = Pairs(self._session, self._parameters.rule, self._own, places[part])
                self._compare(pairs, {role: marks[role][part] for role in Role}, first=number == 0)
            self._end()
        self._session.report("pass", passes, passes)
        if self._release.limits.minimum_intersection:
            self._demand(self._release.limits.minimum_intersection)
        return self._open()

    @abstractmethod
    def _begin(self, places: Places) -> dict[Role, Bit]:
        """Prepare a pass.

        Returns:
            Own XOR shares of which places of either side hold rows with a partner, shape (buckets, capacity).
        """

    @abstractmethod
    def _compare(self, pairs: Pairs, marks: dict[Role, Bit], *, first: bool) -> None:
        """Compare a stretch of the pass, of which the marks are given, and keep what comes out."""

    @abstractmethod
    def _end(self) -> None:
        """End a pass."""

    @abstractmethod
    def _open(self) -> Links | None:
        """Open the result to the recipients."""

    def _arrange(self, places: Places) -> dict[Role, Bit]:
        """Bring both sides' registers into the order of a pass and read the marks."""
        marks = {}
        for role in Role:
            register = self._registers[role]
            register.arrange(places.order(register.size) if role is self._session.role else None)
            flat = _marks(register)[: places.rows.size]
            marks[role] = flat.reshape(places.rows.shape)
        return marks

    def _demand(self, least: int) -> None:
        """Open whether on both sides so many rows have a partner."""
        enough = []
        for role in Role:
            marks = self._session.oblivious.to_words(_marks(self._registers[role]))
            total = np.atleast_1d(marks.sum(dtype=np.uint64))
            counted = SecretInts.from_shares(self._session, total, Bounds(0, len(marks)))
            enough.append(counted >= least)
        opened = self._release.bits(enough[0] & enough[1], BOTH)
        if opened is None or not opened.all():
            raise DisclosureRefused(
                f"There are fewer than the {least} matches that the policies ask for.",
                "Match larger sets; nothing about the matches was opened beyond this.",
            )

    def _checked(self, rows: Index, numbers: Word) -> Links:
        """Distinct pairs of own rows and the other side's numbers, after a check of what was opened.

        Raises:
            ProtocolViolation: an empty place has a partner, or there is no such partner.
        """
        most = self._counts[self._session.role.other]
        if (rows == EMPTY).any() or not ((numbers > 0) & (numbers <= np.uint64(most))).all():
            raise ProtocolViolation("links: an opened word is none that the protocol makes.")
        sides = [self.numbers[rows], numbers.astype(np.int64)]
        return np.unique(np.stack(sides if self._session.role is Role.ALICE else sides[::-1], axis=1), axis=0)


class OneToOne(Linkage):
    """Each row has one partner at most: a register's word is twice its number plus 1, or 0."""

    def _begin(self, places: Places) -> dict[Role, Bit]:
        self._found: dict[Role, list[Word]] = {role: [] for role in Role}
        return self._arrange(places)

    def _compare(self, pairs: Pairs, marks: dict[Role, Bit], *, first: bool) -> None:
        chosen = pairs.alike()
        if not first:
            free = pairing.neither(self._session, marks[Role.ALICE], marks[Role.BOB])
            product = self._session.oblivious.and_bits(chosen.reshape(-1), free.reshape(-1))
            chosen = product.reshape(chosen.shape)
        chosen = pairs.closest(chosen, self._parameters.rounds)
        for role in Role:
            words = pairs.told(role, chosen, 2 * self.numbers + 1)
            self._found[role].append(words.sum(axis=across(role), dtype=np.uint64).reshape(-1))

    def _end(self) -> None:
        for role in Role:
            self._registers[role].add(np.concatenate(self._found[role]))

    def _open(self) -> Links | None:
        links = None
        for role in self._recipients:
            register = self._registers[role]
            register.arrange(np.arange(register.size) if role is self._session.role else None)
            words = self._release.words(self._session, register.shares[: self._counts[role]], {role})
            if words is not None:
                rows = np.flatnonzero(words)
                unmarked = (words[rows] & _MARK) == 0
                links = self._checked(rows, np.where(unmarked, 0, words[rows] >> np.uint64(1)))
        return links


class AllAlike(Linkage):
    """Every pair that is alike; where the policies count matches, a register's word is 1 for a paired row."""

    def __init__(
        self,
        session: Session,
        parameters: TolerantParameters,
        own: Records,
        counts: dict[Role, int],
        recipients: frozenset[Role],
        release: Release,
    ) -> None:
        super().__init__(session, parameters, own, counts, recipients, release)
        self._counting = release.limits.minimum_intersection > 0
        self._rows: list[Index] = []
        self._told: dict[Role, list[Word]] = {role: [] for role in Role}

    def _begin(self, places: Places) -> dict[Role, Bit]:
        self._rows.append(places.rows)
        self._new: dict[Role, list[Word]] = {role: [] for role in Role}
        blank = np.zeros(places.rows.shape, dtype=np.uint8)
        return self._arrange(places) if self._counting else dict.fromkeys(Role, blank)

    def _compare(self, pairs: Pairs, marks: dict[Role, Bit], *, first: bool) -> None:
        del first
        chosen = pairs.alike()
        for role in self._recipients:
            self._told[role].append(pairs.told(role, chosen, self.numbers).reshape(-1))
        for role in Role if self._counting else ():
            self._new[role].append(newly(self._session, role, chosen, marks[role]))

    def _end(self) -> None:
        for role in Role if self._counting else ():
            self._registers[role].add(np.concatenate(self._new[role]))

    def _open(self) -> Links | None:
        rows = np.stack(self._rows)
        links = None
        for role in self._recipients:
            words = self._release.words(self._session, np.concatenate(self._told[role]), {role})
            if words is not None:
                shape = (*rows.shape, rows.shape[2])
                places = np.broadcast_to(np.expand_dims(rows, 1 + across(role)), shape).reshape(-1)
                chosen = np.flatnonzero(words)
                links = self._checked(places[chosen], words[chosen])
        return links


def linkage_for(parameters: TolerantParameters) -> type[Linkage]:
    """The program that a job's mode asks for."""
    return OneToOne if parameters.one_to_one == GREEDY else AllAlike


def _marks(register: Register) -> Bit:
    """Own XOR shares of the lowest bits of shared words, which are the words' own modulo 2."""
    return (register.shares & _MARK).astype(np.uint8)
