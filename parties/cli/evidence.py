"""Commands about covert runs: what is kept of them, audits, bundles and verdicts; see docs/covert.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commons.exits import REFUSED
from parties.auditors.keys import PUBLIC_NAME, Auditor, make_keys, read_auditor, read_keys
from parties.cli.filing import file_verdict, read_shown
from parties.cli.hints import with_config
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option
from parties.client.words import byte_count, local_time, next_step, standing_words
from parties.clock import CLOCK
from parties.config import Config, load
from parties.errors import DataError
from parties.evidence.run_case import Inputs, decode_case, decode_inputs
from parties.evidence.store import (
    CASE,
    DUE,
    INPUTS,
    KEPT,
    PASSED,
    RECEIPT,
    RUNNING,
    EvidenceStore,
)
from parties.exits import why_unreadable
from parties.ledger.book import open_ledger
from parties.pki.files import PRIVATE, write_atomically
from parties.pki.home import load_identity
from smc.errors import DuettoError, UsageError
from smc.forms import Role

if TYPE_CHECKING:
    from parties.auditors.audit import AuditFinding
    from parties.auditors.bundles import Exhibit
    from parties.auditors.receipts import Receipt
    from parties.auditors.verdicts import AuditVerdict
    from parties.certificates.verification import Certificate
    from parties.jobs.checks.at_home import HomeCheck

_GOES_ON = "The run of job {} goes on."
_WAIT = "Wait for its end. One that ended with the daemon is due when that starts again."
_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path)
_KEYS = click.option(
    "--keys", "keys_path", type=_FOLDER, required=True, help="The folder of the auditor's keys."
)
_RECEIPT = click.option(
    "--receipt",
    type=_FILE,
    help="The receipt of the other party, which holds this one to what it has signed; with --missing that of "
    "the party itself, which may show that the run was not due (`duetto evidence receipt`).",
)


@click.group(cls=Listing)
def evidence() -> None:
    """What is kept of covert runs, and what an auditor says of them."""


@evidence.command(name="list")
@click.option("--passed", is_flag=True, help="Show also those that were not due, of which a receipt is kept.")
@config_option
@json_option
def list_runs(config_path: Path | None, *, passed: bool, as_json: bool) -> None:
    """The covert runs of which something is kept here, the newest last."""
    store = EvidenceStore(load(config_path).home)
    shown = (one for one in store.all() if passed or one.state != PASSED)
    runs = [asdict(one) | {"bytes": store.size(one.job_id)} for one in shown]
    emit({"runs": runs}, lambda out: _show_runs(out, runs), as_json=as_json)


@evidence.command()
@click.argument("job_id")
@config_option
@json_option
def check(job_id: str, config_path: Path | None, *, as_json: bool) -> None:
    """Audit this party's own side of a run, as an auditor would; ends with status 77 if it is convicted.

    Nothing leaves this party. The run is made again from its seed, the data as they were, and what came in.
    Ledger and policy are held against the contract as well; they are no part of an audit, and convict nobody.
    """
    config = load(config_path)
    shown = _read_exhibit(EvidenceStore(config.home), job_id)
    found = _audit(shown, config)
    _tell(shown, found, _at_home(shown, found, config), as_json=as_json)


@evidence.command()
@click.argument("job_id")
@click.option("--auditor", "auditor_path", type=_FILE, required=True, help="The auditor's public keys.")
@click.option(
    "-o", "--output", type=_FILE, required=True, help="The bundle to write; never over another file."
)
@config_option
@json_option
def bundle(job_id: str, auditor_path: Path, output: Path, config_path: Path | None, *, as_json: bool) -> None:
    """Seal what this party kept of a run to the auditor whom the contract names.

    The bundle holds this party's columns of the job: the auditor sees them, and nobody else.
    """
    from parties.auditors.bundles import seal_bundle
    from parties.auditors.verdicts import check_auditor
    from parties.contracts.contract import parse_contract

    config = load(config_path)
    shown, auditor = _read_exhibit(EvidenceStore(config.home), job_id), read_auditor(auditor_path)
    check_auditor(parse_contract(shown.case.contract.encode()), auditor)
    if shown.case.needs_key:
        raise UsageError(
            f"The run of job {job_id} took this party's Paillier key, which does not leave its home.",
            "Let the auditor come and run `duetto evidence verdict` here.",
        )
    _write(output, seal_bundle(shown, config.name, auditor, load_identity(config).signing))
    report = {"job_id": shown.case.job_id, "auditor": auditor.name, "file": str(output)}
    emit(report, lambda out: out.print(f"Sealed to {auditor.name}: {output}."), as_json=as_json)


@evidence.command(name="open")
@click.argument("file", type=_FILE)
@_KEYS
@_RECEIPT
@json_option
def open_file(file: Path, keys_path: Path, receipt: Path | None, *, as_json: bool) -> None:
    """Audit what a party has sealed in FILE, and sign nothing; ends with status 77 if it is convicted."""
    from parties.auditors.bundles import BUNDLE_BYTES, open_bundle
    from parties.auditors.verdicts import check_auditor
    from parties.contracts.contract import parse_contract

    keys = read_keys(keys_path)
    shown = open_bundle(read_shown(file, BUNDLE_BYTES), keys)
    check_auditor(parse_contract(shown.case.contract.encode()), keys.public)
    _tell(shown, _audit(shown, None, _read_receipt(receipt)), as_json=as_json)


@evidence.command()
@click.argument("target")
@_KEYS
@click.option(
    "-o", "--output", type=_FILE, required=True, help="The verdict to write; never over another file."
)
@click.option(
    "--missing",
    type=click.Choice([role.value for role in Role]),
    help="TARGET is a certificate, or the other party's receipt, and the party in this role shows nothing "
    "but the --receipt that may be given.",
)
@_RECEIPT
@config_option
@json_option
def verdict(
    target: str,
    keys_path: Path,
    output: Path,
    missing: str | None,
    receipt: Path | None,
    config_path: Path | None,
    *,
    as_json: bool,
) -> None:
    """Audit a party and sign what was found. TARGET is a bundle, or a job where the auditor is at the party.

    The verdict names the message by which a party is convicted, and holds no data of anybody.
    """
    from parties.auditors.bundles import BUNDLE_BYTES, open_bundle
    from parties.auditors.verdicts import sign_missing, sign_verdict

    keys, given = read_keys(keys_path), _read_receipt(receipt)
    now = CLOCK.stamp()
    if missing is not None:
        document = sign_missing(_read_signed(Path(target)), Role(missing), keys, now, given)
    else:
        config = None if Path(target).is_file() else load(config_path)
        shown = (
            open_bundle(read_shown(Path(target), BUNDLE_BYTES), keys)
            if config is None
            else _read_exhibit(EvidenceStore(config.home), target)
        )
        document = sign_verdict(shown.case, _audit(shown, config, given), keys, now)
    _write(output, json.dumps(document, indent=2).encode() + b"\n")
    body = document["verdict"]
    emit(
        {"file": str(output), **document},
        lambda out: out.print(
            f"{body['party']} is {body['outcome']}. {body['ground']}",
            f"By the key of {body['party']} that was shown, {body['keys'][body['role']]}: "
            "compare it with the one that its peer has.",
            f"Signed: {output}.",
        ),
        as_json=as_json,
    )


@evidence.command()
@click.argument("file", type=_FILE)
@click.option(
    "--certificate",
    "certificates",
    type=_FILE,
    multiple=True,
    help="A certificate of the job, of either party; give both.",
)
@click.option(
    "--receipt",
    "receipts",
    type=_FILE,
    multiple=True,
    help="A receipt of the run, of either party (`duetto evidence receipt`); of a run that broke off there "
    "is no certificate.",
)
@json_option
def verify(file: Path, certificates: tuple[Path, ...], receipts: tuple[Path, ...], *, as_json: bool) -> None:
    """Check the verdict in FILE, offline, with what both parties have of the run."""
    from parties.auditors.verdicts import VERDICT_BYTES, read_verdict
    from parties.certificates.verification import CERTIFICATE_BYTES, read_certificate

    found = read_verdict(read_shown(file, VERDICT_BYTES))
    confirming = []
    for path in certificates:
        certificate = read_certificate(read_shown(path, CERTIFICATE_BYTES))
        found.confirm(certificate)
        confirming.append(certificate.body["party"])
    for receipt in filter(None, map(_read_receipt, receipts)):
        found.confirm_receipt(receipt)
        confirming.append(receipt.contract.spec.side(receipt.case.role).party)
    report = {
        "valid": True,
        "confirmed_by": [*dict.fromkeys(confirming)],
        "whole_run": found.is_whole,
        "verdict": dict(found.body),
    }
    emit(report, lambda out: _show_verdict(out, report, found), as_json=as_json)


@evidence.command()
@click.argument("job_id")
@click.option("-o", "--output", type=_FILE, required=True, help="The file to write; never over another file.")
@config_option
@json_option
def receipt(job_id: str, output: Path, config_path: Path | None, *, as_json: bool) -> None:
    """Write what both have signed of a run; it holds no data and no seed.

    It shows that a run was not due. Given to the auditor, it holds the other party to what that has signed,
    also where the run broke off.
    """
    from parties.auditors.receipts import kept_receipt

    store = EvidenceStore(load(config_path).home)
    kept = None if store.standing(job_id).state == RUNNING else kept_receipt(store, job_id)
    if kept is None:
        raise UsageError(
            f"The run of job {job_id} has no receipt.", "It has one from its end until you delete its record."
        )
    _write(output, kept.encode())
    report = {"job_id": job_id, "file": str(output)}
    emit(report, lambda out: out.print(f"Written: {output}."), as_json=as_json)


@evidence.command()
@click.argument("job_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
@json_option
def delete(job_id: str, config_path: Path | None, *, yes: bool, as_json: bool) -> None:
    """Delete what is kept of a run. Who shows nothing of a run that is due gets a verdict that says so.

    Verdicts that were filed stay, and the receipt with them, which an auditor of the peer may need; give the
    command again to delete them as well.
    """
    from parties.auditors.receipts import kept_receipt

    store = EvidenceStore(load(config_path).home)
    standing = store.standing(job_id)
    if standing.state == RUNNING:
        raise UsageError(_GOES_ON.format(job_id), _WAIT)
    if standing.is_awaited and not yes:
        raise UsageError(
            f"The run of job {job_id} awaits an audit ({standing.why}).",
            "Keep it until the auditor has signed a verdict, and file that (`duetto evidence file`); or give "
            "--yes.",
        )
    if (kept := kept_receipt(store, job_id)) is not None:
        store.write(job_id, RECEIPT, kept.encode())
    store.delete(job_id)
    left = store.holds(job_id)
    emit(
        {"job_id": job_id, "deleted": True, "verdicts_left": left},
        lambda out: out.print("Deleted; its verdicts and receipt stay." if left else "Deleted."),
        as_json=as_json,
    )


evidence.add_command(file_verdict)


@evidence.group(cls=Listing)
def auditor() -> None:
    """The keys of an auditor."""


@auditor.command()
@click.argument("folder", type=_FOLDER)
@click.option("--name", required=True, help="By which jobs and policies call the auditor.")
@json_option
def make(folder: Path, name: str, *, as_json: bool) -> None:
    """Make an auditor's keys in FOLDER: one that signs verdicts, and one to which parties seal bundles."""
    keys = make_keys(name)
    keys.write(folder)
    _show_auditor(keys.public, folder / PUBLIC_NAME, as_json=as_json)


