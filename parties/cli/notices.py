"""Commands about notices of events: test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from parties.cli.options import Listing, config_option
from parties.cli.output import emit, json_option
from parties.clock import CLOCK
from parties.config import load
from parties.hooks import CommandHook, EventKind, MailHook, find_hook
from parties.notices.notice import make_notice
from parties.notices.sending import send


@click.group(cls=Listing)
def notice() -> None:
    """Notices of events, as `[[on_event]]` asks for them."""


@notice.command()
@click.argument("name")
@config_option
@json_option
def test(name: str, config_path: Path | None, as_json: bool) -> None:
    """Send a sample by the section [[on_event]] NAME, and say what happened; exit status 69 if it failed."""
    config = load(config_path)
    hook = find_hook(config.on_event, name)
    sample = make_notice(
        EventKind.WAITING, CLOCK.stamp(), config.name, peer="sample-peer", job="sample-job", state="test"
    )
    send(hook, sample)
    if isinstance(hook, CommandHook):
        done = f"{hook.command[0]} took the sample and ended with status 0."
    elif isinstance(hook, MailHook):
        done = f"{hook.server} took the mail for {', '.join(hook.to)}."
    else:
        done = f"{hook.split.hostname} took the signed sample."
    emit(
        {"hook": name, "notice": sample.document, "done": done},
        lambda out: out.print(done, f"It says: {sample.sentence}"),
        as_json=as_json,
    )


COMMANDS: Final[tuple[click.Command, ...]] = (notice,)
