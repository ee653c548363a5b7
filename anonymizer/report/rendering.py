"""Reports as one HTML file each: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from anonymizer.measures.contract.story import number, percent

Facts = Sequence[tuple[str, str]]
"""Names and values, in the order in which a page lists them."""


def installed_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("duetto")
    except PackageNotFoundError:
        return "from source"


def render(template: str, **values: Any) -> str:
    """A page from a template beside this file, every text escaped."""
    space = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    space.filters |= {"number": number, "percent": percent, "whole": lambda value: f"{value:,}"}
    today = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = space.get_template(template).render(version=installed_version(), date=today, **values)
    return page.lstrip()
