"""A conversation in packets as two bounded queues that block, time out and can be closed from any thread.

gRPC takes packets out and puts them in by a `parties.rpc.call.Call`; reading stops while the inbox is full,
so that HTTP/2's flow control holds the peer up. Either side may have dialled.

A stream that endures outlives its call. It keeps each packet until the peer has acknowledged it, and counts
what comes. When the call is cut, sending and receiving wait for the next one (`carry_on`), on which exactly
the packets are sent again that the peer lacks, as they were. What an earlier call delivers late is not taken.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from parties.ports.interfaces import Outage
from parties.rpc.call import Call
from parties.rpc.codec import Packet, write
from parties.rpc.packets import Arrivals, is_end, is_failure, is_turn, size
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.replay import Replay
from smc.errors import DuettoError, PeerLost

WINDOW_BYTES = 16 << 20
"""Bytes that may wait to be sent or acknowledged before `send` blocks."""

RECEIPT_BYTES = 4 << 20
"""The peer gets a receipt after so many bytes; far below the window, so that no sender waits for one."""


class PacketStream:
    """One end of a stream of packets.

    Attributes:
        peer: the peer's name.
        received: packets that have come since the stream endures.

    Args:
        peer: the peer's name, for errors.
        timeout: seconds that one send or receive may wait; time without a connection does not count.
        inbox_bytes: received bytes that may wait to be read; each packet counts some more than its size.
        reconnect_seconds: how long an enduring stream may be without a call; 0 if it ends with its first.
    """

    def __init__(self, peer: str, timeout: float, inbox_bytes: int, reconnect_seconds: float = 0.0) -> None:
        self.peer = peer
        self.timeout = timeout
        self._inbox_bytes = inbox_bytes
        self._reconnect_seconds = reconnect_seconds
        self._changed = threading.Condition()
        self._call: Call | None = Call(self)
        self._arrivals = Arrivals()
        self._replay = Replay()
        self._inbox: deque[Packet] = deque()
        self._waiting_in = self.received = self._unreported = 0
        self._endures = self._receipt_due = self._closed = self._finished = False
        self._heard_end = self._heard_failure = False
        self._redial: Callable[[], object] | None = None
        self._cut_at: float | None = None
        self._limit = threading.Timer(0, self._lapse)  # started when the call is cut
        self._ended: DuettoError | None = None
        self._interruption: DuettoError | None = None

    @property
    def call(self) -> Call:
        """The call that this stream was made with, to be started with what gRPC gives.

        Raises:
            PeerLost: it is cut, or serves another stream.
        """
        if self._call is None:
            raise PeerLost(f"The stream to {self.peer} has no connection.")
        return self._call

    @property
    def outage(self) -> Outage | None:
        """For how long there has been no connection; None if none is waited for."""
        with self._changed:
            if self._cut_at is None or self._is_over():
                return None
            return Outage(time.monotonic() - self._cut_at, self._reconnect_seconds)

    @property
    def progress(self) -> int:
        """Grows with each packet that came or was acknowledged."""
        return self.received + self._replay.settled

    # Between the two ends

    def send(self, packet: Packet, *, last: bool = False) -> None:
        """Queue a packet.

        Args:
            packet: the packet.
            last: queue it without waiting for room and in spite of an interruption.

        Raises:
            PeerLost: the stream is over, or the peer took nothing for `timeout` seconds.
            DuettoError: what `interrupt` was called with.
        """
        wire = write(packet)
        with self._changed:
            free = self._wait(
                lambda: last or self._is_over() or self._replay.waiting < WINDOW_BYTES, self.timeout
            )
            if self._interruption is not None and not last:
                raise self._interruption
            if self._ended is not None:
                raise self._ended
            if self._closed:
                raise PeerLost(f"The stream to {self.peer} is closed on this side.")
            if not free:
                raise PeerLost(
                    f"{self.peer} read nothing for {self.timeout:g} seconds.",
                    f"See what `duetto doctor --peer {self.peer}` finds.",
                )
            self._queue(wire)

    def receive(self, timeout: float | None = None) -> Packet:
        """The next packet.

        Args:
            timeout: seconds to wait, if other than the stream's.

        Raises:
            PeerLost: the stream is over, or nothing came in time.
            DuettoError: what `interrupt` was called with.
        """
        limit = self.timeout if timeout is None else timeout
        with self._changed:
            self._wait(lambda: bool(self._inbox) or self._is_over(), limit)
            if self._interruption is not None:
                raise self._interruption
            if self._inbox:
                found = self._inbox.popleft()
                self._waiting_in -= size(found)
                self._changed.notify_all()
                return found
            if self._closed:
                raise PeerLost(f"The stream to {self.peer} is closed on this side.")
            raise self._ended or PeerLost(
                f"Nothing came from {self.peer} for {limit:g} seconds.",
                f"See what `duetto doctor --peer {self.peer}` finds.",
            )

    def last_words(self) -> Packet | None:
        """The last packet that came, if the peer has ended the stream and nobody has read it yet."""
        with self._changed:
            return self._inbox[-1] if self._inbox and self._ended is not None else None

    def interrupt(self, error: DuettoError) -> None:
        """Let every present and later `send` and `receive` raise `error`; from any thread."""
        with self._changed:
            if self._interruption is None:
                self._interruption = error
            self._changed.notify_all()

    def check(self) -> None:
        """Ask, between two packets, whether the session is still wanted.

        Raises:
            DuettoError: what `interrupt` was called with.
        """
        if self._interruption is not None:
            raise self._interruption

    def close(self) -> None:
        """Send what is queued, then end; wake whoever waits. From any thread, also twice."""
        with self._changed:
            self._closed = True
            self._limit.cancel()
            self._changed.notify_all()

    def finish(self, seconds: float) -> None:
        """Close, wait until the peer has everything and the call is over, and end it after `seconds`."""
        self.close()
        with self._changed:
            over = self._changed.wait_for(self._has_left, seconds)
            self._finished = True
            call = self._call
            self._changed.notify_all()
        if call is not None and not over:
            call.cut()

    # From one call to the next

    def endure(self, after: pb.Packet | None = None, redial: Callable[[], object] | None = None) -> None:
        """Outlive the call from here on: packets are counted in both directions, and kept for the next call.

        Args:
            after: a packet that is sent before and does not count.
            redial: called in a thread without other work when the call was cut, on the side that dials.
        """
        with self._changed:
            if after is not None:
                self._queue(write(after))
            self._endures, self._redial = True, redial

    def rest(self, seconds: float) -> bool:
        """Wait, while no call is there and one is wanted; returns whether that is so afterwards."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wants_call(), seconds)
            return self._wants_call()

    def carry_on(self, fresh: PacketStream, received: int, *, answer: bool = False) -> None:
        """Go on over the call of another stream, in place of the present one, if there is one.

        Args:
            fresh: a stream whose last packet was `Resume` or `Resumed`.
            received: packets that have come to the peer, by its own word.
            answer: whether the peer waits for `Resumed`.

        Raises:
            ProtocolViolation: the peer lacks packets that it has acknowledged, or has some that it was never
                sent.
            PeerLost: one of both streams is over.
        """
        with self._changed, fresh._changed:
            before, call = self._call, fresh._call
            if not self._endures or self._is_dead() or call is None or call.is_read:
                raise PeerLost(f"The stream to {self.peer} is over.")
            resumed = pb.Packet(resumed=pb.Resumed(received=self.received))
            self._replay.rewind(received, write(resumed) if answer else None)
            self._unreported, self._receipt_due = 0, False
            fresh._call, call.stream, self._call = None, self, call
            self._cut_at = None
            self._limit.cancel()
            self._changed.notify_all()
            fresh._changed.notify_all()
        if before is not None:
            before.cut()

    def give_up(self, error: DuettoError) -> None:
        """Wait for no other call."""
        with self._changed:
            self._ended = self._ended or error
            self._changed.notify_all()

    # For the call

    def next_packet(self, call: Call) -> bytes | None:
        """The next packet that the call has to send, in bytes, when there is one; None if there is none."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    not self._has(call)
                    or call.is_over
                    or self._receipt_due
                    or not self._replay.is_empty
                    or self._has_said_all()
                )
            )
            if not self._has(call) or call.is_over:
                return None
            if self._receipt_due and not self._replay.begins_apart:
                self._receipt_due, self._unreported = False, 0
                return write(pb.Packet(receipt=pb.Receipt(received=self.received)))
            if self._replay.begins_apart:  # only then is there more room for `send`
                self._changed.notify_all()
            return self._replay.next()

    def take(self, call: Call, packet: Packet) -> bool:
        """Take a packet that has come; waits while the inbox is full.

        Returns:
            Whether it was for this stream, and not for another that has taken the call over.

        Raises:
            ProtocolViolation: its place is not here.
        """
        with self._changed:
            if call.stream is not self:
                return False
            if self._call is not call:
                return True
            if isinstance(packet, pb.Packet) and packet.HasField("receipt"):
                self._replay.settle(packet.receipt.received)
                self._changed.notify_all()
                return True
            if self._closed:
                return True
            self._arrivals.check(packet)
            self._inbox.append(packet)
            self._waiting_in += size(packet)
            self._heard_end = self._heard_end or is_end(packet)
            self._heard_failure = self._heard_failure or is_failure(packet)
            if self._endures:
                self.received += 1
                self._unreported += size(packet)
                self._receipt_due = self._heard_end or self._unreported >= RECEIPT_BYTES
            self._changed.notify_all()
            turn = is_turn(packet)
            self._changed.wait_for(
                lambda: (
                    not self._has(call)
                    or call.is_over
                    or self._closed
                    or (not turn and self._waiting_in < self._inbox_bytes)
                )
            )
            return True

    def wait_until_sent(self, call: Call) -> None:
        """Wait until gRPC has taken all that the call has to send, or the call is over."""
        with self._changed:
            self._changed.wait_for(lambda: call.is_flushed or call.is_over)

    def end_of(self, call: Call, error: DuettoError) -> bool:
        """Take note that nothing more comes by a call, in the thread that has read it.

        Returns:
            Whether it was for this stream, as in `take`.
        """
        with self._changed:
            if call.stream is not self:
                return False
            call.is_read = True
            if self._call is not call:
                return True
            over = self._is_dead() or self._heard_failure or self._is_complete()
            endures = self._endures and self._reconnect_seconds > 0
            cut = endures and isinstance(error, PeerLost) and not over
            if cut:
                self._call, self._cut_at = None, time.monotonic()
                self._limit = threading.Timer(self._reconnect_seconds, self._lapse, [self._cut_at])
                self._limit.daemon = True
                self._limit.start()
            else:
                self._ended = self._ended or error
            self._changed.notify_all()
        if cut:
            call.cut()
            if self._redial is not None:
                self._redial()
        return True

    def wake(self) -> None:
        """Let whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    # How it is done; all below holds the lock, but for the timer

    def _has(self, call: Call) -> bool:
        return self._call is call and call.stream is self

    def _is_over(self) -> bool:
        return self._interruption is not None or self._ended is not None or self._closed

    def _is_dead(self) -> bool:
        """Whether no other call would help; a stream that is closed at its end waits for one in `finish`."""
        closed = self._closed and (self._finished or not self._heard_end)
        return self._interruption is not None or self._ended is not None or closed

    def _has_said_all(self) -> bool:
        """Whether the call may end: gRPC delivers no receipts to a listener whose half of it has ended."""
        return self._closed and (self._finished or not self._heard_end or self._replay.is_settled)

    def _is_complete(self) -> bool:
        """Whether each side has all that the other had to send."""
        return self._heard_end and self._replay.is_settled and self._replay.is_empty

    def _has_left(self) -> bool:
        if self._call is None:
            return not self._wants_call()
        return self._call.is_read and (self._call.is_flushed or self._call.is_over)

    def _wants_call(self) -> bool:
        return self._cut_at is not None and not self._is_dead()

    def _wait(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so, `seconds` at most in which there is a connection; whether it is so."""
        until = time.monotonic() + seconds
        while not ready():
            before = time.monotonic()
            if self._cut_at is None and before >= until:
                return False
            without = self._cut_at is not None
            self._changed.wait(None if without else until - before)
            if without:
                until += time.monotonic() - before
        return True

    def _queue(self, wire: bytes) -> None:
        self._replay.put(wire, counts=self._endures)
        self._changed.notify_all()

    def _lapse(self, cut_at: float) -> None:
        with self._changed:
            if self._cut_at != cut_at or self._is_over():
                return
            self._ended = PeerLost(
                f"The connection to {self.peer} was cut and did not come back within "
                f"{self._reconnect_seconds:g} seconds.",
                "Submit the job again when the peer can be reached; see `reconnect_seconds` in [limits].",
            )
            self._changed.notify_all()
