"""Who may look at the dashboard: links and accounts open sessions, which end when nobody uses them."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

LINK_SECONDS: Final = 600.0
"""How long a link can be used to get in."""

IDLE_SECONDS: Final = 1800.0
"""How long a session goes on without use, unless the command says otherwise."""

MAX_SESSIONS: Final = 16
_BYTES: Final = 32


@dataclass(slots=True)
class Session:
    """One browser that came in by a link.

    Attributes:
        key: what its cookie holds.
        form_key: what each of its forms sends back (the CSRF token).
        used: when it was last used, by the clock of its `Access`.
        person: the word for the person who came in by an account; empty if by a link.
    """

    key: str = field(repr=False)
    form_key: str = field(repr=False)
    used: float
    person: str = ""


class Access:
    """The links and sessions of one dashboard. Thread-safe; nothing of it is kept on disk.

    Args:
        idle_seconds: how long a session goes on without use.
        clock: seconds that only go up.
    """

    def __init__(
        self, idle_seconds: float = IDLE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._links: dict[str, float] = {}
        self._sessions: list[Session] = []

    def invite(self) -> str:
        """A new link's secret, good for one browser within `LINK_SECONDS`."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._links[token] = self._clock()
        return token

    def enter(self, token: str) -> Session | None:
        """The session that a link opens, once; None for links that are used, too old or unknown."""
        with self._lock:
            now = self._clock()
            self._links = {link: made for link, made in self._links.items() if now - made <= LINK_SECONDS}
            found = next((link for link in self._links if _same(link, token)), None)
            if found is None:
                return None
            del self._links[found]
            return self._open(now)

    def admit(self, person: str) -> Session:
        """A session for somebody whom a provider of accounts has signed in."""
        with self._lock:
            return self._open(self._clock(), person)

    def _open(self, now: float, person: str = "") -> Session:
        session = Session(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES), now, person)
        self._sessions = [*self._alive(now)[-(MAX_SESSIONS - 1) :], session]
        return session

    def find(self, key: str, *, uses: bool) -> Session | None:
        """The session of a cookie; None if there is none or it was left alone for too long.

        Args:
            key: what the cookie holds.
            uses: whether a person does something; a page that refreshes itself does not keep a session alive.
        """
        with self._lock:
            now = self._clock()
            self._sessions = self._alive(now)
            session = next((one for one in self._sessions if _same(one.key, key)), None)
            if session is not None and uses:
                session.used = now
            return session

    def leave(self, session: Session) -> None:
        """End a session."""
        with self._lock:
            self._sessions = [one for one in self._sessions if one is not session]

    def _alive(self, now: float) -> list[Session]:
        return [one for one in self._sessions if now - one.used <= self._idle_seconds]


def same_form(session: Session, sent: str) -> bool:
    """Whether a form carries the key of the session in which it was shown."""
    return _same(session.form_key, sent)


def _same(known: str, given: str) -> bool:
    return hmac.compare_digest(known.encode(), given.encode("utf-8", "surrogatepass"))
