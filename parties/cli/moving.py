"""Commands that take a home to another machine, or keep a copy of it: pack, unpack, backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from parties.cli.options import config_option, home_option
from parties.cli.output import emit, json_option
from parties.config import Config, load
from parties.jobs.storage.backup import back_up
from parties.ledger.book import open_ledger
from parties.ledger.heads import ledger_doubts
from parties.pki import moving
from parties.pki.home import check_config_file, load_identity, load_peer, own_pairing
from parties.places import CONFIG_NAME, new_home


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
@home_option
@json_option
def unpack(archive: Path, home: Path | None, as_json: bool) -> None:
    """Make a home from ARCHIVE, which `duetto party pack` has written, and check all of it.

    Files are checked by their digests, then the keys, the peers and the ledger.
    """
    found = _arrive(archive, home, backup=False)
    emit(
        found,
        lambda out: out.print(
            *_whole(found),
            "Bring the data that the catalog names here, too; run `duetto data check` and `duetto doctor`.",
            "If peers reach it at another address, run `duetto keys renew-pairing --address HOST:PORT` and "
            f"hand {found['name']}.pair to them.",
            f"Delete {archive}: it holds all secret keys.",
        ),
        as_json=as_json,
    )


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@config_option
@json_option
def backup(archive: Path, config_path: Path | None, as_json: bool) -> None:
    """Write a copy of this party's home into ARCHIVE; the daemon may run, and nothing changes.

    The archive holds all secret keys, the results with their key, and the ledger as it is now. Peers refuse a
    home that was restored from it once they have seen more of the ledger, so make one after every job.
    """
    config = load(config_path)
    taken, files = back_up(config, archive)
    emit(
        {"name": config.name, "archive": str(archive), "taken": taken, "files": files},
        lambda out: out.print(
            f"{config.name} is backed up in {archive}: {len(files)} files, as of {taken}.",
            "It holds all secret keys: keep it as you keep them. `duetto party restore` makes a home of it.",
        ),
        as_json=as_json,
    )


@click.command()
@click.argument("archive", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@home_option
@json_option
def restore(archive: Path, home: Path | None, as_json: bool) -> None:
    """Make a home from ARCHIVE, a backup, after the home itself is lost, and check all of it.

    Never while the home itself is in use: of two homes of one party peers refuse one.
    """
    found = _arrive(archive, home, backup=True)
    emit(
        found,
        lambda out: out.print(
            f"This is {found['name']} as of {found['taken']}.",
            *_whole(found),
            "Is there a newer copy of ledger.jsonl, heads.json, exact-jobs.log and the folder audit? Put "
            "all of it in the place of these now. If there is one of the ledger and none of audit, run "
            "`duetto log record-gap` then. A peer that has seen more of the ledger refuses jobs, and that is "
            "right: see docs/ledger.md.",
            "Then run `duetto data check`, `duetto doctor` and `duetto party start`. Jobs that have run "
            "since end as failed, and what they have spent stays spent.",
        ),
        as_json=as_json,
    )


def _arrive(archive: Path, home: Path | None, *, backup: bool) -> dict[str, Any]:
    """Make a home of an archive; what is found of it."""
    folder = new_home(home)
    with moving.unpack(archive, folder, backup=backup) as (arriving, taken):
        config = load(arriving / CONFIG_NAME)
        entries = _check(config)
        doubts = [f"{doubt.what} {doubt.hint}" for doubt in ledger_doubts(open_ledger(config.home))]
    outside = sorted(
        str(path)
        for path in (config.policy, config.catalog, *(peer.pairing for peer in config.peers))
        if not path.resolve().is_relative_to(arriving)
    )
    return {
        "name": config.name,
        "home": str(folder),
        "ledger_entries": entries,
        "outside": outside,
        "doubts": doubts,
        **({"taken": taken} if backup else {}),
    }


def _whole(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['name']} lives in {found['home']} now; its ledger is whole, with {found['ledger_entries']} "
        "entries.",
        *found["doubts"],
        *(f"Not in the archive, since it lies outside the home: {path}" for path in found["outside"]),
    ]


def _check(config: Config) -> int:
    """Check a home that has arrived; the number of entries of its ledger."""
    check_config_file(config)
    load_identity(config)
    own_pairing(config)
    for peer in config.peers:
        load_peer(config, peer)
    head = open_ledger(config.home).head()
    return head.sequence + 1 if head else 0
