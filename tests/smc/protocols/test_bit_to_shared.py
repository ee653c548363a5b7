"""XOR shares of bits to shares modulo any M by oblivious transfer: every case, spans, and what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.oblivious import spans
from smc.pair import run_pair
from smc.protocols import correlated
from smc.protocols.conversion.bit_to_shared import SPEC
from smc.protocols.correlated import CorrelatedCorrections, SeededCorrections
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Share, of_array
from tests.support.grids import crossed
from tests.support.holdings import number
from tests.support.keys import toy
from tests.support.transcript import BYTES_BOUND, byte_statistic, transcripts, truncated

KEYS = (toy(Role.ALICE), toy(Role.BOB))
N = number(Role.ALICE, KEYS)
MODULI = [3, 4, 5, 6, 7, 16, 255, 256, 257, 10**9 + 7, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 63) - 25]
MODULI += [1 << 63, (1 << 64) - 59, 1 << 64, (1 << 64) + 13, 1 << 128, (1 << 256) - 189, N]


def party(given: Parameters, own: Sequence[int], *, mirrored: bool = False) -> Any:
    """One side; in a mirrored run Bob plays the protocol's Alice."""

    def run(session: Session) -> Share:
        session.oblivious.setup()
        first = (session.role is Role.ALICE) is not mirrored
        result = (SPEC.alice if first else SPEC.bob)(session, given, Share(own, 2))
        assert isinstance(result, Share)
        return result

    return run


def convert(
    alice: Sequence[int], bob: Sequence[int], modulus: int, *, mirrored: bool = False
) -> tuple[list[int], list[int]]:
    given = Parameters(len(alice), 1, 512, 512, 2, modulus)
    a, b = run_pair(party(given, alice, mirrored=mirrored), party(given, bob, mirrored=mirrored))
    assert a.modulus == b.modulus == modulus
    first, second = [int(v) for v in a.values], [int(v) for v in b.values]
    assert all(0 <= share < modulus for share in (*first, *second))
    return first, second


@pytest.mark.parametrize(("modulus", "count", "mirrored"), crossed(MODULI, [1, 7, 130], [False, True]))
def test_all_shares_of_both_bits_modulo_everything(modulus: int, count: int, mirrored: bool) -> None:
    alice, bob = [row & 1 for row in range(count + 3)], [row >> 1 & 1 for row in range(count + 3)]
    first, second = convert(alice[-count:], bob[-count:], modulus, mirrored=mirrored)
    wanted = [a ^ b for a, b in zip(alice[-count:], bob[-count:], strict=True)]
    assert [(a + b) % modulus for a, b in zip(first, second, strict=True)] == wanted


@pytest.mark.parametrize("modulus", [7, 1 << 64, N])
def test_a_batch_of_many_spans(modulus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "SPAN_BYTES", 1)
    bits = [row % 3 & 1 for row in range(300)]
    first, second = convert(bits, [0] * 300, modulus)
    assert [(a + b) % modulus for a, b in zip(first, second, strict=True)] == bits
    given = Parameters(300, 1, 512, 512, 2, modulus)
    assert SPEC.cost(given).rounds == 2 * 5


def test_arrays_stay_arrays_where_numbers_are_words() -> None:
    bits = of_array(np.array([0, 1, 1], dtype=np.uint8))
    for modulus, kept in ((5, True), (1 << 64, True), ((1 << 64) - 59, False), (N, False)):
        given = Parameters(3, 1, 512, 512, 2, modulus)
        a, _ = run_pair(party(given, bits), party(given, bits))
        assert isinstance(a.values, np.ndarray) is kept


@pytest.mark.parametrize(
    ("modulus", "bits"),
    crossed([5, 6, 256, 10**9 + 7, 1 << 64, (1 << 64) - 59, N], [(0, 0), (0, 1), (1, 0), (1, 1)]),
)
def test_both_shares_are_uniform_whatever_the_bits_are(modulus: int, bits: tuple[int, int]) -> None:
    """Also where the shares of the bit are not random. Chi-square with 4 degrees of freedom exceeds 33.4, a
    coin of 4000 tosses 2000 +- 155, once in a million."""
    count = 4000
    alice, bob = bits
    for shares in convert([alice] * count, [bob] * count, modulus):
        parts = np.bincount([share * 5 // modulus for share in shares], minlength=5)
        sizes = np.array([-(-modulus * (i + 1) // 5) - -(-modulus * i // 5) for i in range(5)], dtype=float)
        expected = sizes / modulus * count
        assert ((parts - expected) ** 2 / expected).sum() < 33.4
        even = sum(share % 2 == 0 for share in shares) - count * ((modulus + 1) // 2) / modulus
        assert abs(even) < 155


@pytest.mark.parametrize(("modulus", "bit"), crossed([1 << 64, (1 << 64) - 59, N], [0, 1]))
def test_what_bob_receives_is_noise(modulus: int, bit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrections have the same sizes for all bits, and look random."""
    given = Parameters(2000, 1, 512, 512, 2, modulus)
    _, seen = transcripts(monkeypatch, party(given, [bit] * 2000))
    kinds = [(kind, len(data)) for kind, data in seen[Role.BOB] if "Corrections" in kind]
    salt = 0 if modulus == 1 << 64 else correlated.SALT_BYTES
    assert [size for _, size in kinds] == [2000 * ((modulus - 1).bit_length() + 7 >> 3) + salt]
    body = next(data for kind, data in seen[Role.BOB] if "Corrections" in kind)[salt:]
    width = (modulus - 1).bit_length() + 7 >> 3
    lower = np.frombuffer(body, dtype=np.uint8).reshape(-1, width)[:, width // 2 :]
    assert byte_statistic(lower.tobytes()) < BYTES_BOUND


@pytest.mark.parametrize("kind", [CorrelatedCorrections.__name__, SeededCorrections.__name__])
def test_a_message_that_is_too_short_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    channels = truncated(monkeypatch, kind)
    given = Parameters(9, 1, 512, 512, 2, 1 << 64 if kind == CorrelatedCorrections.__name__ else N)

    def alice(session: Session) -> Share:
        channels.append(session.channel)
        return party(given, [1] * 9)(session)  # type: ignore[no-any-return]

    with pytest.raises(ProtocolViolation):
        run_pair(alice, party(given, [1] * 9))


@pytest.mark.parametrize("modulus", [5, (1 << 64) - 59, N])
def test_a_correction_outside_the_modulus_is_refused(modulus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Channel.send

    class Wide:
        def __init__(self, message: Any) -> None:
            self._message = message

        def kind(self) -> str:
            return str(type(self._message).kind())

        def is_hidden(self) -> bool:
            return type(self._message).is_hidden()

        def encode(self) -> bytes:
            data = bytes(self._message.encode())
            return data[:-1] + b"\xff" if modulus == 5 else data[:-64] + b"\xff" * 64

    def send(self: Channel, message: Any) -> None:
        honest(self, Wide(message) if "Corrections" in type(message).__name__ else message)

    monkeypatch.setattr(Channel, "send", send)
    given = Parameters(9, 1, 512, 512, 2, modulus)
    with pytest.raises(ProtocolViolation, match="outside its modulus"):
        run_pair(party(given, [1] * 9), party(given, [1] * 9))
