"""The dealer of a benchmark: makes up inputs, deals them in the forms of a type, opens the results.

Whoever deals knows everything, so this is for made-up numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from gmpy2 import mpz

from smc.ciphers.keys import PrivateKey, PublicKey
from smc.ciphers.paillier import Ciphertexts, OwnPaillier
from smc.errors import DuettoError
from smc.forms import ComparisonType, Form, Holding, Role
from smc.moduli import Modulus
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.full_session import FullSession
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value

Pair = tuple[int, int]
Holdings = Mapping[Role, Value]


def make_pairs(bits: int, count: int, random: Randomness) -> list[Pair]:
    """Pairs to compare: edge values at both ends of the batch, uniform ones between.

    Args:
        bits: numbers are in [0, 2**bits).
        count: pairs; fewer than there are edge pairs gives some of these.
        random: the source of randomness.
    """
    edges = random.shuffled(_edge_pairs(bits, random))
    if count <= len(edges):
        return edges[:count]
    rest = count - len(edges)
    middle = list(zip(random.below(1 << bits, rest), random.below(1 << bits, rest), strict=True))
    half = len(edges) // 2
    return [*edges[:half], *middle, *edges[half:]]


def _edge_pairs(bits: int, random: Randomness) -> list[Pair]:
    """0, 1, the middle, the top and a random number, each with itself and its neighbours; and extremes."""
    top = (1 << bits) - 1
    marks = {0, 1, top >> 1, top, random.below(top + 1, 1)[0]}
    pairs = {(0, top), (top, 0)}
    for mark in marks:
        for other in (mark - 1, mark, mark + 1):
            pairs |= {(mark, other), (other, mark)}
    return sorted(pair for pair in pairs if min(pair) >= 0 and max(pair) <= top)


def plain_results(pairs: Sequence[Pair]) -> list[int]:
    """The plain comparison: 1 where x >= y, else 0."""
    return [int(x >= y) for x, y in pairs]


def fill_pool(comparisons: int, bits: int, x_at: Role) -> dict[Role, bytes]:
    """Both halves of a pool, as they are stored."""

    def side(session: FullSession) -> bytes:
        return session.oblivious.fill_pool(comparisons, bits, holds_x=session.role is x_at).export()

    return dict(zip(Role, run_pair(side, side), strict=True))


@dataclass(frozen=True, slots=True)
class Dealer:
    """Knows both secret keys.

    Attributes:
        keys: both parties' Paillier keys.
        pool: where the work is done.
        random: the source of randomness.
    """

    keys: Mapping[Role, PrivateKey] = field(repr=False)
    pool: Executor = field(repr=False)
    random: Randomness = field(default_factory=Randomness, repr=False)

    def deal_inputs(
        self, kind: ComparisonType, bits: int, modulus: Modulus, pairs: Sequence[Pair]
    ) -> tuple[Holdings, Holdings]:
        """What each party holds of x and of y."""
        x, y = [x for x, _ in pairs], [y for _, y in pairs]
        if kind.bitwise:
            x = [value >> place & 1 for value in x for place in range(bits)]
        return self.deal(x, kind.x, modulus), self.deal(y, kind.y, modulus)

    def deal(self, values: Sequence[int], form: Form, modulus: Modulus) -> Holdings:
        """What each party holds of `values`; `modulus` is for shares."""
        if form is Form.SS:
            n = self._number(modulus)
            alice = self.random.below(n, len(values))
            bob = [(value - share) % n for value, share in zip(values, alice, strict=True)]
            return {Role.ALICE: Share(alice, n), Role.BOB: Share(bob, n)}
        return {role: self._holding(values, form.holding(role), role) for role in Role}

    def open(self, form: Form, holdings: Holdings, modulus: Modulus) -> list[int]:
        """The values of results; `modulus` is what shares must have.

        Raises:
            DuettoError: the parties do not hold what the form says, or plain results differ.
        """
        if form is Form.SS:
            alice, bob = holdings[Role.ALICE], holdings[Role.BOB]
            if not isinstance(alice, Share) or not isinstance(bob, Share):
                raise _not_in(form)
            if not alice.modulus == bob.modulus == self._number(modulus):
                raise _not_in(form)
            return [(a + b) % alice.modulus for a, b in zip(alice.values, bob.values, strict=True)]
        seen = [values for role in Role if (values := self._reveal(form, role, holdings[role])) is not None]
        if not seen or any(values != seen[0] for values in seen):
            raise _not_in(form)
        return seen[0]

    def _holding(self, values: Sequence[int], holding: Holding, role: Role) -> Value:
        match holding:
            case Holding.PLAIN:
                return Plain(values)
            case Holding.CIPHERTEXT:
                fresh = self._cipher(role.other).encrypt(values)
                return Encrypted(Ciphertexts(fresh.key, fresh.values))
            case Holding.SECRET_KEY:
                return KeyHolder(len(values))
            case _:
                return Nothing(len(values))

    def _reveal(self, form: Form, role: Role, value: Value) -> list[int] | None:
        """The values that a party's holding tells whoever has all keys."""
        match form.holding(role), value:
            case Holding.PLAIN, Plain(values):
                return list(values)
            case Holding.CIPHERTEXT, Encrypted(ciphertexts) if isinstance(ciphertexts, Ciphertexts):
                return self._cipher(role.other).decrypt(ciphertexts)
            case (Holding.SECRET_KEY, KeyHolder()) | (Holding.NOTHING, Nothing()):
                return None
        raise _not_in(form)

    def _number(self, modulus: Modulus) -> int:
        return int(self.keys[modulus].public.n) if isinstance(modulus, Role) else modulus

    def _cipher(self, owner: Role) -> OwnPaillier:
        return OwnPaillier(self.keys[owner], self.random, self.pool)


def pack(value: Value) -> dict[str, Any]:
    """A holding as plain JSON values; secret like the holding itself."""
    match value:
        case Plain(values):
            return {"kind": "plain", "values": _texts(values)}
        case Share(values, modulus):
            return {"kind": "share", "modulus": f"{modulus:x}", "values": _texts(values)}
        case Encrypted(ciphertexts) if isinstance(ciphertexts, Ciphertexts):
            return {"kind": "ciphertext", "values": _texts(ciphertexts.values)}
        case KeyHolder(count):
            return {"kind": "key", "count": count}
        case Nothing(count):
            return {"kind": "nothing", "count": count}
        case _:
            raise DuettoError(
                "Only Paillier ciphertexts can be handed to another process.",
                "Measure a type whose results are encrypted with Paillier.",
            )


def unpack(fields: Mapping[str, Any], key: PublicKey) -> Value:
    """The holding that `pack` wrote; `key` is the one of its ciphertexts."""
    match fields["kind"]:
        case "plain":
            return Plain(_numbers(fields))
        case "share":
            return Share(_numbers(fields), int(fields["modulus"], 16))
        case "ciphertext":
            return Encrypted(Ciphertexts(key, [mpz(value) for value in _numbers(fields)]))
        case "key":
            return KeyHolder(fields["count"])
        case _:
            return Nothing(fields["count"])


def _texts(values: Sequence[Any]) -> list[str]:
    return [f"{int(value):x}" for value in values]


def _numbers(fields: Mapping[str, Any]) -> list[int]:
    return [int(text, 16) for text in fields["values"]]


def _not_in(form: Form) -> DuettoError:
    return DuettoError(
        f"The two results do not belong to one batch in form {form.value}.",
        "Report it: this is a defect of the program.",
    )
