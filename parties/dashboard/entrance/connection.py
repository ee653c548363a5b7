"""One browser's connection: of this account, in time, and one of a bounded number.

uvicorn has no deadline for a connection that sends nothing or half a request, and refuses requests while
as many connections are open as it allows. So whoever keeps connections open would lock the dashboard. Here
a head has to come in `HEAD_SECONDS` and a form in `BODY_SECONDS`, and where there are too many connections
the one that has waited longest without a request is closed for the new one.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, Final, cast

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from parties.dashboard.entrance.account import is_own

CONNECTIONS: Final = 64
"""Open at once."""

HEAD_SECONDS: Final = 5.0
BODY_SECONDS: Final = 10.0
_SECONDS: Final = {h11.IDLE: HEAD_SECONDS, h11.SEND_BODY: BODY_SECONDS}
"""How long the other side may be in a state in which it is its turn to send."""


class BrowserConnection(H11Protocol):
    """What uvicorn makes for each connection."""

    _deadline: asyncio.TimerHandle | None = None
    _waits_in: object = None
    _since = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._accepted = monotonic()  # many are, before the first of them is made

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or close it."""
        own = is_own(transport.get_extra_info("socket"), accepted=self._accepted)
        if not own or not self._has_room():
            transport.abort()
            return
        super().connection_made(transport)
        self._watch()

    @override
    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        super().data_received(data)
        self._watch()

    @override
    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._deadline is not None:
            self._deadline.cancel()
        if self in self.connections:  # else it was never taken
            super().connection_lost(exc)

    def _has_room(self) -> bool:
        """Whether there is room for one more, after closing one on which nothing happens."""
        if len(self.connections) < CONNECTIONS:
            return True
        others = cast("set[BrowserConnection]", self.connections)
        waiting = [
            one for one in others if one.conn.their_state in _SECONDS and not one.transport.is_closing()
        ]
        if not waiting:
            return False
        # One that has begun a form goes only where all have.
        longest = min(waiting, key=lambda one: (one.conn.their_state is h11.SEND_BODY, one._since))
        longest.transport.abort()
        self.connections.discard(longest)
        return True

    def _watch(self) -> None:
        """Give the other side its time when it is its turn; no byte that it sends prolongs it."""
        state = self.conn.their_state
        if state is self._waits_in:
            return
        self._waits_in, self._since = state, self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if state in _SECONDS:
            self._deadline = self.loop.call_later(_SECONDS[state], self.transport.abort)
