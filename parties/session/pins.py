"""Who calls at the port for peers: a pinned certificate only, and so often at once and no more."""

from __future__ import annotations

import datetime as dt
import functools
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any

import grpc
from typing_extensions import override

from parties.errors import PeerBusy
from parties.pki import PeerIdentity, certificate
from parties.rpc import tls
from parties.rpc.connections import Connections
from parties.rpc.refusal import refuse

_KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")

log = logging.getLogger(__name__)


class Pins(grpc.ServerInterceptor):  # type: ignore[type-arg]
    """Lets a call through only if its certificate is pinned for a peer, whatever the service.

    TLS has already demanded a certificate of one of the peers; this is the second, independent look, and it
    says which peer calls. A peer has so many calls at once and no more, so that none holds all threads.

    Args:
        peers: the paired parties by name.
        calls: calls that one peer may have running at once.
        clock: says what time it is.
        connections: of the port; where there is none they are not counted.
    """

    def __init__(
        self,
        peers: Mapping[str, PeerIdentity],
        calls: int,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        connections: Connections | None = None,
    ) -> None:
        self._calls = calls
        self._clock = clock
        self._connections = connections
        self._lock = threading.Lock()
        self._running: dict[grpc.ServicerContext, str] = {}
        self._rooms: Mapping[str, threading.BoundedSemaphore] = {}
        self.set_peers(peers)

    @property
    def peers(self) -> Collection[PeerIdentity]:
        """The peers that are let in now."""
        return self._peers.values()

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Let these peers in from now on, and no others; calls over certificates that are gone are cut."""
        rooms = {name: self._rooms.get(name) or threading.BoundedSemaphore(self._calls) for name in peers}
        self._rooms = {**self._rooms, **rooms}  # a call of a peer that is gone gives its room back
        self._peers = dict(peers)
        self._names = {
            pin: (name, end)
            for name, peer in peers.items()
            for pin, end in certificate.pins(peer.certificates).items()
        }
        with self._lock:
            lost = [context for context, pin in self._running.items() if pin not in self._names]
        for context in lost:
            context.cancel()  # type: ignore[no-untyped-call]

    def name(self, context: grpc.ServicerContext) -> str:
        """The name of the calling peer; ends the call if its certificate is not pinned or has ended.

        TLS looks at the date when a connection is made; this looks at each call, since connections last.
        """
        name, end = self._names.get(tls.pin_of(context), ("", None))
        if end is None:
            log.warning("a caller with an unknown certificate was refused")
            refuse(context, "peer-untrusted")
        if end <= self._clock():
            log.warning(
                "a call of %(peer)s was refused: the certificate of its connection has ended", {"peer": name}
            )
            refuse(context, "peer-untrusted")
        return name

    def seconds_left(self, context: grpc.ServicerContext) -> float:
        """For how long the certificate of a caller that was let in is valid yet."""
        _, end = self._names[tls.pin_of(context)]
        return max((end - self._clock()).total_seconds(), 0.0)

    @override
    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Put the check before the handler."""
        handler: Any = continuation(handler_call_details)
        if handler is None:
            return None
        kind = next(kind for kind in _KINDS if getattr(handler, kind))
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        checked: grpc.RpcMethodHandler[Any, Any] = make(
            self._check(getattr(handler, kind)), handler.request_deserializer, handler.response_serializer
        )
        return checked

    def _check(self, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(behaviour)
        def first_look(request: Any, context: grpc.ServicerContext, *rest: Any) -> Any:
            name = self.name(context)
            if self._connections is not None and not self._connections.admit(name, context.peer()):
                refuse(context, PeerBusy.code)
            room = self._rooms[name]
            if not room.acquire(blocking=False):
                refuse(context, PeerBusy.code)
            with self._lock:
                self._running[context] = tls.pin_of(context)

            def over() -> None:
                room.release()
                with self._lock:
                    del self._running[context]

            if not context.add_callback(over):  # the call is over already
                over()
            self.name(context)  # the peer may have gone before the call was among those to cut
            return behaviour(request, context, *rest)

        return first_look
