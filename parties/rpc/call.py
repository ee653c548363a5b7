"""One gRPC call: reads packets into the stream that it serves, and takes out of it what is to be sent.

A call serves the stream that it was made for until another takes it over, which is how a session goes on
over a new connection: see `parties.session.resuming`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import grpc

from parties.rpc.codec import Packet
from parties.rpc.refusal import translate
from smc.errors import DuettoError, PeerLost, ProtocolViolation


class Served(Protocol):
    """A stream, as a call knows it."""

    peer: str

    def next_packet(self, call: Call) -> bytes | None:
        """The bytes of what the call has to send, when there is something; None if there will be nothing."""
        ...

    def take(self, call: Call, packet: Packet) -> bool:
        """Take a packet that has come; whether the call serves this stream."""
        ...

    def end_of(self, call: Call, error: DuettoError) -> bool:
        """Take note that nothing more comes, and why; whether the call serves this stream."""
        ...

    def wait_until_sent(self, call: Call) -> None:
        """Wait until gRPC has taken all that the call has to send, or the call is over."""
        ...

    def interrupt(self, error: DuettoError) -> None:
        """End the conversation with an error."""
        ...

    def wake(self) -> None:
        """Let whoever waits look again."""
        ...


class Call:
    """One end of a gRPC call.

    Attributes:
        stream: the stream that it serves; changes under the locks of both streams.
        is_over: gRPC can send nothing more.
        is_flushed: gRPC has taken the last packet.
        is_read: nothing more comes.

    Args:
        stream: the stream that it is made for.
    """

    def __init__(self, stream: Served) -> None:
        self.stream = stream
        self.is_over = self.is_flushed = self.is_read = False
        self._cancel: Callable[[], object] = lambda: None

    def start(self, incoming: Iterable[Packet], cancel: Callable[[], object]) -> None:
        """Begin to read.

        Args:
            incoming: gRPC's iterator of what the peer sends.
            cancel: ends the call at once.
        """
        self._cancel = cancel
        name = f"read-{self.stream.peer}"
        threading.Thread(target=self._pump, args=(incoming,), name=name, daemon=True).start()

    def outgoing(self) -> Iterator[bytes]:
        """The bytes of packets, for gRPC; ends when all is sent after `close`, or the stream has another."""
        try:
            while True:
                stream = self.stream
                packet = stream.next_packet(self)
                if packet is not None:
                    yield packet
                elif self.stream is stream:
                    return
        finally:
            self.is_flushed = True
            self._wake()

    def abandon(self) -> None:
        """Take note that the call is over: nothing more can be sent; gRPC calls this.

        What came before is still delivered; why the call ended is for the reading thread to find out.
        """
        self.is_over = True
        self._wake()

    def cut(self) -> None:
        """End the call at once."""
        self._cancel()
        self.abandon()

    def _wake(self) -> None:
        """Wake whoever waits for this call, also where another stream takes it over at this moment."""
        while True:
            stream = self.stream
            stream.wake()
            if self.stream is stream:
                return

    def _pump(self, incoming: Iterable[Packet]) -> None:
        ended: DuettoError
        try:
            for packet in incoming:
                while not self.stream.take(self, packet):
                    pass
            ended = PeerLost(
                f"The stream from {self.stream.peer} stopped before the session was over.",
                "The log of the peer has the reason; submit the job again when it is back.",
            )
        except ProtocolViolation as violation:
            # Nothing more is read, so that flow control stops the peer until it has heard and the
            # session has ended.
            self.stream.interrupt(violation)
            self.stream.wait_until_sent(self)
            ended = violation
        except grpc.RpcError as error:
            ended = translate(error, self.stream.peer, "Session")
        except Exception:  # gRPC's iterator of a broken call raises plain exceptions
            ended = PeerLost(
                f"The stream from {self.stream.peer} broke.", "Submit the job again when it is back."
            )
        while not self.stream.end_of(self, ended):
            pass
