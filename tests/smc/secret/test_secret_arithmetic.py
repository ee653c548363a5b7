"""Sums, products, matrix products and what they cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious.consistency import proof_bytes
from smc.oblivious.softspoken import TREES
from smc.pair import run_pair
from smc.secret.ints import SecretInts, concatenate, select
from smc.secret.products import gilboa
from smc.secret.products import words as products
from smc.secret.products.words import cost_matmul, cost_multiply, cost_square
from smc.secret.sharing.bounds import SHARED, Bounds, Operand
from smc.secret.sharing.fixed import Fixed
from smc.secret.sharing.records import cost_opening
from tests.smc.secret.secret_runs import (
    TOP,
    Secret,
    check_cost,
    measured,
    opened,
    results,
    tight,
    uniform,
)
from tests.support.grids import crossed

OWNERS = [None, Role.ALICE, Role.BOB]
CHI_SQUARE_255 = 394.1  # critical value with 255 degrees of freedom at 1e-6 over twenty tests
HALF = 1 << 31
PROOF = proof_bytes(1, TREES)
EDGES = np.array([0, 1, -1, HALF - 1, 1 - HALF, -HALF, 2, -3])


@pytest.mark.parametrize("x_owner", OWNERS)
@pytest.mark.parametrize("y_owner", OWNERS)
def test_sums_and_differences(x_owner, y_owner):
    x, y = (tight(uniform((3, 4), -(1 << 61), 1 << 61), owner) for owner in (x_owner, y_owner))
    assert (opened(lambda a, b: a + b, x, y) == x.held + y.held).all()
    assert (opened(lambda a, b: a - b, x, y) == x.held - y.held).all()
    assert (opened(lambda a: -a + 7, x) == 7 - x.held).all()
    assert (opened(lambda a: 7 - a, x) == 7 - x.held).all()
    assert (opened(lambda a, b: b.sum(axis=0) - a.sum(axis=0)[0:1], tight([[1, 2]], x_owner), x)).shape == (
        4,
    )


@pytest.mark.parametrize("x_owner", OWNERS)
@pytest.mark.parametrize("y_owner", OWNERS)
def test_products(x_owner, y_owner):
    x = tight(np.concatenate([np.repeat(EDGES, len(EDGES)), uniform(50, -HALF, HALF - 1)]), x_owner)
    y = tight(np.concatenate([np.tile(EDGES, len(EDGES)), uniform(50, -HALF, HALF - 1)]), y_owner)
    assert (opened(lambda a, b: a * b, x, y) == x.held * y.held).all()


@pytest.mark.parametrize("owner", OWNERS)
def test_squares(owner):
    x = tight([0, 3, -3037000499, 3037000499], owner)
    assert (opened(lambda a: a * a, x) == x.held**2).all()
    check_cost(cost_square(4) if owner is None else cost_multiply(0), lambda a: a * a, x)


def test_products_broadcast_and_take_public_factors():
    x, y = tight(uniform((3, 1), -9, 9)), tight(uniform(4, -9, 9))
    public = uniform((3, 4), -100, 100)
    assert (opened(lambda a, b: a * b, x, y) == x.held * y.held).all()
    assert (opened(lambda a: public * a + a * 5, x) == public * x.held + 5 * x.held).all()
    assert (opened(lambda a, b: public + a - b, x, y) == public + x.held - y.held).all()


@pytest.mark.parametrize(
    ("left", "right"),
    [(SHARED, SHARED), (Operand(Bounds(-5, 5), Role.ALICE), Operand(Bounds(0, 1023), Role.BOB))]
    + [(Operand(Bounds(-500, 5), role), SHARED) for role in Role]
    + [(SHARED, Operand(Bounds(-500, 5), role)) for role in Role]
    + [(Operand(Bounds(0, 0), Role.ALICE), SHARED), (Operand(Bounds(0, 9), Role.BOB),) * 2],
)
@pytest.mark.parametrize("count", [1, 70])
def test_the_cost_of_products(left, right, count):
    secrets = [
        Secret(
            np.full(count, max(0, kind.bounds.lower)),
            Bounds(0, 9) if kind is SHARED else kind.bounds,
            kind.owner,
        )
        for kind in (left, right)
    ]
    check_cost(cost_multiply(count, left, right), lambda a, b: a * b, *secrets)


def test_the_bytes_of_products():
    """Each direction's transfers carry their proof."""
    count = 64
    both = cost_multiply(count)
    assert (both.alice_bytes + both.bob_bytes, both.rounds) == (1536 * count + 2 * PROOF, 2)
    owned = cost_multiply(count, Operand(Bounds(0, 255), Role.ALICE), SHARED)
    assert (owned.alice_bytes + owned.bob_bytes, owned.rounds) == (12 * 8 * count + PROOF, 2)


