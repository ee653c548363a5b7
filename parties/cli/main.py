"""The command `duetto`: its subcommands by name, each imported when it is called."""

from __future__ import annotations

import importlib
import sys
from contextlib import AbstractContextManager
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import click
from typing_extensions import override

from commons.exits import OK, UNREAD, USAGE
from parties.cli import interrupts
from parties.places import require_text
from parties.rpc import process


class Subcommand(NamedTuple):
    """A subcommand.

    Attributes:
        module: whose `COMMANDS` holds the command of that name.
        summary: the first sentence of the command's own help.
    """

    module: str
    summary: str


ENTRIES: Final = {
    "up": Subcommand(
        "parties.cli.up",
        "Make the party if there is none, start its daemon and its dashboard, and open the browser.",
    ),
    "init": Subcommand(
        "parties.cli.party",
        "Make a party: keys, certificate, configuration, and the pairing file for its peer.",
    ),
    "pair": Subcommand(
        "parties.cli.party", "Accept a peer by its pairing FILE, after comparing the fingerprint by phone."
    ),
    "party": Subcommand("parties.cli.party", "The daemon of this party."),
    "doctor": Subcommand(
        "parties.cli.party",
        "Check this party and the way to its peers; exit status 78 if it fails here, 69 if at a peer.",
    ),
    "peer": Subcommand("parties.cli.peers", "The peers of this party, and which of them are closed."),
    "keys": Subcommand("parties.cli.own_keys", "This party's keys."),
    "person": Subcommand(
        "parties.cli.persons", "Persons with keys: who may do what here, and what they sign."
    ),
    "data": Subcommand("parties.cli.data", "The data sets of the catalog."),
    "policy": Subcommand("parties.cli.policy", "What this party allows."),
    "job": Subcommand("parties.cli.jobs", "Jobs: check, submit, decide, watch, and get results."),
    "matching": Subcommand("parties.cli.matching", "Help to choose how records of persons are matched."),
    "model": Subcommand("parties.cli.models", "Predictive models of this party, for scoring."),
    "ledger": Subcommand("parties.cli.ledger", "What was spent, released, run and decided."),
    "evidence": Subcommand(
        "parties.cli.evidence", "What is kept of covert runs, and what an auditor says of them."
    ),
    "log": Subcommand("parties.cli.audit", "What happened to jobs and daemon: the audit log."),
    "notice": Subcommand("parties.cli.notices", "Notices of events, as `[[on_event]]` asks for them."),
    "dashboard": Subcommand(
        "parties.cli.dashboard", "Serve the dashboard of this party until it is interrupted."
    ),
    "pool": Subcommand(
        "parties.cli.pools", "What is prepared for later comparisons, by jobs `preparation` or in idle time."
    ),
    "types": Subcommand(
        "parties.cli.types",
        "Print the table of comparison types: route, rounds, bytes and operations per comparison.",
    ),
    "schema": Subcommand(
        "parties.cli.schema", "Print what may stand in a file of KIND, as JSON Schema for editors."
    ),
    "bench": Subcommand(
        "parties.cli.bench", "Measure protocols on this machine, on made-up inputs; no daemon takes part."
    ),
    "anonymize": Subcommand(
        "anonymizer.cli.anonymize",
        "Make a release of DATA (.csv, .csv.gz, .parquet or .xlsx) by a specification.",
    ),
    "risk": Subcommand(
        "anonymizer.cli.risk",
        "Measure the risk and the information loss of RELEASE, which was made of ORIGINAL.",
    ),
    "search": Subcommand(
        "anonymizer.cli.search",
        "Search the parameters of a specification for DATA that keep most utility within a limit of risk.",
    ),
    "query": Subcommand(
        "anonymizer.cli.query",
        "Estimate how many rows of the original fulfil conditions, from a RELEASE that splu-gen has made.",
    ),
    "epsilon": Subcommand(
        "anonymizer.cli.epsilon", "Choose epsilon for a release of DATA by trials at several values."
    ),
    "series": Subcommand(
        "anonymizer.cli.series",
        "Release LOG (.csv, .csv.gz or .parquet) as a matrix of users and items for each window.",
    ),
    "audit": Subcommand(
        "anonymizer.cli.audit",
        "Run the release of DATA on neighbouring tables, and bound its real epsilon from below.",
    ),
    "sanitize": Subcommand(
        "anonymizer.cli.sanitize",
        "Release the texts of a folder DOCUMENTS so that a searcher does not find the persons in them.",
    ),
    "recognizer": Subcommand(
        "anonymizer.cli.recognizer",
        "Train the recognizer of direct identifiers in English documents, and measure the first pass.",
    ),
}
"""The subcommands by name, in the order of the help."""


class _Commands(click.Group):
    """A group that imports a command's module when the command is asked for, and not to list it."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(ENTRIES)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ENTRIES:
            return None
        module = importlib.import_module(ENTRIES[cmd_name].module)
        interrupts.listen()
        commands: tuple[click.Command, ...] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        close = get_close_matches(args[0], ENTRIES)
        if close and args[0] not in ENTRIES and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in ENTRIES.items()])


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from parties.release import release

        click.echo(f"duetto, version {release()}")
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def duetto() -> None:
    """Compute together with another institution on data that neither shows the other."""


def _workers(config: Path) -> AbstractContextManager[object]:
    """What commands of the anonymizer open a party's cluster with."""
    from parties.cli.workers import workers

    return workers(config)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and end the process with its exit status.

    Args:
        arguments: the words after `duetto`; those of the process unless given.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        process.set_up("ERROR" if words[:2] == ["party", "start"] else "NONE")
        for word in words:
            require_text(word)
        duetto.main(words, prog_name="duetto", standalone_mode=False, obj=_workers)
        sys.stdout.flush()
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except SystemExit as leave:
        if leave.code == 1 and _is_unread():  # so click ends where nobody reads
            sys.exit(UNREAD)
        raise
    except (Exception, KeyboardInterrupt) as error:
        _fail(error, as_json="--json" in words)
    sys.exit(OK)


def _is_unread() -> bool:
    from parties.cli import output

    return output.is_unread()


def _fail(error: BaseException, *, as_json: bool) -> NoReturn:
    from parties.cli import output

    if isinstance(error, click.Abort):
        output.fail(KeyboardInterrupt(), as_json=as_json)
    if not isinstance(error, click.ClickException):
        output.fail(error, as_json=as_json)
    if as_json:
        output.report_usage(error.format_message())
    else:
        error.show()
    sys.exit(USAGE)
