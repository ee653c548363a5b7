"""Commands about persons: their keys, who may do what, and what they sign."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import click

from commons.exits import REFUSED
from parties.cli.hints import with_config
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, table, talk
from parties.cli.signing import Signing, read_passphrase, signing_options
from parties.clock import CLOCK
from parties.config import Config, load
from parties.ledger.book import open_ledger
from parties.person_roles import PersonRole
from parties.persons.declaration import FILE, Persons, parse_persons, read_file
from parties.persons.gate import NO_FILE, SIGN, Gate
from parties.persons.keys import PersonKey, make_key
from parties.persons.pending import Pending, changes, pending, put_into_force, standing_line
from parties.persons.writing import (
    read_text,
    with_key,
    with_person,
    without_key,
    without_person,
    write_text,
)
from parties.pki.files import PRIVATE, write_atomically
from smc.errors import UsageError

_SIGN: Final = "Nothing of it is in force before a person signs it: `duetto person sign --key FILE`."


@click.group(cls=Listing)
def person() -> None:
    """Persons with keys: who may do what here, and what they sign."""


@person.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    help="A private file whose first line is the passphrase; else you are asked.",
)
@click.option("--no-passphrase", is_flag=True, help="Leave the key unencrypted: whoever reads FILE can sign.")
@json_option
def key(file: Path, passphrase_file: Path | None, *, no_passphrase: bool, as_json: bool) -> None:
    """Make a key for yourself in the new FILE, and print its public part for `duetto person add`."""
    if no_passphrase and passphrase_file is not None:
        raise UsageError("--no-passphrase and --passphrase-file exclude each other.", "Give one of them.")
    if no_passphrase:
        passphrase = ""
    elif passphrase_file is not None:
        passphrase = read_passphrase(passphrase_file)
    else:
        passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    public = make_key(file, passphrase)
    found = {"file": str(file), "key": public.text, "encrypted": bool(passphrase)}
    found["fingerprint"] = public.fingerprint

    def render(out: Screen) -> None:
        out.print(public.text)
        talk(f"The key is in {file}; its fingerprint is {public.fingerprint}. Give the line above to whoever")
        talk(f"writes {FILE}, and the file to nobody.")

    emit(found, render, as_json=as_json)


@person.command()
@click.argument("word", metavar="PERSON")
@click.option("--name", required=True, help="As people know that person.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice([role.value for role in PersonRole]),
    help="May be given several times.",
)
@click.option("--public-key", required=True, metavar="KEY", help="As `duetto person key` printed it.")
@click.option(
    "--until", metavar="DATE", help="The last day on which the key is taken; for ever unless given."
)
@config_option
@json_option
def add(
    word: str,
    name: str,
    roles: tuple[str, ...],
    public_key: str,
    until: str | None,
    config_path: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write a person into persons.toml, under the word PERSON, by which that person is known from then on."""
    config = load(config_path)
    PersonKey.parse(public_key)
    path, day = config.home / FILE, _day(until) if until else None
    before = read_text(config.home) if (read_file(path) or b"").strip() else ""
    write_text(config.home, with_person(before, word, name, roles, public_key, day))
    _say(config, {"person": word, "file": str(path)}, f"{name} is in {path}. {_SIGN}", as_json=as_json)


@person.command()
@click.argument("word", metavar="PERSON")
@click.option(
    "--public-key",
    required=True,
    metavar="KEY",
    help="As `duetto person key` or the page Persons of the dashboard shows it.",
)
@config_option
@json_option
def add_key(word: str, public_key: str, config_path: Path | None, as_json: bool) -> None:
    """Give PERSON, who is in persons.toml, a further key: by any of up to four it is the same person."""
    config = load(config_path)
    write_text(config.home, with_key(read_text(config.home), word, public_key))
    _say_keys(config, word, as_json=as_json)


@person.command()
@click.argument("word", metavar="PERSON")
@click.argument("fingerprint")
@config_option
@json_option
def remove_key(word: str, fingerprint: str, config_path: Path | None, as_json: bool) -> None:
    """Take the key with this FINGERPRINT from PERSON; what was signed with it stays valid."""
    config = load(config_path)
    write_text(config.home, without_key(read_text(config.home), word, fingerprint))
    _say_keys(config, word, as_json=as_json)


@person.command()
@click.argument("word", metavar="PERSON")
@config_option
@json_option
def remove(word: str, config_path: Path | None, as_json: bool) -> None:
    """Take a person out of persons.toml; what that person has signed stays valid."""
    config = load(config_path)
    path = config.home / FILE
    write_text(config.home, without_person(read_text(config.home), word))
    _say(
        config,
        {"person": word, "file": str(path)},
        f"{word} is taken out of {path}. {_SIGN}",
        as_json=as_json,
    )


@person.command(name="list")
@config_option
@json_option
def list_persons(config_path: Path | None, as_json: bool) -> None:
    """List who is in persons.toml, with roles and keys, and whether the file is in force."""
    config = load(config_path)
    gate, today = _gate(config), CLOCK.now().date()
    data = read_file(gate.path)
    persons = parse_persons(data).persons if data is not None else {}
    rows: list[dict[str, Any]] = [
        {
            "person": word,
            "name": one.name,
            "roles": sorted(role.value for role in one.roles),
            "keys": [key.fingerprint for key in one.key],
            "until": str(one.until or ""),
            "absent": str(away.end) if (away := one.absence(today)) else "",
            "delegate": away.delegate if away else "",
        }
        for word, one in persons.items()
    ]
    line = standing_line(config, gate, today)

    def render(out: Screen) -> None:
        heads = ("person", "name", "roles", "key", "valid until", "absent until")
        cells = [
            (
                *(row["person"], row["name"], ", ".join(row["roles"]), ", ".join(row["keys"])),
                *(row["until"], row["absent"] + (f" ({row['delegate']} signs)" if row["delegate"] else "")),
            )
            for row in rows
        ]
        if rows:
            out.print(table("", heads, cells))
        out.print(with_config(line))

    emit({"persons": rows, "state": line}, render, as_json=as_json)