@auditor.command()
@click.argument("file", type=_FILE)
@json_option
def show(file: Path, *, as_json: bool) -> None:
    """Print the fingerprint of the public keys in FILE, and what goes into jobs and policies."""
    _show_auditor(read_auditor(file), file, as_json=as_json)


def _show_auditor(found: Auditor, path: Path, *, as_json: bool) -> None:
    report = {"auditor": found.name, "key": found.fingerprint, "file": str(path)}
    lines = (
        f"Auditor {found.name}, public keys in {path}.",
        "Compare the fingerprint by phone before you write it anywhere.",
        "",
        "In a rule of policy.toml:",
        f'auditors = {{ {found.name} = "{found.fingerprint}" }}',
        "",
        "In a job:",
        "[job]",
        'security = "covert"',
        "[audit]",
        f'auditor = "{found.name}"',
        f'key = "{found.fingerprint}"',
        'rate = "1/10"',
    )
    emit(report, lambda out: out.print(*lines), as_json=as_json)


def _read_exhibit(store: EvidenceStore, job_id: str) -> Exhibit:
    from parties.auditors.bundles import Exhibit

    state = store.standing(job_id).state
    if state not in (DUE, KEPT):
        if state == RUNNING:
            raise UsageError(_GOES_ON.format(job_id), _WAIT)
        raise UsageError(
            f"The record of job {job_id} is kept no more.", "See `duetto evidence list --passed`."
        )
    case = decode_case(store.read(job_id, CASE))
    # A run that broke off before its data were read has none.
    inputs = decode_inputs(store.read(job_id, INPUTS)) if store.has(job_id, INPUTS) else Inputs()
    return Exhibit(case, inputs, tuple(store.read_frames(job_id)))


