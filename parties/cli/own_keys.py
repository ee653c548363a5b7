"""Commands about this party's own keys: show, renew, renew-pairing, accept, and how they are protected."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from parties.cli import protecting
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option
from parties.cli.party import address_of, changes
from parties.client import Party
from parties.config import load
from parties.errors import PairingError
from parties.pki import certificate
from parties.pki.home import load_pairing, load_peer, own_pairing
from parties.pki.home import renew_pairing as write_pairing
from parties.pki.lock import running_pid
from parties.pki.offers import accept, find_offer
from parties.pki.renewal import renew as renew_certificate
from parties.pki.signing import key_text
from parties.pki.spoken import words_of
from smc.errors import UsageError


@click.group(cls=Listing)
def keys() -> None:
    """This party's keys."""


@keys.command()
@config_option
@json_option
def show(config_path: Path | None, as_json: bool) -> None:
    """Print this party's fingerprint, to read out to the peer."""
    config = load(config_path)
    own = own_pairing(config)
    days = certificate.days_left(own.identity.certificates)
    bits = own.identity.paillier.bits
    emit(
        {
            "name": config.name,
            "fingerprint": own.fingerprint,
            "signing_key": key_text(own.identity.signing),
            "pairing_file": str(config.home / f"{config.name}.pair"),
            "paillier_bits": bits,
            "certificate_days": days,
        },
        lambda out: out.print(
            f"{config.name}: {own.fingerprint}",
            f"as words: {' '.join(words_of(own.fingerprint))}",
            f"signing key: {key_text(own.identity.signing)}",
        ),
        as_json=as_json,
    )


@keys.command("renew-pairing")
@click.option("--address", help="HOST:PORT at which peers reach this party; as before unless given.")
@config_option
@json_option
def renew_pairing(address: str | None, config_path: Path | None, as_json: bool) -> None:
    """Write this party's pairing file anew, from its keys, with the proof of its Paillier key.

    Where the old file is missing or damaged, --address is needed.
    """
    config = load(config_path)
    renewed = write_pairing(config, address_of(address) if address else None)
    path = config.home / f"{config.name}.pair"
    emit(
        {"name": config.name, "fingerprint": renewed.fingerprint, "pairing_file": str(path)},
        lambda out: out.print(
            f"{path} is written anew.",
            f"Fingerprint:  {renewed.fingerprint}",
            "Peers that are paired keep what they have; hand it to those that ask for it.",
        ),
        as_json=as_json,
    )


@keys.command("renew")
@click.option("--at-once", is_flag=True, help="Revoke the present certificate now.")
@config_option
@json_option
def renew(at_once: bool, config_path: Path | None, as_json: bool) -> None:
    """Make the next TLS certificate of this party; all other keys stay.

    The present one is used until it ends. Until then each peer runs `duetto keys accept` with this party's
    name on a day of its own choice, or `duetto pair` with the pairing file.
    """
    config = load(config_path)
    done = renew_certificate(config, at_once=at_once)
    running = running_pid(config) is not None
    if running:
        with Party(config.path) as asked:
            asked.reload()
    file = config.home / f"{config.name}.pair"
    document = {
        "name": config.name,
        "pairing_file": str(file),
        "fingerprint": done.pairing.fingerprint,
        "used_from": done.used_from.isoformat(),
        "ends": done.ends.isoformat(),
        "made": done.made,
        "taken_up": running,
    }

    def render(out: Screen) -> None:
        word = "has a new certificate" if done.made else "has been renewed already; the file is written anew"
        out.print(
            f"{config.name} {word}.",
            f"It is used from {done.used_from:%Y-%m-%d %H:%M} UTC and ends on {done.ends:%Y-%m-%d}.",
            *(
                (
                    f"Hand {file} to each peer now, which runs `duetto pair` with it:",
                    "until then it refuses this party, and trusts the certificate that was given up.",
                )
                if at_once
                else (
                    f"The daemon announces it, and each peer runs `duetto keys accept {config.name}`;",
                    f"or hand {file} to the peers, and each runs `duetto pair` with it.",
                )
            ),
        )
        if running:
            out.print("The daemon has taken it up.")

    emit(document, render, as_json=as_json)


@keys.command("accept")
@click.argument("peer")
@click.option(
    "--yes", is_flag=True, help="Do not ask where the address changes, or the end is an earlier one."
)
@config_option
@json_option
def accept_renewal(peer: str, yes: bool, config_path: Path | None, as_json: bool) -> None:
    """Pin the renewed certificate that PEER has announced.

    The signing key that was compared at pairing has signed it, so nothing has to be compared again. If its
    address is another one, or its certificates end earlier than those that are paired, you are asked.
    """
    config = load(config_path)
    known = config.peer(peer)
    found = find_offer(config, known)
    if found is not None and not yes and (question := changes(known, found, load_pairing(config, known))):
        if as_json:
            raise UsageError("With --json no question can be asked.", "Give --yes.")
        if not click.confirm(question, err=True):
            raise PairingError("The renewal was not confirmed; nothing was stored.", "Ask the peer.")
    accepted = accept(config, peer, found)
    days = certificate.days_left(load_peer(load(config.path), accepted).certificates)
    running = running_pid(config) is not None
    if running:
        with Party(config.path) as asked:
            asked.reload()
    emit(
        {"name": peer, "fingerprint": accepted.pin, "certificate_days": days, "taken_up": running},
        lambda out: out.print(
            f"The renewed certificate of {peer} is pinned; it ends in {days} days."
            + (" The daemon has taken it up." if running else "")
        ),
        as_json=as_json,
    )


for _command in (protecting.protect, protecting.unprotect, protecting.token, protecting.status):
    keys.add_command(_command)

COMMANDS: Final[tuple[click.Command, ...]] = (keys,)
