"""Commands about the privacy ledger: show, verify, export."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.catalog.declaration import load_catalog
from parties.cli.keys import trust_options, trusted
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.config import Config, load
from parties.errors import REFUSED, ConfigError, DataError, why_unreadable
from parties.jobs.reading import FILE, JobReader
from parties.ledger.accounting import DELTA_TOTAL, Account, Spent, described, shown
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import SPENT, Entry
from parties.ledger.export import (
    Countersignatures,
    Keys,
    check_countersignatures,
    read_export,
    write_csv,
    write_export,
)
from parties.ledger.heads import FILE as HEADS
from parties.ledger.heads import read_statements
from parties.ledger.tally import utc_now
from parties.ledger.verification import problems
from parties.pki.files import PRIVATE, write_atomically
from parties.pki.home import load_identity, load_peer
from parties.pki.signing import key_text, named_key
from smc.analyses.loss import Loss
from smc.errors import UsageError

EXPORT_BYTES = 1 << 30
"""The longest export that is read."""


@click.group()
def ledger() -> None:
    """The privacy budget that has been spent."""


@dataclass(frozen=True, slots=True)
class _Total:
    """What an account has lost towards a peer, or towards all together if `peer` is None."""

    account: Account
    peer: str | None
    spent: Spent
    latest: Loss

    def document(self) -> dict[str, Any]:
        loss = self.spent.loss
        return {
            "account": self.account.name,
            "datasets": sorted(self.account.datasets),
            "peer": self.peer,
            "epsilon": str(loss.epsilon),
            "delta": str(loss.delta),
            "rho": str(loss.rho),
            "guarantee": {"epsilon": str(self.spent.epsilon_at(DELTA_TOTAL)), "delta": str(DELTA_TOTAL)}
            if self.is_stated
            else None,
            "jobs_left": self.jobs_left,
        }

    @property
    def is_stated(self) -> bool:
        loss = self.spent.loss
        return loss.delta < DELTA_TOTAL or (loss.delta == DELTA_TOTAL and not loss.rho)

    @property
    def jobs_left(self) -> int | None:
        """How many more jobs with the delta of the latest one have room, whatever epsilon is left."""
        return self.spent.jobs_left(DELTA_TOTAL, self.latest)

    def words(self) -> str:
        """The guarantee for a person of the account."""
        who = repr(self.peer) if self.peer else "all peers together"
        about = f"What {who} got about {self.account.name!r}"
        if not self.is_stated:
            spent = described(self.spent.loss)
            return f"{about} cannot be stated at delta {shown(DELTA_TOTAL)}, since more is spent: {spent}."
        epsilon = self.spent.epsilon_at(DELTA_TOTAL)
        return (
            f"{about} is ({shown(epsilon)}, {shown(DELTA_TOTAL)})-differentially private: whether any one "
            f"person is in the data changes the odds of any conclusion by a factor of {_odds(epsilon)} at "
            f"most, but for a chance of {shown(DELTA_TOTAL)}. (Where no person is declared, read row.)"
            + self._room()
        )

    def _room(self) -> str:
        if self.peer is None or self.jobs_left is None:
            return ""
        return f" Delta {shown(DELTA_TOTAL)} has room for {self.jobs_left} more jobs like the latest."


@ledger.command()
@config_option
@json_option
def show(config_path: Path | None, as_json: bool) -> None:
    """Show what has been spent, by account and peer, and what that guarantees."""
    config = load(config_path)
    book = open_ledger(config.home)
    entries = [entry for entry in book.entries() if entry.event == SPENT]
    names_of_jobs = _job_ids(config)
    totals = list(_totals(config, book, entries))
    unsigned = book.unsigned()
    names = ("sequence", "time", "job", "account", "dataset", "peer", "epsilon", "delta", "rho")
    listed = [
        {name: getattr(entry, name) for name in names} | {"job_id": names_of_jobs.get(entry.job)}
        for entry in entries
    ]

    def human(out: Screen) -> None:
        for entry in unsigned:
            name = names_of_jobs.get(entry.job, entry.job[:16])
            out.print(
                f"Entry {entry.sequence} ({entry.event}, {entry.time}, job {name}) lacks the signature of "
                f"{entry.peer!r}: the session broke at the gate."
                + (" That party had announced its own." if entry.signature else "")
            )
        if not entries:
            out.print("Nothing has been spent.")
            return
        rows = [
            (e.time, names_of_jobs.get(e.job), e.dataset, e.account, e.peer, described(e.loss))
            for e in entries
        ]
        out.print(table("spent", ("time", "job", "data set", "account", "peer", "loss"), rows))
        out.print(
            table(
                f"in total, as epsilon at delta {shown(DELTA_TOTAL)}",
                ("account", "peer", "sum of the losses", "epsilon"),
                [
                    (
                        t.account.name,
                        t.peer or "(all)",
                        described(t.spent.loss),
                        shown(t.spent.epsilon_at(DELTA_TOTAL)) if t.is_stated else "none",
                    )
                    for t in totals
                ],
            )
        )
        for total in totals:
            out.print(total.words())
        if len({total.account for total in totals}) > 1:
            out.print(
                "Accounts are about different people, so each stands for itself; a person who is in two of "
                "them has the sum. Declare such data sets with one population."
            )

    document = {
        "entries": listed,
        "totals": [total.document() for total in totals],
        "unsigned": [entry.sequence for entry in unsigned],
    }
    emit(document, human, as_json=as_json)


@ledger.command()
@click.option(
    "--export",
    "export_path",
    type=click.Path(path_type=Path),
    help="Check a file made by `duetto ledger export`, without configuration, instead of the own ledger.",
)
@click.option(
    "--peer-key",
    "peer_keys",
    multiple=True,
    metavar="PEER=KEY",
    help="A further signing key of a peer, such as the one from before it was paired anew.",
)
@trust_options
@config_option
@json_option
def verify(
    export_path: Path | None,
    peer_keys: tuple[str, ...],
    keys: tuple[str, ...],
    pairs: tuple[Path, ...],
    config_path: Path | None,
    *,
    any_key: bool,
    as_json: bool,
) -> None:
    """Check the chain of the ledger from its beginning, and what the peers have signed of it.

    The own ledger is also held against the newest heads that the peers have signed. Ends with status 77 if
    anything is wrong.
    """
    further = _further(peer_keys)
    if export_path is None:
        if keys or pairs or any_key:
            raise UsageError("--key, --pair and --any-key are for exports.", "Add --export FILE.")
        config = load(config_path)
        book = open_ledger(config.home)
        entries, party, torn = book.entries(), config.name, [path.name for path in book.torn]
        known: Keys = _merged(_peer_keys(config), further)
        said, confirmed = read_statements(config.home / HEADS), True
    else:
        found = read_export(_read(export_path))
        given = trusted(keys, pairs, any_key=any_key)
        given.require(found.party, found.peers)
        entries, party, torn, said = found.entries, found.party, [], {}
        own = given.of(party, is_maker=True)
        confirmed = bool(own)
        if own and key_text(found.key) not in map(key_text, own):
            raise DataError(
                f"The export is sealed with another key than the one given for {party!r}.",
                "It is not by that party, or the party has made new keys since.",
            )
        vouched = {name: given.of(name, is_maker=False) or stated for name, stated in found.peers.items()}
        known = _merged(vouched, further)
    signed = check_countersignatures(entries, known)
    wrong = problems(party, entries, signed, said, known) if export_path is None else []
    if signed.invalid and export_path is not None:
        raise DataError(
            f"Entry {signed.invalid[0]} is not signed with the key that is known of "
            f"{entries[signed.invalid[0]].peer!r}.",
            "If that party was paired anew, give its earlier key with --peer-key.",
        )
    head = entries[-1].hash if entries else ""

    def human(out: Screen) -> None:
        _print_verdict(out, party, len(entries), head, signed)
        for problem in wrong:
            out.print(f"WRONG: {problem}")
        if not confirmed:
            out.print("Nobody has said whose key the seal is of: anybody can have made such a file.")
        if torn:
            out.print(f"Pieces that a crash cut off lie in {', '.join(torn)}; they were never in force.")

    document = {
        "party": party,
        "entries": len(entries),
        "head": head,
        "torn": torn,
        "key_confirmed": confirmed,
        "countersignatures": {
            "valid": list(signed.valid),
            "invalid": list(signed.invalid),
            "missing": list(signed.missing),
        },
        "problems": wrong,
    }
    emit(document, human, as_json=as_json)
    if wrong:
        raise SystemExit(REFUSED)


@ledger.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; else stdout.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="Only jsonl is sealed and can be verified.",
)
@config_option
@json_option
def export(output: Path | None, form: str, config_path: Path | None, as_json: bool) -> None:
    """Write the whole ledger for auditors: entries, the peers' signatures, public keys and a seal."""
    config = load(config_path)
    entries = open_ledger(config.home).entries()
    if form == "csv":
        data = write_csv(entries).encode()
    else:
        signing = load_identity(config).signing
        data = write_export(config.name, signing, entries, _peer_keys(config), utc_now())
    if output is None:
        if as_json:
            raise UsageError("An export is not one JSON object.", "Give --output FILE, or leave out --json.")
        click.echo(data.decode(), nl=False)
        return
    try:
        write_atomically(output, data, PRIVATE)
    except OSError as problem:
        raise UsageError(f"{output} cannot be written: {why_unreadable(problem)}.", "Name a file.") from None
    emit(
        {"file": str(output), "format": form, "entries": len(entries)},
        lambda out: out.print(f"{len(entries)} entries written to {output}."),
        as_json=as_json,
    )


