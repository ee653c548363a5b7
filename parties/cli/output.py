"""How commands speak: data on stdout, talk on stderr, one form for errors, one table style.

All that is meant for people goes through `Screen`, `talk` or `parties.cli.following`, which escape what is
not printable: no text of a peer, a job or a file moves the cursor, changes colours or begins a line of its
own.

What `--json` prints, `commons.output` says; the exit status is `parties.exits.exit_code`.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

import click
from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Text
from typing_extensions import override

from commons import output
from commons.exits import UNREAD, USAGE
from commons.output import Failure, show_traceback
from parties.cli.grid import Grid, hanging, laid_out
from parties.cli.hints import with_config
from parties.exits import exit_code, of_the_machine
from parties.results.figures import ASCII_PLUS_MINUS, PLUS_MINUS, number_text
from parties.texts import escape_unprintable, json_visible
from smc.errors import DuettoError

_FILE_WIDTH = 200


class _Pipe(Console):
    """A console that leaves it to `fail` what to do when nobody reads any more."""

    @override
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Screen:
    """What people see on stdout: texts as they are, without markup, through `escape_unprintable`.

    On a terminal a line that is too long goes on further to the right, so that only what duetto says begins
    at the left edge. Elsewhere lines are never broken, and tables are as wide as they need to be, unless
    `COLUMNS` says how wide they may be.
    """

    def __init__(self) -> None:
        self._wraps = sys.stdout.isatty()
        width = None if self._wraps or "COLUMNS" in os.environ else _FILE_WIDTH
        if not self._speaks_utf8:
            cast(Any, sys.stdout).reconfigure(errors="backslashreplace")
        self._console = _Pipe(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)

    @property
    def plus_minus(self) -> str:
        """What stands between a value and the half width of its interval."""
        return PLUS_MINUS if self._speaks_utf8 else ASCII_PLUS_MINUS

    def mark(self, *, good: bool) -> str:
        """What stands before what is in order, or is not."""
        if self._speaks_utf8:
            return "✓" if good else "✗"
        return "ok:" if good else "NOT OK:"

    @property
    def _speaks_utf8(self) -> bool:
        return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"

    def print(self, *contents: str | Grid) -> None:
        """Print texts, each a line of its own, and tables."""
        for content in contents:
            if isinstance(content, Grid):
                self._table(content)
            else:
                self._line(escape_unprintable(content))

    def _table(self, grid: Grid) -> None:
        found = laid_out(grid, self._console)
        if grid.boxed:
            self._console.print(found)
            return
        if grid.title:
            self._line(escape_unprintable(grid.title))
        for line in self._console.render_lines(found, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
            self._console.print(Segments([*line, Segment.line()]), end="")

    def json(self, document: Any) -> None:
        """Print plain JSON values, indented."""
        for line in json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False).split("\n"):
            self._line(json_visible(line))

    def _line(self, text: str) -> None:
        shown = hanging(text, self._console, self._console.width) if self._wraps else text
        self._console.print(Text(shown), soft_wrap=True)


def emit(data: Mapping[str, Any], render: Callable[[Screen], None], *, as_json: bool) -> None:
    """Print the data of a command on stdout.

    Args:
        data: plain JSON values by stable names; printed with `success` before them.
        render: prints the same for people on the screen that it is given.
        as_json: which of the two. JSON is exact: what is not printable stands in it as JSON's own escapes.
    """
    if as_json:
        _print_json({"success": True, **data})
    else:
        render(Screen())


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Grid:
    """A table for people; columns whose cells are all numbers stand to the right.

    Args:
        title: shown above; may be empty.
        columns: the heads.
        rows: as many cells a row as there are heads; None is shown as a dash, a float by six digits or all
            before the point.
    """
    cells = [list(row) for row in rows]
    numeric = (
        bool(cells) and all(isinstance(row[place], int | float | None) for row in cells)
        for place in range(len(columns))
    )
    shown = (tuple("-" if cell is None else number_text(cell) for cell in row) for row in cells)
    return Grid(title, tuple(columns), tuple(shown), tuple(numeric))


def listing(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    colours: Sequence[str] = (),
) -> Grid:
    """A table without lines around its cells, as of `table`; heads that are all empty are not shown.

    Args:
        columns: the heads.
        rows: as many cells a row as there are heads.
        title: shown above; may be empty.
        colours: of each row that of its second cell on a terminal that has colours; empty for none.
    """
    return replace(table(title, columns, rows), boxed=False, colours=tuple(colours))


def talk(*lines: str) -> None:
    """Say something to a person, on stderr."""
    for line in lines:
        click.echo(escape_unprintable(line), err=True)


def fail(error: BaseException, *, as_json: bool) -> NoReturn:
    """End the command with an error: a message or JSON, and its exit status.

    A `DuettoError` is shown with its hint. An interrupt ends with 130. Anything else is a defect of the
    program: only its type is shown, and the traceback where the variable `DUETTO_DEBUG` is 1. What the
    machine refuses (a full disk, missing rights) is no defect, and has a hint of its own. Where nobody reads
    the output any more, as in `... | head`, nothing is said.

    Raises:
        SystemExit: always, with the exit status of the error.
    """
    if isinstance(error, BrokenPipeError) and is_unread():
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is written at the end
        sys.exit(UNREAD)
    if isinstance(error, OSError):
        error = of_the_machine(error) or error
    if isinstance(error, DuettoError):
        failure = Failure(exit_code(error), error.stable_code, error.what, with_config(error.hint))
    elif isinstance(error, KeyboardInterrupt):
        failure = Failure(exit_code(error), "interrupted", "Interrupted.", "")
    else:
        failure = Failure.defect(error)
    show_traceback(error)
    report_failure(failure, as_json=as_json)
    sys.exit(failure.status)


json_option = output.json_option(fail)
"""Gives a command the flag `--json`, and reports its errors by exit status."""


def is_at_terminal() -> bool:
    """Whether somebody can answer questions."""
    return sys.stdin.isatty()


def is_unread() -> bool:
    """Whether the output is a pipe whose other end is closed."""
    try:
        watched = select.poll()
        watched.register(sys.stdout.fileno(), 0)
        return bool(watched.poll(0))
    except (OSError, ValueError):
        return False


def report_failure(failure: Failure, *, as_json: bool) -> None:
    """Print an error as a message or as JSON."""
    if as_json:
        _print_json(failure.document)
    else:
        talk(*failure.lines)


def report_usage(what: str) -> None:
    """Print as JSON that a command was called wrongly."""
    report_failure(Failure(USAGE, "usage", what, "See --help."), as_json=True)


def _print_json(document: Mapping[str, Any]) -> None:
    click.echo(json_visible(output.json_text(document)))
