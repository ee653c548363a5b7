"""The values that tests draw: they follow from one seed of the run. It stands here; `--seed` names another.

Each test has its own draws, whichever tests run before it or beside it, so that a failing one can be repeated
alone; so has each fixture that several tests share. What tests say of draws themselves holds for every seed
but for a stated rate of false alarms. While tests are collected nothing can be drawn: no seed chooses which
cases exist.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Final

from smc.numeric.random import Randomness

DEFAULT: Final = "1"
"""The seed of every run that names none: what passes today passes tomorrow."""

RANDOM: Final = "random"
"""What `--seed` takes for a seed that nobody has seen: for nightly runs."""

VARIABLE: Final = "DUETTO_TEST_SEED"
"""The environment variable by which the processes of one run have one seed."""


def run_seed(wanted: str | None = None) -> str:
    """The seed of this run: the one wanted, else that of the environment, else the default; kept there."""
    seed = wanted or os.environ.get(VARIABLE) or DEFAULT
    os.environ[VARIABLE] = seed = os.urandom(4).hex() if seed == RANDOM else seed
    return seed


def seed_number() -> int:
    """The seed of this run as a whole number, for what takes no other."""
    return Randomness.from_seed(run_seed().encode(), "number").below(1 << 32, 1)[0]


def seeded() -> Randomness:
    """Draws of the module that calls, anew for each test that uses them."""
    return Randomness(_Draws(str(sys._getframe(1).f_globals["__name__"])))


@contextmanager
def drawing_for(fixture: str, case: int) -> Iterator[None]:
    """Draws belong to a fixture that several tests share, not to the test that happens to ask for it first.

    Args:
        fixture: its name, the same for all its cases.
        case: the number of its parameter.
    """
    _fixtures.append((fixture, case))
    try:
        yield
    finally:
        _fixtures.pop()


def who_drew() -> Set[str]:
    """The tests and shared fixtures that have drawn in this process so far."""
    return _drew


_fixtures: list[tuple[str, int]] = []
_drew: set[str] = set()


def _drawer() -> tuple[str, int]:
    """What is being set up, else the running test without its phase; nameless while tests are collected."""
    return _fixtures[-1] if _fixtures else (os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0], 0)


_made: Counter[tuple[str, str, int]] = Counter()
"""How many sources each module has made in each test: the next one has other draws."""


class _Draws:
    """A source of bytes that begins again in each test; several threads may ask it.

    Args:
        module: whose draws they are.
    """

    def __init__(self, module: str) -> None:
        maker = module, *_drawer()
        _made[maker] += 1
        self._name = f"{maker} {_made[maker]}"
        self._lock = threading.Lock()
        self._drawer = ("", 0)
        self._source = Randomness()

    def __call__(self, count: int) -> bytes:
        with self._lock:
            drawer = _drawer()
            if not drawer[0]:
                raise RuntimeError(
                    f"{self._name} is drawn while tests are collected: draw in a test or a fixture."
                )
            if drawer != self._drawer:
                _drew.add(drawer[0])
                self._drawer = drawer
                self._source = Randomness.from_seed(run_seed().encode(), f"{self._name} {drawer}")
            return self._source.bytes(count)
