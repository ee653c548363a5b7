"""Jobs of every kind are cancelled at random moments of their runs, by either side, and end at both at once.

A moment is a question of `smc.pieces`: the test cancels within one and counts what is asked afterwards. How
much is done between two questions is counted in calls of Python. So nothing depends on the machine.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import CodeType, FrameType

import pytest

from parties import speed
from parties.catalog.sources.batch import ROWS as BATCH
from parties.contracts.state import State
from parties.errors import JobError
from parties.session.pools import PoolStore
from scripts.soak.kinds import furnish, kinds
from smc.forms import Role
from tests.parties.jobs.institutions import Institutions
from tests.parties.jobs.joined import ANN, wait_state
from tests.support.grids import grid
from tests.support.seeds import seeded

NAMES = ("north", "south")
KINDS = {name: job for name, job in kinds(NAMES).items() if not name.endswith(", then")}
COUNTED = [kind for kind in KINDS if kind not in ("matching, vectors", "models, counts over matched rows")]
"""Kinds whose work in Python can be counted for several batches of rows; one that compares all pairs of rows
does it in arrays, and would take minutes, and counts up to 100,000 of so many rows are refused."""

CANCELLED = ("comparison, shares modulo 2^64", "matching, exact sums", "clustering, horizontal with noise")
"""Kinds that every run of the tests cancels; `--slow` cancels all."""

ENDS = (State.FINISHED, State.CANCELLED)
ROWS = 40
RANDOM = seeded()


@dataclass
class Questions:
    """Counts the questions of each side, and those of each thread after the end; cancels at one of them.

    Attributes:
        institutions: both parties.
        at: the side and the number of its question at which to cancel; None for never.
        by: who cancels.
    """

    institutions: Institutions
    at: tuple[Role, int] | None = None
    by: str = "north"
    counted: Counter[Role] = field(default_factory=Counter)
    after: Counter[tuple[Role, int]] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)
    refused: list[JobError] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, job_id: str, role: Role) -> None:
        with self.lock:  # a side may ask in several threads
            self.counted[role] += 1
            number = self.counted[role]
            if self.over.is_set():
                self.after[role, threading.get_ident()] += 1
        if self.at == (role, number):
            threading.Thread(target=self._cancel, args=(job_id,)).start()
            self.over.wait(20)

    def _cancel(self, job_id: str) -> None:
        network = self.institutions.network
        ended = network.cancel

        def cancel(name: str) -> bool:
            try:
                return ended(name)
            finally:
                self.over.set()

        network.cancel = cancel  # type: ignore[method-assign]
        try:
            network.managers[self.by].cancel(job_id, ANN)
        except JobError as error:
            self.refused.append(error)
        finally:
            network.cancel = ended  # type: ignore[method-assign]
            self.over.set()


def furnished_with(folder, rows: int) -> Institutions:
    """Two parties with so many rows each, and with pools."""
    made = Institutions(folder)
    for number, name in enumerate(NAMES):
        furnish(folder / name, number, rows)
        (folder / name / "keys").mkdir(mode=0o700, exist_ok=True)
        made.network.stores[name] = PoolStore(folder / name)
    return made


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    made = furnished_with(tmp_path_factory.mktemp("cancelling"), ROWS)
    yield made
    made.close()


def run(institutions: Institutions, kind: str, questions: Questions) -> dict[str, State]:
    """Run a job with these questions; its last state at each party."""
    institutions.network.asked = questions
    try:
        job_id = institutions.submit(KINDS[kind])
        # The end of the session may come before the word that the job was cancelled, and gives way to it.
        managers = institutions.network.managers.items()
        return {name: wait_state(manager, job_id, *ENDS).state for name, manager in managers}
    finally:
        institutions.network.asked = lambda job_id, role: None


@pytest.mark.parametrize("kind", grid(KINDS, CANCELLED))
def test_a_cancelled_job_ends_at_the_next_question_on_both_sides(furnished, kind):
    """Cancelled at a random question of either side, by either side."""
    whole = Questions(furnished)
    assert run(furnished, kind, whole) == dict.fromkeys(NAMES, State.FINISHED)
    for asked in Role:
        for by in NAMES:
            moment = 1 + RANDOM.below(max(1, whole.counted[asked] * 9 // 10), 1)[0]
            questions = Questions(furnished, (asked, moment), by)
            states = run(furnished, kind, questions)
            # Some runs ask less often than others: one that never got there is tried again, earlier.
            while questions.counted[asked] < moment:
                assert states == dict.fromkeys(NAMES, State.FINISHED)
                moment = max(1, moment * 3 // 4)
                questions = Questions(furnished, (asked, moment), by)
                states = run(furnished, kind, questions)
            where = f"{kind}, cancelled by {by} at question {moment} of {asked.value}"
            if questions.refused:  # the other side has kept its result: the job can only finish
                assert states == dict.fromkeys(NAMES, State.FINISHED), where
                continue
            assert states == dict.fromkeys(NAMES, State.CANCELLED), where
            # Of each thread, the question that is being asked and, at most, the one at the channel's end.
            assert max(questions.after.values(), default=0) <= 2, where


Called = tuple[CodeType, str]
"""A function, and the name of the built-in one that it calls; empty for a call of itself."""


class Stretches:
    """Counts the calls of each function between two questions of a thread, and keeps the most."""

    def __init__(self) -> None:
        self.most: Counter[Called] = Counter()
        self._since: dict[int, Counter[Called]] = {}
        self._lock = threading.Lock()

    def __call__(self, job_id: str, role: Role) -> None:
        del job_id, role
        sys.setprofile(None)  # what follows is not the job's work
        counted: Counter[Called] = Counter()
        with self._lock:  # a side may ask in several threads, of which each counts its own calls
            self.most |= self._since.pop(threading.get_ident(), Counter())
            self._since[threading.get_ident()] = counted

        def called(frame: FrameType, event: str, argument: object) -> None:
            if event in ("call", "c_call"):
                counted[frame.f_code, getattr(argument, "__name__", "")] += 1

        sys.setprofile(called)


def longest_stretches(folder, kind: str, rows: int) -> Counter[Called]:
    """Calls of each function between two questions at most, on either side, for so many rows."""
    made = furnished_with(folder, rows)
    try:
        stretches = Stretches()
        made.network.asked = stretches
        job_id = made.submit(KINDS[kind])
        for manager in made.network.managers.values():
            assert manager.store.wait_for(lambda: manager.store.get(job_id).state is State.FINISHED, 900)  # noqa: B023
        return stretches.most
    finally:
        made.close()


@pytest.mark.attack
@pytest.mark.parametrize("kind", grid(COUNTED, ["matching, exact sums"]))
def test_work_between_two_questions_does_not_grow_with_the_rows(tmp_path, kind, monkeypatch):
    """Half as many rows again must not call any function more often; one for each row would be.

    Data sets are read in batches of some thousand rows. Between two questions a batch is checked and the next
    one fetched, so the stretch grows up to two batches, and no further. What a job costs is found by running
    it over shapes without a question: more rows can be some steps more, of many functions, which
    `tests/parties/test_bench_estimates.py` bounds at a million rows.
    """
    monkeypatch.setattr(speed, "_LASTING_SECONDS", float("inf"))  # the machine is tried in the first run
    few, many = 2 * BATCH, 3 * BATCH
    found = []
    for number, rows in enumerate((many, few, many)):  # the first run makes tables that a process keeps
        (folder := tmp_path / str(number)).mkdir()
        found.append(longest_stretches(folder, kind, rows))
    _, first, second = found
    assert max(first.values()) > 0
    grown = {
        name: (first[name], most) for name, most in second.items() if most >= first[name] + (many - few) // 2
    }
    assert grown == {}
