"""Commands about this party and its peers: init, pair, party, doctor."""

from __future__ import annotations

import atexit
import errno
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from commons.exits import INTERNAL, OK, REFUSED
from parties import catalog, policy
from parties.cli import moving, service
from parties.cli.doctor import doctor
from parties.cli.hints import config_words, with_config
from parties.cli.options import Listing, config_option, home_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.cli.signing import say_what_to_sign
from parties.client import Party, ask_daemon
from parties.client.words import draining_words, state_words
from parties.clock import CLOCK
from parties.closed_peers import read_closed
from parties.config import LOG_LEVELS, MAX_DRAIN_SECONDS, Address, Config, Peer, load
from parties.contracts.state import State
from parties.daemon import foreign, logs
from parties.daemon.service import say_ready
from parties.doctor import examine_self
from parties.errors import DaemonUnavailable, PairingError
from parties.exits import exit_code, of_the_machine
from parties.ledger.book import open_ledger
from parties.ledger.doubts import Whose
from parties.ledger.entries import LedgerError
from parties.ledger.heads import ledger_doubts
from parties.persons.gate import Gate
from parties.persons.pending import standing_line
from parties.pki import certificate, pairing
from parties.pki.home import (
    add_peer,
    load_pairing,
    make,
    own_certificates,
    require_later,
    socket_path,
)
from parties.pki.lock import only_one, running_pid
from parties.pki.spoken import words_of
from parties.places import new_home
from parties.ports.interfaces import REVERSED
from smc.ciphers.keys import DEFAULT_BITS, parse_size
from smc.errors import DuettoError, OutOfMemory, UsageError

if TYPE_CHECKING:
    from parties.daemon.daemon import Daemon

_STOP_SECONDS: Final = 30.0
_END_SECONDS: Final = 25.0
"""How long a daemon takes at most to end in order; running sessions have ten seconds of it."""

_LEAVE_SECONDS: Final = 2.0
log = logging.getLogger("duetto")

DEFAULT_PORT = "7443"


@click.command()
@click.argument("name")
@click.option("--address", required=True, help="HOST:PORT at which peers reach this party.")
@click.option("--listen", help="ADDRESS:PORT to listen on; all addresses of the machine unless given.")
@home_option
@click.option("--key", default=str(DEFAULT_BITS), show_default=True, help="Bits of the Paillier key.")
@json_option
def init(name: str, *, address: str, listen: str | None, home: Path | None, key: str, as_json: bool) -> None:
    """Make a party: keys, certificate, configuration, and the pairing file for its peer."""
    folder = new_home(home)
    own = make_party(name, folder, address_of(address), key, Address.parse(listen) if listen else None)
    file = folder / f"{name}.pair"
    emit(
        {"name": name, "home": str(folder), "pairing_file": str(file), "fingerprint": own.fingerprint},
        lambda out: out.print(
            f"Party {name} is made in {folder}.",
            f"Give {file} to the peer, and run `duetto pair` with the peer's file.",
            f"Fingerprint to compare by phone:  {own.fingerprint}",
            f"The same as words:  {' '.join(words_of(own.fingerprint))}",
        ),
        as_json=as_json,
    )


def make_party(
    name: str, folder: Path, address: Address, key: str, listen: Address | None = None
) -> pairing.Pairing:
    """Make a party with an example of a policy and of a catalog.

    Args:
        name: of the party.
        folder: its home.
        address: at which peers reach it.
        key: bits of its Paillier key, as people write them.
        listen: where its daemon listens; None for all addresses, or for loopback where that is the address.
    """
    bound = listen or listening_address(address)
    bits = parse_size(key)
    return make(name, folder, address, bound, bits, policy=policy.EXAMPLE, catalog=catalog.EXAMPLE)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fingerprint", help="What the peer says its fingerprint is; asks nothing more if it agrees.")
