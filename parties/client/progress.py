"""How a script or a notebook sees a job go on: a bar on a terminal or in a notebook, elsewhere nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from parties.texts import visible

if TYPE_CHECKING:
    from parties.client.party import Job

OnProgress = Callable[["Job"], None]


def following(progress: OnProgress | bool) -> AbstractContextManager[OnProgress]:
    """What is called with a job after every change: what is given, a bar for True, nothing for False."""
    if progress is True:
        return shown_progress()
    return nullcontext(_nothing if progress is False else progress)


def _nothing(_: Job) -> None:
    """Show nothing."""


@contextmanager
def shown_progress(console: Console | None = None) -> Iterator[OnProgress]:
    """Show jobs as they go on: state or stage, how much of it is done, and for how long.

    Args:
        console: where; stderr if None. Nothing is shown unless it is a terminal or a notebook.
    """
    place = console or Console(file=sys.stderr, markup=False, highlight=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    quiet = not (place.is_terminal or place.is_jupyter)
    with Progress(*columns, TimeElapsedColumn(), console=place, transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=None)

        def show(job: Job) -> None:
            stage, done, of = job.progress
            said = visible(stage or job.state.value)
            bar.update(task, description=said, completed=done, total=of or None)

        yield show
