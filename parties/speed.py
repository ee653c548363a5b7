"""How fast this machine computes, beside the one on which the prices of operations were measured.

Machines differ by three times and more, so seconds that are shown to people are stretched by what a small
trial takes here. Routes are chosen without it: both parties have to choose the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from threading import Lock
from time import monotonic, process_time
from typing import Final

import gmpy2
import numpy as np

from smc.analyses.studies.study import Estimate
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from smc.planning.cost import Slowdown

_REFERENCE: Final = 3.7e-3
"""Processor seconds of the trial, with compiled kernels, where the prices hold as they are."""

_NUMPY_REFERENCE: Final = 7.0e-3
"""The same with numpy's kernels, whose prices are their own."""

_NUMBERS_REFERENCE: Final = 3.2e-3
"""The same of the trial with large numbers."""

_RANGE: Final = (0.5, 10.0)
"""Beyond these, the trial was disturbed."""

_TRIES: Final = 9

KEPT: Final = 9
"""Trials of which the median counts: machines that others share change their speed by half within seconds."""

_LASTING_SECONDS: Final = 60.0
"""How long a trial is not repeated."""

_trials: defaultdict[str, deque[tuple[float, Slowdown]]] = defaultdict(lambda: deque(maxlen=KEPT))
"""When each trial of this process ended and what it found, by the name of the kernels; newest last."""

_trying: Final = Lock()
"""Held by whoever tries or reads: two trials at once would slow each other down."""

_WORDS: Final = 1 << 9
"""Of a column: about as many as comparisons have in one pass, which a cache holds with all columns."""

_SPANS: Final = 8
_COLUMNS: Final = 128
_SLOTS: Final = 64


def on_this_machine(estimate: Estimate) -> Estimate:
    """An estimate by the prices as one of this machine."""
    factor, other = slowdown().words, estimate.cheaper
    cheaper = other and replace(other, seconds=factor * other.seconds)
    return replace(estimate, seconds=factor * estimate.seconds, cheaper=cheaper)


def slowdown(*, again: bool = False) -> Slowdown:
    """How many times as long as its price an operation takes here: the median of the last trials.

    A process that lives on tries once a minute at most, where somebody asks. A trial takes a tenth of a
    second. Those on machine words and those on large numbers differ: a processor without wide vectors is
    slow at the first alone. A trial counts processor time and the least of several tries, so that other work
    on the machine changes little.

    Args:
        again: try now, however long ago the last trial was.
    """
    name = make_kernels(Workspace()).name
    with _trying:
        trials = _trials[name]
        if again or not trials or monotonic() - trials[-1][0] > _LASTING_SECONDS:
            found = _try_machine(_REFERENCE if name == "native" else _NUMPY_REFERENCE)
            trials.append((monotonic(), found))
        kept = [found for _, found in trials]
    return Slowdown(median(each.words for each in kept), median(each.numbers for each in kept))


def _try_machine(reference: float) -> Slowdown:
    return Slowdown(
        _in_range(sum(map(_least_seconds, _words_trial())) / reference),
        _in_range(_least_seconds(_raise_numbers) / _NUMBERS_REFERENCE),
    )


def _in_range(factor: float) -> float:
    low, high = _RANGE
    return min(high, max(low, factor))


def _raise_numbers() -> int:
    """A power as Paillier takes it, with a short exponent."""
    modulus = gmpy2.mpz((1 << 4096) - 159)
    return int(gmpy2.powmod(gmpy2.mpz(3), (1 << 512) - 1, modulus))


def _words_trial() -> tuple[Callable[[], object], ...]:
    """A hash and a transposition of extended transfers, sums of long arrays, and many of short ones."""
    kernels = make_kernels(Workspace())
    columns, rows = _words(_COLUMNS, _WORDS), _words(_SLOTS, _WORDS, 2)
    key, offsets, hashed = _words(1, 2), np.zeros((1, 2), np.uint64), _words(1, 2, _WORDS)
    long, short = _words(1 << 14), _words(16)

    def hash_spans() -> None:
        for _ in range(_SPANS):
            kernels.hash_columns(columns, key, _WORDS, offsets, hashed)

    def turn_spans() -> None:
        for _ in range(_SPANS):
            kernels.rows(columns, rows)

    def add_long() -> None:
        for _ in range(100):
            (long ^ key[0, 0]) & long
            (long + long) >> np.uint64(3)

    def add_short() -> int:
        return sum(int((short[:8] ^ short[8:])[0] & np.uint64(1)) for _ in range(1500))

    return hash_spans, turn_spans, add_long, add_short


def _words(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    numbers = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64)
    return (numbers * np.uint64(0x9E3779B97F4A7C15)).reshape(shape)


def _least_seconds(work: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(_TRIES):
        began = process_time()
        work()
        least = min(least, process_time() - began)
    return least
