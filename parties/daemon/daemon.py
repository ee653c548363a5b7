"""The daemon of a party: the port for peers, the control socket, and the jobs between them."""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from commons.logs.lines import Link
from parties.audit.lines import ENTRIES, FILLED, RELOADED, STARTED, STOPPED, AuditError
from parties.closed_peers import ClosedPeers
from parties.cluster.executor import ClusterExecutor
from parties.config import Address, Config, load
from parties.errors import ConfigError
from parties.jobs.agreement.courier import RetryPolicy
from parties.jobs.control import Reloaded, make_control_server
from parties.jobs.manager import JobManager
from parties.ledger.book import open_ledger
from parties.ledger.entries import LedgerError
from parties.ledger.heads import open_heads
from parties.notices.alerts import Sources, all_alerts
from parties.notices.notifier import Notifier
from parties.persons.pending import pools_digest
from parties.persons.roles import Act
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.files import PRIVATE
from parties.pki.home import load_identity, socket_path
from parties.pki.offers import Renewals, accept
from parties.policy.rules import load_policy
from parties.ports.terms import Terms
from parties.release import release
from parties.session.answering import Answering
from parties.session.directory import PeerDirectory, load_peers
from parties.session.draining import Drain
from parties.session.filling import Filler
from parties.session.keeper import Keeper, Means
from parties.session.links import Links
from parties.session.pools import PoolStore
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from parties.stamps.stamper import Stamper
from smc.errors import DuettoError
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace

if TYPE_CHECKING:
    from parties.daemon.metrics import MetricsServer
    from parties.findings import Finding

GRACE_SECONDS: Final = 10.0
"""How long running sessions may take to end when the daemon is stopped."""

_READY_SECONDS = 10.0

log = logging.getLogger(__name__)
_SIGNATURE_SECONDS: Final = 10.0
"""How often it is looked whether a person has signed the pools, while nobody has."""


