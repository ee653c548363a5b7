"""The option `--cluster` of commands whose work other machines can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anonymizer.errors import WorkersError

if TYPE_CHECKING:
    from anonymizer.workers import Workers

    Opener = Callable[[Path], AbstractContextManager[Workers]]
    """What the command that holds all others gives them: the workers of a party's configuration."""

cluster_option: Final[Callable[[Callable[..., Any]], Callable[..., Any]]] = click.option(
    "--cluster",
    "cluster",
    metavar="CONFIG",
    type=click.Path(path_type=Path),
    help="Let the Dask cluster of a party do it, by this configuration of the party; it is sent the data.",
)


@contextmanager
def open_workers(cluster: Path | None) -> Iterator[Workers | None]:
    """The workers that a command was given, if any.

    Raises:
        WorkersError: the configuration names none, they cannot be reached, or are lost in the block.
    """
    if cluster is None:
        yield None
        return
    opener: Opener | None = click.get_current_context().find_root().obj
    if opener is None:
        raise WorkersError("This program knows no clusters.", "Run the command as a subcommand of `duetto`.")
    with opener(cluster) as workers:
        yield workers
