"""Commands about pools: what is prepared for later comparisons."""

from __future__ import annotations

from pathlib import Path

import click

from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.config import load
from parties.session.pools import PoolStore, kept_documents, pool_documents


@click.group(cls=Listing)
def pool() -> None:
    """What is prepared for later comparisons, by jobs `preparation` or in idle time."""


@pool.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """List the pools by peer, and what the configuration wants to have ready."""
    config = load(config_path)
    store = PoolStore(config.home)
    rows, kept = pool_documents(store), kept_documents(store, config.pools)

    def render(out: Screen) -> None:
        heads = ("peer", "name", "comparisons", "bits", "local is x", "bytes", "age in s")
        cells = [[str(value)[:12] if key == "name" else value for key, value in row.items()] for row in rows]
        out.print(table("", heads, cells))
        if kept:
            wanted = ("peer", "x at", "bits", "comparisons each", "wanted", "there")
            out.print(table("filled in idle time", wanted, [list(row.values()) for row in kept]))

    emit({"pools": rows, "kept": kept}, render, as_json=as_json)


@pool.command()
@click.option("--peer", help="Only those with this peer.")
@config_option
@json_option
def clear(peer: str | None, config_path: Path | None, as_json: bool) -> None:
    """Delete the pools; comparisons then run without until new ones are prepared.

    The peer deletes its halves when pools are filled in idle time next.
    """
    config = load(config_path)
    deleted = PoolStore(config.home).clear(peer)
    emit({"deleted": deleted}, lambda out: out.print(f"{deleted} files deleted."), as_json=as_json)


COMMANDS: tuple[click.Command, ...] = (pool,)