def _odds(epsilon: Fraction) -> str:
    """e**epsilon for people, rounded up."""
    return f"{math.exp(epsilon) * 1.0005:.3g}" if epsilon < 700 else "any size"


COMMANDS: tuple[click.Command, ...] = (ledger,)


def _totals(config: Config, book: Ledger, entries: list[Entry]) -> list[_Total]:
    """What each account has lost towards each peer, and towards all together where there are several."""
    try:
        declared = {d.name: d.population for d in load_catalog(config.catalog).datasets.values()}
    except ConfigError:
        declared = {}
    names = dict.fromkeys(declared.get(entry.dataset, entry.account) for entry in entries)
    found = []
    for name in names:
        account = Account(name, frozenset(d for d, population in declared.items() if population == name))
        latest = {e.peer: e.loss for e in entries if account.covers(e.account, e.dataset)}
        towards: list[str | None] = [*latest, *([None] if len(latest) > 1 else [])]
        for peer in towards:
            total = book.spent(account, peer)
            found.append(_Total(account, peer, total, latest[peer] if peer else Loss()))
    return found


def _print_verdict(out: Screen, party: str, count: int, head: str, signed: Countersignatures) -> None:
    out.print(f"{party}: {count} entries, each the successor of the one before. Head {head[:16] or 'none'}.")
    out.print(f"Jobs with the peer's valid signature: {len(signed.valid)}.")
    if signed.missing:
        out.print(
            "Losses and exact releases without one, since their jobs ended at the gate: entries "
            f"{', '.join(map(str, signed.missing))}."
        )


def _peer_keys(config: Config) -> Keys:
    return {peer.name: (load_peer(config, peer).signing,) for peer in config.peers}


def _further(texts: tuple[str, ...]) -> Keys:
    keys: dict[str, tuple[Ed25519PublicKey, ...]] = {}
    for text in texts:
        name, equals, key = text.partition("=")
        if not equals:
            raise UsageError(f"--peer-key {text!r} names no peer.", "Write PEER=KEY.")
        keys[name] = (*keys.get(name, ()), named_key(key))
    return keys


def _merged(one: Keys, other: Keys) -> Keys:
    return {name: (*one.get(name, ()), *other.get(name, ())) for name in {*one, *other}}


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(EXPORT_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {why_unreadable(problem)}.", "Name a file.") from None
    if len(data) > EXPORT_BYTES:
        raise DataError(f"{path} is longer than {EXPORT_BYTES} bytes.")
    return data


def _job_ids(config: Config) -> dict[str, str]:
    """The names of the known jobs by the digests of their contracts, in hexadecimal."""
    if not (config.home / FILE).exists():
        return {}
    with closing(JobReader(config.home)) as jobs:
        return jobs.names_by_digest()
