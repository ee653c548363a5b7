"""A bidirectional gRPC stream as two bounded queues that block, time out and can be closed from any thread.

gRPC takes packets out of `outgoing`; `pump`, in a thread of its own, reads packets in and stops reading
while the inbox is full, so that HTTP/2's flow control holds the peer up. Either side may have dialled.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import grpc

from parties.rpc.packets import Arrivals
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.refusal import translate
from smc.errors import DuettoError, PeerLost, ProtocolViolation

PACKET_BYTES = 512
"""What a waiting packet counts on top of its content, so that small ones are bounded in number, too."""

OUTBOX_BYTES = 8 << 20
"""Bytes that may wait to be sent before `send` blocks."""


class PacketStream:
    """One end of a stream of packets.

    Args:
        peer: the peer's name, for errors.
        timeout: seconds that one send or receive may wait.
        inbox_bytes: received bytes that may wait to be read; each packet counts `PACKET_BYTES` more.
    """

    def __init__(self, peer: str, timeout: float, inbox_bytes: int) -> None:
        self.peer = peer
        self.timeout = timeout
        self._inbox_bytes = inbox_bytes
        self._changed = threading.Condition()
        self._outbox: deque[tuple[pb.Packet, int]] = deque()
        self._inbox: deque[tuple[pb.Packet, int]] = deque()
        self._waiting_out = self._waiting_in = 0
        self._closed = self._abandoned = self._flushed = False
        self._ended: DuettoError | None = None
        self._interruption: DuettoError | None = None
        self._cancel: Callable[[], object] = lambda: None

    def start(self, incoming: Iterable[pb.Packet], cancel: Callable[[], object]) -> None:
        """Begin to read.

        Args:
            incoming: gRPC's iterator of what the peer sends.
            cancel: ends the call at once.
        """
        self._cancel = cancel
        threading.Thread(target=self._pump, args=(incoming,), name=f"read-{self.peer}", daemon=True).start()

    def send(self, packet: pb.Packet, *, last: bool = False) -> None:
        """Queue a packet.

        Args:
            packet: the packet.
            last: queue it without waiting for room and in spite of an interruption.

        Raises:
            PeerLost: the stream is over, or the peer did not read for `timeout` seconds.
            DuettoError: what `interrupt` was called with.
        """
        size = packet.ByteSize() + PACKET_BYTES
        with self._changed:
            free = self._changed.wait_for(lambda: last or self._may_send(), self.timeout)
            if self._interruption is not None and not last:
                raise self._interruption
            if self._ended is not None:
                raise self._ended
            if self._closed:
                raise PeerLost(f"The stream to {self.peer} is closed on this side.")
            if not free:
                raise PeerLost(
                    f"{self.peer} read nothing for {self.timeout:g} seconds.", "See `duetto doctor --peer`."
                )
            self._outbox.append((packet, size))
            self._waiting_out += size
            self._changed.notify_all()

    def receive(self, timeout: float | None = None) -> pb.Packet:
        """The next packet.

        Args:
            timeout: seconds to wait, if other than the stream's.

        Raises:
            PeerLost: the stream is over, or nothing came in time.
            DuettoError: what `interrupt` was called with.
        """
        limit = self.timeout if timeout is None else timeout
        with self._changed:
            self._changed.wait_for(self._may_receive, limit)
            if self._interruption is not None:
                raise self._interruption
            if self._inbox:
                packet, size = self._inbox.popleft()
                self._waiting_in -= size
                self._changed.notify_all()
                return packet
            if self._closed:
                raise PeerLost(f"The stream to {self.peer} is closed on this side.")
            raise self._ended or PeerLost(
                f"Nothing came from {self.peer} for {limit:g} seconds.", "See `duetto doctor --peer`."
            )

    def last_words(self) -> pb.Packet | None:
        """The last packet that came, if the peer has ended the stream and nobody has read it yet."""
        with self._changed:
            return self._inbox[-1][0] if self._inbox and self._ended is not None else None

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
            self._changed.notify_all()

    def finish(self, seconds: float) -> None:
        """Close, wait until the call is over, and cut it off after `seconds`."""
        self.close()
        until = time.monotonic() + seconds
        with self._changed:
            over = self._changed.wait_for(
                lambda: self._abandoned or (self._flushed and self._ended is not None),
                max(0.0, until - time.monotonic()),
            )
        if not over:
            self._cancel()
            self.abandon()

    def abandon(self) -> None:
        """Take note that the call is over: nothing more can be sent; gRPC calls this.

        What came before is still delivered; why the stream ended is for the reading thread to find out.
        """
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()

    def outgoing(self) -> Iterator[pb.Packet]:
        """What is to be sent, for gRPC; ends after `close`, when the queue is empty."""
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._outbox or self._closed or self._abandoned)
                    if self._abandoned or not self._outbox:
                        return
                    packet, size = self._outbox.popleft()
                    self._waiting_out -= size
                    self._changed.notify_all()
                yield packet
        finally:
            with self._changed:
                self._flushed = True
                self._changed.notify_all()

    def _may_send(self) -> bool:
        over = self._interruption is not None or self._ended is not None or self._closed
        return over or self._waiting_out < OUTBOX_BYTES

    def _may_receive(self) -> bool:
        over = self._interruption is not None or self._ended is not None or self._closed
        return over or bool(self._inbox)

    def _may_read(self) -> bool:
        return self._waiting_in < self._inbox_bytes or self._closed or self._abandoned

    def _pump(self, incoming: Iterable[pb.Packet]) -> None:
        ended: DuettoError
        arrivals = Arrivals()
        try:
            for packet in incoming:
                arrivals.check(packet)
                self._take(packet)
            ended = PeerLost(
                f"The stream from {self.peer} stopped before the session was over.",
                "The log of the peer has the reason; submit the job again when it is back.",
            )
        except ProtocolViolation as violation:
            # Nothing more is read, so that flow control stops the peer until it has heard and the
            # session has ended.
            self.interrupt(violation)
            with self._changed:
                self._changed.wait_for(lambda: self._flushed or self._abandoned)
            ended = violation
        except grpc.RpcError as error:
            ended = translate(error, self.peer, "Session")
        except Exception:  # gRPC's iterator of a broken call raises plain exceptions
            ended = PeerLost(f"The stream from {self.peer} broke.", "Submit the job again when it is back.")
        with self._changed:
            self._ended = self._ended or ended
            self._changed.notify_all()

    def _take(self, packet: pb.Packet) -> None:
        size = packet.ByteSize() + PACKET_BYTES
        with self._changed:
            if self._closed:
                return
            self._inbox.append((packet, size))
            self._waiting_in += size
            self._changed.notify_all()
            self._changed.wait_for(self._may_read)
