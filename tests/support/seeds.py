"""The values that tests draw: they follow from one seed of the run, which pytest prints and `--seed` repeats.

Each test has its own draws, whichever tests run before it or beside it, so that a failing one can be repeated
alone. What tests say of draws themselves holds for every seed but for a stated rate of false alarms.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from typing import Final

from smc.numeric.random import Randomness

VARIABLE: Final = "DUETTO_TEST_SEED"
"""The environment variable by which the processes of one run have one seed."""


def run_seed(wanted: str | None = None) -> str:
    """The seed of this run: the one wanted, else that of the environment, else a new one, kept there."""
    seed = wanted or os.environ.get(VARIABLE) or os.urandom(4).hex()
    os.environ[VARIABLE] = seed
    return seed


def seeded() -> Randomness:
    """Draws of the module that calls, anew for each test that uses them."""
    return Randomness(_Draws(str(sys._getframe(1).f_globals["__name__"])))


def _current_test() -> str:
    """The name of the running test, without the phase; empty while tests are collected."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


_made: Counter[tuple[str, str]] = Counter()
"""How many sources each module has made in each test: the next one has other draws."""


class _Draws:
    """A source of bytes that begins again in each test; several threads may ask it.

    Args:
        module: whose draws they are.
    """

    def __init__(self, module: str) -> None:
        maker = module, _current_test()
        _made[maker] += 1
        self._name = f"{maker} {_made[maker]}"
        self._lock = threading.Lock()
        self._test: str | None = None
        self._source = Randomness()

    def __call__(self, count: int) -> bytes:
        with self._lock:
            test = _current_test()
            if test != self._test:
                self._test = test
                self._source = Randomness.from_seed(run_seed().encode(), f"{self._name} {test}")
            return self._source.bytes(count)
