"""Runs a benchmark: two processes, made-up inputs, results compared with the plain comparison."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import parties
from parties.bench.case import Case, modulus_name
from parties.bench.dealer import Dealer, fill_pool, make_pairs, pack, plain_results, unpack
from parties.pki import certificate
from parties.rpc.process import CIPHER_SUITES
from parties.speed import slowdown
from smc.ciphers.keys import PrivateKey, generate
from smc.ciphers.phe_format import write_private_key
from smc.errors import DuettoError, PeerAborted, PeerLost, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.planning.cost import estimate_seconds
from smc.planning.pools import need_of
from smc.protocols.flights import Flight

_PROGRAM: Final = (sys.executable, "-P", "-m", "parties.bench.party")
_AFTERMATH_SECONDS: Final = 5.0
"""How long the second process may take to say why it failed, after the first has."""

_CONSEQUENCES: Final = (PeerLost.code, PeerAborted.code, "peer-unreachable")

Tell = Callable[[str], None]


def measure(case: Case, tell: Tell) -> dict[str, Any]:
    """Run a benchmark of comparisons.

    Keys and inputs are made before, and results are opened after the time that is measured.

    Args:
        case: what to measure.
        tell: gets what is going on.

    Returns:
        The figures by stable names; see `docs/benchmarks.md`.

    Raises:
        NoRouteError: the type has no route with this engine and modulus.
        DuettoError: a process failed, or the time was up.
    """
    plan = case.plan()
    tell(f"making two Paillier keys of {case.key_bits} bits and {case.batch} pairs")
    random = Randomness()
    keys = {role: generate(case.key_bits, random) for role in Role}
    pairs = make_pairs(case.bits, case.batch, random)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        dealer = Dealer(keys, pool, random)
        x, y = dealer.deal_inputs(case.type, case.bits, case.modulus, pairs)
        holdings = {role: {"x": pack(x[role]), "y": pack(y[role])} for role in Role}
        halves = _pool(case) if case.pool else {}
        tasks = _tasks(case, keys, holdings)
        for role, half in halves.items():
            tasks[role]["pool"] = half.hex()
        tell(f"running {plan.route}")
        found = run_processes(tasks, case.timeout)
        tell("comparing the results with the plain comparison")
        wrong = _count_wrong(case, dealer, found, plain_results(pairs))
    return {**_describe(case), **_figures(case, found), "wrong": wrong}


def _pool(case: Case) -> dict[Role, bytes]:
    """Both halves of a pool that all runs of a case use up."""
    need = need_of(case.plan(), case.parameters)
    if need is None:
        raise UsageError(
            "The route of this case takes no pool.", "Leave out --pool, or name --engine oblivious."
        )
    return fill_pool(case.repeat * need.comparisons, need.bits, need.x_at)


def _tasks(
    case: Case, keys: Mapping[Role, PrivateKey], holdings: Mapping[Role, Mapping[str, Any]]
) -> dict[Role, dict[str, Any]]:
    return make_tasks(keys, {role: {"case": case.to_json(), **holdings[role]} for role in Role})


def make_tasks(
    keys: Mapping[Role, PrivateKey], content: Mapping[Role, Mapping[str, Any]]
) -> dict[Role, dict[str, Any]]:
    """What each process gets: its certificate and keys, the other's public ones, and its content."""
    tls = {role: certificate.make(role.value) for role in Role}
    return {
        role: {
            "role": role.value,
            "certificate": tls[role][0].decode(),
            "tls_key": tls[role][1].decode(),
            "paillier": write_private_key(keys[role]),
            "peer_certificate": tls[role.other][0].decode(),
            "peer_paillier": f"{int(keys[role.other].public.n):x}",
            **content[role],
        }
        for role in Role
    }


