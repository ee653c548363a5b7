"""The control service: the local people's way to the jobs, over the party's Unix socket."""

from __future__ import annotations

import functools
import json
import logging
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Final, TypeVar

import grpc
from typing_extensions import override

from commons.errors import near
from parties.config import MAX_DRAIN_SECONDS
from parties.contracts.records import Summary
from parties.contracts.state import State
from parties.errors import PeerBusy, PolicyError
from parties.jobs.agreement.decisions import Person, check_named
from parties.jobs.faults import METADATA, pack, status
from parties.jobs.manager import JobManager
from parties.person_roles import PersonRole
from parties.persons.roles import SOCKETS
from parties.persons.statement import Presented
from parties.persons.webauthn import MAX_SIGNATURE
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from parties.rpc.pb.duetto.v1 import control_pb2_grpc
from parties.session.draining import Drain
from smc.errors import DuettoError, UsageError

SERVICE = "duetto.v1.Control"
"""The name of the service, for the health service."""

R = TypeVar("R")
Verb = Callable[["ControlService", Any, grpc.ServicerContext], R]
_PIECE_BYTES = 1 << 20
_LOG = logging.getLogger("duetto.control")


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What reading the configuration again has changed.

    Attributes:
        added: names of new peers.
        removed: names of peers that are gone.
        changed: names of peers whose address or keys are others.
        later: sections that have changed and take effect when the daemon is started again.
        files: `policy`, `catalog` and `pools`, where they have changed since the daemon last looked.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def make_control_server(
    manager: JobManager,
    reload: Callable[[], Reloaded],
    drain: Drain,
    listens: str = "",
    role: PersonRole | None = None,
) -> grpc.Server:
    """A server that offers the jobs of `manager`, for a socket that only people of this party reach.

    Args:
        manager: the jobs.
        reload: reads the configuration again.
        drain: lets the daemon come to rest.
        listens: where peers are listened to.
        role: whose socket it is, which bounds what it takes; None for that of the daemon's own account.
    """
    threads = sum(ROOM.values()) + _QUICK_THREADS
    server = grpc.server(ThreadPoolExecutor(threads, thread_name_prefix="control"))
    control_pb2_grpc.add_ControlServicer_to_server(  # type: ignore[no-untyped-call]
        ControlService(manager, reload, drain, listens, role), server
    )
    return server


def _abort(context: grpc.ServicerContext, problem: Exception) -> None:
    """End a call with an error; what is not a `DuettoError` is a defect, of which only the type is shown."""
    if isinstance(problem, DuettoError):
        error = problem
    else:
        _LOG.exception("A control call failed by a defect of the program.")
        error = DuettoError(
            f"The daemon has a defect ({type(problem).__name__}).",
            "Its log has the details; report it.",
            code="internal",
        )
    context.set_trailing_metadata(((METADATA, pack(error)),))
    context.abort(status(error), error.stable_code)


class Kind(Enum):
    """How long a verb may hold its thread, and so how many of the kind may run at once.

    QUICK verbs end by themselves. Those that read data or wait for the peer, and those that people leave
    open, are bounded in number: whatever they do, a thread is left for every quick one.
    """

    QUICK = "quick"
    WORK = "work"
    WATCH = "watch"


ROOM: Final = {Kind.WORK: 16, Kind.WATCH: 64}
"""Calls of a kind at once; what has no room here is not bounded."""

_QUICK_THREADS = 16


def _guard(kind: Kind) -> Callable[[Verb[R]], Verb[R | None]]:
    """Give a verb room of its kind, and turn what it raises into the status and metadata of the call."""

    def guard(verb: Verb[R]) -> Verb[R | None]:
        @functools.wraps(verb)
        def call(service: ControlService, request: Any, context: grpc.ServicerContext) -> R | None:
            try:
                service.check_role(verb.__name__)
                with service.room(kind):
                    return verb(service, request, context)
            except Exception as problem:
                _abort(context, problem)
                return None

        return call

    return guard


def _guarded_stream(kind: Kind) -> Callable[[Verb[Iterator[R]]], Verb[Iterator[R]]]:
    """The same for a verb that answers with a stream."""

    def guard(verb: Verb[Iterator[R]]) -> Verb[Iterator[R]]:
        @functools.wraps(verb)
        def call(service: ControlService, request: Any, context: grpc.ServicerContext) -> Iterator[R]:
            try:
                service.check_role(verb.__name__)
                with service.room(kind):
                    yield from verb(service, request, context)
            except Exception as problem:
                _abort(context, problem)

        return call

    return guard


def _job_decided(request: pb.Decision | pb.JobName) -> str:
    """The job that somebody decides on, named clearly enough; that it is one job is for the store to say."""
    check_named(request.job_id)
    return request.job_id


def _person(request: pb.Decision) -> Person:
    return Person(request.actor, request.uid)


def _read_presented(request: Any) -> Presented | None:
    """The person's signature that came with a request, for the gate to check; None without one."""
    if not request.HasField("act"):
        return None
    act = request.act
    texts = (act.person, act.behalf, act.moment, act.key)
    if max(map(len, (*texts, act.signature))) > MAX_SIGNATURE:
        raise UsageError("The signature of a person has a field that is too long.", "Sign with this release.")
    return Presented(*texts, act.signature)


