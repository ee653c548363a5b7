"""Comparison of shares that use their whole modulus: every share of every small pair, and 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from smc.forms import ComparisonType, Form, Role
from smc.pair import run_pair
from smc.planning.plan import Plan
from smc.planning.route import plan_comparison
from smc.planning.run import prepare
from smc.protocols.comparison import wrapping
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain, Share, Value, of_array
from tests.smc.planning.test_every_type import compare, expected
from tests.support.grids import crossed
from tests.support.holdings import edge_pairs
from tests.support.seeds import seeded

KINDS = ["SS-SS-SS", "PN-SS-SS", "SS-PN-SS", "NP-SS-SS", "SS-NP-SS"]
SMALL = [2, 3, 4, 5, 6, 7, 8, 9, 11, 15]


def halves(form: Form, value: int, own: int, modulus: int) -> tuple[int, int]:
    """Alice's and Bob's holdings of one value, shared if the form says so."""
    if form is Form.SS:
        return own, (value - own) % modulus
    return value, value


def held(form: Form, role: Role, values: Sequence[int], modulus: int) -> Value:
    if form is Form.SS:
        return Share(list(values), modulus)
    return Plain(list(values)) if role in form.sees else Nothing(len(values))


def rows_of(kind: ComparisonType, modulus: int) -> list[tuple[int, int, int, int]]:
    """All values, with all shares of those that are shared."""
    bits = modulus.bit_length() - 1
    values, all_shares = range(1 << bits), range(modulus)
    return list(
        product(
            values,
            all_shares if kind.x is Form.SS else [0],
            values,
            all_shares if kind.y is Form.SS else [0],
        )
    )


@pytest.mark.parametrize("name", KINDS)
def test_all_shares_of_all_pairs_modulo_all_small_numbers(name: str) -> None:
    kind = ComparisonType.parse(name)
    moduli = SMALL if name == "SS-SS-SS" else [*SMALL, 16, 31]
    batches = {modulus: rows_of(kind, modulus) for modulus in moduli}
    plans = {
        modulus: plan_comparison(
            kind,
            Parameters(len(rows), modulus.bit_length() - 1, 512, 512),
            engine="oblivious",
            x_modulus=modulus,
            y_modulus=modulus,
        )
        for modulus, rows in batches.items()
    }

    def party(session: Session) -> dict[int, list[int]]:
        side = int(session.role is Role.BOB)
        results = {}
        for modulus, rows in batches.items():
            x = [halves(kind.x, value, own, modulus)[side] for value, own, _, _ in rows]
            y = [halves(kind.y, value, own, modulus)[side] for _, _, value, own in rows]
            delta = prepare(plans[modulus], session).run(
                held(kind.x, session.role, x, modulus), held(kind.y, session.role, y, modulus)
            )
            assert isinstance(delta, Share)
            results[modulus] = [int(bit) for bit in delta.values]
        return results

    alice, bob = run_pair(party, party)
    for modulus, rows in batches.items():
        assert plans[modulus].comparison.name.startswith("wrapping")
        found = [a ^ b for a, b in zip(alice[modulus], bob[modulus], strict=True)]
        assert found == [int(x >= y) for x, _, y, _ in rows], modulus


@pytest.mark.parametrize(
    ("name", "engine", "bits"),
    crossed(
        [*KINDS, "SS-SS-PP", "PP-SS-SS", "SS-PP-NP"], ["paillier", "oblivious", "silent", "elgamal"], [63, 64]
    ),
)
def test_words_of_63_and_64_bits(name: str, engine: str, bits: int) -> None:
    pairs = edge_pairs(bits)[: 13 if engine in ("oblivious", "silent") else 5]
    results, plan = compare(ComparisonType.parse(name), pairs, bits, engine=engine, modulus=1 << 64)
    assert results == expected(pairs)
    assert plan.engine == engine
    if engine in ("oblivious", "silent"):
        assert not {"decrypt", "mask"} & set(plan.cost(Parameters(9, bits, 3072, 3072)).alice_operations)


@pytest.mark.parametrize("modulus", [1 << 64, (1 << 64) + 13, (1 << 65) - 49])
@pytest.mark.parametrize("name", KINDS)
def test_shares_at_the_borders_of_the_modulus(name: str, modulus: int) -> None:
    kind = ComparisonType.parse(name)
    values = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 2, (1 << 64) - 1]
    shares = [0, 1, modulus // 2, modulus - 2, modulus - 1]
    rows = list(
        product(
            values,
            shares if kind.x is Form.SS else [0],
            values,
            shares if kind.y is Form.SS else [0],
        )
    )
    plan = plan_comparison(
        kind, Parameters(len(rows), 64, 512, 512), engine="oblivious", x_modulus=modulus, y_modulus=modulus
    )

    def party(session: Session) -> Value:
        side = int(session.role is Role.BOB)
        x = [halves(kind.x, value, own, modulus)[side] for value, own, _, _ in rows]
        y = [halves(kind.y, value, own, modulus)[side] for _, _, value, own in rows]
        ready = prepare(plan, session)
        return ready.run(held(kind.x, session.role, x, modulus), held(kind.y, session.role, y, modulus))

    a, b = run_pair(party, party)
    assert isinstance(a, Share)
    assert isinstance(b, Share)
    found = [int(one) ^ int(other) for one, other in zip(a.values, b.values, strict=True)]
    assert found == [int(x >= y) for x, _, y, _ in rows]


@pytest.mark.parametrize("chunk", [1, 7, 40])
def test_chunks_and_arrays(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "chunk", lambda self, parameters: chunk)
    random, modulus = seeded(), 1 << 64
    x, y, own_x, own_y = (random.words(40) for _ in range(4))
    y[::4] = x[::4]
    kind = ComparisonType.parse("SS-SS-SS")
    plan = plan_comparison(
        kind, Parameters(40, 64, 512, 512), engine="oblivious", x_modulus=modulus, y_modulus=modulus
    )

    def party(session: Session) -> Value:
        first = session.role is Role.ALICE
        left, right = (own_x, own_y) if first else (x - own_x, y - own_y)
        return prepare(plan, session).run(Share(of_array(left), modulus), Share(of_array(right), modulus))

    a, b = run_pair(party, party)
    assert isinstance(a, Share)
    assert isinstance(b, Share)
    assert isinstance(a.values, np.ndarray)
    assert ((np.asarray(a.values) ^ np.asarray(b.values)) == (x >= y)).all()


def test_shares_of_the_result_are_fair_coins() -> None:
    """Whatever the pairs are: a count of 20000 coins is off by 347 once in a million."""
    modulus = 1 << 8
    kind = ComparisonType.parse("SS-SS-SS")
    given = Parameters(20000, 8, 512, 512)
    plan = plan_comparison(kind, given, engine="oblivious", x_modulus=modulus, y_modulus=modulus)
    for x, y in ((0, 255), (255, 0), (7, 7)):

        def party(session: Session, x: int = x, y: int = y) -> Value:
            own = (3, 5) if session.role is Role.ALICE else ((x - 3) % modulus, (y - 5) % modulus)
            holdings = (Share([share] * 20000, modulus) for share in own)
            return prepare(plan, session).run(*holdings)

        for half in run_pair(party, party):
            assert isinstance(half, Share)
            assert abs(sum(half.values) - 10000) < 347


def test_what_uses_the_whole_modulus() -> None:
    def fits(bits: int, modulus: int | Role) -> bool:
        return wrapping.applies(Parameters(1, bits, 2048, 2048, modulus, 2))

    assert [bits for bits in range(1, 128) if fits(bits, 1 << 64)] == [64]
    assert [bits for bits in range(1, 128) if fits(bits, (1 << 64) - 1)] == [63]
    assert not fits(64, Role.ALICE)
    assert all(spec.engine is None for spec in (wrapping.SPEC, wrapping.SPEC_X_KNOWN))


def test_no_share_of_a_whole_modulus_is_redundant() -> None:
    """docs/proofs/whole-modulus.md: whatever two inputs of one party differ in, some result shows it."""
    words = range(1 << 3)
    questions = {
        (x, y): tuple(
            (x + other_x) % len(words) < (y + other_y) % len(words)
            for other_x, other_y in product(words, repeat=2)
        )
        for x, y in product(words, repeat=2)
    }
    assert len(set(questions.values())) == len(questions) == 1 << 6
    complements = {tuple(not answer for answer in answers) for answers in questions.values()}
    assert not complements & set(questions.values())
    # With two bits to spare, it hangs on the difference of both words alone.
    small = range(1 << 1)
    spare = {
        (x, y): tuple(
            (x + other_x) % 8 < (y + other_y) % 8
            if {(x + other_x) % 8, (y + other_y) % 8} <= {*small}
            else None
            for other_x, other_y in product(words, repeat=2)
        )
        for x, y in product(words, repeat=2)
    }
    by_difference: dict[tuple[int, int], set[bool]] = {}
    for (x, y), answers in spare.items():
        for (other_x, other_y), answer in zip(product(words, repeat=2), answers, strict=True):
            if answer is not None:
                by_difference.setdefault(((x - y) % 8, (other_x - other_y) % 8), set()).add(answer)
    assert all(len(answers) == 1 for answers in by_difference.values())
