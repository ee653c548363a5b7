"""The command `duetto`: its subcommands by name, each imported when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Final

import click

from parties.cli import output
from parties.errors import OK, USAGE
from parties.rpc.greeting import release

MODULES: Final = {
    "init": "parties.cli.party",
    "pair": "parties.cli.party",
    "party": "parties.cli.party",
    "doctor": "parties.cli.party",
    "keys": "parties.cli.party",
    "data": "parties.cli.jobs",
    "policy": "parties.cli.policy",
    "job": "parties.cli.jobs",
    "ledger": "parties.cli.ledger",
    "pool": "parties.cli.pools",
    "types": "parties.cli.types",
    "bench": "parties.cli.bench",
    "anonymize": "anonymizer.cli.anonymize",
    "risk": "anonymizer.cli.risk",
    "search": "anonymizer.cli.search",
    "query": "anonymizer.cli.query",
    "epsilon": "anonymizer.cli.epsilon",
    "series": "anonymizer.cli.series",
    "audit": "anonymizer.cli.audit",
    "sanitize": "anonymizer.cli.sanitize",
    "recognizer": "anonymizer.cli.recognizer",
}
"""The module of each subcommand; its `COMMANDS` holds the command of that name."""


class _Commands(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(MODULES[cmd_name])
        commands: tuple[click.Command, ...] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)


@click.command(cls=_Commands)
@click.version_option(release(), prog_name="duetto")
def duetto() -> None:
    """Compute together with another institution on data that neither shows the other."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command and end the process with its exit status.

    Args:
        arguments: the words after `duetto`; those of the process unless given.
    """
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words
    try:
        duetto.main(words, prog_name="duetto", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort:
        output.fail(KeyboardInterrupt(), as_json=as_json)
    except click.ClickException as error:
        if as_json:
            output.report_error("usage", error.format_message(), "See --help.", as_json=True)
        else:
            error.show()
        sys.exit(USAGE)
    except (Exception, KeyboardInterrupt) as error:
        output.fail(error, as_json=as_json)
    sys.exit(OK)
