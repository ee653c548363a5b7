"""Which release of duetto this is."""

from __future__ import annotations

import importlib.metadata


def release() -> str:
    """The installed release, or `source` where the package is not installed."""
    try:
        return importlib.metadata.version("duetto")
    except importlib.metadata.PackageNotFoundError:
        return "source"
