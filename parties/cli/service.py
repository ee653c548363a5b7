"""Commands for those who run the daemon: its health, and a unit for systemd."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Final

import click

from parties.cli.hints import with_config
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option
from parties.config import Config, load
from parties.daemon.service import unit, unit_name
from parties.doctor import WAY, examine_self
from parties.errors import ConfigError
from parties.findings import Finding, Status, ill_of
from parties.pki.files import PUBLIC, write_atomically
from smc.errors import UsageError

_SYSTEM: Final = Path("/etc/systemd/system")
_ILL: Final = 1


@click.command()
@config_option
@json_option
def health(config_path: Path | None, as_json: bool) -> None:
    """Say whether the daemon can run jobs: exit status 0 if so, 1 if not.

    The daemon answers and does not drain, its certificate is valid, ledger and audit log are whole, and there
    is room on the disk. Peers are not asked; `duetto doctor` does.
    """
    findings = complete_hints(examine_self(load(config_path)))
    ill = ill_of(findings)

    def render(out: Screen) -> None:
        for finding in findings:
            if finding.verdict is not Status.OK:
                out.print(f"{finding.verdict.value}: {finding.check}: {finding.what}  {finding.hint}")
            elif finding.check == WAY:
                out.print(f"{finding.what}.")
        out.print("ill" if ill else "well")

    emit({"healthy": not ill, "checks": [f.document() for f in findings]}, render, as_json=as_json)
    if ill:
        raise SystemExit(_ILL)


def complete_hints(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with the configuration in commands that their hints name; see `with_config`."""
    return [replace(finding, hint=with_config(finding.hint)) for finding in findings]


@click.command("install-service")
@click.option("--system", "is_system", is_flag=True, help="For the system's manager, hardened; needs root.")
@click.option("--print", "only_print", is_flag=True, help="Print the unit; write nothing.")
@config_option
@json_option
def install(*, is_system: bool, only_print: bool, config_path: Path | None, as_json: bool) -> None:
    """Write a unit of systemd that runs the daemon of this party; nothing is started.

    Without --system it is one of the user's own manager. The daemon never runs as root: with --system it runs
    under the account that owns the home.
    """
    config = load(config_path)
    if is_system and config.home.stat().st_uid == 0:
        raise ConfigError(
            f"{config.home} belongs to root, and a daemon does not run as root.",
            "Make an account for it, such as duetto, and give it the home: "
            f"`chown -R duetto: {quote(str(config.home))}`.",
        )
    try:
        text = unit(config, _program(), is_system=is_system)
    except ValueError:
        raise ConfigError(
            f"A unit cannot name {str(config.path)!r} or {str(config.home)!r}.",
            "Move the home to a path without quotes, backslashes, dollar signs and control characters.",
        ) from None
    folder = _SYSTEM if is_system else Path("~/.config/systemd/user").expanduser()
    path = folder / unit_name(config)
    if not only_print:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.encode(), PUBLIC)
        except OSError as problem:
            raise UsageError(
                f"{path} cannot be written: {problem.strerror}.",
                "Run it as root, or write the output of --print there.",
            ) from None
    emit(
        {"unit": text, "file": "" if only_print else str(path)},
        lambda out: out.print(
            *(text.splitlines() if only_print else _next(config, path, is_system=is_system))
        ),
        as_json=as_json,
    )


def _next(config: Config, path: Path, *, is_system: bool) -> list[str]:
    manager = "systemctl" if is_system else "systemctl --user"
    lines = [f"{path} is written. To start it, now and with the machine:", f"{manager} daemon-reload"]
    lines.append(f"{manager} enable --now {unit_name(config)}")
    if not is_system:
        lines.append("loginctl enable-linger    # so that it runs while nobody is logged in")
    return lines


def _program() -> Path:
    """The program `duetto` of this installation."""
    called = Path(sys.argv[0])
    beside = Path(sys.executable).with_name("duetto")
    return called.absolute() if called.name == "duetto" and called.is_file() else beside