@pytest.mark.parametrize(
    ("owners", "shape"),
    crossed(product(OWNERS, OWNERS), [(1, 1, 1), (2, 3, 9), (9, 3, 2), (5, 2, 5), (4, 1, 1), (3, 7, 6)]),
)
def test_matrix_products(owners, shape):
    x_owner, y_owner = owners
    rows, inner, columns = shape
    x = tight(uniform((rows, inner), -(1 << 29), 1 << 29), x_owner)
    y = tight(uniform((inner, columns), -(1 << 29), 1 << 29), y_owner)
    assert (opened(lambda a, b: a @ b, x, y) == x.held @ y.held).all()
    kinds = [SHARED if s.owner is None else Operand(s.bounds, s.owner) for s in (x, y)]
    check_cost(cost_matmul(*shape, *kinds), lambda a, b: a @ b, x, y)


def test_matrix_products_in_many_batches(monkeypatch):
    monkeypatch.setattr(gilboa, "BATCH_TRANSFERS", 700)
    monkeypatch.setattr(gilboa, "_PIECE_WORDS", 100)
    monkeypatch.setattr(products, "_SLAB_WORDS", 40)
    x, y = tight(uniform((5, 3), -99, 99)), tight(uniform((3, 6), -99, 99))
    assert (opened(lambda a, b: a @ b, x, y) == x.held @ y.held).all()
    check_cost(cost_matmul(5, 3, 6), lambda a, b: a @ b, x, y)
    z = tight(uniform(50, -99, 99))
    assert (opened(lambda a, b: a * b, z, tight(z.held)) == z.held**2).all()
    check_cost(cost_multiply(50), lambda a, b: a * b, z, tight(z.held))


def test_matrix_products_with_vectors_and_public_ones():
    x, v = tight(uniform((4, 3), -99, 99)), tight(uniform(3, -99, 99))
    public, weights = uniform((3, 5), -99, 99), uniform(4, -99, 99)
    assert (opened(lambda a, b: a @ b, x, v) == x.held @ v.held).all()
    assert (opened(lambda a, b: b @ a.T, x, v) == v.held @ x.held.T).all()
    assert (opened(lambda a, b: b @ (a[0] + b), x, v) == [v.held @ (x.held[0] + v.held)]).all()
    assert (opened(lambda a: a @ public, x) == x.held @ public).all()
    assert (opened(lambda a: a @ public[:, 0], x) == x.held @ public[:, 0]).all()
    assert (opened(lambda a: weights @ a, x) == weights @ x.held).all()
    with pytest.raises(UsageError, match="matrix product"):
        opened(lambda a: a @ a, x)
    for wrong in (weights, 5, np.zeros((1, 1, 1), dtype=np.int64)):
        with pytest.raises(UsageError, match="matrix product"):
            opened(lambda a, w=wrong: a @ w, x)


def test_long_vectors_cost_less_than_element_by_element():
    whole = cost_matmul(50, 1, 20)
    single = cost_multiply(50 * 20)
    assert whole.alice_bytes + whole.bob_bytes < 0.45 * (single.alice_bytes + single.bob_bytes)


def test_bounds_and_scales_follow():
    def program(a, b):
        made = [a + b, a - b, -a, a * b, a * a, a @ b, a.sum(), a * 3, np.array([[1, -2, 0]]) @ a, a + 1]
        return [(m.bounds, m.scale, m.owner) for m in made]

    a = Secret([1, 2, 3], Bounds(-4, 5), Role.ALICE, 2)
    b = Secret([1, 2, 3], Bounds(0, 10), Role.BOB, 2)
    alice, bob = results(program, a, b)
    assert alice == bob
    assert alice == [
        (Bounds(-4, 15), 2, None),
        (Bounds(-14, 5), 2, None),
        (Bounds(-5, 4), 2, Role.ALICE),
        (Bounds(-40, 50), 4, None),
        (Bounds(0, 25), 4, Role.ALICE),
        (Bounds(-120, 150), 4, None),
        (Bounds(-12, 15), 2, Role.ALICE),
        (Bounds(-12, 15), 2, Role.ALICE),
        (Bounds(-14, 13), 2, Role.ALICE),
        (Bounds(0, 9), 2, Role.ALICE),
    ]


