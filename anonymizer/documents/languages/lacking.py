"""What is said where the packages of the extra are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.errors import SpecError


@contextmanager
def lacking(what: str) -> Iterator[None]:
    """Turn a failed import into an error that names the extra.

    Args:
        what: needs the packages that are imported inside.

    Raises:
        SpecError: one of them is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise SpecError(
            f"{what} needs {error.name}, which is not installed.", "Run pip install 'duetto[documents]'."
        ) from None
