"""ElGamal in the exponent: arithmetic through the identity, freshness, and what is refused from outside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.ciphers import curve
from smc.ciphers.curve import ORDER, POINT_BYTES, generate, multiply, same
from smc.ciphers.elgamal import (
    CIPHERTEXT_BYTES,
    ElGamal,
    ElGamalCiphertexts,
    ElGamalKey,
    ElGamalSecret,
    FreshElGamalCiphertexts,
    OwnElGamal,
    generate_elgamal,
)
from smc.errors import FreshnessError, KeyMaterialError, ProtocolViolation, UsageError
from smc.numeric.random import Randomness
from tests.support.seeds import seeded

SECRET = ElGamalSecret(0x1234567890ABCDEF)
EDGES = [0, 1, 2, ORDER - 1, ORDER, ORDER + 1, -1, 2 * ORDER]
POOL = ThreadPoolExecutor(2)
OWN = OwnElGamal(SECRET, seeded(), POOL)
PEER = ElGamal(SECRET.public, seeded(), POOL)


def opens_to(batch: ElGamalCiphertexts, values: list[int]) -> bool:
    return OWN.is_zero(OWN.add_plain(batch, [-value for value in values])) == [True] * len(values)


def test_the_group_with_its_identity() -> None:
    points = {k: generate(k) for k in (0, 1, 2, 3, ORDER - 1)}
    assert points[0] is None
    assert curve.add(points[1], points[ORDER - 1]) is None
    assert same(curve.add(points[1], points[2]), points[3])
    assert same(curve.add(points[1], points[1]), points[2])
    assert same(curve.add(None, points[2]), points[2])
    assert same(curve.add(points[2], None), points[2])
    assert curve.add(None, None) is None
    assert multiply(points[3], 0) is None
    assert multiply(points[3], ORDER) is None
    assert multiply(None, 5) is None
    assert same(multiply(points[3], -1), generate(ORDER - 3))
    assert curve.shift(points[1], -1) is None
    assert same(curve.shift(None, 2), points[2])
    assert same(curve.shift(points[1], ORDER), points[1])
    assert not same(points[1], None)
    assert same(None, None)
    with pytest.raises(UsageError):
        curve.encode_point(None)


@pytest.mark.parametrize("cipher", [OWN, PEER], ids=["own", "peer"])
@pytest.mark.parametrize("value", EDGES)
def test_encryption_and_zero_test(cipher: ElGamal, value: int) -> None:
    batch = cipher.encrypt([value, value])
    assert OWN.is_zero(batch) == [value % ORDER == 0] * 2
    assert opens_to(batch, [value, value])
    assert not opens_to(batch, [value, value + 1])
    assert batch.values[0] != batch.values[1]


@given(
    st.integers(-(1 << 270), 1 << 270), st.integers(-(1 << 270), 1 << 270), st.sampled_from([0, 1, -1, ORDER])
)
def test_homomorphic_work(m: int, shift: int, factor: int) -> None:
    batch = PEER.encrypt([m])
    assert opens_to(PEER.add_plain(batch, [shift]), [m + shift])
    assert opens_to(PEER.scale(batch, [factor]), [m * factor])
    assert opens_to(PEER.scale(batch, [shift]), [m * shift])
    assert opens_to(PEER.refresh(PEER.add_plain(batch, [-m])), [0])


def test_work_that_passes_through_the_identity_can_leave() -> None:
    """0 times a ciphertext is two identities; m - m without randomness is one; both leave as zeros."""
    zeros = PEER.scale(PEER.encrypt([5, 6]), [0, ORDER])
    assert zeros.values == ((None, None), (None, None))
    known = PEER.add_plain(PEER.encrypt_trivially([7, 0]), [-7, 3])
    assert known.values[0] == (None, None)
    for batch, expected in ((zeros, [True, True]), (known, [True, False])):
        assert OWN.is_zero(batch) == expected
        fresh = PEER.refresh(batch)
        data = fresh.encode()
        assert len(data) == PEER.expect(2).size == 2 * CIPHERTEXT_BYTES
        assert OWN.is_zero(OWN.expect(2).decode(data)) == expected


class Scripted(Randomness):
    """Gives the listed scalars first."""

    def __init__(self, first: list[int]) -> None:
        super().__init__()
        self.first = first

    def below(self, bound: int, count: int) -> list[int]:
        given, self.first = self.first[:count], self.first[count:]
        return given + super().below(bound, count - len(given))


def test_randomness_that_would_give_the_identity_is_drawn_again() -> None:
    own = OwnElGamal(SECRET, Scripted([0, 4, 5]), POOL)
    batch = own.encrypt([1, 2, -5 * SECRET.scalar])
    assert all(point is not None for pair in batch.values for point in pair)
    assert same(batch.values[1][0], generate(4))
    assert opens_to(batch, [1, 2, -5 * SECRET.scalar])
    peer = ElGamal(SECRET.public, Scripted([ORDER - 4]), POOL)
    fresh = peer.refresh(batch.take([1]))
    assert fresh.values[0][0] is not None
    assert opens_to(fresh, [2])


def test_refreshing_changes_both_points_and_leaves_once() -> None:
    batch = PEER.encrypt([3])
    fresh = PEER.refresh(batch)
    assert all(not same(a, b) for a, b in zip(batch.values[0], fresh.values[0], strict=True))
    fresh[:1].encode()
    with pytest.raises(FreshnessError, match="sent twice"):
        fresh.encode()
    for worked in (PEER.add_plain(batch, [1]), PEER.scale(batch, [2]), PEER.encrypt_trivially([1])):
        with pytest.raises(FreshnessError):
            worked.encode()  # type: ignore[attr-defined]
    with pytest.raises(FreshnessError):
        FreshElGamalCiphertexts(SECRET.public, batch.values)
    with pytest.raises(FreshnessError):
        FreshElGamalCiphertexts.concat([PEER.encrypt([1]), PEER.add_plain(batch, [1])])  # type: ignore[list-item]


OFF_THE_CURVE = (5).to_bytes(32, "big")  # 5**3 + 7 is no square modulo the field's prime
GOOD = curve.encode_point(generate(9))


@pytest.mark.parametrize(
    "bad",
    [
        bytes(POINT_BYTES),
        b"\x00" + GOOD[1:],
        b"\x04" + GOOD[1:],
        b"\x05" + GOOD[1:],
        b"\x02" + OFF_THE_CURVE,
        b"\x03" + OFF_THE_CURVE,
        b"\x02" + b"\xff" * 32,
    ],
    ids=[
        "zero",
        "prefix 0",
        "uncompressed",
        "prefix 5",
        "off the curve",
        "off the curve too",
        "past the field",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 4])
def test_what_is_no_point_is_refused(bad: bytes, place: int) -> None:
    points = [GOOD] * 6
    points[place] = bad
    with pytest.raises(ProtocolViolation, match="not on the curve") as caught:
        PEER.expect(3).decode(b"".join(points))
    assert bad.hex() not in str(caught.value)
    with pytest.raises(ProtocolViolation):
        ElGamalKey(bad)


@pytest.mark.parametrize("change", [-1, 1, 33])
def test_a_wrong_number_of_bytes_is_refused(change: int) -> None:
    with pytest.raises(ProtocolViolation):
        PEER.expect(2).decode((GOOD * 5)[: 2 * CIPHERTEXT_BYTES + change])
    with pytest.raises(ProtocolViolation):
        ElGamalKey((GOOD * 2)[: POINT_BYTES + change])


def test_keys() -> None:
    for scalar in (0, ORDER, -1, ORDER + 1):
        with pytest.raises(KeyMaterialError):
            ElGamalSecret(scalar)
    one, two = generate_elgamal(seeded()), generate_elgamal(seeded())
    assert one != two
    other = ElGamal(one.public, seeded(), POOL).encrypt([1])
    for work in (PEER.refresh, OWN.is_zero, lambda a: PEER.scale(a, [1]), lambda a: PEER.add_plain(a, [1])):
        with pytest.raises(KeyMaterialError):
            work(other)
    with pytest.raises(KeyMaterialError):
        ElGamalCiphertexts.concat([other, PEER.encrypt([1])])
    for shown in (repr(one), repr(other), repr(PEER), repr(OWN)):
        assert str(one.scalar) not in shown
        assert hex(SECRET.scalar)[2:] not in shown


def test_lengths_and_counts() -> None:
    cipher = OwnElGamal(SECRET, seeded(), POOL)
    batch = cipher.encrypt([1, 2, 3])
    for wrong in (lambda: cipher.scale(batch, [1]), lambda: cipher.add_plain(batch, [1, 2])):
        with pytest.raises(UsageError):
            wrong()
    cipher.refresh(cipher.scale(batch, [2, 3, 4]))
    cipher.is_zero(batch)
    assert cipher.operations == {"ec_mask": 6, "ec_power": 3, "ec_zero_test": 3}
    assert len(cipher.encrypt([])) == 0
    assert len(cipher.expect(0).decode(b"")) == 0
