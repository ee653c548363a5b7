"""Ledger and audit log held against their stamps; offline, without daemon, network or keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from commons.logs.witnesses import Witness, contradictions
from parties.clock import text
from parties.config import Config
from parties.errors import ConfigError, StampError
from parties.ledger.entries import Entry
from parties.stamps.files import FOLDER, StampFile, read_stamp, stamp_paths
from parties.stamps.tokens import check_answer, read_authorities


@dataclass(frozen=True, slots=True)
class Stamps:
    """What genuine stamps say, and what is wrong with the others.

    Attributes:
        ledger: of entries of the ledger.
        log: of lines of the audit log.
        times: of the genuine stamps, RFC 3339 in UTC, the earliest first.
        problems: of files that are no genuine stamps of the party; a sentence for each.
    """

    ledger: tuple[Witness, ...] = ()
    log: tuple[Witness, ...] = ()
    times: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_stamps(party: str, paths: Iterable[Path], authorities: Sequence[x509.Certificate]) -> Stamps:
    """Read stamps and check that they are genuine, and the party's.

    Args:
        party: its name.
        paths: of the files; one that is there twice counts once.
        authorities: those that are pinned.

    Raises:
        ConfigError: the extra `stamps` is not installed.
        UsageError: a file cannot be read.
    """
    ledger: list[Witness] = []
    log: list[Witness] = []
    problems: list[str] = []
    times: list[str] = []
    seen: set[StampFile] = set()
    for path in paths:
        try:
            stamp = read_stamp(path)
            if stamp in seen:
                continue
            seen.add(stamp)
            time = text(check_answer(stamp.answer, stamp.statement.data, authorities))
        except StampError as error:
            problems.append(f"{path.name} is not a genuine stamp: {error.what}")
            continue
        if stamp.statement.party != party:
            problems.append(f"{path.name} is a stamp of {stamp.statement.party!r}, not of {party!r}.")
            continue
        times.append(time)
        for found, head in ((ledger, stamp.statement.ledger), (log, stamp.statement.log)):
            if head is not None:
                found.append(Witness(head, time, f"the stamp {path.name}"))
    return Stamps(tuple(ledger), tuple(log), tuple(sorted(times)), tuple(problems))


def missing_entries(entries: Sequence[Entry], stamps: Stamps) -> list[str]:
    """What stamps say against a ledger, in sentences."""
    return contradictions(entries, stamps.ledger, "Entry", "ledger")


def own_stamps(config: Config, folder: Path | None = None, ca: Path | None = None, most: int = 0) -> Stamps:
    """The stamps of a home, and of another folder.

    Args:
        config: of the home.
        folder: with copies of stamps; None for none.
        ca: the certificates of the authorities; None for those of the configuration.
        most: so many of the newest of the home; 0 for all.

    Returns:
        What they say. That they cannot be checked, since a folder cannot be read, nothing says whose are
        genuine or the extra `stamps` is not installed, is a problem as well: nobody may silence stamps by
        taking out a setting.

    Raises:
        UsageError: a file cannot be read.
    """
    try:
        paths = stamp_paths(config.home / FOLDER)[-most:]
        if folder is not None:
            paths += stamp_paths(folder)
    except StampError as error:
        return Stamps(problems=(f"{error.what} {error.hint}",))
    if not paths:
        return Stamps()
    ca = ca or (config.stamps.ca if config.stamps is not None else None)
    try:
        if ca is None:
            raise ConfigError(
                "Nothing says whose are genuine.",
                "Give --stamps-ca FILE, or name the authority as `ca` below `[stamps]` in duetto.toml.",
            )
        return read_stamps(config.name, paths, read_authorities(ca))
    except ConfigError as error:
        count = f"{len(paths)} stamps are" if len(paths) > 1 else "A stamp is"
        return Stamps(problems=(f"{count} there and not checked: {error.what} {error.hint}",))
