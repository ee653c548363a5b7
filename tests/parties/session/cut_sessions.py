"""One session between two parties over a proxy, to which something happens at a chosen frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from parties.config import Keepalive, Limits
from smc.channel.message import FRAME_BYTES, Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, dialling, listening, public, task
from tests.parties.rpc.proxy import Proxy, proxied

PATIENT = Limits(sessions=2, message_seconds=60, job_seconds=600, reconnect_seconds=20)
SIZES = (1, 300, 0, 2 * FRAME_BYTES + 5, 64, 64)
"""Bytes of the messages that the sides send in turns; 8 frames each way, and END."""


@dataclass(frozen=True)
class Leaf(Message, kind="test-resuming-leaf"):
    body: ByteRows


def page(role: Role, number: int) -> bytes:
    seed = 2 * number + (role is Role.ALICE)
    return np.random.default_rng(seed).integers(0, 256, SIZES[number], dtype=np.uint8).tobytes()


def talk(session) -> None:
    """Messages in turns and, the large ones, crossing each other; each checked to the last byte."""
    channel, role = session.channel, session.role
    for number, size in enumerate(SIZES):
        crossing = size > FRAME_BYTES
        if crossing or role is Role.ALICE:
            channel.send(Leaf(rows(page(role, number))))
        got = channel.recv(Leaf, ExpectedByteRows(1, size)).tobytes()
        if got != page(role.other, number):
            raise AssertionError("other bytes came than were sent")
        if not crossing and role is Role.BOB:
            channel.send(Leaf(rows(page(role, number))))


def rows(data: bytes) -> ByteRows:
    return ByteRows(np.frombuffer(data, np.uint8).reshape(1, -1))


class Counting:
    """A transport that does something around its n-th frame."""

    def __init__(self, inner, place: tuple[str, int], act) -> None:
        self._inner = inner
        self._place = place
        self._act = act
        self._counts = {"send": 0, "receive": 0}

    def send(self, frame) -> None:
        self._inner.send(frame)
        self._count("send")

    def receive(self):
        frame = self._inner.receive()
        self._count("receive")
        return frame

    def close(self) -> None:
        self._inner.close()

    def _count(self, doing: str) -> None:
        self._counts[doing] += 1
        if (doing, self._counts[doing]) == self._place:
            self._act()


class Run:
    """One session between north, who dials through a proxy, and south."""

    def __init__(self, limits: Limits, keepalive: Keepalive | None = None) -> None:
        self.limits = limits
        self.keepalive = keepalive
        self.ended = {name: Ending() for name in ("north", "south")}
        self.traffic: dict[str, object] = {}

    @contextmanager
    def between(self, acts=None) -> Iterator[tuple[Proxy, object, object]]:
        """The proxy and both parties; `acts` says by party before which frame to do what with the proxy."""
        box: list[Proxy] = []

        def wrap(name: str):
            if acts is None or name not in acts:
                return None
            place, act = acts[name]
            return lambda inner: Counting(inner, place, lambda: act(box[0]))

        with (
            listening(
                SOUTH, public(NORTH), limits=self.limits, keepalive=self.keepalive, wrap=wrap("south")
            ) as south,
            proxied(south.server.address) as proxy,
        ):
            box.append(proxy)
            with dialling(
                NORTH,
                public(SOUTH),
                proxy.address,
                self.limits,
                self.keepalive,
                wrap=wrap("north"),
            ) as directory:
                yield proxy, south, directory

    def go(self, south, directory, north_runs=talk, south_runs=talk) -> DuettoError | None:
        """Run the session; returns how it ended for north."""

        def noting(name, run):
            def noted(session):
                try:
                    run(session)
                finally:
                    self.traffic[name] = session.channel.traffic

            return noted

        south.jobs.tasks[JOB] = task(Role.BOB, noting("south", south_runs), self.ended["south"])
        try:
            directory.run_session("south", task(Role.ALICE, noting("north", north_runs), self.ended["north"]))
        except DuettoError as error:
            return error
        return None


def run_with(acts, limits: Limits = PATIENT, keepalive: Keepalive | None = None) -> tuple[Run, int]:
    """A run in which something happens to the connection, and how many connections there were."""
    run = Run(limits, keepalive)
    with run.between(acts) as (proxy, south, directory):
        error = run.go(south, directory)
        assert error is None, error
        assert run.ended["south"].wait() is None
        return run, proxy.connections


MIDDLE = ("send", 4)


def cutting(seconds: float):
    return lambda proxy: proxy.cut(seconds)
