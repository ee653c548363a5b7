"""How commands answer: data on stdout, talk on stderr, one form for errors.

With `--json` a command prints one JSON object: `{"success": true, ...}`, or, when it fails,
`{"success": false, "error": {"code", "what", "hint"}}`.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, ParamSpec, Protocol

import click

from commons.exits import INTERNAL

P = ParamSpec("P")

DEBUG_VARIABLE: Final = "DUETTO_DEBUG"


class Fail(Protocol):
    """Ends a command with an error."""

    def __call__(self, error: BaseException, *, as_json: bool) -> NoReturn:
        """Say the error and leave.

        Args:
            error: what the command has raised.
            as_json: whether it was called with `--json`.
        """


@dataclass(frozen=True, slots=True)
class Failure:
    """How a command ends that failed.

    Attributes:
        status: its exit status.
        code: stable, for programs.
        what: what happened.
        hint: what to do about it; may be empty.
        details: further values for `--json`.
    """

    status: int
    code: str
    what: str
    hint: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def defect(cls, error: BaseException) -> Failure:
        """Of an error that nobody expected: only its type is shown."""
        what = f"The program has a defect ({type(error).__name__})."
        hint = f"Run again with {DEBUG_VARIABLE}=1 and report the traceback."
        return cls(INTERNAL, "internal", what, hint)

    @property
    def document(self) -> dict[str, Any]:
        """The error for `--json`."""
        error = {"code": self.code, "what": self.what, "hint": self.hint, **self.details}
        return {"success": False, "error": error}

    @property
    def lines(self) -> tuple[str, ...]:
        """The error for people."""
        return (f"error: {self.what}", *([f"hint:  {self.hint}"] if self.hint else []))


def json_option(fail: Fail) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A decorator that gives a command the flag `--json`, passed on as `as_json`, and reports its errors.

    Place it directly above the function, below the other click decorators.

    Args:
        fail: how.
    """

    def add(function: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                function(*args, **kwargs)
            except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit):
                raise
            except BaseException as error:
                fail(error, as_json=bool(kwargs.get("as_json")))

        return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(run)

    return add


def json_text(document: Mapping[str, Any]) -> str:
    """A document as a line of JSON; what JSON does not know is written as its text."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, default=str)


def show_traceback(error: BaseException) -> None:
    """Print the traceback on stderr, if the variable `DUETTO_DEBUG` asks for it."""
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exception(error, file=sys.stderr)
