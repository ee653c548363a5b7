"""Commands about the protection of this party's keys: protect, unprotect, token, status."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from parties.audit.files import read_log
from parties.audit.keys import CHANGED, INTO_TOKEN, PROTECTED, UNPROTECTED, record
from parties.audit.lines import KEYS
from parties.audit.writer import Audit
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.clock import CLOCK
from parties.config import Config, load
from parties.jobs.agreement.decisions import Person, own_person
from parties.ledger.book import open_ledger
from parties.pki import passphrase
from parties.pki.home import load_identity
from parties.pki.lock import only_one
from parties.pki.protection import ProtectionState, find_state, unlock
from parties.pki.protection import protect as protect_keys
from parties.pki.protection import unprotect as unprotect_keys
from parties.pki.token import TokenPlace, read_place
from parties.pki.token_setup import put_into_token
from smc.errors import UsageError


@click.command()
@click.option(
    "--person",
    "names",
    multiple=True,
    help="Who keeps the passphrase; give it twice for two persons, of whom each types a part.",
)
@config_option
@json_option
def protect(names: tuple[str, ...], config_path: Path | None, as_json: bool) -> None:
    """Put the private keys of this party under a passphrase, or change it; the daemon has to be stopped.

    Without the passphrase nobody can start the daemon, and nobody can bring it back: keep it safe.
    If the command is interrupted, give it again.
    """
    if len(names) > 2:
        raise UsageError("A passphrase has two parts at most.", "Give --person once or twice.")
    config, persons = load(config_path), [own_person(name) for name in names or ("",)]
    folder = config.home / "keys"
    with only_one(config):
        was = find_state(folder).parts
        unlock(folder)
        parts = _new_passphrase(persons)
        done = protect_keys(folder, parts)
        _record(config, CHANGED if was else PROTECTED, len(parts), persons)
    _say(done, read_place(folder), as_json=as_json)


@click.command()
@config_option
@json_option
def unprotect(config_path: Path | None, as_json: bool) -> None:
    """Take the private keys of this party from under their passphrase; the daemon has to be stopped."""
    config = load(config_path)
    folder = config.home / "keys"
    with only_one(config):
        was = find_state(folder)
        if was.parts:
            load_identity(config)
            _record(config, UNPROTECTED, 0, [own_person()])
        done = unprotect_keys(folder)
    _say(done, read_place(folder), as_json=as_json)


@click.command()
@click.option(
    "--module",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The library of PKCS#11 that came with the token.",
)
@click.option("--token", "label", required=True, help="The token's label.")
@click.option("--copy", "is_copied", is_flag=True, help="Copy the present key into the token.")
@config_option
@json_option
def token(*, module: Path, label: str, is_copied: bool, config_path: Path | None, as_json: bool) -> None:
    """Let a token of PKCS#11 sign for this party; the daemon has to be stopped.

    The token makes a new key, which only a party can have that nobody has paired with yet; its pairing file
    is written anew. With --copy the present key is put into the token and its file deleted, so that peers
    notice nothing. The key cannot be read out of the token. If the command is interrupted, give it again.
    """
    config = load(config_path)
    folder = config.home / "keys"
    with only_one(config):
        if read_place(folder) is None and not is_copied:
            _require_unused(config)
        place = put_into_token(config, module.absolute(), label, copied=is_copied)
        state = find_state(folder)
        _record(config, INTO_TOKEN, state.parts, [own_person()])
    _say(state, place, as_json=as_json)


def _require_unused(config: Config) -> None:
    """Refuse a new signing key where others know the present one already.

    Raises:
        UsageError: it signed entries of a ledger or lines of the log, or there are peers.
    """
    signed = any(line.event == KEYS for line in read_log(config.home).lines)
    if config.peers or signed or open_ledger(config.home).head() is not None:
        raise UsageError(
            f"{config.name} has peers, or has signed with its key already: a new key makes it another party.",
            "Give --copy to put the present key into the token, or make a party anew and begin with this.",
        )


@click.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """Say which private keys are under a passphrase, and which is in a token; nobody is asked for either."""
    folder = load(config_path).home / "keys"
    _say(find_state(folder), read_place(folder), as_json=as_json)


def _new_passphrase(persons: list[Person]) -> tuple[str, ...]:
    if passphrase.is_new_given():
        return passphrase.ask_new(len(persons))
    if not sys.stdin.isatty():
        raise UsageError(
            "There is no terminal to ask for the new passphrase.",
            f"Run the command at a terminal, or name a descriptor in {passphrase.NEW_VARIABLE}.",
        )
    if len(persons) == 1:
        return (click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True),)
    parts = []
    for person in persons:
        talk(f"{person.name} types a part; nobody else looks.")
        parts.append(
            click.prompt(f"Part of {person.name}", hide_input=True, confirmation_prompt=True, err=True)
        )
    return tuple(parts)


def _record(config: Config, action: str, parts: int, persons: list[Person]) -> None:
    actor = "; ".join(person.name for person in persons)
    signing = load_identity(config).signing
    record(Audit(config.home, CLOCK.stamp), signing, action, parts, actor, persons[0].uid)


def _say(state: ProtectionState, place: TokenPlace | None, *, as_json: bool) -> None:
    how = {0: "not protected", 1: "under a passphrase", 2: "under a passphrase in two parts"}[state.parts]

    def render(out: Screen) -> None:
        out.print(f"The private keys of this party are {how}.")
        if place is not None:
            out.print(f"The signing key is not among them: it is in the token {place.token}.")
        if state.parts and state.plain:
            out.print(
                f"These are not yet: {', '.join(state.plain)}. Run `duetto keys protect` again to finish."
            )

    emit(
        {
            "parts": state.parts,
            "protected": [*state.sealed],
            "unprotected": [*state.plain],
            "token": place.token if place is not None else "",
        },
        render,
        as_json=as_json,
    )
