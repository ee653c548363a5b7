"""`duetto doctor`: one line for whatever is in order, and one for each fault."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import click

from commons.exits import CONFIG, UNAVAILABLE
from parties.cli import service
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, listing, talk
from parties.config import load
from parties.doctor import WAY, examine_cluster, examine_peer, examine_self
from parties.findings import DRAINING, Finding, Status

_OWN: Final = "this party"
_MEASURED: Final = ("latency", "bandwidth")


@click.command()
@click.option("--peer", "names", multiple=True, help="Check only this peer; may be given several times.")
@click.option("-v", "--verbose", is_flag=True, help="List every check with what was found.")
@config_option
@json_option
def doctor(names: tuple[str, ...], *, verbose: bool, config_path: Path | None, as_json: bool) -> None:
    """Check this party and the way to its peers; exit status 78 if it fails here, 69 if at a peer."""
    config = load(config_path)
    peers = [config.peer(name) for name in names] if names else list(config.peers)
    findings = examine_self(config) + examine_cluster(config)
    for peer in peers:
        talk(f"asking {peer.name} at {peer.address}")
        findings += examine_peer(config, peer)
    findings = service.complete_hints(findings)
    failed = [finding for finding in findings if finding.verdict is Status.FAIL]
    emit(
        {"healthy": not failed, "checks": [finding.document() for finding in findings]},
        lambda out: _print(out, findings, verbose=verbose),
        as_json=as_json,
    )
    if failed:
        raise SystemExit(CONFIG if any(finding.subject == "self" for finding in failed) else UNAVAILABLE)


def _print(out: Screen, findings: Sequence[Finding], *, verbose: bool) -> None:
    if verbose:
        heads = ("of", "verdict", "check", "found", "hint")
        rows = [(_of(f), f.verdict.value, f.check, f.what, f.hint) for f in findings]
        out.print(listing(heads, rows, colours=[_COLOURS[f.verdict] for f in findings]))
    else:
        for subject, found in groupby(findings, key=_of):
            _print_subject(out, subject, list(found))
    bad = sum(finding.verdict is Status.FAIL for finding in findings)
    peers = ", ".join(dict.fromkeys(f.subject for f in findings if f.subject != "self"))
    if bad:
        out.print(f"{bad} {'check fails' if bad == 1 else 'checks fail'}.")
    else:
        when = " when the daemon is started again" if any(f.check == DRAINING for f in findings) else ""
        out.print(f"Ready to run jobs with {peers}{when}." if peers else f"Ready{when}. No peer was asked.")
    if not verbose:
        out.print(f"-v lists all {len(findings)} checks.")


_COLOURS: Final = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "red"}


def _print_subject(out: Screen, subject: str, found: Sequence[Finding]) -> None:
    """The checks that are in order in one line; each other one with what to do about it."""
    good = [finding.check for finding in found if finding.verdict is Status.OK]
    if good:
        out.print(f"{out.mark(good=True)} {subject}: {', '.join(dict.fromkeys(good))}")
        link = [f.what for f in found if f.check in _MEASURED and f.verdict is Status.OK]
        if link:
            out.print(f"    link: {'; '.join(link)}")
        for finding in found:
            if finding.check == WAY and finding.subject != "self":  # else it is said twice
                out.print(f"    {finding.what}")
    for finding in found:
        if finding.verdict is not Status.OK:
            mark = out.mark(good=False) if finding.verdict is Status.FAIL else "!"
            out.print(f"{mark} {subject}, {finding.check}: {finding.what}")
            if finding.hint:
                out.print(f"    {finding.hint}")


def _of(finding: Finding) -> str:
    return _OWN if finding.subject == "self" else finding.subject
