"""Commands about result certificates: get one, and check one offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parties.audit_terms import AUDITED
from parties.bounded_files import read_bounded
from parties.cli.keys import trust_options, trusted_keys
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.client import Party
from parties.ledger.accounting import describe_loss
from parties.ledger.entries import COUNTERSIGNED, EXACT, RUN, SPENT
from parties.pki.files import write_atomically
from parties.pki.signing import key_text
from smc.errors import UsageError
from smc.forms import Role

if TYPE_CHECKING:
    from parties.certificates.verification import Certificate


@click.command()
@click.argument("job_id")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; else stdout.")
@click.option("--with-result", is_flag=True, help="Attach the result: whoever has the file can read it.")
@config_option
@json_option
def certificate(
    job_id: str, output: Path | None, config_path: Path | None, *, with_result: bool, as_json: bool
) -> None:
    """Write the signed certificate of a finished job."""
    with Party(config_path) as party:
        job = party.job(job_id)
        document = job.certificate()
        if with_result:
            got = job.result()
            document["result"] = {
                "tables": got.tables,
                "notes": list(got.notes),
                "details": got.details,
                "salt": got.salt,
            }
    if output is None:
        emit(document, lambda out: out.json(document), as_json=as_json)
        return
    try:
        write_atomically(output, json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n")
    except OSError as problem:
        raise UsageError(
            f"{output} cannot be written: {type(problem).__name__}.",
            "Give the path of a file that can be read or written.",
        ) from None
    emit(
        {"job_id": document["certificate"]["job_id"], "file": str(output), "with_result": with_result},
        lambda out: out.print(f"Written to {output}."),
        as_json=as_json,
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--result",
    "result_path",
    type=click.Path(path_type=Path),
    help="Check also that this is the result: output of `duetto job result --json`.",
)
@trust_options
@json_option
def verify(
    file: Path,
    result_path: Path | None,
    keys: tuple[str, ...],
    pairs: tuple[Path, ...],
    *,
    any_key: bool,
    as_json: bool,
) -> None:
    """Check the certificate in FILE; needs no daemon, configuration or network."""
    from parties.certificates.verification import read_certificate, read_result  # with the protocols

    found = read_certificate(_read(file))
    given = trusted_keys(keys, pairs, any_key=any_key)
    maker, peer = found.name(found.role), found.name(found.role.other)
    given.require(maker, [peer])
    confirmed = {}
    for role, name in ((found.role, maker), (found.role.other, peer)):
        for key in given.of(name, is_maker=role is found.role):
            found.confirm(key, role)
        confirmed[name] = bool(given.of(name, is_maker=role is found.role))
    if result_path is not None:
        found.check_result(read_result(_read(result_path)))
    checked = result_path is not None or found.result is not None
    emit(
        _report(found, confirmed, result_checked=checked),
        lambda out: _print(out, found, confirmed, result_checked=checked),
        as_json=as_json,
    )


def _read(path: Path) -> bytes:
    from parties.certificates.verification import CERTIFICATE_BYTES, CertificateError

    too_long = CertificateError(
        f"{path} is longer than the {CERTIFICATE_BYTES} bytes that a certificate can have.",
        "Give the file that `duetto job certificate` wrote.",
    )
    return read_bounded(path, CERTIFICATE_BYTES, too_long)


def _report(found: Certificate, confirmed: dict[str, bool], *, result_checked: bool) -> dict[str, Any]:
    body = found.body
    return {
        "valid": True,
        "parties": {
            found.name(role): {
                "role": role.value,
                "key": key_text(found.keys[role]),
                "key_confirmed": confirmed[found.name(role)],
            }
            for role in Role
        },
        "result_received": found.received,
        "result_checked": result_checked,
        "ledger": {event: entry.sequence for event, entry in found.entries.items()},
        "approvals": [
            {name: getattr(entry, name) for name in ("actor", "person", "behalf", "key", "moment")}
            for entry in found.approvals
        ],
        "same_code": _same_code(found),
        "audit": found.audit
        and {**found.audit.document(), "record_signed_by": [found.name(role) for role in Role]},
        "certificate": body,
    }


def _print(out: Screen, found: Certificate, confirmed: dict[str, bool], *, result_checked: bool) -> None:
    body = found.body
    spec, run, made = body["contract"]["spec"], body["run"], body["program"]
    maker, peer = found.name(found.role), found.name(found.role.other)

    def say(text: str) -> None:
        out.print(text)

    doubt = "" if confirmed[maker] else f", if the key in it is that of {maker}"
    say(f"The certificate of job {body['job_id']} by {maker} is valid{doubt}.")
    title = f" ({spec['job']['title']})" if spec["job"].get("title") else ""
    say(f"what:      {spec['job']['analysis']}{title}, {maker} as {found.role.value} with {peer}")
    say(f"when:      {run['started']} to {run['finished']}, by the clock of {maker}")
    say(f"contract:  {body['digest']}, signed by both")
    for entry in found.approvals:
        who = f"{entry.actor} ({entry.person})" + (f" for {entry.behalf}" if entry.behalf else "")
        say(f"approved:  {who} at {maker}, {entry.moment[:16]}, validly signed")
    say(f"loss:      {_loss_text(found)}")
    say(f"ledger:    {_ledger_text(found)}")
    for name in ("guarantee", "mechanism"):
        if name in body["noise"]:
            say(f"{name + ':':<11}{body['noise'][name]}")
    say(f"result:    {_result_text(found, result_checked=result_checked)}")
    say(f"cost:      {run['rounds']} rounds, {run['sent']} bytes sent, {run['received']} received")
    if "against" in run:
        say(f"holds:     {run['against']} (see the threat model)")
    if found.audit is not None and found.record is not None:
        say(f"level:     {found.audit.words(AUDITED)}")
        say(f"auditor:   {found.audit.auditor}, key {found.audit.key}")
        for label, heads, signed in (
            ("record:", found.record.gate, "at the gate, signed by both"),
            ("", found.record.end, f"at the end, by {maker} alone"),
        ):
            say(f"{label:<11}{signed}:")
            for way, head in heads._asdict().items():
                say(f"{'':<11}{way:<9}{head.hex()}")
    same = "the code that is installed here" if _same_code(found) else "other code than is installed here"
    say(f"program:   duetto {made['duetto']}, Python {made['python']}; {same} ({made['code'][:16]})")
    for plugin in made.get("plugins", ()):
        say(f"plug-in:   {plugin['name']} {plugin['version']} ({plugin['code'][:16]})")
    for role in (found.role, found.role.other):
        name = found.name(role)
        how = "confirmed" if confirmed[name] else "as the certificate says, not confirmed (see --pair)"
        say(f"key:       {name} {key_text(found.keys[role])}, {how}")
    if not confirmed[maker]:
        talk("Nobody has said whose keys these are: anybody can have made such a file.")


def _loss_text(found: Certificate) -> str:
    return (
        describe_loss(found.loss) if found.loss else "none: nothing was released under differential privacy"
    )


def _ledger_text(found: Certificate) -> str:
    names = {RUN: "begun", EXACT: "exact release", SPENT: "loss"}
    entries = [
        f"{name} {found.entries[event].sequence}" for event, name in names.items() if event in found.entries
    ]
    return (
        f"entries: {', '.join(entries)}; countersigned by {found.name(found.role.other)} with its own entry "
        f"{found.entries[COUNTERSIGNED].peer_sequence}"
    )


def _result_text(found: Certificate, *, result_checked: bool) -> str:
    if not found.received:
        return "none was received, as the contract says"
    if result_checked:
        return "received; the one given is the one of this job"
    return "received; not compared (give --result)"


def _same_code(found: Certificate) -> bool:
    from parties.certificates.program import program

    return bool(found.body["program"]["code"] == program()["code"])