@pytest.mark.parametrize(
    ("operation", "program"),
    [
        ("add", lambda a, b: a + b),
        ("subtract", lambda a, b: a - b),
        ("multiply", lambda a, b: a * b),
        ("multiply", lambda a, b: a * a),
        ("multiply", lambda a, b: a * 4),
        ("matrix product", lambda a, b: a[:1] @ b[:1]),
        ("matrix product", lambda a, b: np.array([[3, 0]]) @ a),
        ("sum", lambda a, b: a.sum()),
        ("compare", lambda a, b: a >= b),
        ("compare", lambda a, b: a == b),
        ("argmin", lambda a, b: a.argmin()),
        ("rescale", lambda a, b: a.rescale(2)),
        ("divide", lambda a, b: a.divide(b, 0)),
        ("divide", lambda a, b: a.divide(b * 0 + 1, 30)),
        ("truncate", lambda a, b: a.truncate(1)),
    ],
)
def test_what_could_wrap_is_refused_before_anything_is_sent(operation, program):
    bounds = Bounds(-TOP, TOP)
    x, y = Secret([1, 2], bounds), Secret([3, 4], bounds)

    def side(session):
        with pytest.raises(DomainError, match=operation):
            program(x.at(session), y.at(session))
        return session.channel.traffic.messages

    assert run_pair(side, side) == (0, 0)


def test_the_widest_bounds_are_those_of_a_word():
    with pytest.raises(DomainError, match="share"):
        results(lambda a: a, Secret([0], Bounds(0, TOP + 1)))
    x = Secret([TOP, -TOP], Bounds(-TOP, TOP))
    assert (opened(lambda a: a, x) == x.held).all()
    assert (opened(lambda a: -a, x) == -x.held).all()


def test_inputs_are_checked_by_their_owner():
    digits = Bounds(0, 9)

    def make(values, bounds=digits, shape=2, scale=0):
        def side(session):
            mine = values if session.role is Role.ALICE else None
            return SecretInts.from_plain(session, mine, Role.ALICE, bounds, shape, scale).reveal()

        return run_pair(side, side)

    assert (make([3, 4])[1] == [3, 4]).all()
    with pytest.raises(DomainError):
        make([3, 10])
    with pytest.raises(DomainError):
        make([3, 1 << 63], Bounds(0, TOP))
    for wrong in ([3, 4, 5], None, [0.5, 1]):
        with pytest.raises(UsageError):
            make(wrong)
    for scale in (-1, 63):
        with pytest.raises(UsageError):
            make([3, 4], scale=scale)
    with pytest.raises(UsageError):
        Bounds(1, 0)


def test_errors_and_reprs_tell_nothing_of_an_input():
    with pytest.raises(DomainError) as caught:
        results(lambda a: a, Secret([31337], Bounds(0, 9), Role.BOB))
    assert "31337" not in str(caught.value)
    for made in results(lambda a: a, Secret([31337], Bounds(0, 99999), Role.BOB)):
        assert repr(made) == "SecretInts(shape=(1,), bounds=Bounds(lower=0, upper=99999), scale=0)"


@pytest.mark.parametrize("recipients", [{Role.ALICE}, {Role.BOB}, set(Role), set()])
def test_reveal_reaches_recipients_only(recipients):
    x = tight([[5, -6, 7]], Role.BOB)

    def side(session):
        return x.at(session).reveal(recipients), session.channel.traffic

    runs = run_pair(side, side)
    declared = cost_opening(3, recipients)
    for role, (value, _) in zip(Role, runs, strict=True):
        assert (value is not None) == (role in recipients)
        assert value is None or (value == x.held).all()
    assert (runs[0][1].sent, runs[1][1].sent) == (declared.alice_bytes, declared.bob_bytes)
    assert runs[0][1].messages == len(recipients)


def test_an_opened_integer_outside_its_bounds_is_refused():
    with pytest.raises(ProtocolViolation, match="bounds"):
        opened(lambda a: a, Secret([10], Bounds(0, 9)))


def test_fixed_point_products_are_off_by_less_than_a_unit():
    x, y = tight(uniform(60, -(1 << 26), 1 << 26), scale=16), tight(uniform(60, -99999, 99999), scale=10)

    def program(a, b):
        product = (a * b).rescale(12)
        assert product.scale == 12
        return product

    exact = [Fraction(int(a) * int(b), 1 << 26) for a, b in zip(x.held, y.held, strict=True)]
    for value, wanted in zip(opened(program, x, y), exact, strict=True):
        assert 0 <= wanted - Fraction(int(value), 1 << 12) < Fraction(1, 1 << 12)


