"""Commands that take a home to another machine: pack, unpack."""

from __future__ import annotations

from pathlib import Path

import click

from parties.cli.options import config_option
from parties.cli.output import emit, json_option
from parties.config import Config, load
from parties.ledger.book import open_ledger
from parties.ledger.heads import ledger_doubts
from parties.pki import moving
from parties.pki.home import check_config_file, load_identity, load_peer, own_pairing
from parties.places import CONFIG_NAME, require_text, user_folder


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@config_option
@json_option
def pack(archive: Path, config_path: Path | None, as_json: bool) -> None:
    """Pack this party's home into ARCHIVE, to move it; this home is never started again.

    The archive holds all secret keys. Bring it to the other machine on a safe way, run `duetto party unpack`
    there, and delete it.
    """
    config = load(config_path)
    _check(config)
    files = moving.pack(config, archive)
    emit(
        {"name": config.name, "home": str(config.home), "archive": str(archive), "files": files},
        lambda out: out.print(
            f"{config.name} is packed in {archive}: {len(files)} files.",
            f"The home {config.home} is out of use from now on.",
            f"On the other machine run `duetto party unpack {archive.name}`; then delete the archive, which "
            "holds all secret keys.",
        ),
        as_json=as_json,
    )


@click.command()
@click.argument("archive", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--home", type=click.Path(path_type=Path), help="Folder of the party; else ~/.config/duetto.")
@json_option
def unpack(archive: Path, home: Path | None, as_json: bool) -> None:
    """Make a home from ARCHIVE, which `duetto party pack` has written, and check all of it.

    Files are checked by their digests, then the keys, the peers and the ledger.
    """
    folder = require_text((home or user_folder()).absolute())
    with moving.unpacked(archive, folder) as arriving:
        config = load(arriving / CONFIG_NAME)
        entries = _check(config)
        doubts = [f"{doubt.what} {doubt.hint}" for doubt in ledger_doubts(open_ledger(config.home))]
    outside = sorted(
        str(path)
        for path in (config.policy, config.catalog, *(peer.pairing for peer in config.peers))
        if not path.resolve().is_relative_to(arriving)
    )
    emit(
        {
            "name": config.name,
            "home": str(folder),
            "ledger_entries": entries,
            "outside": outside,
            "doubts": doubts,
        },
        lambda out: out.print(
            f"{config.name} lives in {folder} now; its ledger is whole, with {entries} entries.",
            *doubts,
            *(f"Not in the archive, since it lies outside the home: {path}" for path in outside),
            "Bring the data that the catalog names here, too; run `duetto data check` and `duetto doctor`.",
            "If peers reach it at another address, run `duetto keys renew-pairing --address HOST:PORT` and "
            f"hand {config.name}.pair to them.",
            f"Delete {archive}: it holds all secret keys.",
        ),
        as_json=as_json,
    )


def _check(config: Config) -> int:
    """Check a home that has arrived; the number of entries of its ledger."""
    check_config_file(config)
    load_identity(config)
    own_pairing(config)
    for peer in config.peers:
        load_peer(config, peer)
    head = open_ledger(config.home).head()
    return head.sequence + 1 if head else 0
