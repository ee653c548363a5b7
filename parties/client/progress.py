"""How a script or a notebook sees a job go on: a bar on a terminal or in a notebook, elsewhere nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from parties.contracts.state import State
from parties.texts import escape_unprintable


class Watched(Protocol):
    """What is shown of a job."""

    @property
    def state(self) -> State:
        """Where it stands."""
        ...

    @property
    def progress(self) -> tuple[str, int, int]:
        """Stage, and how much of how much is done."""
        ...


T = TypeVar("T", bound=Watched)


def following(progress: Callable[[T], None] | bool) -> AbstractContextManager[Callable[[T], None]]:
    """What is called with a job after every change: what is given, a bar for True, nothing for False."""
    if isinstance(progress, bool):
        return shown_progress() if progress else nullcontext(_nothing)
    return nullcontext(progress)


def _nothing(_: Watched) -> None:
    """Show nothing."""


@contextmanager
def shown_progress(console: Console | None = None) -> Iterator[Callable[[Watched], None]]:
    """Show jobs as they go on: state or stage, how much of it is done, and for how long.

    Args:
        console: where; stderr if None. Nothing is shown unless it is a terminal or a notebook.
    """
    place = console or Console(file=sys.stderr, markup=False, highlight=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    quiet = not (place.is_terminal or place.is_jupyter)
    with Progress(*columns, TimeElapsedColumn(), console=place, transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=None)

        def show(job: Watched) -> None:
            stage, done, of = job.progress
            said = escape_unprintable(stage or job.state.value)
            bar.update(task, description=said, completed=done, total=of or None)

        yield show
