"""One-to-one pairing over all passes: in each round, the pairs whose rows are each other's nearest.

    forwards, pass by pass:    eligible = alike & both rows free
                               the best pairs of each bucket     -->  mutual: best of both its rows there
                               best of a row here > best so far  -->  better, and the best so far
    backwards, pass by pass:   candidate = better & not better in a later pass
                               chosen = mutual & both rows are candidates

So a row is a candidate in the first of the passes where its best score occurs, and a pair is chosen where
both its rows are: each is nearest to the other among all free rows that it met in any pass. Equally near rows
are distinguished by their places among the rows of their buckets, then by the pass. Of two pairs of a row one
therefore comes before the other, and the first of all pairs that are left is chosen: with enough rounds this
is the greedy pairing of all compared pairs by falling likeness, with fewer a part of it.

Scores so far, marks and partners are in words that neither party sees (`smc.secret.joins.row_state`).

Reference: Preis, Linear time 1/2-approximation algorithm for maximum weighted matching, STACS 1999 (locally
dominant edges); rounds: Manne and Bisseling, PPAM 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from typing_extensions import override

from smc.analyses.matching.tolerant.linkage import MARK, BucketLinkage, Links, Registers, lowest, marks_of
from smc.analyses.matching.tolerant.places import Bit, Pairs, Places, Word, across
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb, mux, pairing
from smc.secret.comparison.msb import public_bits
from smc.secret.sharing.bounds import Bounds
from smc.tracing.repeats import traced_once

Part = tuple[slice, Pairs, Bit]


@dataclass(frozen=True, slots=True)
class _Pass:
    """A pass on its way back.

    Attributes:
        places: the local ones.
        mutual: own XOR shares of which pairs are the best of both their rows, bits packed, by stretch.
        better: the same by side of the rows whose best here is above that of all passes before.
    """

    places: Places
    mutual: list[tuple[slice, Bit]] = field(default_factory=list, repr=False)
    better: dict[Role, Bit] = field(default_factory=dict, repr=False)


class OneToOne(BucketLinkage):
    """Each row has one partner at most: its word is twice the partner's number plus 1, or 0."""

    def pair(self) -> dict[Role, SecretBits]:
        """Run, and open nothing.

        Returns:
            Which rows of either side have a partner, in the order of that side's rows.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self._choose()
        return {
            role: SecretBits(self._session, lowest(self._restore(role)[: self._counts[role]]))
            for role in Role
        }

    @override
    def _choose(self) -> None:
        rounds = self._parameters.rounds
        every: list[tuple[Places, Iterable[Part]]] = [(each, self._compare(each)) for each in self._shuffle()]
        if rounds > 1:
            every = [(places, list(parts)) for places, parts in every]
        steps, done = 2 * rounds * len(every), 0
        for number in range(rounds):
            ways = []
            best, seen = self._new_registers(), self._new_registers()
            for places, parts in every:
                self._session.report("pass", done, steps)
                ways.append(self._forwards(places, parts, best, first=number == 0))
                done += 1
            for way in reversed(ways):
                self._session.report("pass", done, steps)
                self._backwards(way, seen)
                done += 1
        self._session.report("pass", steps, steps)

    def _forwards(self, places: Places, parts: Iterable[Part], best: Registers, *, first: bool) -> _Pass:
        """Find the best pairs of each bucket, and the rows that have none as good in an earlier pass.

        Args:
            places: the local ones.
            parts: the stretches, with XOR shares of which pairs are alike.
            best: the best score of each row so far.
            first: whether all rows are still free.
        """
        way = _Pass(places)
        tops: dict[Role, list[Word]] = {role: [] for role in Role}
        self._arrange(best, places)
        if not first:
            self._arrange(self._partners, places)
        for part, pairs, alike in parts:
            found = pairs.best(alike if first else self._free(places, part, alike))
            way.mutual.append((part, np.packbits(found.mutual, axis=2)))
            tops[Role.ALICE].append(found.rows.reshape(-1))
            tops[Role.BOB].append(found.columns.reshape(-1))
        most = self._own.score.most_rank
        for role in Role:
            top = np.concatenate(tops[role])
            lead = top - best[role].shares[: len(top)]
            better = msb.nonnegative(self._session, np.negative(lead), Bounds(-most, most))
            better ^= public_bits(self._session, np.ones_like(better))
            best[role].add(mux.select(self._session, better, lead))
            way.better[role] = better.reshape(places.rows.shape)
        return way

    def _free(self, places: Places, part: slice, alike: Bit) -> Bit:
        """Own XOR shares of the alike pairs of which neither row has a partner."""
        taken = (marks_of(self._partners[role], places)[part] for role in Role)
        return _alike_and_free(self._session, alike, *taken)

    def _backwards(self, way: _Pass, seen: Registers) -> None:
        """Choose among the best pairs of a pass.

        Args:
            way: the pass.
            seen: 1 for each row that is a candidate in a later pass.
        """
        candidates = {}
        self._arrange(seen, way.places)
        self._arrange(self._partners, way.places)
        for role in Role:
            marks = marks_of(seen[role], way.places)
            unseen = marks ^ public_bits(self._session, np.ones_like(marks))
            candidates[role] = _and(self._session, way.better[role], unseen)
            seen[role].add(self._session.oblivious.bits_to_arithmetic(candidates[role].reshape(-1)))
        partners: dict[Role, list[Word]] = {role: [] for role in Role}
        for part, packed in way.mutual:
            chosen = _choose(self._session, packed, *(candidates[role][part] for role in Role))
            for role in Role:
                words = way.places[part].deliver(self._session, role, chosen, 2 * self.numbers + 1)
                partners[role].append(words.sum(axis=across(role), dtype=np.uint64).reshape(-1))
        for role in Role:
            self._partners[role].add(np.concatenate(partners[role]))

    @override
    def _open(self) -> Links | None:
        links = None
        for role in self._recipients:
            words = self._open_to(self._restore(role)[: self._counts[role]], role)
            if words is not None:
                rows = np.flatnonzero(words)
                unmarked = (words[rows] & MARK) == 0
                links = self._check(rows, np.where(unmarked, 0, words[rows] >> np.uint64(1)))
        return links

    def _restore(self, role: Role) -> Word:
        """Local shares of the words of a side's rows, in the order of these."""
        register = self._partners[role]
        register.arrange(
            np.arange(register.size, like=register.shares) if role is self._session.role else None
        )
        return register.shares


@traced_once
def _alike_and_free(session: Session, alike: Bit, rows: Bit, columns: Bit) -> Bit:
    """XOR shares of the alike pairs of which neither row is marked; marks have the shape (b, capacity)."""
    flip = public_bits(session, np.ones_like(rows))
    return _and(session, alike, pairing.both(session, rows ^ flip, columns ^ flip))


@traced_once
def _choose(session: Session, packed: Bit, rows: Bit, columns: Bit) -> Bit:
    """XOR shares of the pairs that are the best of both their rows, bits packed, where both are marked."""
    both = pairing.both(session, rows, columns)
    return _and(session, np.unpackbits(packed, axis=2, count=both.shape[2]), both)


def _and(session: Session, left: Bit, right: Bit) -> Bit:
    return session.oblivious.and_bits(left.reshape(-1), right.reshape(-1)).reshape(left.shape)