def test_public_numbers_in_fixed_point():
    x = tight([-100, 50], scale=4)
    assert (opened(lambda a: a + 2, x) == x.held + 32).all()
    assert (opened(lambda a: a + Fixed.of(0.25, 2), x) == x.held + 4).all()
    made = results(lambda a: a * Fixed.of([0.5, -1.75], 3), x)[0]
    assert (made.scale, made.bounds) == (7, Bounds(-14 * 50, 14 * 100))
    assert (opened(lambda a: a * Fixed.of([0.5, -1.75], 3), x) == x.held * [4, -14]).all()
    assert (Fixed.of([0.5, 1.5, -0.4], 0).held == [0, 2, 0]).all()
    with pytest.raises(UsageError):
        opened(lambda a: a + Fixed.of(0.25, 5), x)
    with pytest.raises(UsageError, match="fractional"):
        opened(lambda a: a + a.rescale(5), x)
    for wrong in (float("nan"), float("inf"), 2.0**62):
        with pytest.raises(DomainError):
            Fixed.of(wrong, 1)


def test_parts_are_picked_and_joined():
    x = tight(np.arange(12).reshape(3, 4), Role.ALICE)

    def program(a):
        joined = concatenate([a[1], a[:, 2], a[0, 0]])
        assert joined.owner is Role.ALICE
        return joined.reshape(2, 4).T

    assert (opened(program, x) == np.array([4, 5, 6, 7, 2, 6, 10, 0]).reshape(2, 4).T).all()
    with pytest.raises(UsageError):
        concatenate([])


def test_shares_of_products_say_nothing():
    """For a fixed product and fixed factors, the bytes of either share are uniform."""
    count = 6000
    for owner in (None, Role.ALICE):
        x, y = Secret(np.full(count, 3), Bounds(-9, 9), owner), Secret(np.full(count, 5), Bounds(-9, 9))
        for made in results(lambda a, b: a * b, x, y):
            uniform_bytes(made.shares)
    x, y = (
        Secret(np.full((40, 1), 3), Bounds(-9, 9), Role.ALICE),
        Secret(np.full((1, 150), 5), Bounds(-9, 9), Role.BOB),
    )
    for made in results(lambda a, b: a @ b, x, y):
        uniform_bytes(made.shares)


def uniform_bytes(words):
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 8)
    for column in (0, 3, 7):
        counts = np.bincount(octets[:, column], minlength=256)
        expected = len(octets) / 256
        assert ((counts - expected) ** 2 / expected).sum() < CHI_SQUARE_255


def test_the_audit_finds_a_share_that_tells():
    with pytest.raises(AssertionError):
        uniform_bytes(np.arange(6000, dtype=np.uint64))


def test_the_corrections_say_nothing(monkeypatch):
    """What the sender of long vectors sends for fixed inputs is uniform, byte by byte."""
    seen = []
    honest = Channel.send

    def send(self, message):
        if isinstance(message, gilboa.VectorCorrections):
            seen.append(np.frombuffer(message.encode(), dtype=np.uint8))
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    x = Secret(np.full((1, 1), 77), Bounds(0, 255), Role.ALICE)
    y = Secret(np.full((1, 3000), 5), Bounds(0, 9))
    assert (opened(lambda a, b: a @ b, x, y) == 385).all()
    sent = np.concatenate(seen)
    assert len(sent) == 8 * 8 * 3000
    counts = np.bincount(sent, minlength=256)
    assert ((counts - len(sent) / 256) ** 2 / (len(sent) / 256)).sum() < CHI_SQUARE_255


def test_sizes_do_not_depend_on_values():
    quiet, loud = (Secret(np.full(5, value), Bounds(-99, 99)) for value in (0, -99))
    assert measured(lambda a: (a * a, a >= 0, a // 7), quiet) == measured(
        lambda a: (a * a, a >= 0, a // 7), loud
    )


def test_a_truncated_message_is_refused(monkeypatch):
    original = gilboa.VectorCorrections.encode
    monkeypatch.setattr(gilboa.VectorCorrections, "encode", lambda self: original(self)[:-1])
    x, y = tight(uniform((2, 2), 0, 9)), tight(uniform((2, 9), 0, 9))
    with pytest.raises(ProtocolViolation):
        opened(lambda a, b: a @ b, x, y)


def test_shapes_that_do_not_meet_are_refused_before_anything_is_sent():
    secrets = [tight(held) for held in ([1, 2, 3], [4, 5])]

    def side(session):
        a, b = (secret.at(session) for secret in secrets)
        one = a >= 2
        before = session.channel.traffic
        cube = np.zeros((2, 2, 3), dtype=np.int64)
        for program in (
            lambda: a + b,
            lambda: a * b,
            lambda: a * [1, 2],
            lambda: a * cube,
            lambda: a - cube,
            lambda: a.divide(b, 0),
            lambda: a == b,
            lambda: select(one, b, b),
            lambda: one & one[:2],
            lambda: one ^ np.array([True, False]),
        ):
            with pytest.raises(UsageError, match="do not fit each other"):
                program()
        return session.channel.traffic.since(before).messages

    assert run_pair(side, side) == (0, 0)