def _read_receipt(path: Path | None) -> Receipt | None:
    """The receipt in a file, if there is one."""
    from parties.auditors.receipts import RECEIPT_BYTES, read_receipt

    return None if path is None else read_receipt(read_shown(path, RECEIPT_BYTES))


def _read_signed(path: Path) -> Certificate | Receipt:
    """The certificate or the receipt in a file."""
    from parties.auditors.receipts import read_receipt
    from parties.certificates.verification import CERTIFICATE_BYTES, CertificateError, read_certificate

    data = read_shown(path, CERTIFICATE_BYTES)
    try:
        return read_certificate(data)
    except CertificateError as problem:
        try:
            return read_receipt(data)
        except DataError:
            raise problem from None


def _audit(shown: Exhibit, config: Config | None, receipt: Receipt | None = None) -> AuditFinding:
    """The finding; at a party with its plug-ins and its Paillier key, which the run may have taken."""
    from parties.auditors.audit import audit
    from parties.plugins import load_plugins, with_plugins

    analyses = with_plugins(() if config is None else load_plugins(config.plugins))
    key = None if config is None else load_identity(config).paillier
    return audit(shown.case, shown.inputs, shown.frames, analyses, key, receipt)


def _at_home(shown: Exhibit, found: AuditFinding, config: Config) -> list[HomeCheck]:
    """What ledger and policy here say of the run; that they cannot be read is said as well."""
    from parties.contracts.contract import parse_contract
    from parties.jobs.checks.at_home import AtHome, HomeCheck, check_at_home
    from parties.jobs.checks.opening import local_admission
    from parties.policy.rules import load_policy

    contract = parse_contract(shown.case.contract.encode())
    try:
        admission = local_admission(config)
        task = admission.understand(contract.spec)
        account = admission.account(task)
        home = AtHome(
            account,
            open_ledger(config.home).entries(),
            load_policy(config.policy),
            admission.history.nearest(account, task.peer, contract.job_id),
        )
    except DuettoError as problem:
        what = f"Ledger and policy cannot be held against the contract: {problem.what} {problem.hint}"
        return [HomeCheck(what.strip(), holds=False)]
    return [*check_at_home(task, contract, home, whole=found.signed == "end")]