@click.option("--yes", is_flag=True, help="Do not ask; for files that came over a trusted way.")
@config_option
@json_option
def pair(file: Path, fingerprint: str | None, yes: bool, config_path: Path | None, as_json: bool) -> None:
    """Accept a peer by its pairing FILE, after comparing the fingerprint by phone.

    A file with a renewed certificate of a peer that is paired needs no comparing: the signing key that was
    compared then has signed it. If its address is another one, you are asked. An older file is refused.
    """
    config = load(config_path)
    found = pairing.read(file)
    require_later(config, found)
    if fingerprint is not None:
        if not pairing.same_fingerprint(fingerprint, found.fingerprint):
            raise PairingError(
                f"The fingerprint of {file} is {found.fingerprint}, not the one given.",
                "Ask the peer for its file again, on a way on which nobody can exchange it.",
            )
    elif not yes and (question := _question(config, found)):
        if as_json:
            raise UsageError("With --json no question can be asked.", "Give --fingerprint or --yes.")
        if not click.confirm(question, err=True):
            raise PairingError(
                "The pairing file was not confirmed; nothing was stored.", "Ask for the file again."
            )
    peer = add_peer(config, found)
    running = running_pid(config) is not None
    if running:
        with Party(config.path) as party:
            party.reload()
    say_what_to_sign(load(config.path))
    emit(
        {
            "peer": peer.name,
            "address": str(peer.address),
            "fingerprint": found.fingerprint,
            "taken_up": running,
        },
        lambda out: out.print(
            f"{peer.name} at {peer.address} is paired." + (" The daemon has taken it up." if running else "")
        ),
        as_json=as_json,
    )


@click.group(cls=Listing)
def party() -> None:
    """The daemon of this party."""


@party.command()
@click.option(
    "--log-level", type=click.Choice(LOG_LEVELS), help="The least that is logged; else as configured."
)
@config_option
@json_option
def start(log_level: str | None, config_path: Path | None, as_json: bool) -> None:
    """Run the daemon in the foreground until it is stopped."""
    from parties.daemon.process_limits import set_limits

    set_limits()  # before gRPC takes files: with too few of them it ends the process
    from parties.daemon.daemon import Daemon

    config = load(config_path)
    stopping, reloading, draining = threading.Event(), threading.Event(), threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        _leave_within(_END_SECONDS)

    signal.signal(signal.SIGHUP, lambda *_: reloading.set())
    signal.signal(signal.SIGUSR1, lambda *_: draining.set())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    level = log_level or config.log_level
    with _log_errors(config, level, as_json=as_json), only_one(config), _refuse_without_room():
        foreign.capture(config.log_format)
        logs.start(level, config.log_format)
        daemon = Daemon(config, examine=examine_self)
        try:
            daemon.start()
            say_ready()
            _say_ready(config, daemon.address, as_json=as_json)
            while not stopping.wait(1.0):
                if draining.is_set():
                    draining.clear()
                    daemon.drain.start()
                if daemon.drain.is_over:
                    stopping.set()
                with _too_few_files_survived():
                    daemon.follow_dates()
                if reloading.is_set():
                    reloading.clear()
                    with _too_few_files_survived():
                        _reload(daemon)
        finally:
            log.info("stopping")
            status = OK if stopping.is_set() else INTERNAL
            _leave_within(_END_SECONDS, status)
            daemon.stop()
            _leave_within(_LEAVE_SECONDS, status)