class Daemon:
    """A party's daemon, made from its configuration; keys, peers and ports are checked before it serves.

    Args:
        config: the configuration.
        terms: the versions and parameters that it speaks; its own unless a test passes others.
        examine: makes the checks of `duetto party health` for `/healthz`, which lie above the daemon.

    Raises:
        ConfigError: a key file is open to others, the certificate has ended, or an address is in use.
        PairingError: a peer's pairing file is not the pinned one.
        KeyMaterialError: a Paillier key is too weak.
    """

    def __init__(
        self,
        config: Config,
        terms: Terms | None = None,
        *,
        examine: Callable[[Config], Iterable[Finding]] | None = None,
    ) -> None:
        self._config, self._seen = config, _digests(config)
        self._reloading = threading.Lock()
        identity = load_identity(config)
        check_dates(identity)
        self._warned = dt.date.min
        self._unsigned_since = 0.0
        self._certificates = identity.certificates
        self._peers = peers = load_peers(config)
        terms = terms or Terms()
        ledger, pools = open_ledger(config.home), PoolStore(config.home)
        self._closed = ClosedPeers(config.home, ledger.clock.stamp, self._note_closing)
        self._runner = SessionRunner(
            identity,
            peers,
            config.limits,
            terms,
            pools=pools,
            heads=open_heads(config.home, config.name, identity.signing, ledger),
            cluster=ClusterExecutor(config.compute.dask) if config.compute.dask is not None else None,
            closing=self._closed.close,
        )
        self._renewals = Renewals(config)
        self._links = Links(self._here)
        self._directory = PeerDirectory(
            config, identity, peers, self._runner, terms, renewals=self._renewals, links=self._links
        )
        self._manager = JobManager(config, identity, self._directory, ledger=ledger, closed=self._closed)
        self._notifier = Notifier(config.home, config.name, config.on_event, ledger.clock, self._conditions)
        self._manager.store.audit.listen(self._notifier.hear)
        self._stamper = Stamper(config.home, config.name, config.stamps, ledger, self._log_head)
        note = partial(self._manager.store.audit.write, FILLED)
        self._filler = Filler(
            self._with_signed_pools(config),
            pools,
            self._directory,
            self._runner,
            self._manager,
            note,
            require_open=self._closed.require_open,
        )
        answering = Answering(identity, self._filler, terms, self._renewals)
        pauses = RetryPolicy().dial_seconds
        self._keeper = Keeper(
            Means(self._directory, self._runner, answering, self._links, config.limits.sessions, pauses)
        )
        self._metrics: MetricsServer | None = None
        self.drain = Drain(self._rest, lambda: self._runner.running, config.limits.drain_seconds)
        self._manager.resume()
        try:
            if config.metrics_port:
                from parties.daemon.healthz import Health
                from parties.daemon.metrics import Figures, MetricsServer

                figures = Figures(lambda: self._config, self._manager, self.drain)
                ask = examine and Health(lambda: examine(self._config), self.drain)
                self._metrics = MetricsServer(config.metrics_port, figures, ask)
            self._open_ports(config, identity, peers, terms)
        except DuettoError:
            self._manager.stop()
            raise

    @property
    def address(self) -> Address:
        """Where peers are really listened to."""
        return self._peer_server.address

    def start(self) -> None:
        """Serve; returns when both ports answer.

        What understands and runs jobs is loaded first: once the port for peers is open, strangers may hold
        so many files that an import fails.

        Raises:
            ConfigError: a port does not answer, the peers' port speaks an old TLS, or the files of the
                program were changed since it started.
            UsageError: there are no kernels as the environment asks for, and so every job would fail.
        """
        make_kernels(Workspace())
        self._manager.load()
        if self._metrics is not None:
            self._metrics.start()
        self._control.start()
        self._socket.chmod(PRIVATE)
        for one, server in self._of_roles:
            server.start()
            one.open_to_group()
        with grpc.insecure_channel(f"unix:{self._socket}") as channel:
            asked = health_pb2_grpc.HealthStub(channel)
            try:
                asked.Check(health_pb2.HealthCheckRequest(), timeout=_READY_SECONDS, wait_for_ready=True)
            except grpc.RpcError:
                raise ConfigError(
                    f"The control socket {self._socket} does not answer.",
                    "Check the rights of its folder, and that the home lies on a local disk.",
                ) from None
        about: dict[str, str | int] = {**_digests(self._config), **self._count_entries()}
        about |= {"release": release(), "pid": os.getpid()}
        self._manager.store.audit.write(STARTED, **about)
        self._notifier.start()
        self._stamper.start()
        self._peer_server.start()
        self._keeper.follow()
        self._filler.start()
        self._health.set("", health_pb2.HealthCheckResponse.SERVING)

    def reload(self) -> Reloaded:
        """Read configuration, peers, certificate, policy and catalog again; if one is wrong, nothing changes.

        Policy and catalog are read at every job anyway, and here to say whether they are in order and
        have changed.

        Raises:
            ConfigError: a file is missing or wrong.
            PairingError: a peer's pairing file is not the pinned one.
        """
        from parties.catalog.declarations.declaration import load_catalog

        with self._reloading:
            config = load(self._config.path)
            digests = _digests(config)
            peers = load_peers(config)
            identity = load_identity(config)
            check_dates(identity)
            load_policy(config.policy)
            load_catalog(config.catalog)
            before, after = {p.name: p for p in self._config.peers}, {p.name: p for p in config.peers}
            same = {name for name in before.keys() & after.keys() if before[name] == after[name]}
            done = Reloaded(
                added=tuple(sorted(after.keys() - before.keys())),
                removed=tuple(sorted(before.keys() - after.keys())),
                changed=tuple(
                    sorted(
                        name
                        for name in before.keys() & after.keys()
                        if name not in same or peers[name] != self._peers[name]
                    )
                ),
                later=_later(self._config, config),
                files=(
                    *(
                        name
                        for name in ("policy", "catalog")
                        if digests[f"{name}_digest"] != self._seen[f"{name}_digest"]
                    ),
                    *(("pools",) if config.pools != self._config.pools else ()),
                    *(("on_event",) if config.on_event != self._config.on_event else ()),
                    *(("stamps",) if config.stamps != self._config.stamps else ()),
                ),
            )
            self._runner.set_peers(peers)
            self._directory.set_peers(config, peers)
            if identity.certificates != self._certificates:
                self._directory.set_identity(identity)
                self._peer_server.set_identity(identity)
                self._certificates = identity.certificates
            self._renewals.follow(config)
            self._manager.follow_peers()
            self._peer_server.set_peers(peers)
            self._keeper.follow()
            self._manager.housekeeper.set_days(config)
            self._filler.follow(self._with_signed_pools(config))
            self._notifier.follow(config.on_event)
            self._stamper.follow(config.stamps)
            self._config, self._peers, self._seen = config, peers, digests
            changes = {name: " ".join(value) for name, value in asdict(done).items()}
            self._manager.store.audit.write(RELOADED, **changes, **digests)
        log.info(
            "reloaded: %s",
            ", ".join(f"{k} {' '.join(v)}" for k, v in asdict(done).items() if v) or "as before",
        )
        return done

    def _rest(self) -> None:
        """Begin no session any more; see `Drain`."""
        self._runner.refuse_new()
        self._manager.hold_back()
        self._peer_server.drain()

    def follow_dates(self) -> None:
        """Close connections whose certificates end, and pin renewals that the configuration lets in.

        Once a day peers are greeted, so that they hear of a renewal without a job, and the log warns of
        certificates that soon end.
        """
        self._directory.follow_dates()
        self._peer_server.follow_dates()
        self._keeper.follow()
        self._accept_renewals()
        self._follow_signature()
        if self._warned == (today := dt.datetime.now(dt.UTC).date()):
            return
        self._warned = today
        for sentence in ending_soon(self._config.name, self._certificates, self._peers):
            log.warning("%s", sentence)
        threading.Thread(target=self._greet, name="greet", daemon=True).start()

    def _here(self, peer: str) -> None:
        self._manager.here(peer)

    def _log_head(self) -> Link | None:
        number, own = self._manager.store.audit.head
        return (number, own) if number >= 0 else None

    def _note_closing(self, event: str, **about: str | int) -> None:
        self._manager.store.audit.write(event, **about)

    def _with_signed_pools(self, config: Config) -> Config:
        """The configuration without pools if a person has to sign them, and none has."""
        self._unsigned_since = 0.0
        try:
            _require_pools(self._manager, config)
        except DuettoError as error:
            log.warning("no pools are filled in idle time: %s", error)
            self._unsigned_since = time.monotonic()
            return replace(config, pools=())
        return config

    def _follow_signature(self) -> None:
        """Fill pools once a person has signed them, without another reload."""
        if not self._unsigned_since or time.monotonic() - self._unsigned_since < _SIGNATURE_SECONDS:
            return
        self._unsigned_since = time.monotonic()
        with suppress(DuettoError):
            _require_pools(self._manager, self._config)
            self._filler.follow(self._config)
            self._unsigned_since = 0.0
            log.info("pools are filled in idle time from now on: a person has signed them")

    def _conditions(self) -> Sources:
        pems = self._certificates, {name: peer.certificates for name, peer in self._peers.items()}
        jobs = self._manager
        return all_alerts(self._config, jobs.ledger, jobs.store, pems, jobs.is_approval_ending)

    def _accept_renewals(self) -> None:
        for name in self._renewals.due():
            try:
                accept(load(self._config.path), name)
                self.reload()
            except DuettoError as error:
                log.warning(
                    "the renewed certificate of %(peer)s is not taken: %(error)s",
                    {"peer": name, "error": error},
                )
            else:
                log.info(
                    "the renewed certificate of %(peer)s is pinned, by the rule accept_renewals",
                    {"peer": name},
                )

    def _greet(self) -> None:
        for name in self._directory.names():
            with suppress(DuettoError):
                self._directory.greet(name)

    def stop(self) -> None:
        """Take no new work, end running sessions with the code `shutdown`, and close everything."""
        self._health.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
        if self.drain.state is not None and self._runner.running:
            log.warning("sessions that are ended before they are done: %d", self._runner.running)
        self._peer_server.drain()
        self._runner.stop()
        self._filler.end()
        if not self._runner.drain(GRACE_SECONDS):
            log.warning("a session did not end within %g seconds", GRACE_SECONDS)
        self._manager.stop()
        self._note_end()
        self._notifier.stop()
        self._stamper.stop()
        self._keeper.stop()
        self._links.end()
        self._peer_server.stop(1)
        for server in (self._control, *(server for _, server in self._of_roles)):
            server.stop(1).wait()
        if self._metrics is not None:
            self._metrics.stop()
        self._directory.close()
        self._runner.close()
        for path in (self._socket, *(one.path for one, _ in self._of_roles)):
            path.unlink(missing_ok=True)

    def _open_ports(
        self, config: Config, identity: Identity, peers: Mapping[str, PeerIdentity], terms: Terms
    ) -> None:
        self._peer_server = PeerServer(
            config.listen,
            identity,
            peers,
            keepalive=config.keepalive,
            sessions=config.limits.sessions,
            runner=self._runner,
            port=self._filler,
            terms=terms,
            renewals=self._renewals,
            links=self._links,
        )
        self._socket = socket_path(config)
        if os.path.lexists(self._socket) and not self._socket.is_socket():
            raise ConfigError(
                f"{self._socket} is not a socket, and in the way of the control socket.",
                f"Move it away: `mv {quote(str(self._socket))} {quote(str(self._socket) + '.old')}`.",
            )
        self._control = make_control_server(self._manager, self.reload, self.drain, str(self.address))
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._control)
        self._control.add_insecure_port(f"unix:{self._socket}")
        self._of_roles = []
        for one in config.sockets:
            one.check_place()
            server = make_control_server(self._manager, self.reload, self.drain, str(self.address), one.role)
            server.add_insecure_port(f"unix:{one.path}")
            self._of_roles.append((one, server))

    def _count_entries(self) -> dict[str, int]:
        """How many entries the ledger has, for the audit log; nothing of one that is broken."""
        with suppress(LedgerError):
            return {ENTRIES: len(self._manager.ledger.entries())}
        return {}

    def _note_end(self) -> None:
        """The last line of the audit log, and its head for the log of the service manager."""
        audit = self._manager.store.audit
        try:
            audit.write(STOPPED, pid=os.getpid(), **self._count_entries())
        except AuditError as problem:
            log.error("%s", problem)
        log.info("the audit log ends with line %d, hash %s", *audit.head)