class _Party:
    """The process of one party; leaving the context ends it.

    Args:
        role: whose.
    """

    def __init__(self, role: Role) -> None:
        self.role = role
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the context
        # its own session: an interrupt from the keyboard is for the parent, which ends both
        self._process = subprocess.Popen(  # noqa: S603 - the local program, no shell
            _PROGRAM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                with _broken_pipe_is_fine():
                    pipe.close()

    def tell(self, task: Mapping[str, Any]) -> None:
        """Hand the task over."""
        with _broken_pipe_is_fine():
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(task) + "\n")
                self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line of the process.

        Raises:
            DuettoError: the process failed.
        """
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line.endswith("\n"):
            raise DuettoError(
                f"The process of {self.role.value} ended without a result. {self._last_words()}".strip(),
                "Measure a smaller batch if memory is short; else report it.",
                code="bench-process",
            )
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            found = message["error"]
            raise DuettoError(f"{self.role.value}: {found['what']}", found["hint"], code=found["code"])
        return message

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        return lines[-1][:500] if lines else ""


def run_processes(tasks: Mapping[Role, dict[str, Any]], timeout: float) -> dict[Role, dict[str, Any]]:
    """Let both processes do their tasks and return their results.

    Raises:
        DuettoError: one failed, or the time was up.
    """
    until = time.monotonic() + timeout
    with ThreadPoolExecutor(2) as readers, ExitStack() as processes:
        alice, bob = (processes.enter_context(_Party(role)) for role in Role)
        start = readers.submit(_start_listening, bob, tasks[Role.BOB])
        port = _results([start], until, timeout)[0]["listening"]
        readers.submit(alice.tell, {**tasks[Role.ALICE], "port": port})
        both = [readers.submit(process.hear) for process in (alice, bob)]
        return dict(zip(Role, _results(both, until, timeout), strict=True))


def _start_listening(bob: _Party, task: Mapping[str, Any]) -> dict[str, Any]:
    bob.tell(task)
    return bob.hear()


def _results(futures: Sequence[Future[dict[str, Any]]], until: float, timeout: float) -> list[dict[str, Any]]:
    """The results of all, or the error that says most: the cause, not the loss of the peer after it."""
    done, _ = wait(futures, max(0.0, until - time.monotonic()), FIRST_EXCEPTION)
    if any(future.exception() for future in done):
        done, _ = wait(futures, _AFTERMATH_SECONDS)
        errors = [error for future in done if isinstance(error := future.exception(), DuettoError)]
        raise min(errors, key=lambda error: error.stable_code in _CONSEQUENCES)
    if len(done) < len(futures):
        raise DuettoError(
            f"The benchmark did not end within {timeout:g} seconds.",
            "Raise --timeout, or measure a smaller batch.",
            code="deadline",
        )
    return [future.result() for future in futures]


def _count_wrong(
    case: Case, dealer: Dealer, found: Mapping[Role, Mapping[str, Any]], expected: Sequence[int]
) -> int:
    """How many results of all runs differ from the plain ones."""
    wrong = 0
    for number in range(case.repeat):
        holdings = {
            role: unpack(found[role]["runs"][number]["delta"], dealer.keys[role.other].public)
            for role in Role
        }
        results = dealer.open(case.type.delta, holdings, case.delta_modulus)
        wrong += sum(a != b for a, b in zip(results, expected, strict=True))
    return wrong


def _describe(case: Case) -> dict[str, Any]:
    plan = case.plan()
    cost = plan.cost(replace(case.parameters, lanes=case.lanes))
    # lanes are opened before the first run
    cost = replace(cost, flights=cost.flights.without(Flight.LANES))
    return {
        "type": str(case.type),
        "bits": case.bits,
        "batch": case.batch,
        "key": case.key_bits,
        "engine": plan.engine,
        "engine_asked": case.engine,
        "modulus": modulus_name(case.modulus),
        "delta_modulus": modulus_name(case.delta_modulus),
        "rtt_ms": case.rtt_ms,
        "mbit": case.mbit,
        "repeat": case.repeat,
        "pool": case.pool,
        "lanes": case.lanes,
        "route": plan.route,
        "predicted_rounds": cost.rounds,
        "predicted_payload_alice_to_bob": cost.alice_bytes,
        "predicted_payload_bob_to_alice": cost.bob_bytes,
        "predicted_seconds": estimate_seconds(cost, case.parameters, case.network, slowdown()),
    }


def _figures(case: Case, found: Mapping[Role, Mapping[str, Any]]) -> dict[str, Any]:
    """The measured figures; bytes and rounds are those of one run, seconds the median of all."""
    alice, bob = found[Role.ALICE]["runs"], found[Role.BOB]["runs"]
    runs, worked = (
        [max(a[name], b[name]) for a, b in zip(alice, bob, strict=True)]
        for name in ("seconds", "processor_seconds")
    )
    seconds = statistics.median(runs)
    return {
        "seconds": seconds,
        "setup_seconds": max(found[role]["setup_seconds"] for role in Role),
        "per_second": case.batch / seconds,
        "seconds_of_runs": runs,
        "processor_seconds": statistics.median(worked),
        "processor_seconds_of_runs": worked,
        "rounds": max(alice[0]["rounds"], bob[0]["rounds"]),
        "bytes_alice_to_bob": alice[0]["frame_bytes"],
        "bytes_bob_to_alice": bob[0]["frame_bytes"],
        "payload_alice_to_bob": alice[0]["payload_bytes"],
        "payload_bob_to_alice": bob[0]["payload_bytes"],
    }


def _environment() -> dict[str, str]:
    """The local environment, in which the child finds the same package and speaks TLS 1.3 only."""
    root = str(Path(parties.__file__).parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return {**os.environ, **CIPHER_SUITES, "PYTHONPATH": path}


@contextmanager
def _broken_pipe_is_fine() -> Iterator[None]:
    """What a process leaves unread follows from what it says itself."""
    try:
        yield
    except BrokenPipeError:
        return
