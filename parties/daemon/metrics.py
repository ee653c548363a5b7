"""Figures about a running daemon, and whether it can run jobs, for a monitoring system on the same machine.

OpenMetrics text at `http://127.0.0.1:PORT/metrics`, if `[metrics] port` is configured. Whoever can use the
loopback address of the machine can read it: it has counts, names of peers, rules and populations of the local
policy, what of each budget is spent, and sums of bytes over all runs of an analysis; no jobs, titles, data or
results.
"""

from __future__ import annotations

import logging
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from parties.config import Config
from parties.contracts.state import State
from parties.daemon import healthz
from parties.daemon.healthz import Health
from parties.errors import ConfigError
from parties.jobs.manager import JobManager
from parties.ledger.entries import LedgerError
from parties.pki import certificate
from parties.pki.home import load_peer, own_pairing
from parties.policy.budgets import gauges
from parties.release import release
from parties.session.draining import Drain
from smc.errors import DuettoError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
PATH: Final = "/metrics"
CALLERS: Final = 16
"""Callers that are answered at once; each is a thread."""

CALLER_SECONDS: Final = 10.0
"""How long one of them may take in all."""

_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Figures:
    """What is asked of a daemon each time somebody reads its metrics.

    Args:
        config: says which configuration is in force.
        manager: the jobs.
        drain: whether jobs begin.
    """

    def __init__(self, config: Callable[[], Config], manager: JobManager, drain: Drain) -> None:
        self._in_force = config
        self._config = config()
        self._manager = manager
        self._drain = drain
        self._budgets: tuple[object, list[Metric]] = (None, [])

    def collect(self) -> Iterator[Metric]:
        """All figures as they are now."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        self._config = self._in_force()
        yield InfoMetricFamily("duetto", "The program.", {"release": release(), "party": self._config.name})
        jobs = GaugeMetricFamily("duetto_jobs", "Jobs by state.", labels=["state"])
        counts = self._manager.store.counts()
        for state in State:
            jobs.add_metric([state.value], counts.get(state, 0))
        yield jobs
        days = GaugeMetricFamily(
            "duetto_certificate_days", "Days until the certificate of a party expires.", labels=["party"]
        )
        for name, pem in self._certificates():
            days.add_metric([name], certificate.days_left(pem))
        yield days
        free = shutil.disk_usage(self._config.home).free
        yield GaugeMetricFamily("duetto_disk_free_bytes", "Free space where the home lies.", value=free)
        draining = self._drain.state is not None
        yield GaugeMetricFamily(
            "duetto_draining", "1 if no job begins until it is started again.", value=draining
        )
        last = self._manager.store.audit.head[0]
        yield GaugeMetricFamily("duetto_audit_lines", "Lines of the audit log.", value=last + 1)
        yield from self._traffic()
        yield from self._of_ledger()

    def _certificates(self) -> Iterator[tuple[str, bytes]]:
        with suppress(DuettoError):
            yield self._config.name, own_pairing(self._config).identity.certificates
        for peer in self._config.peers:
            with suppress(DuettoError):  # `duetto doctor` says what is wrong with it
                yield peer.name, load_peer(self._config, peer).certificates

    def _traffic(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily

        sums = self._manager.carried.sums()
        for name, about, figure in (
            ("duetto_runs", "Runs that are over, also failed ones", lambda runs, _: runs),
            ("duetto_sent_bytes", "Bytes of messages that runs have sent", lambda _, all_of: all_of.sent),
            ("duetto_received_bytes", "Bytes that they have received", lambda _, all_of: all_of.received),
            ("duetto_messages", "Messages in both directions", lambda _, all_of: all_of.messages),
            ("duetto_rounds", "Rounds of messages", lambda _, all_of: all_of.rounds),
        ):
            family = CounterMetricFamily(name, f"{about}, since the daemon started.", labels=["analysis"])
            for analysis, (runs, all_of) in sums.items():
                family.add_metric([analysis], figure(runs, all_of))
            yield family

    def _of_ledger(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        whole = readable = True
        try:
            entry = self._manager.ledger.head()
            # Sums are exact and so not cheap; they change with the ledger, the policy and the catalog only.
            files = [path.stat().st_mtime_ns for path in (self._config.policy, self._config.catalog)]
            state = (entry and entry.hash, files)
            if self._budgets[0] != state:
                self._budgets = (state, list(self._spending()))
        except LedgerError:
            whole, self._budgets = False, (None, [])
        except (DuettoError, OSError):
            readable, self._budgets = False, (None, [])
        yield GaugeMetricFamily("duetto_ledger_whole", "0 if no job can run for it.", value=int(whole))
        yield GaugeMetricFamily(
            "duetto_policy_readable",
            "0 if policy or catalog are wrong and no job can run.",
            value=int(readable),
        )
        yield from self._budgets[1]

    def _spending(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        labels = ["rule", "population", "peer"]
        spent = GaugeMetricFamily("duetto_budget_spent_epsilon", "Epsilon spent, rounded up.", labels=labels)
        total = GaugeMetricFamily("duetto_budget_epsilon", "Epsilon that a rule allows.", labels=labels)
        for gauge in gauges(self._config, self._manager.ledger, [peer.name for peer in self._config.peers]):
            whose = [gauge.rule, gauge.account, gauge.peer]
            spent.add_metric(whose, float("inf") if gauge.spent is None else float(gauge.spent))
            total.add_metric(whose, float(gauge.total))
        return spent, total


class _Server(ThreadingHTTPServer):
    """Has so many callers at once, each for so long, whatever they send or leave unread."""

    daemon_threads = True
    request_queue_size = 128
    """Callers that wait to be accepted; the usual 5 lets a burst of them wait for seconds."""

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._places = threading.BoundedSemaphore(CALLERS)
        self._callers: set[socket.socket] = set()

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        """Wait for a place, then answer in a thread of its own; further callers wait in the queue."""
        self._places.acquire()
        super().process_request(request, client_address)

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and cut the connection where that takes too long."""
        late = threading.Timer(CALLER_SECONDS, _cut, [request])
        late.daemon = True
        late.start()
        self._callers.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            late.cancel()
            self._callers.discard(request)
            self._places.release()

    def cut(self) -> None:
        """End all callers, so that nobody waits for them."""
        for caller in [*self._callers]:
            _cut(caller)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that leaves early is no news; whatever else goes wrong is a line of the log."""
        problem = sys.exception()
        if not isinstance(problem, OSError):
            log.error("a request for metrics was not answered: %s", type(problem).__name__, exc_info=problem)


def _cut(request: socket.socket) -> None:
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class MetricsServer:
    """Answers on the loopback address, and only to requests that name it as their host.

    Args:
        port: to listen on; 0 lets the system choose.
        figures: what to answer.
        health: whether jobs can run; without it `/healthz` is no page.

    Raises:
        ConfigError: the package is not installed, or the port is in use.
    """

    def __init__(self, port: int, figures: Figures, health: Health | None = None) -> None:
        try:
            from prometheus_client import CollectorRegistry, ProcessCollector
            from prometheus_client.openmetrics.exposition import generate_latest
        except ImportError:
            raise ConfigError(
                "[metrics] needs prometheus-client, which is not installed.",
                "Run pip install 'duetto[metrics]'.",
            ) from None
        registry = CollectorRegistry()
        registry.register(figures)
        ProcessCollector(registry=registry)
        try:
            self._server = _Server((HOST, port), _handler(partial(generate_latest, registry), health))
        except OSError as problem:
            raise ConfigError(
                f"[metrics] cannot listen on {HOST}:{port}: {problem.strerror}.", "Choose another port."
            ) from None

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def start(self) -> None:
        """Answer from now on."""
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def stop(self) -> None:
        """Answer no more."""
        self._server.cut()
        self._server.shutdown()
        self._server.server_close()


def _handler(read: Callable[[], bytes], health: Health | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = CALLER_SECONDS
        server_version = "duetto"
        sys_version = ""

        def do_GET(self) -> None:
            port = self.connection.getsockname()[1]
            # A page of another site whose name was made to point here would be able to read the answer.
            if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
                self.send_error(421)
            elif self.path == PATH:
                self._give(HTTPStatus.OK, _TYPE, read())
            elif self.path == healthz.PATH and health is not None:
                status, body = health.answer()
                self._give(status, "application/json", body)
            else:
                self.send_error(404)

        def _give(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
