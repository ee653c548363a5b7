"""The options that say what is measured, the same for all commands that measure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.output import options

if TYPE_CHECKING:
    from anonymizer.report.assessment import OnProgress


def _words(context: click.Context, option: click.Parameter, given: str | None) -> tuple[str, ...] | None:
    """Words of measures; None if the option is not given."""
    if given is None:
        return None
    from anonymizer.measures.registry import MEASURES
    from commons.errors import near

    words = tuple(word.strip() for word in given.split(",") if word.strip())
    for word in words:
        if word not in MEASURES:
            raise click.BadParameter(
                f"{word!r} is not a valid measure. {near(word, tuple(MEASURES))}", context, option
            )
    if not words:
        raise click.BadParameter(f"name at least one of {', '.join(MEASURES)}", context, option)
    return words


measure_options = options(
    click.option(
        "--measures",
        callback=_words,
        help="Run these measures only, whatever they cost; their words with commas between.",
    ),
    click.option("--without", callback=_words, help="Leave these measures out."),
    click.option("--weights", help="The column of sampling weights: how many people a row stands for."),
    click.option(
        "--control",
        "--holdout",
        "control_path",
        type=click.Path(path_type=Path),
        help="Rows of the same source that the release was not made of, for the attacks and for "
        "distances to the closest record.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["declared", "original"]),
        default="declared",
        show_default=True,
        help="What distances are measured by: the declared range of a column, or where none is declared "
        "that of the original.",
    ),
    click.option("--households", help="The column that says to which household a person belongs."),
)
"""`--measures`, `--without`, `--weights`, `--households`, `--control` and `--scale`."""


@contextmanager
def measuring(*, as_json: bool) -> Iterator[OnProgress | None]:
    """A progress bar on standard error that `assess` moves; none for machines."""
    if as_json:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, title: bar.update(task, completed=done, total=total, description=title)
