"""Keeps a stream open to each peer that can be dialled, over which a peer that cannot dial back calls.

The other side of `parties.session.links`. What comes by the stream is done by the same code as what comes to
the port for peers, with the same bounds: so many calls at once and no more, each no longer than there, and
places for sessions as there. While all rooms for calls are taken nothing more is read, and flow control holds
the peer up. Nobody but the peer whose pinned certificate the connection showed can say anything by it.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import grpc

from parties.errors import PeerBusy, PeerUntrusted, VersionMismatch
from parties.rpc.client import PeerClient
from parties.rpc.pb.duetto.v1 import reverse_pb2 as reverse_pb
from parties.rpc.refusal import code_of, translate
from parties.rpc.send_queue import SendQueue
from parties.session.answering import Answering
from parties.session.directory import PeerDirectory
from parties.session.links import CALLS, Links
from parties.session.runner import SessionRunner
from smc.errors import DuettoError, PeerLost, ProtocolViolation

STEADY_SECONDS: Final = 10.0
"""A stream that was open for so long was not opened in vain: the pauses begin anew after it."""

RARE_SECONDS: Final = 3600.0
"""The pause after a peer has shown that it lacks the method, or breaks its rules."""

HURRY_SECONDS: Final = 1.0
"""The pause while a session with the peer has no connection."""

_ROOM_SECONDS = 1.0
_STOP_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Means:
    """What the streams to all peers have in common.

    Attributes:
        directory: the way to the peers.
        runner: runs sessions.
        answering: does what peers ask.
        links: learns which peers can be dialled.
        sessions: streams for sessions that one peer may ask for at once.
        pauses: seconds between attempts to reach a peer that cannot be reached; the last one repeats.
    """

    directory: PeerDirectory
    runner: SessionRunner
    answering: Answering
    links: Links
    sessions: int
    pauses: Sequence[float]


class Keeper:
    """The streams to all peers. Thread-safe.

    Args:
        means: what they have in common.
    """

    def __init__(self, means: Means) -> None:
        self._means = means
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._is_over = False

    def follow(self) -> None:
        """Keep streams to the peers that are paired now, over the connections that are to be used now."""
        with self._lock:
            if self._is_over:
                return
            names = set(self._means.directory.names())
            for peer in self._kept.keys() - names:
                self._kept.pop(peer).stop()
            for peer in names - self._kept.keys():
                self._kept[peer] = _Kept(peer, self._means)
                self._kept[peer].start()
            for kept in self._kept.values():
                kept.follow()

    def stop(self) -> None:
        """Close all streams, and open no others."""
        with self._lock:
            self._is_over, kept = True, list(self._kept.values())
        for one in kept:
            one.stop()
        for one in kept:
            one.join()


class _Kept:
    """The stream to one peer.

    Attributes:
        pause: seconds until another attempt, while there is no stream; None while one is there or tried.
    """

    def __init__(self, peer: str, means: Means) -> None:
        self._peer = peer
        self._means = means
        self._rooms = threading.BoundedSemaphore(CALLS)
        self._sessions = threading.BoundedSemaphore(means.sessions)
        self._workers = ThreadPoolExecutor(CALLS, thread_name_prefix=f"answer-{peer}")
        self._changed = threading.Condition()
        self._client: PeerClient | None = None
        self._call: Any = None
        self._is_over = self._hurries = False
        self.pause: float | None = None
        self._said = ""
        self._thread = threading.Thread(target=self._go, name=f"keep-{peer}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def follow(self) -> None:
        """Take another connection where the directory has one."""
        with suppress(DuettoError):
            client = self._means.directory.client(self._peer)
            with self._changed:
                if self._client is None or client is self._client:
                    return
                self._hurries = True
                self._cut()

    def stop(self) -> None:
        with self._changed:
            self._is_over = True
            self._cut()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        self._thread.join(_STOP_SECONDS)

    def _cut(self) -> None:
        if self._call is not None:
            self._call.cancel()
        self._changed.notify_all()

    def _go(self) -> None:
        failures = 0
        while not self._is_over:
            began = time.monotonic()
            try:
                self._keep()
                ended: DuettoError = PeerLost(f"{self._peer} has ended the stream.")
            except DuettoError as error:
                ended = error
            except Exception as problem:  # whatever it is, the next attempt comes
                log.exception("the stream to %(peer)s: a defect of the program", {"peer": self._peer})
                ended = DuettoError(
                    f"A defect of the program ({type(problem).__name__}).",
                    "The log names the place; report it.",
                    code="internal",
                )
            if time.monotonic() - began >= STEADY_SECONDS:
                failures = 0
            self._say(ended)
            self._rest(self._pause(ended, failures))
            failures += 1

    def _pause(self, ended: DuettoError, failures: int) -> float:
        if isinstance(ended, VersionMismatch | ProtocolViolation) or ended.stable_code == "internal":
            return RARE_SECONDS
        return self._means.pauses[min(failures, len(self._means.pauses) - 1)]

    def _rest(self, seconds: float) -> None:
        began = time.monotonic()
        with self._changed:
            self.pause = seconds
            self._changed.notify_all()
            while not (self._is_over or self._hurries):
                waited = time.monotonic() - began
                if waited >= seconds or (
                    waited >= HURRY_SECONDS and self._means.runner.has_outage(self._peer)
                ):
                    break
                self._changed.wait(min(seconds - waited, HURRY_SECONDS))
            self._hurries, self.pause = False, None

    def _keep(self) -> None:
        """Open the stream and do what the peer asks by it, until it ends.

        Raises:
            DuettoError: why it ended, or did not come about.
        """
        is_open = False
        answers: SendQueue[reverse_pb.ReverseAnswer] = SendQueue(self._rooms.release)
        with self._changed:  # `follow` compares with what is used from here on
            client = self._client = self._means.directory.client(self._peer)
            self._hurries = False
        call = client.link(answers)
        with self._changed:
            self._call = call
            if self._is_over or self._hurries:
                call.cancel()
        try:
            call.initial_metadata()  # come when the peer has taken the stream; else the next lines raise
            if is_open := call.is_active():
                self._means.links.note_dialled(self._peer, through=True)
                self._say(None)
            self._serve(client, call, answers)
        except grpc.RpcError as failure:
            error = translate(failure, self._peer, "Link")
            if not is_open and not self._is_cut():
                through = not isinstance(error, PeerLost | PeerUntrusted)
                self._means.links.note_dialled(self._peer, through=through)
            raise error from None
        finally:
            answers.end()
            call.cancel()
            with self._changed:
                self._call = None

    def _serve(self, client: PeerClient, call: Any, answers: SendQueue[reverse_pb.ReverseAnswer]) -> None:
        for number, asked in enumerate(call, 1):
            if asked.number != number or asked.WhichOneof("content") is None:
                raise ProtocolViolation(f"{self._peer} sent a call that has no place in its stream.")
            while not self._rooms.acquire(timeout=_ROOM_SECONDS):
                if not call.is_active():
                    return
            try:
                self._workers.submit(self._answer, client, asked, answers)
            except RuntimeError:  # this is being stopped
                self._rooms.release()
                return

    def _is_cut(self) -> bool:
        """Whether this side has cut the stream itself."""
        with self._changed:
            return self._is_over or self._hurries

    def _answer(
        self,
        client: PeerClient,
        asked: reverse_pb.ReverseCall,
        answers: SendQueue[reverse_pb.ReverseAnswer],
    ) -> None:
        """Do what the peer asks, and queue the answer; the room is free again when gRPC has taken it."""
        said = reverse_pb.ReverseAnswer(number=asked.number)
        content = asked.WhichOneof("content")
        try:
            if content == "hello":
                said.greeting.CopyFrom(self._means.answering.hello(self._peer, asked.hello))
            elif content == "propose":
                said.answer.CopyFrom(self._means.answering.propose(self._peer, asked.propose))
            elif content == "tell":
                said.answer.CopyFrom(self._means.answering.tell(self._peer, asked.tell))
            else:
                self._open(client)
                said.granted.SetInParent()
        except Exception as error:
            said.code = code_of(error, f"{content} of {self._peer}", peer=self._peer)
        answers.put(said)

    def _open(self, client: PeerClient) -> None:
        """Open a stream on which the peer dials for a session.

        Raises:
            PeerBusy: the peer has as many as it may have.
        """
        if not self._sessions.acquire(blocking=False):
            raise PeerBusy(
                f"{self._peer} has asked for as many streams for sessions as it may have.", "It has to wait."
            )

        stream = self._means.runner.stream(self._peer)

        def serve() -> None:
            try:
                self._means.runner.serve(
                    stream, functools.partial(self._means.answering.port.accept_session, self._peer)
                )
            finally:
                self._sessions.release()

        try:
            client.open_reverse(stream)
        except BaseException:
            self._sessions.release()
            raise
        threading.Thread(target=serve, name=f"session-{self._peer}", daemon=True).start()

    def _say(self, ended: DuettoError | None) -> None:
        """Log a change, and not each attempt."""
        said = ended.stable_code if ended is not None else "open"
        if said == self._said or self._is_over:
            return
        self._said = said
        if ended is None:
            log.info(
                "a stream to %(peer)s is open, over which it can call if it cannot dial", {"peer": self._peer}
            )
        else:
            log.info("no stream to %(peer)s is open now: %(why)s", {"peer": self._peer, "why": ended.what})
