"""`duetto dashboard`: pages for a browser on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from parties.cli.options import config_option, data_option
from parties.cli.output import emit, json_option, talk
from parties.errors import ConfigError

if TYPE_CHECKING:
    from parties.dashboard.server import Dashboard
    from parties.dashboard.serving import Entrance

_MINUTES: Final = 30


@click.command()
@click.option("--decide", is_flag=True, help="Let people act: submit, approve, deny, cancel; else only look.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; a free one unless given."
)
@click.option(
    "--socket", "socket_path", type=click.Path(path_type=Path), help="A Unix socket in place of a port."
)
@click.option(
    "--releases",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder in which `duetto anonymize` has written releases and reports.",
)
@data_option
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=_MINUTES,
    show_default=True,
    help="A browser that nobody uses for so long has to come in again.",
)
@config_option
@json_option
def dashboard(
    *,
    decide: bool,
    port: int,
    socket_path: Path | None,
    releases: Path | None,
    folders: tuple[Path, ...],
    idle_minutes: float,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Serve the dashboard of this party until it is interrupted.

    It answers on this machine only and asks the running daemon for everything. The printed link lets one
    browser in, once; press Enter for another.
    """
    serving = open_dashboard(
        config_path,
        decides=decide,
        port=port,
        socket=socket_path,
        releases=releases,
        folders=folders,
        idle_seconds=60 * idle_minutes,
    )
    link = serving.link()
    emit(
        {"name": serving.name, "link": link, "decides": decide},
        lambda out: out.print(f"The dashboard of {serving.name}, for one browser:", link),
        as_json=as_json,
    )
    sys.stdout.flush()
    if sys.stdin.isatty() and not as_json:
        talk("Press Enter for another link, Ctrl-C to end.")
        threading.Thread(target=_offer, args=(serving.link,), daemon=True).start()
    serving.serve()


def open_dashboard(config_path: Path | None, entrance: Entrance | None = None, **options: Any) -> Dashboard:
    """A dashboard of the party that is ready to serve.

    Args:
        config_path: the party's configuration; None for the usual place.
        entrance: where it answers, if it follows the page by which the party was made.
        options: those of `parties.dashboard.server.Options`.

    Raises:
        ConfigError: a package that the dashboard needs is not installed, or it cannot be served so.
    """
    with needed_packages():
        from parties.dashboard.server import Dashboard, Options
    return Dashboard(config_path, Options(**options), entrance)


@contextmanager
def needed_packages() -> Iterator[None]:
    """A package that the dashboard needs and that is not installed, as an error with a hint.

    Raises:
        ConfigError: one is not.
    """
    try:
        yield
    except ImportError as problem:
        raise ConfigError(
            f"The dashboard needs a package that is not installed: {problem.name}.",
            "Run pip install 'duetto[dashboard]'.",
        ) from None


def _offer(link: object) -> None:
    """Print a new link for each line that somebody enters."""
    for _ in sys.stdin:
        talk(link())  # type: ignore[operator]


COMMANDS: tuple[click.Command, ...] = (dashboard,)
