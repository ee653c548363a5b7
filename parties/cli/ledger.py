"""Commands about the ledger: verify and export, with those of `parties.cli.contents` and its stamps."""

from __future__ import annotations

from pathlib import Path

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from commons.exits import REFUSED
from parties.bounded_files import read_bounded
from parties.cli import contents
from parties.cli.keys import trust_options, trusted_keys
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option
from parties.cli.stamps import print_stamps, stamp, stamps_document, stamps_options
from parties.clock import CLOCK
from parties.config import Config, load
from parties.errors import DataError
from parties.exits import why_unreadable
from parties.ledger.book import open_ledger
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
from parties.ledger.verification import problems
from parties.persons.register import Register
from parties.pki.files import PRIVATE, write_atomically
from parties.pki.home import load_identity, load_peer
from parties.pki.signing import key_text, named_key
from parties.stamps.files import stamp_paths
from parties.stamps.tokens import read_authorities
from parties.stamps.verification import Stamps, missing_entries, own_stamps, read_stamps
from smc.errors import UsageError

EXPORT_BYTES = 1 << 30
"""The longest export that is read."""


@click.group(cls=Listing)
def ledger() -> None:
    """What was spent, released, run and decided."""


@ledger.command()
@click.option(
    "--export",
    "export_path",
    type=click.Path(path_type=Path),
    help="Check a file made by `duetto ledger export`, without configuration, instead of the local ledger.",
)
@click.option(
    "--peer-key",
    "peer_keys",
    multiple=True,
    metavar="PEER=KEY",
    help="A further signing key of a peer, such as the one from before it was paired anew.",
)
@trust_options
@stamps_options
@config_option
@json_option
def verify(
    export_path: Path | None,
    peer_keys: tuple[str, ...],
    keys: tuple[str, ...],
    pairs: tuple[Path, ...],
    stamps: Path | None,
    stamps_ca: Path | None,
    config_path: Path | None,
    *,
    any_key: bool,
    as_json: bool,
) -> None:
    """Check the chain of the ledger from its beginning, what the peers have signed of it, and its stamps.

    The local ledger is also held against the newest heads that the peers have signed, and against the stamps
    in the home; an export against those in --stamps. Ends with status 77 if anything is wrong.
    """
    further = _further(peer_keys)
    if export_path is None:
        if keys or pairs or any_key:
            raise UsageError("--key, --pair and --any-key are for exports.", "Add --export FILE.")
        config = load(config_path)
        book = open_ledger(config.home)
        entries, party, torn = book.entries(), config.name, [path.name for path in book.torn]
        known: Keys = _merge(_peer_keys(config), further)
        said, confirmed = read_statements(config.home / HEADS), True
        stamped = own_stamps(config, stamps, stamps_ca)
    else:
        found = read_export(_read(export_path))
        given = trusted_keys(keys, pairs, any_key=any_key)
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
        known = _merge(vouched, further)
        stamped = _stamps_of(party, stamps, stamps_ca)
    persons = Register(party, entries)
    signed = check_countersignatures(entries, known)
    wrong = problems(party, entries, signed, said, known) if export_path is None else []
    wrong += [*missing_entries(entries, stamped), *stamped.problems]
    if signed.invalid and export_path is not None:
        raise DataError(
            f"Entry {signed.invalid[0]} is not signed with the key that is known of "
            f"{entries[signed.invalid[0]].peer!r}.",
            "If that party was paired anew, give its earlier key with --peer-key.",
        )
    head = entries[-1].hash if entries else ""

    def render(out: Screen) -> None:
        _print_verdict(out, party, len(entries), head, signed)
        if persons.signed:
            out.print(f"Valid signatures of persons: {persons.signed}.")
        print_stamps(out, stamped)
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
        "persons": persons.signed,
        "stamps": stamps_document(stamped),
        "problems": wrong,
    }
    emit(document, render, as_json=as_json)
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
        data = write_export(config.name, signing, entries, _peer_keys(config), CLOCK.stamp())
    if output is None:
        if as_json:
            raise UsageError("An export is not one JSON object.", "Give --output FILE, or leave out --json.")
        click.echo(data.decode(), nl=False)
        return
    try:
        write_atomically(output, data, PRIVATE)
    except OSError as problem:
        raise UsageError(
            f"{output} cannot be written: {why_unreadable(problem)}.",
            "Give the path of a file that can be read or written.",
        ) from None
    emit(
        {"file": str(output), "format": form, "entries": len(entries)},
        lambda out: out.print(f"{len(entries)} entries written to {output}."),
        as_json=as_json,
    )


for _command in (contents.show, contents.log, stamp):
    ledger.add_command(_command)

COMMANDS: tuple[click.Command, ...] = (ledger,)


def _print_verdict(out: Screen, party: str, count: int, head: str, signed: Countersignatures) -> None:
    out.print(f"{party}: {count} entries, chain intact. Head {head[:16] or 'none'}.")
    out.print(f"Jobs with the peer's valid signature: {len(signed.valid)}.")
    if signed.missing:
        out.print(
            "Losses and exact releases without one, since their jobs ended at the gate: entries "
            f"{', '.join(map(str, signed.missing))}."
        )


def _peer_keys(config: Config) -> Keys:
    return {peer.name: (load_peer(config, peer).signing,) for peer in config.peers}


def _stamps_of(party: str, folder: Path | None, ca: Path | None) -> Stamps:
    """The stamps that an export is held against; no configuration says whose are genuine."""
    if folder is None:
        return Stamps()
    if ca is None:
        raise UsageError("Nothing says whose stamps are genuine.", "Add --stamps-ca FILE.")
    return read_stamps(party, stamp_paths(folder), read_authorities(ca))


def _further(texts: tuple[str, ...]) -> Keys:
    keys: dict[str, tuple[Ed25519PublicKey, ...]] = {}
    for text in texts:
        name, equals, key = text.partition("=")
        if not equals:
            raise UsageError(f"--peer-key {text!r} names no peer.", "Write PEER=KEY.")
        keys[name] = (*keys.get(name, ()), named_key(key))
    return keys


def _merge(one: Keys, other: Keys) -> Keys:
    return {name: (*one.get(name, ()), *other.get(name, ())) for name in {*one, *other}}


def _read(path: Path) -> bytes:
    too_long = DataError(
        f"{path} is longer than the {EXPORT_BYTES} bytes that an export can have.",
        "Give the file that `duetto ledger export` wrote.",
    )
    return read_bounded(path, EXPORT_BYTES, too_long)
