"""`duetto doctor`: checks of this party and of the way to a peer, each with a verdict and a hint."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from parties import needs
from parties.audit.files import read_log
from parties.audit.verification import (
    known_gaps,
    log_witnesses,
    missing_decisions,
    missing_entries,
    missing_lines,
)
from parties.catalog.declarations.declaration import load_catalog
from parties.client import ask_daemon, is_reversed
from parties.client.words import draining_words
from parties.clock import CLOCK
from parties.closed_peers import read_closed
from parties.cluster.connecting import check_files
from parties.cluster.executor import ClusterExecutor
from parties.config import Config, Peer
from parties.contracts.spec import MAX_MBIT, MAX_RTT_MS
from parties.disk import SPACE
from parties.errors import ClockError, ConfigError, KeysLocked, PeerRefused, PeerUntrusted, VersionMismatch
from parties.findings import DAEMON, DRAINING, Finding, Status
from parties.hooks import AnyHook
from parties.jobs.storage.results import ResultFolder
from parties.kept_pools import KeptPools
from parties.ledger.book import open_ledger
from parties.ledger.doubts import Whose
from parties.ledger.heads import ledger_doubts
from parties.notices.queues import NoticeQueues, read_queues
from parties.notices.sending import check_hook
from parties.persons.gate import Gate
from parties.persons.pending import pending, standing_line
from parties.pki import Identity, PeerIdentity, certificate, pairing
from parties.pki.home import (
    check_config_file,
    load_identity,
    load_peer,
    own_certificates,
    own_pairing,
    socket_path,
)
from parties.pki.lock import running_pid
from parties.pki.offers import find_offer
from parties.policy.rules import load_policy
from parties.ports.interfaces import REVERSED
from parties.ports.terms import Terms
from parties.rpc.client import Line, PeerClient
from parties.rpc.greeting import make_greeting
from parties.rpc.reach import Stage, reach
from parties.rpc.tls import HYBRID_GROUP
from parties.session.pools import PoolStore
from parties.stamps.files import FOLDER as STAMPS
from parties.stamps.files import read_failure
from parties.stamps.verification import missing_entries as entries_missed
from parties.stamps.verification import own_stamps
from smc.errors import DuettoError
from smc.oblivious.kernels import VARIABLE, differ, make_kernels
from smc.oblivious.workspace import Workspace

_MIN_FREE_BYTES: Final = 1 << 30
_PROBE_BYTES: Final = 1 << 16
_CLOCK_SECONDS = 300
URGENT_DAYS: Final = 7
"""With less time left for a certificate, which every peer has to accept, this party is ill."""

WAY: Final = "way"
"""The check that says how a peer is called that cannot be dialled."""

_NEWEST_STAMPS: Final = 30
"""So many are looked at here; `duetto ledger verify` and `duetto log verify` look at all."""

_SLOW_RTT_MS = 200.0
_SLOW_MBIT = 10.0


def examine_self(config: Config) -> list[Finding]:
    """Check configuration, keys, dates, disk and daemon of this party, and what its jobs need."""
    return [
        _attempt("self", "configuration", lambda: _configuration(config)),
        _attempt("self", "data", lambda: _data(config)),
        _attempt("self", "policy", lambda: _policy(config)),
        _attempt("self", "persons", lambda: _persons(config)),
        _attempt("self", "keys", lambda: _keys(config)),
        _attempt("self", "certificate", lambda: _dates("self", own_certificates(config))),
        _attempt("self", "ledger", lambda: _ledger(config)),
        _attempt("self", "audit log", lambda: _audit(config)),
        _attempt("self", "jobs", lambda: _jobs(config)),
        _attempt("self", "results", lambda: _results(config)),
        _attempt("self", "exact jobs", lambda: _history(config)),
        _attempt("self", "clock", lambda: _own_clock(config)),
        _disk(config),
        _attempt("self", "kernels", _kernels),
        *(_attempt("self", "pools", partial(_pools, config, kept)) for kept in config.pools),
        *(_attempt("self", "notices", partial(_notices, config, hook)) for hook in config.on_event),
        *((_attempt("self", "stamps", partial(_stamps, config)),) if _has_stamps(config) else ()),
        *_daemon(config),
    ]


def examine_cluster(config: Config) -> list[Finding]:
    """Check that this party's Dask cluster, if it has one, answers and runs this release everywhere."""
    dask = config.compute.dask
    if dask is None:
        return []

    def look() -> Finding:
        found = ClusterExecutor(dask).members()
        workers, threads = _count_noun(found.workers, "worker"), _count_noun(found.threads, "thread")
        what = f"{dask.url} has {workers} of this release, {threads}"
        return Finding("self", "cluster", Status.OK, what)

    return [_attempt("self", "cluster", look)]


