"""Dealing values in a form and opening results: the trusted third party of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from smc.ciphers.keys import PrivateKey, PublicKey
from smc.ciphers.paillier import Ciphertexts, OwnPaillier, Paillier
from smc.forms import Form, Holding, Role
from smc.moduli import Modulus
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value
from tests.support.seeds import seeded

Keys = tuple[PrivateKey, PrivateKey]


def key_of(keys: Keys, role: Role) -> PrivateKey:
    return keys[0] if role is Role.ALICE else keys[1]


def number(modulus: Modulus, keys: Keys) -> int:
    return int(key_of(keys, modulus).public.n) if isinstance(modulus, Role) else modulus


def encrypt(key: PublicKey, values: Sequence[int]) -> Ciphertexts:
    with ThreadPoolExecutor(1) as pool:
        return Ciphertexts(key, Paillier(key, seeded(), pool).encrypt(list(values)).values)


def decrypt(key: PrivateKey, ciphertexts: Ciphertexts) -> list[int]:
    with ThreadPoolExecutor(1) as pool:
        return OwnPaillier(key, seeded(), pool).decrypt(ciphertexts)


def deal(
    values: Sequence[int], form: Form, keys: Keys, modulus: Modulus = Role.ALICE, bits: int | None = None
) -> tuple[Value, Value]:
    """Alice's and Bob's holdings of `values`; `bits` asks for encryption bit by bit."""
    if form is Form.SS:
        n = number(modulus, keys)
        own = seeded().below(n, len(values))
        return Share(own, n), Share([(v - a) % n for v, a in zip(values, own, strict=True)], n)
    if bits is not None:
        values = [v >> i & 1 for v in values for i in range(bits)]

    def holding(role: Role) -> Value:
        match form.holding(role):
            case Holding.PLAIN:
                return Plain(list(values))
            case Holding.CIPHERTEXT:
                return Encrypted(encrypt(key_of(keys, role.other).public, values))
            case Holding.SECRET_KEY:
                return KeyHolder(len(values))
            case _:
                return Nothing(len(values))

    return holding(Role.ALICE), holding(Role.BOB)


def opened(form: Form, alice: Value, bob: Value, keys: Keys, modulus: Modulus | None = None) -> list[int]:
    """The values; also checks that both holdings are what the form says, and shared modulo what was asked."""
    if form is Form.SS:
        assert isinstance(alice, Share)
        assert isinstance(bob, Share)
        assert modulus is not None
        assert alice.modulus == bob.modulus == number(modulus, keys)
        assert all(0 <= share < alice.modulus for share in (*alice.values, *bob.values))
        return [(int(a) + int(b)) % alice.modulus for a, b in zip(alice.values, bob.values, strict=True)]
    found: list[list[int]] = []
    for role, holding in ((Role.ALICE, alice), (Role.BOB, bob)):
        match form.holding(role):
            case Holding.PLAIN:
                assert isinstance(holding, Plain)
                found.append(list(holding.values))
            case Holding.CIPHERTEXT:
                assert isinstance(holding, Encrypted)
                assert isinstance(holding.ciphertexts, Ciphertexts)
                found.append(decrypt(key_of(keys, role.other), holding.ciphertexts))
            case Holding.SECRET_KEY:
                assert isinstance(holding, KeyHolder)
            case _:
                assert isinstance(holding, Nothing)
    assert all(values == found[0] for values in found)
    return found[0]


def edge_pairs(bits: int) -> list[tuple[int, int]]:
    """0, 1, equal, neighbours, n - 1 and random ones."""
    top = (1 << bits) - 1
    middle = top // 2
    random = seeded()
    fixed = [(0, 0), (0, 1), (1, 0), (1, 1), (0, top), (top, 0), (top, top), (top - 1, top), (top, top - 1)]
    fixed += [(middle, middle), (middle, middle + 1), (middle + 1, middle)]
    return [*fixed, *zip(random.below(top + 1, 4), random.below(top + 1, 4), strict=True)]