@person.command()
@config_option
@json_option
def check(config_path: Path | None, as_json: bool) -> None:
    """Read persons.toml, and tell what here no person has signed; ends with status 77 if anything."""
    config = load(config_path)
    gate = _gate(config)
    data = read_file(gate.path)
    waiting = pending(config, gate)
    warnings = _warnings(parse_persons(data)) if data is not None else []
    if data is None:
        gate.persons()  # which may say that the file is missing

    def render(out: Screen) -> None:
        out.print(NO_FILE if data is None else with_config(standing_line(config, gate, CLOCK.now().date())))
        for one in waiting:
            out.print(f"not signed: {one.text} (digest {one.digest[:16]})")
        for warning in warnings:
            out.print(f"warning: {warning}")

    emit({"not_signed": [_document(one) for one in waiting], "warnings": warnings}, render, as_json=as_json)
    if waiting:
        raise SystemExit(REFUSED)


@person.command()
@signing_options
@click.option(
    "--digest", "digests", multiple=True, help="Sign only what has this digest, without a question."
)
@click.option("--yes", is_flag=True, help="Sign all that is shown without a question.")
@config_option
@json_option
def sign(
    signing: Signing,
    digests: tuple[str, ...],
    config_path: Path | None,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Sign persons.toml, policy.toml, keys of peers and pools as they are now, and so put them into force."""
    config = load(config_path)
    signer = signing.open(config)
    if signer is None:
        raise UsageError("There is no key to sign with.", "Give --key FILE.")
    gate = _gate(config)
    missing = pending(config, gate)
    wanted = [
        one for one in missing if one.digest in digests or (not digests and signer.word not in one.signed)
    ]
    unknown = set(digests) - {one.digest for one in wanted}
    if unknown:
        raise UsageError(
            f"Nothing that is to be signed has the digest {min(unknown)[:80]!r}.",
            "`duetto person check --json` shows what there is now.",
        )
    for one in wanted:
        talk(f"{one.what}: digest {one.digest}")
        for line in changes(gate, one):
            talk(f"    {line}")
    if wanted and not (yes or digests):
        if as_json:
            raise UsageError("With --json no question can be asked.", "Give --yes or --digest.")
        if not click.confirm(f"Sign this as {signer.person.name}?", err=True):
            raise UsageError("Nothing was signed.", "Look at the files, and sign them then.")
    for one in wanted:
        after = gate.register().before(one.act, one.about)
        put_into_force(gate, one, signer.sign(config.name, one.act, one.digest, one.about, after))
    left = pending(config, gate)
    still = [one.text for one in left]

    def render(out: Screen) -> None:
        said = [f"{signer.person.name} has signed {one.what}." for one in wanted]
        out.print(
            *(said or [f"{signer.person.name} has signed all before." if still else "All was signed before."])
        )
        if still:
            out.print(with_config(f"Not in force yet: {', '.join(still)}. {SIGN}"))

    document = {"signed": [_document(one) for one in wanted], "person": signer.word}
    emit({**document, "not_signed": [_document(one) for one in left]}, render, as_json=as_json)


@person.command()
@config_option
@json_option
def restore(config_path: Path | None, as_json: bool) -> None:
    """Write the persons.toml that is in force, out of the ledger; the one that is there is kept beside it."""
    config = load(config_path)
    gate = _gate(config)
    if gate.register().persons is None:
        raise UsageError("No persons.toml was ever in force here.", "Begin with `duetto person add`.")
    text = gate.text_in_force().encode()
    if (old := read_file(gate.path)) is not None and old != text:
        write_atomically(gate.path.with_name(f"{FILE}.old"), old, PRIVATE)
    write_atomically(gate.path, text, PRIVATE)
    _say(config, {"file": str(gate.path)}, f"{gate.path} is the one in force again.", as_json=as_json)


COMMANDS: Final[tuple[click.Command, ...]] = (person,)


def _gate(config: Config) -> Gate:
    return Gate(config.name, config.home, open_ledger(config.home))


def _say(config: Config, document: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    state = standing_line(config, _gate(config), CLOCK.now().date())
    emit({**document, "state": state}, lambda out: out.print(with_config(sentence)), as_json=as_json)


def _say_keys(config: Config, word: str, *, as_json: bool) -> None:
    """Say which keys a person has in the file now."""
    one = parse_persons(read_text(config.home).encode()).persons[word]
    keys = [key.fingerprint for key in one.key]
    said = f"{one.name} has the key{'s' * (len(keys) > 1)} {', '.join(keys)} in {config.home / FILE}. {_SIGN}"
    _say(config, {"person": word, "keys": keys, "file": str(config.home / FILE)}, said, as_json=as_json)


def _day(text: str) -> date:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise UsageError(f"--until {text[:40]!r} is not a day.", "Write it as 2027-12-31.") from None


def _document(one: Pending) -> dict[str, Any]:
    said = {"act": one.act.value, "about": one.about, "digest": one.digest, "what": one.what}
    return {**said, "needed": one.needed, "signed_by": [*one.signed]}


def _warnings(persons: Persons) -> list[str]:
    today = CLOCK.now().date()
    there = {role: persons.of_role(role, today) for role in (PersonRole.STEWARD, PersonRole.OPERATOR)}
    found = [f"no {role.value} is there today" for role, words in there.items() if not words]
    if len(there[PersonRole.STEWARD]) == 1:
        found.append("one steward only is there today: nobody approves while that person is away")
    return found