@contextmanager
def _too_few_files_survived() -> Iterator[None]:
    """Log that there were no more open files for something that the daemon does again, and go on."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        log.error("too many open files; the daemon goes on: %s", problem)


def _leave_within(seconds: float, status: int = OK) -> None:
    """End the process after a moment, also if a call is still at a source that does not end.

    The interpreter would wait for the call's thread. What the call is about stands in the database as it was,
    as after a crash. The system's alarm does it, and no thread: where memory is short none can be started,
    and gRPC waits for ever for those that it did not get.

    When all threads have ended the alarm is off: Python gives signals back to the system then, for which an
    alarm is a failure.
    """
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(status))
    signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def _log_errors(config: Config, level: str, *, as_json: bool) -> Iterator[None]:
    """Where lines of the log are JSON, an error that ends the daemon is one, and no message for a person."""
    try:
        yield
    except Exception as problem:
        if config.log_format != "json":
            raise
        logs.start(level, config.log_format)  # which it is not yet where the home is out of use, or taken
        error: DuettoError | None = of_the_machine(problem) if isinstance(problem, OSError) else None
        if isinstance(problem, DuettoError):
            error = problem
        if error is None:
            log.critical(
                "a defect of the program ends the daemon: %s", type(problem).__name__, exc_info=problem
            )
        else:
            log.critical("%(error)s", {"error": error, "code": error.stable_code})
        if as_json:  # then the error stands on stdout
            raise
        raise SystemExit(exit_code(error or problem)) from None


@contextmanager
def _refuse_without_room() -> Iterator[None]:
    """What Python raises where a process may have no more memory or threads, as an error with a hint."""
    try:
        yield
    except (MemoryError, RuntimeError) as problem:
        if isinstance(problem, RuntimeError) and "thread" not in str(problem):
            raise
        _leave_within(_LEAVE_SECONDS, REFUSED)
        raise OutOfMemory(
            "The daemon has too little room: it gets no more memory or threads from the system.",
            "Raise the limits of this process (`ulimit -v` and `-u`; MemoryMax and TasksMax in a unit of "
            "systemd), or end other programs.",
        ) from None


@party.command()
@config_option
@json_option
def reload(config_path: Path | None, as_json: bool) -> None:
    """Let the daemon read its configuration and peers again; so does the signal HUP.

    If a file is wrong, nothing changes, and the command says what is wrong. Policy and catalog are read at
    every job anyway.
    """
    with Party(config_path) as asked:
        done = asked.reload()

    def render(out: Screen) -> None:
        words = {
            "added": "new peers",
            "removed": "peers that are gone",
            "changed": "peers with other keys or address",
        }
        for name, word in words.items():
            if done[name]:
                out.print(f"{word}: {', '.join(done[name])}")
        if done["files"]:
            out.print(f"read anew and in order: {', '.join(done['files'])}")
        if done["later"]:
            out.print(f"taken up when the daemon is started again: {', '.join(done['later'])}")
        if not any(done.values()):
            out.print("Read anew. Peers, policy and catalog are as they were.")

    emit(done, render, as_json=as_json)


@party.command()
@config_option
@json_option
def status(config_path: Path | None, as_json: bool) -> None:
    """Show the status of the daemon; exit status 69 if it does not run or does not answer."""
    config = load(config_path)
    pid = running_pid(config)
    if pid is None:
        raise DaemonUnavailable(f"The daemon of {config.name} does not run.", "Run `duetto party start`.")
    said = ask_daemon(config, pid)
    listens = said.pop("listens") or str(config.listen)  # an earlier release does not say
    doubts = _doubts(config) if said["ledger_whole"] else []
    closed = read_closed(config.home)
    days = certificate.days_left(own_certificates(config))
    jobs = (
        ", ".join(f"{count} {state_words(state)}" for state, count in sorted(said["jobs"].items())) or "none"
    )
    signs = standing_line(
        config, Gate(config.name, config.home, open_ledger(config.home)), CLOCK.now().date()
    )
    waiting = said["jobs"].get(State.WAITING_OWN.value, 0)

    def render(out: Screen) -> None:
        out.print(f"{config.name} runs as process {pid}, listening on {listens}.")
        if said["draining"] is not None:
            out.print(
                f"draining: {draining_words(said['draining'])}. Start it again then: `duetto party start`."
            )
        out.print(f"jobs: {jobs}")
        if waiting:
            out.print(
                with_config(
                    f"{waiting} of them wait for a decision of this party: `duetto job list --waiting`"
                )
            )
        out.print(with_config(signs))
        for name in said["reversed"]:
            out.print(f"{REVERSED.format(peer=name)}.")
        if days < certificate.WARN_DAYS:
            out.print(
                f"The certificate ends in {days} days: run `duetto keys renew{config_words(config_path)}`."
            )
        if said["database_lost"]:
            out.print(f"Its jobs are lost when it ends: run `duetto doctor{config_words(config_path)}`.")
        if not said["ledger_whole"]:
            out.print(f"The ledger is not whole: {said['ledger_problem']}")
        for one in closed.values():
            out.print(f"{one.error.what} {with_config(one.error.hint)}")
        for doubt in doubts:
            out.print(f"{doubt['what']} {with_config(doubt['hint'])}")

    place = {"pid": pid, "socket": str(socket_path(config)), "listen": listens}
    emit(
        {
            "name": config.name,
            **place,
            **said,
            "waiting": waiting,
            "persons": signs,
            "certificate_days": days,
            "doubts": doubts,
            "closed": [asdict(one) for one in closed.values()],
        },
        render,
        as_json=as_json,
    )


@party.command()
@click.option("--drain", is_flag=True, help="Begin no more jobs, and let those that run end first.")
@click.option(
    "--seconds",
    type=click.IntRange(1, MAX_DRAIN_SECONDS),
    help="With --drain: how long they may take; else drain_seconds in [limits].",
)
@config_option
@json_option
def stop(*, drain: bool, seconds: int | None, config_path: Path | None, as_json: bool) -> None:
    """Stop the daemon in order and wait until it has ended.

    Running jobs are ended, unless --drain is given: then proposals and approvals are still taken, and what is
    not begun runs after the next start. Ctrl-C ends the waiting, not the draining; `duetto party stop` does.
    """
    if seconds is not None and not drain:
        raise UsageError("--seconds is for running jobs, which are ended at once.", "Give --drain as well.")
    config = load(config_path)
    pid = running_pid(config)
    if pid is not None:
        until = time.monotonic() + _STOP_SECONDS
        if drain:
            until += _drain(config, seconds or 0)
        else:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        while running_pid(config) == pid:
            if time.monotonic() > until:
                raise DaemonUnavailable(f"Process {pid} does not end.", f"End it with `kill -9 {pid}`.")
            time.sleep(0.05)
    emit(
        {"name": config.name, "stopped": pid is not None},
        lambda out: out.print("stopped" if pid is not None else "did not run"),
        as_json=as_json,
    )


for _command in (service.health, service.install):
    party.add_command(_command)


for _command in (moving.pack, moving.unpack, moving.backup, moving.restore):
    party.add_command(_command)

COMMANDS: Final[tuple[click.Command, ...]] = (init, pair, party, doctor)


def _question(config: Config, found: pairing.Pairing) -> str:
    """What a person has to confirm of a pairing file; empty for a plain renewal of a peer that is paired."""
    name = found.identity.name
    known = [peer for peer in config.peers if peer.name == name]
    if not known or not pairing.vouched_for(found, load_pairing(config, known[0])):
        said = " ".join(words_of(found.fingerprint))
        talk(
            f"{name} at {found.address}", f"Fingerprint:  {found.fingerprint}", f"The same as words:  {said}"
        )
        return "Does the peer read out the same with `duetto keys show`?"
    talk(f"{name} at {found.address}: a renewal, signed by the key that is paired.")
    return changes(known[0], found, load_pairing(config, known[0]))


def changes(peer: Peer, found: pairing.Pairing, paired: pairing.Pairing) -> str:
    """What a person has to confirm of a later file of a peer that is paired; empty if nothing."""
    asked = []
    if found.address != peer.address:
        asked.append(f"{peer.name} is to be reached at {found.address} in place of {peer.address}.")
    if pairing.ends_earlier(found, paired):
        asked.append(f"The certificates of {peer.name} end earlier than those that are paired.")
    return f"{' '.join(asked)} Does the peer say the same?" if asked else ""


def _drain(config: Config, seconds: int) -> float:
    """Let the daemon come to rest, and say so; the seconds that this may take."""
    with Party(config.path) as asked:
        found = asked.drain(seconds)
    talk(f"draining: {draining_words(found)}.")
    return found["seconds_left"]


def _reload(daemon: Daemon) -> None:
    try:
        daemon.reload()
    except DuettoError as error:
        log.error("reload refused, nothing has changed: %s", error)


def _doubts(config: Config) -> list[dict[str, str]]:
    """With which peers jobs are refused for a ledger, and what to do."""
    try:
        found = ledger_doubts(open_ledger(config.home))
    except LedgerError as error:
        return [{"peer": "", "whose": Whose.OWN.value, "what": error.what, "hint": error.hint}]
    return [{"peer": d.peer, "whose": d.whose.value, "what": d.what, "hint": d.hint} for d in found]


def _say_ready(config: Config, address: Address, *, as_json: bool) -> None:
    emit(
        {"ready": True, "name": config.name, "listen": str(address), "pid": os.getpid()},
        lambda out: out.print(f"ready: {config.name} listens on {address}"),
        as_json=as_json,
    )


def address_of(text: str) -> Address:
    """HOST:PORT, or HOST alone with the usual port."""
    return Address.parse(text if ":" in text else f"{text}:{DEFAULT_PORT}")


def listening_address(address: Address) -> Address:
    """Where a daemon listens that peers reach there: on loopback for two on one machine, else everywhere."""
    return Address(_usual_listening_host(address.host), address.port)


def _usual_listening_host(host: str) -> str:
    if host == "localhost" or host.startswith("127."):
        return "127.0.0.1"
    return "[::1]" if host == "[::1]" else "0.0.0.0"  # noqa: S104 - a daemon is there to be reached
