"""A session outlives its connection: who dials again, who is let in, and what is never done twice.

    dialler                                                   listener
      session id, token, epoch, packets received    -------->   finds the session, ends what the last call
                                                                still delivers
      sends what the listener lacks                 <--------   packets received; sends what the dialler lacks

The side that dialled dials again, with growing pauses, since it is the one that is known to get through; or
it has the other one open the connection again, if that is how it gets through (`parties.session.links`). The
token is a digest of the nonces of the handshake, which only the two ends have seen: whoever shows it over the
pinned certificate of the peer continues this session. Each attempt has a greater epoch, so one that was held
up on its way comes too late. What is sent again are the packets of before, not made anew: no step of a
protocol runs twice, and a result is opened once.

Packets live in memory. A daemon that was killed has none, says so, and the session ends.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from parties.errors import JobError, PeerBusy, PeerUnreachable
from parties.rpc.packets import to_word
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.refusal import refusal_error
from parties.rpc.stream import PacketStream
from smc.errors import DuettoError, PeerLost, ProtocolViolation
from smc.numeric.random import Randomness

MAX_RESUMES = 1000
"""So often a session goes on over a new connection; each time costs a window of packets at most."""

PAUSES = (0.1, 5.0)
"""Seconds before the first attempt, and the longest pause; each doubles the last one, and varies by half."""

ANSWER_SECONDS = 15.0
"""How long the dialler waits for the answer to one attempt."""

_GONE = "no-session"


@dataclass(slots=True)
class _Held:
    """A session that the peer may resume."""

    stream: PacketStream
    job_id: str
    token: bytes = field(repr=False)
    epoch: int = 0
    resumes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)


class Resumable:
    """The sessions that peers have opened and may resume. Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[bytes, _Held] = {}

    @contextmanager
    def hold(self, session_id: bytes, token: bytes, job_id: str, stream: PacketStream) -> Iterator[None]:
        """Let the peer resume a session."""
        self._held[session_id] = _Held(stream, job_id, token)
        try:
            yield
        finally:
            del self._held[session_id]

    def replace(self, peer: str, job_id: str) -> None:
        """End the sessions of a job that the peer begins anew, since it has not heard of their beginning."""
        for held in list(self._held.values()):
            if (held.stream.peer, held.job_id) == (peer, job_id):
                held.stream.interrupt(PeerLost(f"{peer} has begun the session anew."))

    def resume(self, fresh: PacketStream, asked: pb.Resume) -> None:
        """Answer a peer that wants to go on with a session over the call of `fresh`.

        Raises:
            DuettoError: it may not; it has got the code. `ProtocolViolation` has ended the session, too.
        """
        held = self._held.get(asked.session_id)
        try:
            if (
                held is None
                or held.stream.peer != fresh.peer
                or not hmac.compare_digest(held.token, asked.token)
            ):
                raise JobError("There is no such session to resume.", code=_GONE)
            self._go_on(held, fresh, asked)
        except DuettoError as error:
            with suppress(PeerLost):
                fresh.send(pb.Packet(refusal=pb.Refusal(code=error.stable_code)), last=True)
            raise

    def _go_on(self, held: _Held, fresh: PacketStream, asked: pb.Resume) -> None:
        with held.lock:
            if asked.epoch <= held.epoch:
                raise JobError("A later attempt to resume the session came before.", code="late-resume")
            held.epoch = asked.epoch
            held.resumes += 1
            try:
                if held.resumes > MAX_RESUMES:
                    raise ProtocolViolation(f"{fresh.peer} resumed a session more than {MAX_RESUMES} times.")
                held.stream.carry_on(fresh, asked.received, answer=True)
            except ProtocolViolation as violation:
                held.stream.interrupt(violation)
                raise
            except PeerLost:
                raise JobError("The session to resume is over.", code=_GONE) from None


class Redialler:
    """Brings a session of the dialling side back, in the thread that has noticed the cut.

    Args:
        stream: the session's stream.
        make: makes a stream for one attempt.
        open: dials, and gives that stream its call.
        session_id: of the session.
        token: of the session.
    """

    def __init__(
        self,
        stream: PacketStream,
        make: Callable[[], PacketStream],
        open: Callable[[PacketStream], None],  # noqa: A002
        session_id: bytes,
        token: bytes,
    ) -> None:
        self._stream = stream
        self._make = make
        self._open = open
        self._session_id = session_id
        self._token = token
        self._random = Randomness()
        self._epoch = self._resumes = self._failures = 0
        self._progress = -1

    def __call__(self) -> None:
        """Try until the session has a call again, or wants none any more."""
        if self._stream.progress != self._progress:
            self._progress, self._failures = self._stream.progress, 0
        while self._stream.rest(self._pause()):
            fresh = self._make()
            try:
                self._attempt(fresh)
                return
            except (PeerLost, PeerUnreachable, PeerBusy):
                self._failures += 1
            except ProtocolViolation as violation:
                self._stream.interrupt(violation)
                return
            except DuettoError as error:
                self._stream.give_up(error)
                return
            finally:
                fresh.finish(0)
        self._failures += 1

    def _attempt(self, fresh: PacketStream) -> None:
        self._epoch += 1
        self._open(fresh)
        resume = pb.Resume(
            session_id=self._session_id,
            token=self._token,
            epoch=self._epoch,
            received=self._stream.received,
        )
        fresh.send(pb.Packet(resume=resume))
        packet = to_word(fresh.receive(ANSWER_SECONDS))
        content = packet.WhichOneof("content")
        if content == "refusal":
            self._refuse(packet.refusal.code)
        elif content != "resumed":
            raise ProtocolViolation(f"{fresh.peer} answered {content} to the wish to resume a session.")
        else:
            self._resumes += 1
            if self._resumes > MAX_RESUMES:
                self._stream.give_up(
                    PeerLost(f"The connection to {fresh.peer} was cut more than {MAX_RESUMES} times.")
                )
            self._stream.carry_on(fresh, packet.resumed.received)

    def _refuse(self, code: str) -> None:
        peer = self._stream.peer
        if code != _GONE:
            raise refusal_error(peer, code)
        self._stream.give_up(
            PeerLost(
                f"The connection to {peer} was cut, and {peer} does not hold the session any more: it has "
                "waited too long, was started again, or has ended the job.",
                "Its log has the reason; submit the job again.",
            )
        )

    def _pause(self) -> float:
        first, longest = PAUSES
        pause: float = min(longest, first * 2 ** min(self._failures, 10))
        return pause * (0.5 + self._random.bytes(1)[0] / 255)
