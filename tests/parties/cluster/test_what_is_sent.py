"""What a cluster is sent: all of it, looked at as by somebody who owns a worker and wants the secret key."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest
from gmpy2 import mpz

from smc.ciphers.paillier import OwnPaillier
from smc.errors import DomainError
from smc.forms import Role
from smc.numeric.modular import FixedBases, inverses
from smc.pair import run_pair
from smc.protocols.session import Session
from tests.parties.session.test_resuming_analyses import BASELINE, found, scripts, sources, uncut
from tests.support.fixed_kem import fixed_kem
from tests.support.grids import grid
from tests.support.keys import paper
from tests.support.seeds import seeded

PAILLIER = ("paillier", "bo07", "ghjr15", "vbdhe15")
QUICK = [
    name
    for name in BASELINE
    if (name.startswith("comparison") and name.split()[-1] in PAILLIER) or "encrypted" in name
]
"""The runs with work under Paillier keys."""


class Worker(Executor):
    """Does the work at once, on copies that went through pickle as Dask's do, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def submit(self, fn, /, *args, **kwargs):
        self.sent.append(pickle.dumps((fn, args, kwargs)))
        work, given, named = pickle.loads(self.sent[-1])
        future: Future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(work(*given, **named))))
        except Exception as error:
            future.set_exception(error)
        return future


def numbers(value: object) -> Iterator[int]:
    """All whole numbers in what a worker received."""
    match value:
        case FixedBases():
            yield from numbers(value.__reduce__()[1])
        case bytes() | str():
            yield int.from_bytes(value.encode() if isinstance(value, str) else value, "big")
        case int() | mpz():
            yield int(value)
        case dict():
            yield from numbers(list(value.items()))
        case Iterable():
            for entry in value:
                yield from numbers(entry)


def shows_a_factor(value: int, n: int) -> bool:
    """Whether a number, or one beside it, shares a factor with a modulus: p, q, p - 1, p**2, multiples."""
    return any(1 < math.gcd(value + step, n) < n for step in (-1, 0, 1))


def secrets(sent: Iterable[bytes], n: int) -> list[int]:
    return [value for task in sent for value in numbers(pickle.loads(task)[1]) if shows_a_factor(value, n)]


def test_a_secret_key_is_seen_where_it_is_sent() -> None:
    worker, key = Worker(), paper(Role.ALICE)
    own = OwnPaillier(key, seeded(), worker)
    assert own.decrypt(own.encrypt([3, 4, 5])) == [3, 4, 5]
    assert secrets(worker.sent, int(key.public.n))


@pytest.mark.parametrize("count", [3, 100, 200])
def test_a_cipher_gives_a_cluster_what_is_public_and_keeps_the_rest(count: int) -> None:
    worker, key = Worker(), paper(Role.ALICE)
    values = list(range(-1, count - 1))
    with ThreadPoolExecutor(1) as here:
        own = OwnPaillier(key, seeded(), here, cluster=worker)
        held = own.scale(own.encrypt(values), [7] * count)
        assert own.decrypt(held) == [7 * value % int(key.public.n) for value in values]
        assert own.is_zero(held) == [value == 0 for value in values]
    assert worker.sent
    assert not secrets(worker.sent, int(key.public.n))


def test_a_table_travels_as_its_bases() -> None:
    with ThreadPoolExecutor(1) as here:
        table = FixedBases([mpz(3), mpz(5)], 1 << 2000, 100, 6, here)
    data = pickle.dumps(table)
    assert len(data) < 2000 < len(table.rows) * 64 * 250
    assert pickle.loads(data) is pickle.loads(data), "it is computed once"
    assert pickle.loads(data).rows == table.rows


def test_errors_of_a_task_come_back_as_they_are() -> None:
    with pytest.raises(DomainError, match="no inverse") as raised:
        inverses([2, 3, 4], 6, Worker())
    assert "coprime" in raised.value.hint


def with_clusters(name: str) -> dict[Role, Worker]:
    """A run of the wire's baseline whose parties each have a cluster; neither peer nor result shows it."""
    script, drawn = scripts()[1], sources(name)
    workers, said = {role: Worker() for role in Role}, {role: script.Transcript() for role in Role}

    def side(session: Session) -> object:
        session.cluster = workers[session.role]
        session.channel = script.Tap(session.channel, said[session.role])
        return found(name).side(session)

    with fixed_kem():
        both = run_pair(
            side, side, keys=script.KEYS, randomness=(drawn[Role.ALICE], drawn[Role.BOB]), workers=1
        )
    assert repr(both) == uncut(name)
    assert {role.value: one.described() for role, one in said.items()} == BASELINE[name]
    return workers


@pytest.mark.parametrize("name", grid(BASELINE, QUICK))
def test_no_run_sends_a_secret_key_to_a_cluster(name: str) -> None:
    workers = with_clusters(name)
    if name.endswith(" paillier") and "local" not in name:
        assert any(worker.sent for worker in workers.values())
    for key in scripts()[1].KEYS:
        assert not [
            number for worker in workers.values() for number in secrets(worker.sent, int(key.public.n))
        ]
