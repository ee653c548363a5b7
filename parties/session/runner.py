"""Runs sessions: handshake, task, orderly end, and the end in every other case."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from typing import TYPE_CHECKING, Any, Final

from parties.config import Limits
from parties.errors import JobError
from parties.ledger.heads import Heads
from parties.pki import Identity, PeerIdentity
from parties.ports.interfaces import Outage, SessionHeader, SessionTask
from parties.ports.terms import Terms
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.refusal import code_of
from parties.rpc.stream import PacketStream
from parties.rpc.transport import GrpcTransport
from parties.session import handshake
from parties.session.handshake import Accept, Endpoints
from parties.session.pools import PoolStore
from parties.session.resuming import Redialler, Resumable
from parties.session.shares import QUIET_SECONDS, Shares
from smc.channel.channel import Channel
from smc.channel.transport import Transport
from smc.ciphers.masks import MaskTables
from smc.errors import Cancelled, DuettoError, InconsistentTransfers, OutOfMemory, PeerAborted
from smc.numeric.random import Randomness
from smc.pieces import asking

if TYPE_CHECKING:
    from parties.lanes.process import LaneWorkers
    from smc.protocols.full_session import FullSession

LINGER_SECONDS = 5.0
"""How long the last packets may take to leave before a stream is cut off."""

GAVE_WAY: Final = "gave-way"
"""The code of a session in idle time that ended for a job."""

Wrap = Callable[[Transport], Transport]
Open = Callable[[PacketStream], None]
Closing = Callable[[str, str, str], None]


def _as_it_is(transport: Transport) -> Transport:
    return transport


class SessionRunner:
    """Runs sessions with any peer, up to a number at once.

    Args:
        identity: this party's keys.
        peers: the paired parties by name.
        limits: the bounds of the configuration.
        terms: the local versions and parameters.
        wrap: put around every transport, such as an emulated network.
        pools: where pools of correlated randomness are kept; without it sessions keep none.
        heads: what is said and kept of ledgers; without it sessions spend nothing and say nothing of them.
        cluster: where work under public keys is done, see `Session.cluster`; shut down with the runner.
        quiet_seconds: after so many seconds without a job this party is idle.
        closing: called with a peer, a job and a code where the peer's transfers have failed a check.
    """

    def __init__(
        self,
        identity: Identity,
        peers: Mapping[str, PeerIdentity],
        limits: Limits,
        terms: Terms | None = None,
        wrap: Wrap = _as_it_is,
        pools: PoolStore | None = None,
        heads: Heads | None = None,
        cluster: Executor | None = None,
        quiet_seconds: float = QUIET_SECONDS,
        closing: Closing | None = None,
    ) -> None:
        self._closing = closing
        self._identity = identity
        self._peers = peers
        self._limits = limits
        self._terms = terms or Terms()
        self._wrap = wrap
        self._pools = pools
        self._heads = heads
        self._cluster = cluster
        self._mask_tables = MaskTables()
        self._executor = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="arithmetic")
        self._shares = Shares(limits.sessions, peers, quiet_seconds)
        self._lock = threading.Lock()
        self._streams: dict[str, PacketStream] = {}
        self._resumable = Resumable()

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Run sessions with these peers from now on; sessions under way go on as they are."""
        self._peers = dict(peers)
        self._shares.set_peers(peers)

    def place(self, peer: str) -> AbstractContextManager[None]:
        """Room for one session with a peer; see `Shares.place`."""
        return self._shares.place(peer)

    @property
    def is_quiet(self) -> bool:
        """Whether this party is idle; see `Shares.is_quiet`."""
        return self._shares.is_quiet

    def give_way(self) -> None:
        """Take note that a job comes; see `Shares.give_way`."""
        self._shares.give_way()

    def stream(self, peer: str) -> PacketStream:
        """A new stream with this party's bounds, not yet started."""
        limits = self._limits
        return PacketStream(peer, limits.message_seconds, limits.inbox_bytes, limits.reconnect_seconds)

    def dial(self, peer: str, task: SessionTask, open: Open) -> None:  # noqa: A002
        """Run a session as the side that dials, in this thread.

        The caller holds a `place`, unless the task is idle, and tells the task's `ended`.

        Args:
            peer: the peer's name.
            task: the local part.
            open: dials and gives a stream its call; again whenever the connection is cut.

        Raises:
            DuettoError: what the task raised, or what went wrong with the peer.
            PeerBusy: the task is idle, and this party is not.
        """
        stream = self.stream(peer)
        with self._seat(stream) if task.idle else nullcontext():
            self._dial(stream, task, open)

    def _dial(self, stream: PacketStream, task: SessionTask, open: Open) -> None:  # noqa: A002
        peer = stream.peer

        def endure(session_id: bytes, token: bytes, after: pb.Packet | None) -> None:
            redial = Redialler(stream, functools.partial(self.stream, peer), open, session_id, token)
            stream.endure(after, redial)

        try:
            open(stream)
            handshake.dial(stream, self._sides(peer), task, Randomness(), endure)
            self._run(stream, task)
        finally:
            stream.finish(LINGER_SECONDS)

    def serve(self, stream: PacketStream, accept: Accept) -> None:
        """Run a session as the side that was dialled, in this thread; or give the call to one that goes on.

        A place is taken only when the peer has named a job that may run. Errors end here: the peer got the
        code, the task's `ended` the error, the log the text.
        """
        failure: DuettoError | None = None
        task: SessionTask | None = None
        job_id = ""
        with ExitStack() as room:

            def admit(header: SessionHeader) -> SessionTask:
                nonlocal job_id
                found = accept(header)
                job_id = found.job_id
                if job_id not in self._streams:
                    self._resumable.replace(stream.peer, job_id)
                room.enter_context(self._seat(stream) if found.idle else self.place(stream.peer))
                return found

            def endure(session_id: bytes, token: bytes, after: pb.Packet | None) -> None:
                room.enter_context(self._resumable.hold(session_id, token, job_id, stream))
                stream.endure(after)

            try:
                opened = handshake.first(stream)
                if opened.WhichOneof("content") == "resume":
                    self._resumable.resume(stream, opened.resume)
                    return
                task = handshake.listen(
                    stream, self._sides(stream.peer), admit, Randomness(), opened=opened, endure=endure
                )
                self._run(stream, task)
            except DuettoError as error:
                failure = error
                code_of(error, f"Session with {stream.peer}", peer=stream.peer, job=job_id)
            finally:
                stream.finish(LINGER_SECONDS)
                if task is not None:
                    task.ended(failure)

    def cancel(self, job_id: str) -> bool:
        """End the session of a job, whichever side dialled; says whether there was one."""
        with self._lock:
            stream = self._streams.get(job_id)
        if stream is not None:
            stream.interrupt(Cancelled("The session was ended from this side.", "Submit the job again."))
        return stream is not None

    def outage(self, job_id: str) -> Outage | None:
        """For how long the session of a job has had no connection; None if it has one, or does not run."""
        with self._lock:
            stream = self._streams.get(job_id)
        return stream.outage if stream is not None else None

    def has_outage(self, peer: str) -> bool:
        """Whether a session with a peer has no connection and waits for one."""
        with self._lock:
            streams = [stream for stream in self._streams.values() if stream.peer == peer]
        return any(stream.outage is not None for stream in streams)

    @property
    def running(self) -> int:
        """Sessions of jobs that have a place."""
        return self._shares.taken

    def refuse_new(self) -> None:
        """Take no more sessions; those that run go on, also over new connections where theirs are cut.

        Peers get the code `busy`, by which they try again later and no job fails.
        """
        self._shares.refuse_new()

    def stop(self) -> None:
        """Take no more sessions and end those that run; their peers get the code `shutdown`."""
        self._shares.close()
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.interrupt(
                Cancelled("The daemon was stopped.", "Start it and submit the job again.", code="shutdown")
            )

    def drain(self, seconds: float) -> bool:
        """Wait until no session runs any more; says whether that was so within `seconds`."""
        return self._shares.drain(seconds)

    def close(self) -> None:
        """Free the worker threads and leave the cluster, after all sessions have ended."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        if self._cluster is not None:
            self._cluster.shutdown(wait=False, cancel_futures=True)

    def _seat(self, stream: PacketStream) -> AbstractContextManager[None]:
        """The seat for work in idle time, whose session ends when a job comes."""
        way = Cancelled("A job came while pools were filled.", "They are filled later.", code=GAVE_WAY)
        return self._shares.seat(functools.partial(stream.interrupt, way))

    def _sides(self, peer: str) -> Endpoints:
        return Endpoints(
            own=self._identity.name,
            own_key=self._identity.paillier.public.fingerprint,
            peer=peer,
            peer_key=self._peers[peer].paillier.fingerprint,
            terms=self._terms,
            peer_signing=self._peers[peer].signing,
            heads=self._heads,
        )

    def _run(self, stream: PacketStream, task: SessionTask) -> None:
        """Run the task over a stream whose handshake is done, up to END from both sides."""
        seconds = min(task.deadline_seconds, self._limits.job_seconds)
        late = JobError(
            f"The session lasted longer than {seconds:g} seconds.",
            "Allow the job more time.",
            code="deadline",
        )
        timer = threading.Timer(seconds, stream.interrupt, [late])
        timer.daemon = True
        transport = self._wrap(GrpcTransport(stream))
        channel = Channel(transport)
        try:
            with (
                self._register(stream, task.job_id),
                asking(stream.check),
                closing(_workers(task.lanes)) as workers,
            ):
                if task.evidence is not None:  # only now, else the record of one that runs would be replaced
                    channel = Channel(task.evidence.record(transport))
                timer.start()
                with closing(self._session(channel, stream.peer, task, workers)) as session:
                    try:
                        task.run(session)
                        session.verify()
                    finally:
                        if task.evidence is not None and session.has_own:
                            task.evidence.took_key()
                    if task.evidence is None:
                        channel.finish()
                    else:
                        task.evidence.finish(channel)
        except PeerAborted:
            raise
        except DuettoError as error:
            if isinstance(error, InconsistentTransfers):
                self._close(stream, task.job_id, error)
            _abort(channel, error.stable_code)
            raise
        except MemoryError:  # of what is read before and kept after the run
            _abort(channel, OutOfMemory.code)
            raise OutOfMemory from None
        except Exception as error:
            code = code_of(error, f"Job {task.job_id}", peer=stream.peer, job=task.job_id)
            _abort(channel, code)
            raise DuettoError(
                f"The job failed because of a defect of the program ({type(error).__name__}).",
                "The daemon's log names the place; report it.",
                code=code,
            ) from None
        finally:
            timer.cancel()
            transport.close()

    def _close(self, stream: PacketStream, job_id: str, error: DuettoError) -> None:
        """Close the peer, whose other sessions end as well."""
        if self._closing is not None:
            try:
                self._closing(stream.peer, job_id, error.stable_code)
            except DuettoError as problem:  # it is closed until the daemon is started again
                code_of(problem, f"Closing {stream.peer}", peer=stream.peer)
        with self._lock:
            others = [one for one in self._streams.values() if one.peer == stream.peer and one is not stream]
        for other in others:
            other.interrupt(Cancelled(f"{stream.peer} was closed.", "See `duetto peer list`."))

    def _session(self, channel: Channel, peer: str, task: SessionTask, workers: LaneWorkers) -> FullSession:
        from smc.protocols.full_session import FullSession  # with all engines: no port waits for them

        given: dict[str, Any] = {
            "role": task.role,
            "channel": channel,
            "executor": self._executor,
            "own_key": self._identity.paillier,
            "peer_key": self._peers[peer].paillier,
            "report": task.report,
            "network": task.network,
            "lanes": task.lanes,
            "open_lane": workers.open,
        }
        if task.evidence is not None:
            # All randomness has to follow from the seed: none of other runs, and none of the cluster's.
            return FullSession(random=task.evidence.randomness(), **given)
        return FullSession(
            mask_tables=self._mask_tables,
            cluster=self._cluster,
            precomputed=self._pools.with_peer(peer) if self._pools is not None else None,
            **given,
        )

    @contextmanager
    def _register(self, stream: PacketStream, job_id: str) -> Iterator[None]:
        with self._lock:
            if job_id in self._streams:
                raise JobError(f"Job {job_id} is running already.", "Wait for its end.", code="job-running")
            self._streams[job_id] = stream
        if self._shares.is_closed:
            self.stop()
        try:
            yield
        finally:
            with self._lock:
                del self._streams[job_id]


def _workers(lanes: int) -> LaneWorkers:
    from parties.lanes.process import LaneWorkers  # with all engines, like a session

    return LaneWorkers(lanes)


def _abort(channel: Channel, code: str) -> None:
    with suppress(DuettoError):
        channel.abort(code)
