"""Tolerant matching, jointly: compare the records that meet in a bucket, and give recipients their pairs.

For each pass, a stretch of buckets at a time:

    filters in shuffled places of each bucket  -->  shared overlaps of all pairs of a bucket
    margins = overlaps and local terms         -->  shared bits "alike"
    chosen bits times the other row's number   -->  shared words, per pair or per row

Rows have random numbers, which stand for them towards the other side. Where every alike pair is shown, a
recipient learns one word per pair of places. One to one, `smc.analyses.matching.tolerant.one_to_one` chooses
among all passes and a recipient learns one word per own row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.tolerant.blocking import EMPTY, Index
from smc.analyses.matching.tolerant.histogram import Chosen
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.places import Bit, Pairs, Places, Word, across, newly, stretches
from smc.analyses.matching.tolerant.records import Records
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.joins.row_state import RowState
from smc.secret.sharing.bounds import LIMIT, Bounds

Links = NDArray[np.int64]
Registers = dict[Role, RowState]

MARK: Final = np.uint64(1)


class Linkage(ABC):
    """One side of a run.

    Args:
        session: this side.
        parameters: of the job.
        own: the local records.
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
        """What stands for the local rows towards the other side, shape (n,): 1 to n, at random."""
        self.chosen: Chosen | None = None
        """The threshold, where it is chosen in the run."""

    def links(self) -> Links | None:
        """Run.

        Returns:
            The numbers that stand for Alice's and Bob's row of each pair, shape (k, 2), each pair once; None
            for a party that is not a recipient.

        Raises:
            DisclosureRefused: there are fewer matches than the policies ask for; nothing but that was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self._choose()
        self._release.intersection(self._count_matched)
        return self._open()

    @abstractmethod
    def _choose(self) -> None:
        """Compare the rows of all passes and keep what comes out."""

    @abstractmethod
    def _open(self) -> Links | None:
        """Open the result to the recipients."""

    @abstractmethod
    def _marks(self, role: Role) -> Bit:
        """Own XOR shares of which rows of a side have a partner; rows of nobody may be among them."""

    def _count_matched(self) -> list[SecretInts]:
        """How many rows of either side have a partner, one secret number each."""
        counted = []
        for role in Role:
            marks = self._session.oblivious.bits_to_arithmetic(self._marks(role))
            total = np.atleast_1d(marks.sum(dtype=np.uint64))
            counted.append(SecretInts.from_shares(self._session, total, Bounds(0, len(marks))))
        return counted

    def _open_to(self, words: Word, role: Role) -> Word | None:
        """Words about single rows or pairs, opened to one recipient."""
        secret = SecretInts.from_shares(self._session, words, Bounds(0, LIMIT - 1))
        opened = self._release.open(secret, {role}, Rows())
        return None if opened is None else opened.view(np.uint64)

    def _check(self, rows: Index, numbers: Word) -> Links:
        """Distinct pairs of local rows and the other side's numbers, after a check of what was opened.

        Raises:
            ProtocolViolation: an empty place has a partner, or there is no such partner.
        """
        most = self._counts[self._session.role.other]
        if (rows == EMPTY).any() or not ((numbers > 0) & (numbers <= np.uint64(most))).all():
            raise ProtocolViolation("links: an opened value is outside the range the protocol produces.")
        sides = [self.numbers[rows], numbers.astype(np.int64)]
        return np.unique(np.stack(sides if self._session.role is Role.ALICE else sides[::-1], axis=1), axis=0)


class BucketLinkage(Linkage):
    """One side of a run in which rows meet in buckets; see `Linkage`."""

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
        self._partners = self._new_registers()
        """A word of each row whose lowest bit shows whether it has a partner."""

    @override
    def _marks(self, role: Role) -> Bit:
        return lowest(self._partners[role].shares)

    def _shuffle(self) -> Iterator[Places]:
        """The local places of each pass."""
        for layout in self._own.layouts:
            yield Places.shuffle(self._session, layout)

    def _compare(self, places: Places) -> Iterator[tuple[slice, Pairs, Bit]]:
        """The stretches of a pass: their buckets, their pairs and own XOR shares of which are alike."""
        for part in stretches(*places.rows.shape):
            pairs = Pairs(self._session, self._own, places[part])
            yield part, pairs, pairs.alike()

    def _arrange(self, registers: Registers, places: Places) -> None:
        """Bring the registers of both sides into the order of a pass."""
        for role, register in registers.items():
            register.arrange(places.order(register.size) if role is self._session.role else None)

    def _new_registers(self) -> Registers:
        places = self._parameters.buckets(tuple(self._counts.values())) * self._parameters.bucket
        return {role: RowState(self._session, role, max(places, self._counts[role])) for role in Role}


class AllAlike(BucketLinkage):
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
        self._counting = release.counts_matches
        self._rows: list[Index] = []
        self._words: dict[Role, list[Word]] = {role: [] for role in Role}

    @override
    def _choose(self) -> None:
        passes = len(self._own.layouts)
        for number, places in enumerate(self._shuffle()):
            self._session.report("pass", number, passes)
            self._rows.append(places.rows)
            if self._counting:
                self._arrange(self._partners, places)
            found: dict[Role, list[Word]] = {role: [] for role in Role}
            for part, _, alike in self._compare(places):
                for role in self._recipients:
                    self._words[role].append(
                        places[part].deliver(self._session, role, alike, self.numbers).reshape(-1)
                    )
                for role in Role if self._counting else ():
                    marks = marks_of(self._partners[role], places)[part]
                    found[role].append(newly(self._session, role, alike, marks))
            for role in Role if self._counting else ():
                self._partners[role].add(np.concatenate(found[role]))
        self._session.report("pass", passes, passes)

    @override
    def _open(self) -> Links | None:
        rows = np.stack(self._rows)
        links = None
        for role in self._recipients:
            words = self._open_to(np.concatenate(self._words[role]), role)
            if words is not None:
                shape = (*rows.shape, rows.shape[2])
                places = np.broadcast_to(np.expand_dims(rows, 1 + across(role)), shape).reshape(-1)
                chosen = np.flatnonzero(words)
                links = self._check(places[chosen], words[chosen])
        return links


def marks_of(register: RowState, places: Places) -> Bit:
    """Own XOR shares of the lowest bits of the words of a pass, in the shape of its places."""
    return lowest(register.shares[: places.rows.size]).reshape(places.rows.shape)


def lowest(shares: Word) -> Bit:
    """Own XOR shares of the lowest bits of shared words, which are the words' own modulo 2."""
    return (shares & MARK).astype(np.uint8)