class ControlService(control_pb2_grpc.ControlServicer):
    """See control.proto; every verb is one of `JobManager`."""

    def __init__(
        self,
        manager: JobManager,
        reload: Callable[[], Reloaded],
        drain: Drain,
        listens: str,
        role: PersonRole | None,
    ) -> None:
        self._manager = manager
        self._role = role
        self._listens = listens
        self._reload = reload
        self._drain = drain
        self._rooms = {kind: threading.BoundedSemaphore(calls) for kind, calls in ROOM.items()}

    def check_role(self, verb: str) -> None:
        """Check that the role of this socket may call a verb.

        Raises:
            PolicyError: it may not (code `role`).
        """
        role = self._role
        if role is None:
            return
        is_unsigned = verb == "Approve" and role is PersonRole.OPERATOR and not self._manager.gate.persons()
        if role not in SOCKETS[verb] or is_unsigned:
            others = [one.value for one in PersonRole if one in SOCKETS[verb] and one is not role]
            raise PolicyError(
                f"This is the socket of the role {role.value}, which does not take {verb!r}.",
                f"Use that of a {' or '.join(others)}, or ask one of them.",
                code="role",
            )

    @contextmanager
    def room(self, kind: Kind) -> Iterator[None]:
        """Room for one verb of a kind.

        Raises:
            PeerBusy: as many of the kind run as may.
        """
        room = self._rooms.get(kind)
        if room is None:
            yield
            return
        if not room.acquire(blocking=False):
            raise PeerBusy(
                f"The daemon has {ROOM[kind]} open calls of the kind {kind.value!r}, as many as it allows.",
                "End some of them, or try again later.",
            )
        try:
            yield
        finally:
            room.release()

    @_guard(Kind.WORK)
    @override
    def Submit(self, request: pb.JobText, context: grpc.ServicerContext) -> pb.Job:
        """Submit a job."""
        return self._job(self._manager.submit(request.toml, _read_presented(request)))

    @_guard(Kind.WORK)
    @override
    def Check(self, request: pb.JobText, context: grpc.ServicerContext) -> pb.Report:
        """Check a job."""
        return pb.Report(json=json.dumps(self._manager.check(request.toml)))

    @_guard(Kind.WORK)
    @override
    def Estimate(
        self,
        request: pb.EstimateRequest,
        context: grpc.ServicerContext,
    ) -> pb.Report:
        """Estimate a job."""
        from smc.protocols.exchange.row_counts import MAX_ROWS  # with what understands jobs

        link = (request.rtt_ms, request.mbit)
        if not all(0 <= one < math.inf for one in link) or max(request.rows, request.peer_rows) > MAX_ROWS:
            raise UsageError(
                "The number of rows, the round trip or the rate is negative, not finite or too large.",
                f"Give numbers of 0 or more, and at most {MAX_ROWS} rows, which is what a run takes.",
            )
        given = {"rows": request.rows, "rtt_ms": request.rtt_ms, "mbit": request.mbit}
        report = self._manager.estimate(request.toml, **given, peer_rows=request.peer_rows)
        return pb.Report(json=json.dumps(report))

    @_guarded_stream(Kind.QUICK)
    @override
    def List(
        self,
        request: pb.ListRequest,
        context: grpc.ServicerContext,
    ) -> Iterator[pb.Job]:
        """Jobs in short, the newest first."""
        known = [state.value for state in State]
        for name in request.states:
            if name not in known:
                raise UsageError(f"{name!r} is not a state of a job.", near(name, known))
        states = [State(name) for name in request.states]
        limit = request.limit or None
        return map(self._summary, self._manager.store.all(*states, limit=limit, before=request.before))

    @_guard(Kind.QUICK)
    @override
    def Show(self, request: pb.JobName, context: grpc.ServicerContext) -> pb.Job:
        """One job."""
        return self._job(self._manager.store.find(request.job_id))

    @_guarded_stream(Kind.WATCH)
    @override
    def Watch(self, request: pb.JobName, context: grpc.ServicerContext) -> Iterator[pb.Job]:
        """One job and its changes."""
        return map(self._summary, self._manager.watch(request.job_id, context.is_active))

    @_guarded_stream(Kind.WORK)
    @override
    def Result(
        self,
        request: pb.JobName,
        context: grpc.ServicerContext,
    ) -> Iterator[pb.Piece]:
        """This party's result."""
        data = self._manager.result(request.job_id).encode()
        return (pb.Piece(data=data[i : i + _PIECE_BYTES]) for i in range(0, len(data), _PIECE_BYTES))

    @_guard(Kind.QUICK)
    @override
    def Certificate(self, request: pb.JobName, context: grpc.ServicerContext) -> pb.Report:
        """The certificate of a finished job."""
        return pb.Report(json=json.dumps(self._manager.certificate(request.job_id)))

    @_guard(Kind.QUICK)
    @override
    def Cancel(self, request: pb.Decision, context: grpc.ServicerContext) -> pb.Job:
        """Give a job up."""
        return self._job(
            self._manager.cancel(_job_decided(request), _person(request), _read_presented(request))
        )

    @_guard(Kind.QUICK)
    @override
    def Approve(self, request: pb.Decision, context: grpc.ServicerContext) -> pb.Job:
        """Allow a job."""
        who = _person(request)
        return self._job(
            self._manager.approve(_job_decided(request), who, request.shown, _read_presented(request))
        )

    @_guard(Kind.QUICK)
    @override
    def Deny(self, request: pb.Decision, context: grpc.ServicerContext) -> pb.Job:
        """Refuse a job."""
        who, reason = _person(request), request.reason[:500]
        return self._job(self._manager.deny(_job_decided(request), who, reason, _read_presented(request)))

    @_guard(Kind.QUICK)
    @override
    def Forget(self, request: pb.JobName, context: grpc.ServicerContext) -> pb.Job:
        """Delete the result of a job."""
        return self._job(self._manager.forget(_job_decided(request), _read_presented(request)))

    @_guard(Kind.WORK)
    @override
    def Prune(self, request: pb.PruneRequest, context: grpc.ServicerContext) -> pb.PruneReply:
        """Delete old results."""
        deleted = self._manager.prune(request.older_than_days, _read_presented(request))
        return pb.PruneReply(deleted=deleted)

    @_guard(Kind.QUICK)
    @override
    def Status(
        self,
        request: pb.StatusRequest,
        context: grpc.ServicerContext,
    ) -> pb.StatusReply:
        """How the daemon is."""
        problem, persons = "", ""
        try:
            persons = self._manager.gate.text_in_force()
        except DuettoError as error:
            problem = str(error)
        draining = self._drain.state
        states = {state.value: count for state, count in self._manager.store.counts().items()}
        return pb.StatusReply(
            party=self._manager.name,
            peers=self._manager.peer_names,
            jobs=states,
            ledger_whole=not problem,
            ledger_problem=problem,
            listens=self._listens,
            database_lost=not self._manager.store.is_in_place,
            persons=persons,
            reversed=[peer for peer in self._manager.peer_names if self._manager.is_reversed(peer)],
            closed=[pb.ClosedPeer(**asdict(one)) for one in self._manager.closed.all().values()],
            draining=None if draining is None else pb.Draining(**asdict(draining)),
        )

    @_guard(Kind.QUICK)
    @override
    def Reload(
        self,
        request: pb.ReloadRequest,
        context: grpc.ServicerContext,
    ) -> pb.ReloadReply:
        """Read the configuration again."""
        return pb.ReloadReply(**asdict(self._reload()))

    @_guard(Kind.QUICK)
    @override
    def OpenPeer(self, request: pb.PeerDecision, context: grpc.ServicerContext) -> pb.PeerReply:
        """Open a closed peer."""
        who = Person(request.actor, request.uid)
        self._manager.open_peer(request.peer, who, _read_presented(request))
        return pb.PeerReply()

    @_guard(Kind.QUICK)
    @override
    def Drain(self, request: pb.DrainRequest, context: grpc.ServicerContext) -> pb.Draining:
        """Begin no job any more, and end when those that run have ended."""
        if not 0 <= request.seconds <= MAX_DRAIN_SECONDS:
            raise UsageError(
                "The seconds that running jobs may take are not in the range.",
                f"Give a number from 1 to {MAX_DRAIN_SECONDS}, or none for what is configured.",
            )
        return pb.Draining(**asdict(self._drain.start(request.seconds)))

    def _summary(self, job: Summary) -> pb.Job:
        """What is said of a job without opening its papers."""
        progress = self._manager.store.progress(job.job_id)
        running = job.state is State.RUNNING
        return pb.Job(
            job_id=job.job_id,
            digest=job.digest,
            state=job.state.value,
            analysis=job.analysis,
            title=job.title,
            role=job.role.value,
            peer=job.peer,
            direction="outgoing" if job.outgoing else "incoming",
            created=job.created,
            updated=job.updated,
            stage=progress.stage if running else "",
            done=progress.done if running else 0,
            of=progress.of if running else 0,
            elapsed_seconds=self._manager.store.elapsed(job) if running else 0,
            estimated_seconds=progress.seconds if running else 0,
            error=pb.Failure(code=job.error_code, what=job.error_what, hint=job.error_hint),
            format=job.format,
            older_release=not job.is_readable,
            result_deleted=job.deleted,
            waits_for=self._manager.waits_for(job),
        )

    def _job(self, job: Summary) -> pb.Job:
        """All that is said of a job."""
        papers = self._manager.store.papers(job.job_id)
        whole = self._summary(job)
        whole.shown = self._manager.store.digest(job.job_id).hex()
        whole.contract_json = papers.contract
        whole.facts_json = papers.facts
        whole.audit_json = json.dumps(self._manager.audit(job))
        whole.leakage_json = json.dumps(self._manager.leakage(job))
        return whole
