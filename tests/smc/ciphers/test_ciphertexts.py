from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from gmpy2 import mpz

from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.message import Message
from smc.ciphers.ciphertexts import Ciphertexts, Fresh
from smc.ciphers.paillier import OwnPaillier, Paillier
from smc.errors import FreshnessError, KeyMaterialError, ProtocolViolation, UsageError
from smc.forms import Role
from tests.support.keys import toy
from tests.support.seeds import seeded

KEY = toy(Role.ALICE)
N = int(KEY.public.n)


@dataclass(frozen=True, slots=True)
class Batch(Message, kind="test-batch"):
    """One field of ciphertexts."""

    ciphertexts: Fresh


@pytest.fixture
def own():
    with ThreadPoolExecutor(2) as pool:
        yield OwnPaillier(KEY, seeded(), pool)


@pytest.fixture
def peer():
    with ThreadPoolExecutor(2) as pool:
        yield Paillier(KEY.public, seeded(), pool)


def test_a_fresh_batch_leaves_once(own):
    fresh = own.encrypt([1, 2, 3])
    data = fresh.encode()
    assert len(data) == own.expect(3).size == 3 * KEY.public.ciphertext_bytes
    assert own.decrypt(own.expect(3).decode(data)) == [1, 2, 3]
    with pytest.raises(FreshnessError, match="sent twice"):
        fresh.encode()
    assert own.decrypt(fresh) == [1, 2, 3]


def test_worked_on_ciphertexts_cannot_leave(own):
    fresh = own.encrypt([1, 2])
    for worked in (
        own.add(fresh, fresh),
        own.add_plain(fresh, [1, 1]),
        own.subtract(fresh, fresh),
        own.scale(fresh, [2, 3]),
        own.expect(2).decode(fresh.encode()),
    ):
        assert not isinstance(worked, Fresh)
        with pytest.raises(FreshnessError):
            worked.encode()
        assert len(own.refresh(worked).encode()) == own.expect(2).size


def test_the_channel_refuses_what_is_not_fresh(own):
    left, right = memory_pair(1)
    sender, receiver = Channel(left), Channel(right)
    fresh = own.encrypt([5, 6])
    with pytest.raises(FreshnessError):
        sender.send(Batch(own.add_plain(fresh, [0, 0])))
    sender.send(Batch(fresh))
    assert own.decrypt(receiver.recv(Batch, own.expect(2))) == [5, 6]
    with pytest.raises(FreshnessError):
        sender.send(Batch(fresh))


@pytest.mark.parametrize(
    "view",
    [
        lambda fresh: fresh[1:3],
        lambda fresh: fresh.take([3, 2, 1, 0]),
        lambda fresh: Fresh.concat([fresh[:2], fresh[2:]]),
        copy.copy,
        lambda fresh: fresh,
    ],
)
def test_views_share_the_marks_both_ways(own, view):
    fresh = own.encrypt(range(4))
    seen = view(fresh)
    seen.encode()
    with pytest.raises(FreshnessError):
        fresh.encode()
    fresh = own.encrypt(range(4))
    seen = view(fresh)
    fresh.encode()
    with pytest.raises(FreshnessError):
        seen.encode()


def test_disjoint_slices_leave_one_after_the_other(own):
    fresh = own.encrypt(range(5))
    parts = [own.expect(len(p)).decode(p.encode()) for p in (fresh[:2], fresh[2:4], fresh[4:])]
    assert own.decrypt(Ciphertexts.concat(parts)) == list(range(5))


def test_one_ciphertext_twice_in_a_message_is_refused(own):
    fresh = own.encrypt([7])
    with pytest.raises(FreshnessError):
        fresh.take([0, 0]).encode()
    fresh = own.encrypt([7])
    with pytest.raises(FreshnessError):
        Fresh.concat([fresh, fresh]).encode()


def test_freshness_cannot_be_claimed(own):
    with pytest.raises(FreshnessError):
        Fresh(KEY.public, [mpz(1)])
    with pytest.raises(FreshnessError):
        Fresh.concat([own.encrypt([1]), own.add_plain(own.encrypt([1]), [1])])
    joined = Ciphertexts.concat([own.encrypt([1]), own.encrypt([2])])
    assert type(joined) is Ciphertexts
    assert own.decrypt(joined) == [1, 2]


def test_slices_and_permutations_keep_order_and_class(own):
    fresh = own.encrypt(range(6))
    assert own.decrypt(fresh[1:5:2]) == [1, 3]
    assert own.decrypt(fresh.take([5, 0])) == [5, 0]
    assert isinstance(fresh[:1], Fresh)
    worked = own.add_plain(fresh, [0] * 6)
    assert type(worked[2:]) is Ciphertexts
    assert len(worked[6:]) == 0
    for rows in ([6], [-1]):
        with pytest.raises(UsageError):
            fresh.take(rows)


def test_concat_wants_parts_of_one_key(own):
    with ThreadPoolExecutor(1) as pool:
        other = OwnPaillier(toy(Role.BOB), seeded(), pool).encrypt([1])
    with pytest.raises(KeyMaterialError):
        Ciphertexts.concat([own.encrypt([1]), other])
    with pytest.raises(UsageError):
        Ciphertexts.concat([])


@pytest.mark.parametrize(
    "number",
    [0, N, 2 * N, (N - 1) * N, N * N, N * N + 1, int(KEY.p), int(KEY.q) * 12345, int(KEY.p_squared)],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_numbers_that_are_no_ciphertexts_are_refused(peer, number, place):
    width = KEY.public.ciphertext_bytes
    numbers = [1, 2, 3]
    numbers[place] = number
    data = b"".join(n.to_bytes(width, "big") for n in numbers)
    with pytest.raises(ProtocolViolation) as caught:
        peer.expect(3).decode(data)
    assert str(number) not in str(caught.value) or number == 0


@pytest.mark.parametrize("number", [1, N * N - 1, N - 1, N + 1])
def test_extreme_ciphertexts_are_accepted(peer, number):
    data = number.to_bytes(KEY.public.ciphertext_bytes, "big")
    assert peer.expect(1).decode(data).values == (number,)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_number_of_bytes_is_refused(peer, change):
    expected = peer.expect(2)
    with pytest.raises(ProtocolViolation):
        expected.decode(bytes(expected.size + change))


def test_no_ciphertexts_are_a_batch_too(own):
    nothing = own.encrypt([])
    assert nothing.encode() == b""
    assert len(own.expect(0).decode(b"")) == 0
    assert own.decrypt(own.add(nothing, nothing)) == []


def test_reprs_hide_values(own):
    fresh = own.encrypt([1])
    for shown in (repr(fresh), repr(own.add(fresh, fresh)), repr(own), repr(own._masks_p)):
        assert str(fresh.values[0]) not in shown
        assert str(KEY.p) not in shown
    assert KEY.public.fingerprint[:16] in repr(fresh)
