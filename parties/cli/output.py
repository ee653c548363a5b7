"""How commands speak: data on stdout, talk on stderr, one form for errors, one table style.

With `--json` a command prints one JSON object: `{"success": true, ...}`, or, when it fails,
`{"success": false, "error": {"code", "what", "mend"}}`. The exit status is `parties.errors.exit_code`.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, ParamSpec

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from parties.errors import INTERNAL, exit_code
from smc.errors import DuettoError

P = ParamSpec("P")

DEBUG_VARIABLE = "DUETTO_DEBUG"

_FILE_WIDTH = 200
_TITLE_WIDTH = 60


def json_option(function: Callable[P, None]) -> Callable[P, None]:
    """Give a command the flag `--json`, passed on as `as_json`, and let its errors end it in due form.

    Place it directly above the function, below the other click decorators.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit):
            raise
        except BaseException as error:
            fail(error, as_json=bool(kwargs.get("as_json")))

    flag = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    return flag(guarded)


def emit(data: Mapping[str, Any], human: Callable[[Console], None], *, as_json: bool) -> None:
    """Print the data of a command on stdout.

    Args:
        data: plain JSON values by stable names; printed with `success` before them.
        human: prints the same for people on the console that it is given.
        as_json: which of the two.
    """
    if as_json:
        click.echo(json.dumps({"success": True, **data}, ensure_ascii=False, allow_nan=False))
    else:
        human(console())


def console() -> Console:
    """The console of stdout. Texts are taken as they are, without markup; `NO_COLOR` is honoured.

    What is not shown on a terminal is not cut to the width of one, unless `COLUMNS` says how wide it may be.
    """
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _FILE_WIDTH
    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table for people; columns whose cells are all numbers stand to the right.

    Args:
        title: shown above; may be empty.
        columns: the heads.
        rows: as many cells a row as there are heads; None is shown as a dash, a float by six digits.
    """
    cells = [list(row) for row in rows]
    shown = Table(title=title or None, title_justify="left", min_width=min(len(title), _TITLE_WIDTH) or None)
    for place, head in enumerate(columns):
        numeric = bool(cells) and all(isinstance(row[place], int | float | None) for row in cells)
        shown.add_column(Text(head), justify="right" if numeric else "left")
    for row in cells:
        shown.add_row(*(Text(_shown(cell)) for cell in row))
    return shown


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def talk(text: str) -> None:
    """Say something to a person, on stderr."""
    click.echo(text, err=True)


def fail(error: BaseException, *, as_json: bool) -> NoReturn:
    """End the command with an error in due form.

    A `DuettoError` is told with its mend. An interrupt ends with 130. Anything else is a defect of the
    program: only its type is told, and the traceback where the variable `DUETTO_DEBUG` is 1.

    Raises:
        SystemExit: always, with the exit status of the error.
    """
    status = exit_code(error)
    if isinstance(error, DuettoError):
        code, what, mend = error.stable_code, error.what, error.mend
    elif isinstance(error, KeyboardInterrupt):
        code, what, mend = "interrupted", "Interrupted.", ""
    else:
        status = INTERNAL
        code, what = "internal", f"The program has a defect ({type(error).__name__})."
        mend = f"Run again with {DEBUG_VARIABLE}=1 and report the traceback."
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exception(error, file=sys.stderr)
    report_error(code, what, mend, as_json=as_json)
    sys.exit(status)


def report_error(code: str, what: str, mend: str, *, as_json: bool) -> None:
    """Print an error in due form."""
    if as_json:
        report = {"success": False, "error": {"code": code, "what": what, "mend": mend}}
        click.echo(json.dumps(report, ensure_ascii=False))
    else:
        talk(f"error: {what}" + (f"\nmend:  {mend}" if mend else ""))
