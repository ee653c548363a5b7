"""One party of a benchmark, a process of its own: `python -m parties.bench.party`.

It reads one line of JSON from stdin, its `task`, and writes lines of JSON to stdout: Bob says
`{"listening": port}` first, both end with their result or `{"error": {"code", "what", "hint"}}`. Secrets
come and go by these pipes only. When stdin ends, so does the process: its parent is gone.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.bench.analysis import AnalysisCase, Joint
from parties.bench.case import Case, Setting
from parties.bench.dealer import pack, unpack
from parties.bench.meter import MeteredTransport, Stretches
from parties.config import Address, Keepalive, Limits
from parties.daemon import logs
from parties.errors import JobError
from parties.pki import Identity, PeerIdentity
from parties.ports.interfaces import SessionHeader, SessionTask
from parties.ports.terms import Terms
from parties.rpc.client import PeerClient
from parties.rpc.emulation import EmulatedTransport
from parties.rpc.greeting import make_greeting
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.transport import Transport
from smc.channel.vectors import Bits, ExpectedBits
from smc.ciphers.keys import PublicKey
from smc.ciphers.phe_format import read_private_key
from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.oblivious.pool import Pool
from smc.pieces import asking
from smc.planning.run import Prepared, prepare
from smc.protocols.full_session import FullSession
from smc.values import Value

LOOPBACK: Final = "127.0.0.1"
_JOB_ID: Final = "bench"


@dataclass(frozen=True, slots=True)
class Ready(Message, kind="bench-ready", hidden=True):
    """Both ways: the sender waits for nothing but this before it starts its clock."""

    bits: Bits


class Program(Protocol):
    """What is measured, at one party."""

    @property
    def setting(self) -> Setting:
        """The link, repetitions and timeout."""
        ...

    @property
    def digest(self) -> bytes:
        """By which the two processes see that they measure the same."""
        ...

    def prepare(self, session: FullSession) -> None:
        """What counts as set-up."""
        ...

    def run(self, session: FullSession) -> Any:
        """One run, whose time is measured."""
        ...

    def summarize(self, result: Any) -> Mapping[str, Any]:
        """What is shown of a run's result, as plain JSON values."""
        ...


class Comparisons:
    """A batch of comparisons.

    Args:
        case: what is measured.
        x: the local holding of x.
        y: the local holding of y.
        pool: the local half of a pool, as it is stored, or nothing.
    """

    def __init__(self, case: Case, x: Value, y: Value, pool: bytes = b"") -> None:
        self._plan = case.plan()
        self._prepared: Prepared | None = None
        self._x = x
        self._y = y
        self._pool = pool
        self.setting = case.setting
        self.digest = case.digest

    def prepare(self, session: FullSession) -> None:
        """What the plan's steps set up; of that a pool saves the base transfers."""
        if self._pool:
            session.oblivious.use_pool(Pool.load(self._pool))
        elif self.setting.lanes > 1:
            session.oblivious.setup_lanes()
        self._prepared = prepare(self._plan, session)

    def run(self, session: FullSession) -> Value:
        """The plan."""
        if self._prepared is None:
            raise UsageError("The benchmark has prepared nothing to run.", "Call prepare before run.")
        del session
        return self._prepared.run(self._x, self._y)

    def summarize(self, result: Value) -> Mapping[str, Any]:
        """The local holding of delta."""
        return {"delta": pack(result)}


class Bench:
    """One side of the measurement.

    Args:
        program: what is measured.
        role: this side's role.
    """

    def __init__(self, program: Program, role: Role) -> None:
        self._program = program
        self._role = role
        self._started = time.perf_counter()
        self._meter: MeteredTransport | None = None
        self.result: Future[dict[str, Any]] = Future()
        self._found: dict[str, Any] = {}

    def wrap(self, transport: Transport) -> Transport:
        """Put the emulated link, if one is asked for, and the meter around a transport."""
        setting = self._program.setting
        if setting.rtt_ms or setting.mbit:
            transport = EmulatedTransport(transport, setting.rtt_ms, setting.mbit)
        self._meter = MeteredTransport(transport)
        return self._meter

    def task(self) -> SessionTask:
        """The local part in the session; from now on counts as set-up."""
        self._started = time.perf_counter()
        return SessionTask(
            job_id=_JOB_ID,
            job_digest=self._program.digest,
            role=self._role,
            run=self._run,
            deadline_seconds=self._program.setting.timeout,
            lanes=self._program.setting.lanes,
            ended=self._end,
        )

    def _end(self, error: DuettoError | None) -> None:
        if error is None:
            self.result.set_result(self._found)
        else:
            self.result.set_exception(error)

    def _run(self, session: FullSession) -> None:
        self._program.prepare(session)
        _meet(session.channel)
        self._found = {"setup_seconds": time.perf_counter() - self._started, "runs": []}
        for number in range(self._program.setting.repeat):
            if number:
                _meet(session.channel)
            frames, traffic = self._frame_bytes(), session.channel.traffic
            stretches = self._stretches()
            start, worked = time.perf_counter(), time.process_time()
            with asking(stretches.ask):
                result = self._program.run(session)
                stretches.ask()
            seconds, worked = time.perf_counter() - start, time.process_time() - worked
            used = session.channel.traffic.since(traffic)
            self._found["runs"].append(
                {
                    "seconds": seconds,
                    "processor_seconds": worked,
                    "rounds": used.rounds,
                    "payload_bytes": used.sent,
                    "frame_bytes": self._frame_bytes() - frames,
                    "longest_stretch": stretches.longest,
                    "longest_stretch_before": stretches.place,
                    "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                    **self._program.summarize(result),
                }
            )

    def _stretches(self) -> Stretches:
        """What measures the stretches of work of the next run."""
        stretches = Stretches()
        if self._meter is not None:
            self._meter.stretches = stretches
        return stretches

    def _frame_bytes(self) -> int:
        return self._meter.sent if self._meter is not None else 0


