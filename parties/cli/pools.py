"""Commands about pools: what was prepared for later comparisons."""

from __future__ import annotations

from pathlib import Path

import click

from parties.cli.options import Listing, config_option
from parties.cli.output import emit, json_option, table
from parties.config import load
from parties.session.pools import PoolStore, pool_documents


@click.group(cls=Listing)
def pool() -> None:
    """What jobs `preparation` have prepared for later comparisons."""


@pool.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """List the pools by peer."""
    rows = pool_documents(PoolStore(load(config_path).home))
    heads = ("peer", "name", "comparisons", "bits", "local is x", "bytes", "age in s")
    cells = [[str(value)[:12] if key == "name" else value for key, value in row.items()] for row in rows]
    emit({"pools": rows}, lambda out: out.print(table("", heads, cells)), as_json=as_json)


@pool.command()
@click.option("--peer", help="Only those with this peer.")
@config_option
@json_option
def clear(peer: str | None, config_path: Path | None, as_json: bool) -> None:
    """Delete the pools; comparisons then run without until new ones are prepared."""
    config = load(config_path)
    deleted = PoolStore(config.home).clear(peer)
    emit({"deleted": deleted}, lambda out: out.print(f"{deleted} files deleted."), as_json=as_json)


COMMANDS: tuple[click.Command, ...] = (pool,)
