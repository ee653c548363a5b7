"""Tells those whom the configuration names of events, in threads of its own; no job waits for it.

Lines of the audit log become notices as they are written, and what was written since the last look once more
after a restart. Notices lie in the outbox until they are handed over, so each arrives once or, after a crash,
perhaps twice.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

from parties.audit.files import read_log
from parties.audit.lines import AuditError, AuditLine
from parties.clock import Clock
from parties.hooks import AnyHook, EventKind
from parties.notices.alerts import Sources, newly_true
from parties.notices.notice import Notice, make_notice, of_line
from parties.notices.queues import FILE, MAX_PENDING, NoticeQueues, read_queues
from parties.notices.sending import send
from smc.errors import DuettoError

PAUSES: Final = (60.0, 300.0, 1800.0, 7200.0, 21600.0)
"""Seconds before a notice that was not taken is tried again; then it is given up."""

PEER_SECONDS: Final = 3600.0
"""For so long a peer whose proposals are refused is told of once."""

_MAX_LINES: Final = 1000
_LOOK_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 1.0
"""Whoever writes a line while the notifier is at work does not wake it."""

_STOP_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("duetto.notices")


class Notifier:
    """Makes notices and hands them over. Thread-safe.

    Args:
        home: the folder of the party.
        party: its name.
        hooks: who is told, and how.
        clock: the time.
        sources: what may hold and is told of, see `parties.notices.alerts`.
        deliver: hands a notice to a hook; `send` unless a test passes another.
        pauses: see `PAUSES`.
    """

    def __init__(
        self,
        home: Path,
        party: str,
        hooks: Iterable[AnyHook],
        clock: Clock,
        sources: Callable[[], Sources],
        *,
        deliver: Callable[[AnyHook, Notice], None] = send,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._home, self._party, self._clock, self._sources = home, party, clock, sources
        self._deliver, self._pauses = deliver, pauses
        self._hooks = {hook.name: hook for hook in hooks}
        self._lines: deque[AuditLine] = deque(maxlen=_MAX_LINES)
        self._refused: dict[str, float] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._threads: dict[str, threading.Thread] = {}
        self._outbox = NoticeQueues()

    def start(self) -> None:
        """Take up what an earlier daemon left, and begin."""
        found = read_queues(self._home)
        try:
            lines = read_log(self._home).lines
        except AuditError as error:
            _LOG.warning("notices begin with what comes now: %s", error.what)
            lines = ()
        with self._changed:
            self._outbox = found or NoticeQueues(lines[-1].sequence if lines else -1)
            if self._hooks:
                heard = {line.sequence for line in self._lines}
                left = [
                    one for one in lines if self._outbox.line < one.sequence and one.sequence not in heard
                ]
                self._lines.extendleft(reversed(left[-MAX_PENDING:]))
        self._begin("look", self._look)
        self.follow(self._hooks.values())

    def follow(self, hooks: Iterable[AnyHook]) -> None:
        """Tell these from now on, and nobody else."""
        with self._changed:
            self._hooks = {hook.name: hook for hook in hooks}
            self._outbox.keep([*self._hooks])
            if not self._hooks:  # who is named later hears of what comes later
                self._outbox.told = set()
                (self._home / FILE).unlink(missing_ok=True)
            self._changed.notify_all()
        for name in self._hooks:
            self._begin(name, partial(self._hand_over, name))

    def hear(self, line: AuditLine) -> None:
        """Take note of a line of the audit log; returns at once."""
        self._lines.append(line)  # without the lock: whoever writes the log waits for nobody here
        if self._changed.acquire(blocking=False):
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()

    def stop(self) -> None:
        """End; a notice that is being handed over now is handed over again after the next start."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        look = self._threads.get("look/")
        if look is not None:
            look.join(_STOP_SECONDS)

    # How it is done

    def _begin(self, name: str, run: Callable[[], None]) -> None:
        key = "look/" if name == "look" and run == self._look else name
        if (thread := self._threads.get(key)) is None or not thread.is_alive():
            self._threads[key] = threading.Thread(target=run, name=f"notices-{name}", daemon=True)
            self._threads[key].start()

    def _look(self) -> None:
        """Make notices of what has happened and of what holds, until the daemon stops."""
        due = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or bool(self._lines), _POLL_SECONDS)
                stopping = self._stopping
            try:
                self._take_lines()
                if not stopping and self._hooks and self._clock.elapsed() >= due:
                    self._take_conditions()
                    due = self._clock.elapsed() + _LOOK_SECONDS
            except Exception as problem:  # notices are never worth the daemon
                _LOG.error("no notices could be made: %s: %s", type(problem).__name__, problem)
            if stopping:
                return

    def _take_lines(self) -> None:
        lines = []
        while self._lines:
            lines.append(self._lines.popleft())
        if not lines:
            return
        notices = [notice for line in lines if (notice := of_line(line, self._party)) is not None]
        with self._changed:
            self._outbox.line = max(self._outbox.line, *(line.sequence for line in lines))
            if self._hooks:
                self._put(notice for notice in notices if self._is_new(notice))

    def _take_conditions(self) -> None:
        new, told = newly_true(self._sources(), self._outbox.told)
        with self._changed:
            if told != self._outbox.told:
                self._outbox.told = told
                self._put(
                    make_notice(
                        c.event, self._clock.stamp(), self._party, peer=c.peer, job=c.job, state=c.state
                    )
                    for c in new
                )

    def _is_new(self, notice: Notice) -> bool:
        """Whether a notice is to be told: of refusals of one peer, one an hour is."""
        if notice.event is not EventKind.PEER:
            return True
        now = self._clock.elapsed()
        if now - self._refused.get(notice.peer, -PEER_SECONDS) < PEER_SECONDS:
            return False
        self._refused[notice.peer] = now
        return True

    def _put(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            for hook in self._hooks.values():
                if notice.event in hook.events:
                    self._outbox.queue(hook.name).add(notice)
        self._outbox.write(self._home)
        self._changed.notify_all()

    def _hand_over(self, name: str) -> None:
        """Hand over what waits for one hook, until it is gone or the daemon stops."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over(name) or bool(self._outbox.queue(name).pending))
                if self._is_over(name):
                    return
                hook, notice = self._hooks[name], self._outbox.queue(name).pending[0]
            failure = ""
            try:
                self._deliver(hook, notice)
            except DuettoError as error:
                failure = error.what
            except Exception as problem:  # of the machine: no more processes, say
                failure = f"{type(problem).__name__}: {problem}"
            with self._changed:
                if name not in self._hooks:
                    return
                pause = self._note(name, notice, failure)
                self._outbox.write(self._home)
                if pause:
                    self._changed.wait_for(lambda: self._is_over(name), pause)

    def _is_over(self, name: str) -> bool:
        return self._stopping or name not in self._hooks

    def _note(self, name: str, notice: Notice, failure: str) -> float:
        """Write down how a try came out; for how many seconds to wait now."""
        queue = self._outbox.queue(name)
        if not failure:
            queue.tries, queue.failure, queue.failed_at, queue.lost = 0, "", "", 0
            queue.pending = [one for one in queue.pending if one.id != notice.id]
            return 0.0
        queue.tries += 1
        queue.failure, queue.failed_at = failure, self._clock.stamp()
        pause = self._pauses[min(queue.tries, len(self._pauses)) - 1]
        if queue.tries > len(self._pauses):
            queue.tries, queue.lost = 0, queue.lost + 1
            queue.pending = [one for one in queue.pending if one.id != notice.id]
            _LOG.error(
                "notice %s (%s) is given up by hook %s: %s", notice.id, notice.event.value, name, failure
            )
        else:
            _LOG.warning("hook %s has failed, and is tried again in %.0f s: %s", name, pause, failure)
        return pause