def _digests(config: Config) -> dict[str, str]:
    """SHA-256 of the files that say what is allowed, so that the log tells which were in force."""
    found = {}
    for name, path in (
        ("configuration", config.path),
        ("policy", config.policy),
        ("catalog", config.catalog),
    ):
        try:
            found[f"{name}_digest"] = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            found[f"{name}_digest"] = "unreadable"
    return found


def _later(before: Config, after: Config) -> tuple[str, ...]:
    """The sections that have changed and that a running daemon does not follow."""
    limits = replace(after.limits, wait_days=before.limits.wait_days)
    followed = replace(
        after,
        peers=before.peers,
        accept_renewals=before.accept_renewals,
        keep_results_days=before.keep_results_days,
        limits=limits,
        pools=before.pools,
        on_event=before.on_event,
        stamps=before.stamps,
    )
    return tuple(
        entry.name for entry in fields(Config) if getattr(followed, entry.name) != getattr(before, entry.name)
    )


def check_dates(identity: Identity) -> None:
    """Refuse to go on with a certificate that is not valid by the clock of this machine.

    Raises:
        ConfigError: it has ended, and none follows it; or it has not begun.
    """
    now = dt.datetime.now(dt.UTC)
    if (begin := certificate.begins(identity.certificates)) > now:
        raise ConfigError(
            f"The certificate of this party is valid from {begin:%Y-%m-%d %H:%M} UTC on, and by the clock of "
            f"this machine it is {now:%Y-%m-%d %H:%M} UTC.",
            "Set the clock, and start again.",
        )
    if certificate.days_left(identity.certificates) < 0:
        raise ConfigError(
            "The certificate of this party has ended.",
            f"Run `duetto keys renew`, hand {identity.name}.pair to the peers, and let each run "
            "`duetto pair` with it.",
        )


def ending_soon(name: str, own: bytes, peers: Mapping[str, PeerIdentity]) -> list[str]:
    """What to say of certificates of this party and of its peers that end within 30 days, or have ended."""
    found = []
    if (days := certificate.days_left(own)) < certificate.WARN_DAYS:
        found.append(
            f"the certificate of {name} ends in {days} days: run `duetto keys renew`, and let the peers "
            f"run `duetto keys accept {name}`"
        )
    for peer in peers.values():
        if (days := certificate.days_left(peer.certificates)) < certificate.WARN_DAYS:
            # What has ended no longer opens a connection that could announce its successor.
            when, way = (
                (f"ends in {days} days", f"`duetto keys accept {peer.name}` after that")
                if days >= 0
                else ("has ended", "`duetto pair` with the file that it writes")
            )
            found.append(
                f"the certificate of {peer.name} {when}: ask {peer.name} to run `duetto keys renew`, "
                f"and run {way}"
            )
    return found


def _require_pools(jobs: JobManager, config: Config) -> None:
    """Check that a person has signed the list of pools, where persons have to.

    Raises:
        DuettoError: none has.
    """
    if config.pools:
        jobs.gate.require(Act.POOLS, pools_digest(config.pools), "The list of pools")
