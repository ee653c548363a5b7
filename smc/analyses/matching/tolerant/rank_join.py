"""One-to-one pairing where passes are joins in secret: rows claim their nearest, and the nearest claim wins.

    each pass    items of both sides joined (`smc.secret.joins.joins`), the owner's in slots
                 overlap of its filter and the other side's shared one      -->  the margin
    by row       best margin over all items of an owner's row                -->  its claim
    each pass    claims carried to the other side's items                   -->  best claim of a row there
    each pass    the accepted claims' numbers carried back                  -->  partners of both sides

Where the least score is chosen in the run, all pairs from `histogram.FLOOR` on match until there are
claims: these are counted in a histogram with noise, and one holds if it reaches the score that follows
(`histogram`, `valley`).

A slot without a match holds noise: that a pair matches is a bit AND the slot's member bit. Of equal margins
the earlier pass wins, then the lower rank on the other side. A claim is one word (`word_layout`): the
claiming row's number and a mark, and the margin in the top bits. The side with fewer rows claims; a row whose
claim is not accepted stays without a partner.

Reference: as of `smc.secret.joins.joins`; pairing by claims is one round of Gale and Shapley, College
admissions and the stability of marriage, American Mathematical Monthly 69, 1962.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.figures import Noisy
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.blocking import EMPTY, Index
from smc.analyses.matching.tolerant.histogram import EDGES, FLOOR, Chosen, Histogram
from smc.analyses.matching.tolerant.linkage import MARK, Linkage, Links, lowest
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.places import Bit, Word
from smc.analyses.matching.tolerant.ranks import RankLayout
from smc.analyses.matching.tolerant.records import Records
from smc.analyses.matching.tolerant.word_layout import WordLayout
from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.pieces import chunks
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.session import Session
from smc.secret.bits import BOTH, SecretBits
from smc.secret.comparison import msb, mux, pairing
from smc.secret.ints import SecretInts
from smc.secret.joins import joins
from smc.secret.joins.circuit_psi import table_owner
from smc.secret.joins.joins import Join
from smc.secret.noise import noise
from smc.secret.products import common_ones
from smc.secret.sharing.bounds import Bounds

WORD_BITS: Final = 64
COLUMNS: Final = 2
"""Of an item beside its filter: the local term, and a mask."""

STRETCH_SLOTS: Final = 1 << 16
"""So many filters are compared at a time."""

STRETCH_CLAIMS: Final = 1 << 20
"""So many claims are compared with edges at a time."""


def stretches(slots: int) -> Iterator[slice]:
    """Cut the slots of a pass."""
    return chunks(slots, STRETCH_SLOTS)


def leads(most: int) -> Bounds:
    """Where four times differences of margins up to `most` lie, with room for what lower bits carry."""
    return Bounds(-4 * most, 4 * most + 2)


def filter_words(bits: int) -> int:
    """Words that hold a filter."""
    return -(-bits // WORD_BITS)


@dataclass(slots=True)
class _Pass:
    """A pass on its way.

    Attributes:
        keys: of the local items.
        forth: the join in the claiming side's slots.
        mask: what this party hides the next value with that it is sent, one word per local item.
        back: the join in the other side's slots.
    """

    keys: Word = field(repr=False)
    forth: Join
    mask: Word = field(repr=False)
    back: Join | None = None


class RankJoin(Linkage):
    """Each row has one partner at most."""

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
        self._claiming = table_owner(counts[Role.ALICE], counts[Role.BOB])
        self._mine = session.role is self._claiming
        self._items = {role: parameters.ranks * counts[role] for role in Role}
        self._words: dict[Role, Word] = {}
        self._score = own.score
        self._layout = WordLayout.of(counts.values(), self._score.margins.sign_bits + 1)

    def pair(self) -> dict[Role, SecretBits]:
        """Run, and open nothing; as of `smc.analyses.matching.tolerant.one_to_one`.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self._choose()
        return {role: SecretBits(self._session, self._marks(role)) for role in Role}

    @override
    def _marks(self, role: Role) -> Bit:
        return lowest(self._words[role] >> self._layout.number_bit)

    @override
    def _open(self) -> Links | None:
        links = None
        for role in self._recipients:
            words = self._open_to(self._words[role], role)
            if words is not None:
                words = words >> self._layout.number_bit
                rows = np.flatnonzero(words)
                unmarked = (words[rows] & MARK) == 0
                links = self._check(rows, np.where(unmarked, 0, words[rows] >> np.uint64(1)))
        return links

    @override
    def _choose(self) -> None:
        salt = toss(self._session)
        ways: list[_Pass] = []
        scores: list[Word] = []
        passes = len(self._own.ranked)
        steps = 3 * passes
        for number, layout in enumerate(self._own.ranked):
            self._session.report("pass", number, steps)
            way, found = self._compare(layout, salt)
            ways.append(way)
            scores.append(self._by_item(way.forth, found))
        claims = self._claims(np.stack(scores, axis=1))
        received = []
        for number, way in enumerate(ways):
            self._session.report("pass", passes + number, steps)
            received.append(self._claim(way, claims[:, number].reshape(-1)))
        accepted = self._accept(np.stack(received, axis=1))
        partners = np.zeros(self._counts[self._claiming], dtype=np.uint64, like=accepted)
        for number, way in enumerate(ways):
            self._session.report("pass", 2 * passes + number, steps)
            partners += self._answer(way, accepted[:, number].reshape(-1)).sum(axis=1, dtype=np.uint64)
        self._words[self._claiming] = partners << self._layout.number_bit
        self._session.report("pass", steps, steps)

    def _compare(self, layout: RankLayout, salt: bytes) -> tuple[_Pass, Word]:
        """A pass joined, and local shares of the ranks of pairs that match slot by slot, 0 for others."""
        session = self._session
        keys = layout.items(session.role, salt, session.random)
        width = filter_words(len(self._score.weights))
        rows = np.repeat(np.arange(len(self._own), like=self._own.terms), layout.capacity)
        mask = session.random.words(len(keys))
        columns: Word | int = COLUMNS + width
        if not self._mine:
            known = np.stack([self._own.terms[rows].view(np.uint64), mask], axis=1)
            columns = np.concatenate([known, self._filters(rows)], axis=1)
        joined = joins.join(session, keys, self._peer_items, self._claiming, columns, xored=width)
        terms = joined.columns[:, 0]
        taken = None
        if joined.items is not None:
            taken = np.where(joined.items == EMPTY, EMPTY, rows[joined.items])
            terms = terms + self._own.local(taken).view(np.uint64)
        overlaps = np.concatenate(
            [
                self._overlaps(joined.columns[part, COLUMNS:], None if taken is None else taken[part])
                for part in stretches(len(terms))
            ]
        )
        margins = (overlaps << np.uint64(self._score.grain)) + terms
        matches = SecretBits(session, msb.nonnegative(session, margins, self._score.margins))
        matches &= SecretBits(session, joined.member)
        if session.role is Role.ALICE:
            margins += np.uint64(self._score.first_rank)
        found = mux.select(session, matches.shares, margins, width=self._layout.score_bits)
        return _Pass(keys, joined, mask), found

    def _overlaps(self, filters: Word, rows: Index | None) -> Word:
        """Local shares modulo 256 of the overlaps of some slots, in words.

        Args:
            filters: local XOR shares of the other side's filters.
            rows: the local rows at the claiming side.
        """
        octets = contiguous(filters).view(np.uint8)
        planes = np.unpackbits(octets, axis=1, count=len(self._score.weights), bitorder="little")
        local: Bit | np.uint8 = np.uint8(0)
        if rows is not None:
            own = self._own.weigh(rows)
            # Of a (f' ^ f'') = a f' + a (1 - 2 f') f'' this party knows all but the other's share f''.
            local = (own * planes).sum(axis=1, dtype=np.uint8)
            planes = np.where(planes == 1, np.negative(own), own)
        found = common_ones.overlaps(self._session, planes[:, None], self._claiming.other)[:, 0, 0]
        return (found + local).astype(np.uint64)

    def _claims(self, scores: Word) -> Word:
        """The claims of the claiming side's items.

        Args:
            scores: local shares, shape (rows, passes, ranks).

        Returns:
            Local shares, same shape: 0 but for the best item of a row that has one.
        """
        session = self._session
        lines = scores.reshape(len(scores), -1)
        bounds = Bounds(-self._score.most_rank, self._score.most_rank)
        places, tops = pairing.mutual_best(
            session, lines, lambda lead: msb.nonnegative(session, lead, bounds), self._layout.score_bits
        )
        histogram = self._parameters.histogram
        least = 0
        if histogram is not None:
            self.chosen = self._choice(histogram, tops)
            least = self.chosen.moved - FLOOR
        some = self._reach(tops, [least])[0]
        words = tops << self._layout.score_bit
        chosen = SecretBits(session, places) & SecretBits(session, some[:, None])
        if self._mine:
            words = words + self._marked
        spread = np.broadcast_to(words[:, None], lines.shape).reshape(-1)
        return mux.select(session, chosen.shares.reshape(-1), spread, width=self._layout.bits).reshape(
            scores.shape
        )

    def _reach(self, ranks: Word, least: Sequence[int]) -> Bit:
        """XOR shares of which rows have a pair with a margin of so many units at least.

        Args:
            ranks: local shares of the ranks of their nearest, 0 without one, shape (n,).
            least: in units, k of them, not negative.

        Returns:
            Shape (k, n).
        """
        session, most = self._session, self._score.most_rank
        begins = [one * self._score.unit + self._score.first_rank for one in least]
        first = session.role is Role.ALICE
        leads = np.stack([ranks - np.uint64(begin if first else 0) for begin in begins])
        bits = msb.nonnegative(session, leads.reshape(-1), Bounds(-max(begins), most))
        return bits.reshape(leads.shape)

    def _choice(self, histogram: Histogram, ranks: Word) -> Chosen:
        """The least score that follows from how near the claiming rows are to their nearest.

        Raises:
            DisclosureRefused: by the noisy counts there are fewer claims than matches are asked for.
        """
        session, distribution = self._session, histogram.noise
        above = []
        for part in chunks(len(EDGES), max(1, STRETCH_CLAIMS // len(ranks))):
            bits = self._reach(ranks, [edge - FLOOR for edge in EDGES[part]])
            ones = session.oblivious.bits_to_arithmetic(bits.reshape(-1)).reshape(bits.shape)
            above.append(ones.sum(axis=1, dtype=np.uint64))
        counts: Word = np.concatenate(above)
        counts[:-1] -= counts[1:].copy()
        counts += noise.draw(session, [distribution] * len(EDGES))
        bounds = Bounds(-distribution.bound, len(ranks) + distribution.bound)
        secret = SecretInts.from_shares(session, counts, bounds)
        every = SecretInts.from_shares(
            session, counts.sum(dtype=np.uint64, keepdims=True), bounds.sum_of(len(EDGES))
        )
        # Of the matches themselves it is asked once the least score is known, before pairs are opened.
        self._release.intersection(lambda: (every,))
        opened = self._release.open(secret, BOTH, Noisy())
        if opened is None:
            raise RuntimeError("What is opened to both has not come.")
        counted = tuple(opened.tolist())
        return Chosen(valley.adjustment(counted, histogram), counted)

    def _leads(self, differences: Word) -> Bit:
        """Whether words with margins in their top bits are not below later ones."""
        session = self._session
        # Lower bits take up to 2 from the difference; with 2 added that of equal margins is not negative.
        cut = (differences >> self._layout.top_bit) + np.uint64(2 * (session.role is Role.ALICE))
        return msb.nonnegative(session, cut, leads(self._score.most_rank))

    def _claim(self, way: _Pass, claims: Word) -> Word:
        """Local shares of the claims on the other side's items, 0 without one, by its rows and ranks."""
        session, other = self._session, self._claiming.other
        opened = joins.carry_values(session, way.forth, claims, way.forth.columns[:, 1], self._layout.bits)
        columns: Word | int = COLUMNS
        if opened is not None:
            columns = np.stack([opened, way.mask], axis=1)
        way.back = joins.join(session, way.keys, self._peer_items, other, columns)
        found = joins.unmask(way.back, way.back.columns[:, 0], way.mask)
        return self._by_item(way.back, mux.select(session, way.back.member, found, width=self._layout.bits))

    def _accept(self, claims: Word) -> Word:
        """Local shares of the numbers of rows that take a claim, at the item that it is on, else 0.

        Args:
            claims: local shares, shape (rows, passes, ranks) of the side that does not claim.
        """
        session = self._session
        lines = claims.reshape(len(claims), -1)
        places, tops = pairing.mutual_best(session, lines, self._leads, self._layout.bits)
        # A row without a claim has a winner, too, but no mark is at it.
        chosen = SecretBits(session, places) & SecretBits(session, lowest(lines))
        # Above a number and its mark there is the margin, which nobody is to learn.
        self._words[self._claiming.other] = tops << self._layout.number_bit
        words = np.zeros(len(lines), dtype=np.uint64, like=lines) if self._mine else self._marked
        spread = np.broadcast_to(words[:, None], lines.shape).reshape(-1)
        gated = mux.select(session, chosen.shares.reshape(-1), spread, self._claiming.other)
        return gated.reshape(claims.shape)

    def _answer(self, way: _Pass, accepted: Word) -> Word:
        """Local shares of the accepting rows' numbers on the claiming side's items, by its rows and ranks."""
        session, back = self._session, _present(way.back)
        opened = joins.carry_values(session, back, accepted, back.columns[:, 1], self._layout.bits)
        columns: Word | int = 1 if opened is None else opened[:, None]
        found = joins.values(session, way.forth, way.keys, self._peer_items, columns)[:, 0]
        gated = mux.select(
            session,
            way.forth.member,
            joins.unmask(way.forth, found, way.mask),
            width=self._layout.bits,
        )
        return self._by_item(way.forth, gated)

    def _by_item(self, joined: Join, values: Word) -> Word:
        """Values slot by slot in the order of the owner's items, shape (rows, ranks)."""
        moved = joins.by_item(self._session, joined, values, self._items[joined.owner], self._layout.bits)
        return moved.reshape(-1, self._parameters.ranks)

    def _filters(self, rows: Index) -> Word:
        packed = np.packbits(self._own.filters.rows, axis=1, bitorder="little")
        words = np.zeros(
            (len(packed), 8 * filter_words(len(self._score.weights))), dtype=np.uint8, like=packed
        )
        words[:, : packed.shape[1]] = packed
        return words.view(np.uint64)[rows]

    @property
    def _peer_items(self) -> RowCount:
        return RowCount(self._items[self._session.role.other])

    @property
    def _marked(self) -> Word:
        """The words that stand for local rows: twice their numbers, and a mark."""
        return (2 * self.numbers + 1).view(np.uint64)


def _present(joined: Join | None) -> Join:
    if joined is None:
        raise RuntimeError("A pass is answered before it was claimed.")
    return joined
