"""Both parties in one process: the test bed, and the way to try a protocol in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar, overload

from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.ciphers.keys import PrivateKey
from smc.errors import PeerAborted, PeerLost
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

A = TypeVar("A")
B = TypeVar("B")


@overload
def run_pair(
    alice: Callable[[FullSession], A],
    bob: None = None,
    *,
    keys: tuple[PrivateKey | None, PrivateKey | None] = ...,
    timeout: float = ...,
    workers: int = ...,
    randomness: tuple[Randomness, Randomness] | None = ...,
    network: Network | None = ...,
    lanes: int = ...,
) -> tuple[A, A]: ...


@overload
def run_pair(
    alice: Callable[[FullSession], A],
    bob: Callable[[FullSession], B],
    *,
    keys: tuple[PrivateKey | None, PrivateKey | None] = ...,
    timeout: float = ...,
    workers: int = ...,
    randomness: tuple[Randomness, Randomness] | None = ...,
    network: Network | None = ...,
    lanes: int = ...,
) -> tuple[A, B]: ...


def run_pair(
    alice: Callable[[FullSession], Any],
    bob: Callable[[FullSession], Any] | None = None,
    *,
    keys: tuple[PrivateKey | None, PrivateKey | None] = (None, None),
    timeout: float = 60.0,
    workers: int = 2,
    randomness: tuple[Randomness, Randomness] | None = None,
    network: Network | None = None,
    lanes: int = 1,
) -> tuple[Any, Any]:
    """Run two role functions against each other in threads of this process.

    Args:
        alice: called with Alice's session.
        bob: called with Bob's session; None stands for the same function, which looks at `session.role`
            where the two differ.
        keys: Alice's and Bob's private Paillier keys; each session gets its own and the other's public one.
        timeout: seconds that a party waits for a message.
        workers: threads for the arithmetic of both.
        randomness: other sources than the operating system, for tests.
        network: the link that both plan for, see `Session.network`.
        lanes: threads of either into which large batches are cut, see `Session.lanes`.

    Returns:
        What both functions returned.

    Raises:
        Exception: the error of the side that failed first; the other side is ended by it.
    """
    alice_key, bob_key = keys
    sources = randomness or (Randomness(), Randomness())
    transports = memory_pair(timeout)
    with ThreadPoolExecutor(workers) as executor, ThreadPoolExecutor(2) as parties:
        sessions = [
            FullSession(
                role,
                Channel(transport),
                executor,
                source,
                network=network,
                lanes=lanes,
                own_key=own,
                peer_key=other.public if other else None,
            )
            for role, transport, own, other, source in zip(
                Role, transports, (alice_key, bob_key), (bob_key, alice_key), sources, strict=True
            )
        ]
        first: Future[Any] = parties.submit(_finish, alice, sessions[0])
        second: Future[Any] = parties.submit(_finish, bob or alice, sessions[1])
        both: list[Future[Any]] = [first, second]
        done, _ = wait(both, return_when=FIRST_COMPLETED)
        if any(future.exception() for future in done):
            for transport in transports:
                transport.close()
        wait(both)
        errors = [error for future in both if (error := future.exception()) is not None]
        for error in sorted(errors, key=lambda e: isinstance(e, PeerAborted | PeerLost)):
            raise error
        return first.result(), second.result()


def _finish(role: Callable[[FullSession], A], session: FullSession) -> A:
    try:
        result = role(session)
        session.verify()
        session.channel.finish()
    finally:
        session.close()
    return result