def _tell(shown: Exhibit, found: AuditFinding, at_home: Sequence[HomeCheck] = (), *, as_json: bool) -> None:
    from parties.auditors.audit import Outcome

    report = {
        "job_id": shown.case.job_id,
        "role": shown.case.role.value,
        "outcome": found.outcome.value,
        "ground": found.ground,
        "signed": found.signed,
        "frame": None if found.departure is None else asdict(found.departure),
        "at_home": [asdict(one) for one in at_home],
    }
    emit(report, lambda out: _show_finding(out, report), as_json=as_json)
    if found.outcome is Outcome.CONVICTED:
        raise SystemExit(REFUSED)


def _show_finding(out: Screen, report: Mapping[str, Any]) -> None:
    reach = {
        "end": "Both have signed the record of the whole run.",
        "gate": "Both have signed the record up to the gate; what came after it is as the party says.",
        "nothing": "Both have signed nothing of the record; it is as the party says.",
    }
    out.print(
        f"Job {report['job_id']}, {report['role']}: {report['outcome']}.",
        report["ground"],
        reach[report["signed"]],
        *(f"{'At home' if one['holds'] else 'Look at this'}: {one['what']}" for one in report["at_home"]),
    )


def _show_runs(out: Screen, runs: list[dict[str, Any]]) -> None:
    if not runs:
        out.print("Nothing is kept of covert runs.")
    for run in runs:
        when = local_time(run["ended"]) if run["ended"] else "now"
        size = byte_count(run["bytes"])
        words = standing_words(run, local_time)
        out.print(f"{run['job_id']}  {when}  with {run['peer']}, {size}: {words}.")
        if step := next_step(run):
            out.print(f"    next: {with_config(f'`{step}`')}")


def _show_verdict(out: Screen, report: Mapping[str, Any], found: AuditVerdict) -> None:
    body = report["verdict"]
    out.print(
        f"This verdict of {body['auditor']['auditor']} about {body['party']} in job {body['job_id']} holds.",
        f"{body['party']}: {body['outcome']}.",
        body["ground"],
    )
    if not report["confirmed_by"]:
        out.print(
            f"Nothing says whose key signed it, {found.auditor.fingerprint}: anybody can have made such a "
            "file. Give both certificates (--certificate) or receipts, whose contract names the auditor."
        )
        return
    names = " and ".join(report["confirmed_by"])
    out.print(f"It is by the auditor of the contract, and about the run as {names} shows it.")


def _write(path: Path, data: bytes) -> None:
    if path.exists():
        raise UsageError(f"{path} exists already.", "Name another file with --output.")
    try:
        write_atomically(path, data, PRIVATE)
    except OSError as problem:
        raise UsageError(
            f"{path} cannot be written: {why_unreadable(problem)}.", "Name another file with --output."
        ) from None


COMMANDS = (evidence,)