class NoJobs:
    """The `JobPort` of the listening side: takes part in the measurement and in nothing else.

    Args:
        bench: this side.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Refuse."""
        raise _no_jobs(peer, contract)

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Refuse."""
        raise _no_jobs(peer, standing)

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        """Take part; the handshake compares the digests of the case."""
        del peer, header
        return self._bench.task()

    def stop(self) -> None:
        """Nothing to stop."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a party needs besides the measurement: keys, bounds, and a way to run sessions.

    Attributes:
        own: this party's keys.
        peer: the peer's public keys.
        runner: runs the session.
        terms: versions and parameters.
    """

    own: Identity = field(repr=False)
    peer: PeerIdentity
    runner: SessionRunner = field(repr=False)
    terms: Terms = field(default_factory=Terms)

    def listen(self, bench: Bench) -> dict[str, Any]:
        """Serve one session and return its result."""
        server = PeerServer(
            Address(LOOPBACK, 0),
            self.own,
            {self.peer.name: self.peer},
            keepalive=Keepalive(),
            sessions=1,
            runner=self.runner,
            port=NoJobs(bench),
            terms=self.terms,
        )
        server.start()
        say({"listening": server.address.port})
        try:
            return bench.result.result()
        finally:
            server.stop(grace=5.0)

    def dial(self, bench: Bench, port: int) -> dict[str, Any]:
        """Run a session with the listening side and return its result."""
        task = bench.task()
        client = PeerClient(
            self.own,
            self.peer,
            address=Address(LOOPBACK, port),
            keepalive=Keepalive(),
            greet=lambda: make_greeting(self.own, self.terms),
            terms=self.terms,
        )
        try:
            client.hello()
            with self.runner.place(self.peer.name):
                self.runner.dial(self.peer.name, task, client.open)
            task.ended(None)
            return bench.result.result()
        finally:
            client.close()


def say(message: Mapping[str, Any]) -> None:
    """Write a line of JSON to the parent."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def measure(task: Mapping[str, Any]) -> dict[str, Any]:
    """Do the local part of a measurement.

    Args:
        task: what `parties.bench.measurement` hands over.

    Returns:
        Set-up and runs with seconds, rounds, bytes sent, the most memory so far, and what the program tells.

    Raises:
        DuettoError: of the kind that the failure has.
    """
    role = Role(task["role"])
    # nothing is signed in a benchmark, so the signing keys are any keys
    signing = Ed25519PrivateKey.generate()
    certificate, tls_key = task["certificate"].encode(), task["tls_key"].encode()
    own = Identity(role.value, certificate, tls_key, signing, read_private_key(task["paillier"]))
    theirs = PublicKey(int(task["peer_paillier"], 16))
    peer = PeerIdentity(role.other.value, signing.public_key(), theirs, task["peer_certificate"].encode())
    program: Program
    if "workload" in task:
        program = Joint(AnalysisCase(**task["workload"]), role)
    else:
        program = Comparisons(
            Case.from_json(task["case"]),
            unpack(task["x"], theirs),
            unpack(task["y"], theirs),
            bytes.fromhex(task.get("pool", "")),
        )
    bench = Bench(program, role)
    seconds = max(1, int(program.setting.timeout))
    limits = Limits(sessions=1, message_seconds=seconds, job_seconds=seconds)
    runner = SessionRunner(own, {peer.name: peer}, limits, wrap=bench.wrap)
    place = Equipment(own, peer, runner)
    try:
        return place.dial(bench, task["port"]) if role is Role.ALICE else place.listen(bench)
    finally:
        runner.close()


def _meet(channel: Channel) -> None:
    """Return on both sides at the same time, but for half a round trip."""
    channel.send(Ready(Bits(np.ones(1, dtype=np.uint8))))
    channel.recv(Ready, ExpectedBits(1))


def _no_jobs(peer: str, body: bytes) -> JobError:
    del body
    return JobError(f"{peer} sent a job message to a benchmark.", "Benchmarks take no jobs.")


def _leave_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Read the task, measure, tell the result."""
    logs.start("warning")
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        say(measure(task))
    except DuettoError as error:
        say({"error": {"code": error.stable_code, "what": error.what, "hint": error.hint}})
    # the thread that waits for the parent holds stdin, which an ordinary exit would want to close
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
