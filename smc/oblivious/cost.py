"""What the steps of the engine send, exactly, as functions of public parameters.

The first party of a comparison is the one that holds x; of a conversion to words, the one that sends the
transfers; in all else both do the same. A batch is padded to whole words of 64 slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from smc.numeric.narrow_words import packed_words
from smc.oblivious import ot_1_of_16, silent_consistency
from smc.oblivious.bitmatrix import SLOTS, words_for
from smc.oblivious.consistency import MASK_WORDS
from smc.oblivious.correlated_transfers import KINDS, ONE_OF_2, ONE_OF_16
from smc.oblivious.setup import FLIGHT_BYTES
from smc.oblivious.spans import (
    BELOW_WORD_BYTES,
    CONJUNCTION_WORD_BYTES,
    CORRELATED_WORD_BYTES,
    PLANES_SENT,
    WORD_BITS,
    WORD_BYTES,
    Digits,
    spans,
)

LANE_BYTES: Final = 1 << 20
"""Bytes of a batch's first flights, one way, from which on it is cut into lanes: it then takes about ten
milliseconds, and handing its parts over takes one or two."""


@dataclass(frozen=True, slots=True)
class FlightBytes:
    """One flight: bytes of message bodies from either party; 0 is silence.

    Attributes:
        first: bytes from the first party.
        second: bytes from the second party.
        prepared: prepared transfers of each direction that it takes.
        triples: words of prepared triples that it takes.
        refills: whether it makes silent transfers, which its sender sends.
    """

    first: int
    second: int
    prepared: int = 0
    triples: int = 0
    refills: bool = False


def _both(size: int) -> FlightBytes:
    return FlightBytes(size, size)


_MASK_BYTES: Final = WORD_BYTES * MASK_WORDS * sum(kind.matrix_rows for kind in KINDS)


SETUP: Final = (_both(FLIGHT_BYTES[0]), _both(FLIGHT_BYTES[1] + _MASK_BYTES))
"""The base transfers and seed trees of both directions, and the masks of the first batches."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Which silent transfers have been made since the last check.

    Attributes:
        first: whether the first party has sent some.
        second: whether the second one has.
    """

    first: bool = False
    second: bool = False

    def after(self, steps: Iterable[FlightBytes]) -> Unchecked:
        """After further steps."""
        sent = [step for step in steps if step.refills]
        return Unchecked(
            self.first or any(step.first for step in sent), self.second or any(step.second for step in sent)
        )

    @property
    def mirror(self) -> Unchecked:
        """With the parties exchanged."""
        return Unchecked(self.second, self.first)

    def __or__(self, other: Unchecked) -> Unchecked:
        return Unchecked(self.first or other.first, self.second or other.second)

    def check(self, ends: int = 1) -> tuple[FlightBytes, ...]:
        """The flights of a check, of so many engines side by side."""
        asked, answered = SILENT_BYTES
        steps = [
            FlightBytes(asked * self.second, asked * self.first),
            FlightBytes(answered * self.first, answered * self.second),
        ]
        return tuple(FlightBytes(ends * s.first, ends * s.second) for s in steps if s.first + s.second)


SILENT_BYTES: Final = silent_consistency.CHALLENGE_BYTES, silent_consistency.ANSWER_BYTES
"""Of the receiver and of the sender of silent transfers, in the check of one direction."""


def takes_lanes(count: int, word_bytes: int, lanes: int) -> bool:
    """Whether a batch is cut into lanes.

    Args:
        count: instances in the batch.
        word_bytes: as of `smc.oblivious.spans.spans`.
        lanes: that the session has; 1 for none but its own.
    """
    return lanes > 1 and words_for(count) * word_bytes >= LANE_BYTES


def lane_parts(count: int, lanes: int) -> list[slice]:
    """The part of a batch that each lane takes: whole words, as equal as can be."""
    words = words_for(count)
    ends = [min(count, SLOTS * -(-words * lane // lanes)) for lane in range(lanes + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends)]


OPENING: Final = FlightBytes(0, 0)
"""Stands in a list of flights for making the lanes, if the session has not made them before."""


def over_lanes(
    count: int, lanes: int, word_bytes: int, steps: Callable[[int], tuple[FlightBytes, ...]]
) -> tuple[FlightBytes, ...]:
    """The flights of a batch over lanes, which go side by side.

    Args:
        count: instances in the batch.
        lanes: that the session has.
        word_bytes: as of `smc.oblivious.spans.spans`.
        steps: the flights of a batch of so many instances in one lane.
    """
    if not takes_lanes(count, word_bytes, lanes):
        return steps(count)
    each = [steps(part.stop - part.start) for part in lane_parts(count, lanes)]
    together = zip_longest(*each, fillvalue=FlightBytes(0, 0))
    flights = (
        FlightBytes(
            sum(s.first for s in at),
            sum(s.second for s in at),
            refills=any(s.refills for s in at),
        )
        for at in together
    )
    return (OPENING, *flights)


def matrix_bytes(transfers: int) -> int:
    """Bytes of the extension matrix of a batch of so many 1-of-2 transfers, and of its proof."""
    return ONE_OF_2.bytes_received(words_for(transfers))


def extended_blocks(count: int) -> tuple[FlightBytes, ...]:
    """So many random transfers of 128 bits; the first party sends them."""
    return (FlightBytes(0, matrix_bytes(count)),) if count else ()


def openings(width: int, planes: int) -> list[FlightBytes]:
    """The levels of the carry tree over so many planes of `width` words."""
    steps = []
    while planes > 1:
        size = 3 * (planes // 2) * width * WORD_BYTES
        steps.append(FlightBytes(size, size))
        planes -= planes // 2
    return steps


def comparison_transfers(bits: int) -> tuple[int, int]:
    """Transfers per comparison that the x holder and that the y holder receives, of either kind."""
    digits = Digits.of(bits)
    return digits.sent_by_y + digits.joins, digits.sent_by_x + digits.joins


def compares_in_lanes(count: int, bits: int, lanes: int) -> bool:
    """Whether so many comparisons are cut into lanes, silent ones as well as others; as of `takes_lanes`."""
    return bits <= WORD_BITS and takes_lanes(count, Digits.of(bits).word_bytes, lanes)


def comparison(count: int, bits: int, lanes: int = 1) -> tuple[FlightBytes, ...]:
    """Comparing `count` pairs of which one party holds x and the other y."""
    digits = Digits.of(bits)
    if not compares_in_lanes(count, bits, lanes):
        return _compare(count, digits)
    return over_lanes(count, lanes, digits.word_bytes, lambda part: _compare(part, digits))


def _compare(count: int, digits: Digits) -> tuple[FlightBytes, ...]:
    steps: list[FlightBytes] = []
    for span in spans(count, digits.word_bytes):
        width = words_for(span.stop - span.start)
        steps += [_matrices(digits, width), *_digits_and_tree(digits, width)]
    return tuple(steps)


def preparation(count: int, bits: int) -> tuple[FlightBytes, ...]:
    """Filling a pool for `count` comparisons."""
    digits = Digits.of(bits)
    cut = spans(count, digits.word_bytes)
    return tuple(_matrices(digits, words_for(span.stop - span.start)) for span in cut)


def prepared_comparison(count: int, bits: int) -> tuple[FlightBytes, ...]:
    """Comparing `count` pairs out of a pool."""
    digits = Digits.of(bits)
    steps: list[FlightBytes] = []
    for span in spans(count, digits.prepared_word_bytes):
        width = words_for(span.stop - span.start)
        plane = ot_1_of_16.DIGIT_BITS * width * WORD_BYTES
        steps.append(FlightBytes(plane * digits.sent_by_y, plane * digits.sent_by_x))
        steps += _digits_and_tree(digits, width)
    return tuple(steps)


def _matrices(digits: Digits, width: int) -> FlightBytes:
    triples = ONE_OF_2.bytes_received(width * digits.joins)
    x_sends, y_sends = (
        ONE_OF_16.bytes_received(width * each) + triples for each in (digits.sent_by_y, digits.sent_by_x)
    )
    return FlightBytes(x_sends, y_sends)


def _digits_and_tree(digits: Digits, width: int) -> list[FlightBytes]:
    plane = PLANES_SENT * width * WORD_BYTES
    offers = FlightBytes(plane * digits.sent_by_x, plane * digits.sent_by_y)
    return [offers, *openings(width, digits.count)]


def below(count: int, lanes: int = 1) -> tuple[FlightBytes, ...]:
    """Comparing `count` XOR-shared words with public bounds."""
    return over_lanes(count, lanes, BELOW_WORD_BYTES, _below)


def _below(count: int) -> tuple[FlightBytes, ...]:
    steps: list[FlightBytes] = []
    for span in spans(count, BELOW_WORD_BYTES):
        width = words_for(span.stop - span.start)
        steps += [_both(ONE_OF_2.bytes_received(width * (WORD_BITS - 1))), *openings(width, WORD_BITS)]
    return tuple(steps)


def prepare(count: int, words: int) -> tuple[FlightBytes, ...]:
    """Preparing so many transfers of each direction, and words of triples."""
    return (_both(matrix_bytes(count) + ONE_OF_2.bytes_received(words)),)


def conjunction(count: int, lanes: int = 1, *, taken: bool = False) -> tuple[FlightBytes, ...]:
    """AND of `count` pairs of XOR-shared bits; with `taken` by triples that were prepared."""
    if takes_lanes(count, CONJUNCTION_WORD_BYTES, lanes):
        return over_lanes(
            count, lanes, CONJUNCTION_WORD_BYTES, lambda part: conjunction(part, 1, taken=False)
        )
    steps: list[FlightBytes] = []
    for span in spans(count, CONJUNCTION_WORD_BYTES):
        width = words_for(span.stop - span.start)
        if not taken:
            steps.append(_both(ONE_OF_2.bytes_received(width)))
        steps.append(FlightBytes(2 * WORD_BYTES * width, 2 * WORD_BYTES * width, triples=width * taken))
    return tuple(steps)


def bits_to_arithmetic(count: int, lanes: int = 1, *, taken: bool = False) -> tuple[FlightBytes, ...]:
    """Converting `count` XOR-shared bits to shares modulo 2**64; also `count` correlated transfers.

    With `taken` by transfers that were prepared, which lanes have none of.
    """
    if takes_lanes(count, CORRELATED_WORD_BYTES, lanes):
        return over_lanes(
            count, lanes, CORRELATED_WORD_BYTES, lambda part: bits_to_arithmetic(part, 1, taken=False)
        )
    steps: list[FlightBytes] = []
    for span in spans(count, CORRELATED_WORD_BYTES):
        size = span.stop - span.start
        if taken:
            steps.append(FlightBytes(WORD_BYTES * size, WORD_BYTES * words_for(size), prepared=size))
        else:
            steps += [*extended_blocks(size), FlightBytes(WORD_BYTES * size, 0)]
    return tuple(steps)


def exchange(
    count: int, lanes: int = 1, bits: int = WORD_BITS, *, taken: bool = False
) -> tuple[FlightBytes, ...]:
    """As many correlated transfers in both directions at once; `taken` as of `bits_to_arithmetic`.

    Of those that count fewer than 64 bits lanes send all 64.
    """
    if takes_lanes(count, CORRELATED_WORD_BYTES, lanes):
        return over_lanes(count, lanes, CORRELATED_WORD_BYTES, lambda part: exchange(part, taken=False))
    steps: list[FlightBytes] = []
    for span in spans(count, CORRELATED_WORD_BYTES):
        size = span.stop - span.start
        matrix, corrections = matrix_bytes(size), WORD_BYTES * packed_words(size, bits)
        if taken:
            both = corrections + WORD_BYTES * words_for(size)
            steps.append(FlightBytes(both, both, prepared=size))
        else:
            steps += [_both(matrix), _both(corrections)]
    return tuple(steps)