def _count_noun(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def examine_peer(config: Config, peer: Peer) -> Iterator[Finding]:
    """Check the way to a peer, step by step; stops at the first step without which no other can be made."""
    try:
        identity, known = load_identity(config), load_peer(config, peer)
    except DuettoError as error:
        yield Finding(peer.name, "pairing", Status.FAIL, error.what, error.hint)
        return
    yield _check_pairing(peer)
    yield _attempt(peer.name, "open", lambda: _open(config, peer))
    yield _attempt(peer.name, "ledger", lambda: _peer_ledger(config, peer))
    yield _dates(peer.name, known.certificates)
    if find_offer(config, peer) is not None:
        yield Finding(
            peer.name,
            "renewal",
            Status.WARN,
            f"{peer.name} has announced a renewed certificate",
            f"Run `duetto keys accept {peer.name}`.",
        )
    identity = identity.in_use(dt.datetime.now(dt.UTC))
    found = reach(peer.address, known, identity)
    steps = (
        ("name", Stage.NAME),
        ("reachability", Stage.TCP),
        ("tls", Stage.TLS),
        ("pin", Stage.PIN),
        ("date", Stage.DATE),
        ("trust", Stage.TRUST),
    )
    for check, stage in steps:
        if found.stage is stage:
            if stage.is_on_the_way and is_reversed(config, peer):
                yield Finding(
                    peer.name, WAY, Status.OK, f"{REVERSED.format(peer=peer.name)}. From here: {found.what}"
                )
                return
            yield Finding(peer.name, check, Status.FAIL, found.what, found.hint)
            return
        yield Finding(peer.name, check, Status.OK, _GOOD[stage].format(address=peer.address))
    yield from _talk(config, identity, known, peer)


def _open(config: Config, peer: Peer) -> Finding:
    closed = read_closed(config.home).get(peer.name)
    if closed is not None:
        return Finding(peer.name, "open", Status.FAIL, closed.error.what, closed.error.hint)
    return Finding(peer.name, "open", Status.OK, "its oblivious transfers have failed no check")


def _check_pairing(peer: Peer) -> Finding:
    if pairing.read(peer.pairing).proven:
        return Finding(peer.name, "pairing", Status.OK, "its pairing file is the pinned one")
    return Finding(
        peer.name,
        "pairing",
        Status.WARN,
        "its pairing file is the pinned one, of an older release, and does not prove its Paillier key",
        f"Ask {peer.name} for the file that `duetto keys renew-pairing` writes there, and pair again.",
    )


_GOOD: Final = {
    Stage.NAME: "the address is known",
    Stage.TCP: "{address} answers",
    Stage.TLS: "TLS 1.3",
    Stage.PIN: "it has the paired certificate",
    Stage.DATE: "which is valid",
    Stage.TRUST: "it takes the certificate of this party",
}


def _kernels() -> Finding:
    kernels = make_kernels(Workspace())
    what = {
        "native": f"comparisons run compiled, with {kernels.ciphers or 'no'} instructions for AES",
        "numpy": f"comparisons run in numpy, as {VARIABLE} asks of this command"
        if os.environ.get(VARIABLE)
        else "comparisons run in numpy; compiled ones need a C compiler when duetto is installed",
    }
    if differ():
        return Finding(
            "self",
            "kernels",
            Status.WARN,
            "the compiled loops differ from numpy's on this machine, which run instead",
            "Install duetto again; if that stays so, report the machine and its compiler.",
        )
    return Finding("self", "kernels", Status.OK, what[kernels.name])


def _talk(config: Config, identity: Identity, known: PeerIdentity, peer: Peer) -> Iterator[Finding]:
    terms = Terms()
    client = PeerClient(
        identity,
        known,
        address=peer.address,
        keepalive=config.keepalive,
        greet=lambda: make_greeting(identity, terms),
        terms=terms,
    )
    try:
        hello = client.hello()
        yield Finding(
            peer.name, "version", Status.OK, f"release {hello.release}, wire version {hello.version}"
        )
        yield _key_exchange(peer.name, hello.key_exchange)
        yield _clock(peer.name, hello.clock_seconds)
        yield from _rate(peer.name, client.measure())
    except DuettoError as error:
        yield Finding(peer.name, _failed_check(error), Status.FAIL, error.what, error.hint)
    finally:
        client.close()


def _failed_check(error: DuettoError) -> str:
    if isinstance(error, VersionMismatch):
        return "version"
    if isinstance(error, PeerUntrusted):
        return "trust"
    return "service" if isinstance(error, PeerRefused) else "talk"


def _attempt(subject: str, check: str, run: Callable[[], Finding]) -> Finding:
    try:
        return run()
    except KeysLocked:
        what = "not looked at: the keys are under a passphrase or a PIN, which was not given here"
        return Finding(subject, check, Status.OK, what)
    except DuettoError as error:
        return Finding(subject, check, Status.FAIL, error.what, error.hint)


def _configuration(config: Config) -> Finding:
    check_config_file(config)
    load_policy(config.policy)
    load_catalog(config.catalog)
    if config.compute.dask is not None:
        check_files(config.compute.dask)
    return Finding("self", "configuration", Status.OK, f"{config.path} and the files it names can be read")


def _keys(config: Config) -> Finding:
    identity = load_identity(config)
    ResultFolder(config.home).check_key()
    bits = identity.paillier.public.bits
    if not own_pairing(config).proven:
        return Finding(
            "self",
            "keys",
            Status.WARN,
            "permissions and key pairs are fine; the pairing file is of an older release",
            "Run `duetto keys renew-pairing` and hand the new file to the peers.",
        )
    return Finding("self", "keys", Status.OK, f"permissions and key pairs are fine; Paillier has {bits} bits")


def _dates(subject: str, pem: bytes) -> Finding:
    days = certificate.days_left(pem)
    what = f"ends in {days} days" if days >= 0 else "has ended"
    if days >= certificate.WARN_DAYS:
        return Finding(subject, "certificate", Status.OK, what)
    # A peer's word on its own successor is not here, so of a peer there is time until the end.
    last = URGENT_DAYS if subject == "self" else 0
    verdict = Status.WARN if days >= last else Status.FAIL
    # What has ended no longer opens a connection that could announce its successor.
    way = "keys accept" if days >= 0 else "pair"
    hint = (
        f"Run `duetto keys renew`, and let each peer run `duetto {way}` as it says."
        if subject == "self"
        else f"Ask {subject} to run `duetto keys renew`, and run `duetto {way}` as it says there."
    )
    return Finding(subject, "certificate", verdict, what, hint)


def _ledger(config: Config) -> Finding:
    ledger = open_ledger(config.home)
    count = len(ledger.entries())
    for doubt in ledger_doubts(ledger):
        if doubt.whose is Whose.OWN:
            return Finding("self", "ledger", Status.FAIL, doubt.what, doubt.hint)
    return Finding("self", "ledger", Status.OK, f"intact: {count} entries, none missing that peers have seen")


def _audit(config: Config) -> Finding:
    found = read_log(config.home)
    entries = open_ledger(config.home).entries()
    for problem in missing_decisions(found, entries):
        hint = (
            "Bring back the newest copy of the folder `audit`; if that is lost, stop the daemon and run "
            "`duetto log record-gap`."
        )
        return Finding("self", "audit log", Status.FAIL, problem, hint)
    for problem in missing_entries(found, entries):
        hint = "Stop the daemon, and bring back the newest copy of the ledger."
        return Finding("self", "audit log", Status.FAIL, problem, hint)
    for problem in missing_lines(found, log_witnesses(entries)):
        hint = (
            "Bring back the newest copy of the folder `audit`; if that is lost, stop the daemon and run "
            "`duetto log record-gap`."
        )
        return Finding("self", "audit log", Status.FAIL, problem, hint)
    for gap in known_gaps(found):
        hint = "Keep it with the records of the party; if you know of no restore, ask who recorded it."
        return Finding("self", "audit log", Status.WARN, gap, hint)
    what = f"intact: {len(found.lines)} lines"
    known = found.lines[0].about.get("ledger") if found.lines else None
    if not known:
        return Finding("self", "audit log", Status.OK, what)
    return Finding(
        "self",
        "audit log",
        Status.WARN,
        f"{what}; it begins when the ledger had {known} entries: what was before was moved away or deleted",
        "Keep the earlier log with the records of the party; if nobody moved it away, ask who deleted it.",
    )


def _data(config: Config) -> Finding:
    count = needs.check_sources(config)
    return Finding("self", "data", Status.OK, f"the files of {_count_noun(count, 'data set')} are there")


def _policy(config: Config) -> Finding:
    if not needs.has_rules(config):
        what, hint = "it has no rule, so no job is allowed", f"Write a rule into {config.policy.name}."
        return Finding("self", "policy", Status.WARN, what, hint)
    unknown = needs.unknown_names(config)
    if not unknown:
        return Finding("self", "policy", Status.OK, "its rules name paired parties and declared data sets")
    what = f"rule {'; rule '.join(unknown)}, which is not known here: no job is allowed by that"
    hint = f"Correct the name in {config.policy.name}, pair the peer, or declare the data set."
    return Finding("self", "policy", Status.WARN, what, hint)


def _persons(config: Config) -> Finding:
    gate = Gate(config.name, config.home, open_ledger(config.home))
    gate.persons()
    waiting = ", ".join(one.text for one in pending(config, gate))
    if waiting:
        hint = "Let a person who may do it run `duetto person sign --key FILE`."
        return Finding("self", "persons", Status.WARN, f"not signed, so no job runs by it: {waiting}", hint)
    return Finding("self", "persons", Status.OK, standing_line(config, gate, CLOCK.now().date()))


def _jobs(config: Config) -> Finding:
    count = needs.check_database(config, open_ledger(config.home))
    return Finding("self", "jobs", Status.OK, f"{_count_noun(count, 'job')} can be read and written")


def _results(config: Config) -> Finding:
    needs.check_results(config)
    return Finding("self", "results", Status.OK, "can be kept")


def _history(config: Config) -> Finding:
    needs.check_history(config)
    return Finding("self", "exact jobs", Status.OK, "earlier ones can be compared with")


def _own_clock(config: Config) -> Finding:
    """Whether the clock is behind what was written last, so that nothing is deleted or ended by it."""
    head, lines = open_ledger(config.home).head(), read_log(config.home).lines
    try:
        CLOCK.trust(head.time if head else "", lines[-1].time if lines else "")
    except ClockError as error:
        return Finding("self", "clock", Status.WARN, error.what, error.hint)
    return Finding("self", "clock", Status.OK, "not behind the last entries of ledger and audit log")


def _peer_ledger(config: Config, peer: Peer) -> Finding:
    for doubt in ledger_doubts(open_ledger(config.home)):
        if (doubt.peer, doubt.whose) == (peer.name, Whose.PEER):
            return Finding(peer.name, "ledger", Status.FAIL, doubt.what, doubt.hint)
    return Finding(peer.name, "ledger", Status.OK, "no problems found")


def _disk(config: Config) -> Finding:
    free = shutil.disk_usage(config.home).free
    what = f"{free / (1 << 30):.1f} GiB free"
    try:
        with tempfile.TemporaryFile(dir=config.home) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        return Finding(
            "self",
            "disk",
            Status.FAIL,
            f"{config.home} cannot be written: {why}",
            "Make room, or give this user the right to write there.",
        )
    if free < SPACE:
        room = f"{free >> 20} MiB free, and a run needs {SPACE >> 20}"
        return Finding(
            "self",
            "disk",
            Status.FAIL,
            room,
            "Make room, for instance with `duetto job forget JOB`; no job runs.",
        )
    if free >= _MIN_FREE_BYTES:
        return Finding("self", "disk", Status.OK, what)
    return Finding("self", "disk", Status.WARN, what, "Make room; a full disk stops the ledger and all jobs.")


def _pools(config: Config, kept: KeptPools) -> Finding:
    there = PoolStore(config.home).count(kept)
    what = f"{there} of {kept.ready} with {kept.peer} for {kept.bits} bits with x at {kept.x_at}"
    if there:
        return Finding("self", "pools", Status.OK, what)
    return Finding(
        "self",
        "pools",
        Status.WARN,
        what,
        f"They are filled when both daemons are idle, if {kept.peer} has the same below [[pools]]; "
        "the log says what prevents it.",
    )


def _notices(config: Config, hook: AnyHook) -> Finding:
    check_hook(hook)
    queue = (read_queues(config.home) or NoticeQueues()).queue(hook.name)
    if not queue.failure:
        return Finding("self", "notices", Status.OK, f"hook {hook.name!r} is in order")
    lost = f", {queue.lost} were given up" if queue.lost else ""
    return Finding(
        "self",
        "notices",
        Status.WARN,
        f"hook {hook.name!r} failed at {queue.failed_at}: {queue.failure} "
        f"{_count_noun(len(queue.pending), 'notice')} waiting{lost}",
        f"Correct it, and run `duetto notice test {hook.name}`.",
    )


def _has_stamps(config: Config) -> bool:
    """Whether there are or should be some; taking out the setting silences nothing."""
    return config.stamps is not None or (config.home / STAMPS).is_dir()


def _stamps(config: Config) -> Finding:
    """Whether ledger and audit log have what the newest stamps say, and whether the last try failed."""
    stamps = own_stamps(config, most=_NEWEST_STAMPS)
    found, entries = read_log(config.home), open_ledger(config.home).entries()
    wrong = [*entries_missed(entries, stamps), *missing_lines(found, stamps.log), *stamps.problems]
    if wrong:
        hint = "Run `duetto ledger verify` and `duetto log verify`, and bring back the newest copies."
        return Finding("self", "stamps", Status.FAIL, wrong[0], hint)
    failure = read_failure(config.home)
    if failure is not None:
        hint = "Correct `[stamps]` in duetto.toml, and try `duetto ledger stamp`."
        return Finding("self", "stamps", Status.WARN, f"failed at {failure.time}: {failure.why}", hint)
    newest = stamps.times[-1] if stamps.times else ""
    what = f"both logs have what the newest stamp says, of {newest}" if newest else "there is none yet"
    return Finding("self", "stamps", Status.OK, what)


def _daemon(config: Config) -> Iterator[Finding]:
    try:
        socket_path(config)
        pid = running_pid(config)
        said = ask_daemon(config, pid) if pid is not None else {}
    except DuettoError as error:
        yield Finding("self", DAEMON, Status.FAIL, error.what, error.hint)
        return
    if pid is None:
        yield Finding("self", DAEMON, Status.WARN, "does not run", "Start it with `duetto party start`.")
        return
    yield Finding("self", DAEMON, Status.OK, f"runs as process {pid} and answers")
    if said["database_lost"]:
        yield Finding(
            "self",
            "database",
            Status.FAIL,
            "the daemon writes jobs to a file that is no longer in the home, and is lost when it ends",
            "Stop the daemon, bring jobs.sqlite back from a copy of the home, and start it again.",
        )
    if said["draining"] is not None:
        words, hint = draining_words(said["draining"]), "Start it again then: `duetto party start`."
        yield Finding("self", DRAINING, Status.WARN, words, hint)
    for name in said["reversed"]:
        yield Finding("self", WAY, Status.OK, REVERSED.format(peer=name))
    try:
        needs.check_listening(config, said["listens"])
    except ConfigError as error:
        yield Finding("self", "listening", Status.WARN, error.what, error.hint)
    else:
        yield Finding("self", "listening", Status.OK, f"on {said['listens'] or config.listen}")


def _key_exchange(peer: str, group: str) -> Finding:
    """By what TLS agreed on its keys; a client of gRPC cannot see it, so the peer says it."""
    if group == HYBRID_GROUP:
        what = f"{group}: recorded traffic does not open to whoever breaks elliptic curves later"
        return Finding(peer, "key exchange", Status.OK, what)
    return Finding(
        peer,
        "key exchange",
        Status.WARN,
        f"{group or 'unknown'}, not {HYBRID_GROUP}: recorded traffic opens to whoever breaks elliptic curves "
        "later",
        "Install the same release, and the grpcio that it asks for, on both sides; no proxy between them may "
        "end TLS.",
    )


def _clock(peer: str, seconds: float) -> Finding:
    what = f"{abs(seconds):.1f} s {'ahead' if seconds > 0 else 'behind'}"
    if abs(seconds) <= _CLOCK_SECONDS:
        return Finding(peer, "clock", Status.OK, what)
    return Finding(peer, "clock", Status.WARN, what, "Let both machines take their time from the network.")


def _rate(peer: str, line: Line) -> Iterator[Finding]:
    """Latency and bandwidth, and with what a job says so that it is planned for them."""
    narrower = min(line.up_mbit, line.down_mbit)
    for check, what, good in (
        ("latency", f"{line.rtt_ms:.1f} ms there and back", line.rtt_ms <= _SLOW_RTT_MS),
        (
            "bandwidth",
            f"{line.up_mbit:.0f} Mbit/s there, {line.down_mbit:.0f} Mbit/s back",
            narrower >= _SLOW_MBIT,
        ),
    ):
        hint = "" if good else "Jobs work but take longer; see `duetto job estimate`."
        yield Finding(peer, check, Status.OK if good else Status.WARN, what, hint)
    rtt_ms, mbit = min(round(line.rtt_ms), MAX_RTT_MS), max(1, min(round(narrower), MAX_MBIT))
    yield Finding(
        peer,
        "network",
        Status.OK,
        f"in a job that is planned for this link: [network] with rtt_ms = {rtt_ms} and mbit = {mbit}",
    )
