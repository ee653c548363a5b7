"""How commands follow a job: who has to decide, how far it is, and that it goes on without them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text
from typing_extensions import override

from parties.cli.hints import config_words
from parties.cli.output import Screen, talk
from parties.client import Job
from parties.client.pace import Pace, duration
from parties.contracts.state import State
from parties.texts import escape_unprintable
from smc.errors import Cancelled

EVERY_SECONDS: Final = 10.0
"""Where progress is not shown on a terminal: the pause between lines about the same stage."""

_BAR = 24


def follow(job: Job, config_path: Path | None = None) -> None:
    """Show on stderr what a job waits for and how far it is, until it has ended.

    Args:
        job: the job.
        config_path: what the command was given as `--config`, for the commands that are named.

    Raises:
        DuettoError: what ended the job, unless it finished.
        Cancelled: the person has stopped to watch it (code `interrupted`); the job goes on.
    """
    words = config_words(config_path)
    try:
        with Following(words) as following:
            following.see(job)
            job.wait(following.see)
    except KeyboardInterrupt:
        raise Cancelled(
            f"Interrupted; job {job.id} goes on.",
            f"Watch it again with `duetto job watch {job.id}{words}`, or end it with "
            f"`duetto job cancel {job.id}{words}`.",
            code="interrupted",
        ) from None


def who_decides(job: Job, words: str = "", digest: str = "") -> str:
    """Who has to decide on a job, where, and with which commands; empty if nobody has to.

    Args:
        job: the job.
        words: to be added to commands at this party, see `config_words`.
        digest: of the contract, if the person has been shown it.
    """
    if job.state is State.WAITING_OWN:
        seen = f" --digest {digest}" if digest else ""
        look = "" if digest else f" Look at it with `duetto job show {job.id}{words}`."
        return (
            f"It waits for a person of this party.{look} Decide with "
            f"`duetto job approve {job.id}{seen}{words}` or `duetto job deny {job.id}{words}`."
        )
    if job.state is State.WAITING_PEER:
        return (
            f"It waits for a person at {job.peer}, who decides there with `duetto job approve {job.id}` or "
            f"`duetto job deny {job.id}`."
        )
    return ""


class _Times(ProgressColumn):
    """Elapsed and remaining time, which go on between two words of the daemon."""

    def __init__(self, following: Following) -> None:
        super().__init__()
        self._following = following

    @override
    def render(self, task: Task) -> Text:
        return Text(escape_unprintable(self._following.line))


class Following(AbstractContextManager["Following"]):
    """Says on stderr how a job goes on: a moving line on a terminal, else a line every so often.

    Args:
        words: to be added to commands that are named, see `config_words`.
        clock: seconds that only grow.
    """

    def __init__(self, words: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._words = words
        self._clock = clock
        self._pace = Pace(clock)
        self._console = Console(file=sys.stderr, markup=False, highlight=False, emoji=False)
        self._moving = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR),
            _Times(self),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._moving.add_task("", total=None)
        self._state: State | None = None
        self._stage = ""
        self._cut = False
        self._said = 0.0

    @override
    def __enter__(self) -> Self:
        self._moving.start()
        return self

    @override
    def __exit__(self, *_: object) -> None:
        self._moving.stop()

    @property
    def line(self) -> str:
        """How far the job is, in words; empty unless it runs."""
        return self._pace.words() if self._state is State.RUNNING else ""

    def see(self, job: Job) -> None:
        """Say what is new of a job."""
        stage, done, of = job.progress
        self._pace.see(job)
        cut = job.state is State.RUNNING and bool(job.waits_for)
        changed = job.state is not self._state or cut is not self._cut
        self._state, self._cut = job.state, cut
        if changed and not job.state.is_final:
            waits = f"It waits for {job.waits_for}." if job.waits_for else ""
            self._say(f"job {job.id}: {job.state.value}. {who_decides(job, self._words) or waits}".strip())
        elif self._is_news(stage):
            self._say(f"job {job.id}: {self.line}")
        self._stage = stage
        self._moving.update(
            self._task, description=escape_unprintable(job.state.value), completed=done, total=of or None
        )

    def _is_news(self, stage: str) -> bool:
        """Whether a line about a running job is due; a terminal has it before its eyes anyway."""
        if self._console.is_terminal or self._state is not State.RUNNING:
            return False
        passed = self._clock() - self._said
        return passed >= EVERY_SECONDS or (stage != self._stage and passed >= 1)

    def _say(self, line: str) -> None:
        self._said = self._clock()
        if self._console.is_terminal:
            self._console.print(Text(escape_unprintable(line)))
        else:
            talk(line)


def print_cheaper(out: Screen, estimate: dict[str, Any]) -> None:
    """Warn of a plan that takes a hundred times as long as another one to the same result."""
    if cheaper := estimate.get("cheaper"):
        out.print(
            f"warning: this takes {duration(estimate['seconds'])} or more; with {cheaper['change']} below "
            f"[parameters] it takes about {duration(cheaper['seconds'])} (engine {cheaper['engine']})."
        )
