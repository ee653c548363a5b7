"""Systems with definite matrices beside numpy, and what is not definite, which ends in one bit."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError, OutsideRange, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.reals.definite import MOST_COLUMNS, Definite
from tests.smc.secret.reals.sharing import cost_of_run, cost_of_trace, reals
from tests.smc.secret.secret_runs import uniform
from tests.support.held_bounds import unwatched

SCALE = 16


def rows(count, size, shared=0.5, spread=1.0):
    """Rows of covariates in units up to `spread` apart, of which the first has a part in the others."""
    x = np.ldexp(uniform((count, size), -(1 << 16), 1 << 16).astype(float), -16)
    x[:, 1:] += shared * x[:, :1]
    return x * np.geomspace(1, 1 / spread, size)


def system(x):
    """A matrix of sums of products, a right side, and the solution."""
    matrix = np.rint(np.ldexp(x.T @ x, SCALE)) * 2.0**-SCALE
    solution = np.ldexp(uniform(x.shape[1], -(1 << 12), 1 << 12).astype(float), -12)
    right = np.rint(np.ldexp(matrix @ solution, SCALE)) * 2.0**-SCALE
    return matrix, right


def secret(session, matrix, right):
    top, most = np.abs(matrix).max(), np.abs(right).max() + 1
    return reals(session, matrix, -top, top, SCALE), reals(session, right, -most, most, SCALE)


def solved(matrix, right, reach=1):
    """Solution, variances and quadratic form at both sides."""

    def side(session):
        h, v = secret(session, matrix, right)
        definite = Definite.of(h)
        sealed = definite.solve(v, reach).seal(definite.variances(), definite.quadratic(v, reach))
        return sealed.read(sealed.ints.reveal())

    alice, bob = run_pair(side, timeout=60)
    assert all((a == b).all() for a, b in zip(alice, bob, strict=True))
    return alice


@pytest.mark.parametrize("size", [1, 2, 3, 9, 14])
@pytest.mark.parametrize("spread", [1, 300])
def test_it_is_as_numpy_says(size, spread):
    matrix, right = system(rows(400, size, spread=spread))
    exact = np.linalg.solve(matrix, right)
    x, variances, form = solved(matrix, right, reach=max(1, 2.0 ** np.ceil(np.log2(np.abs(exact).max()))))
    inverse = np.linalg.inv(matrix)
    errors = np.sqrt(np.diag(inverse))
    assert np.abs((x - exact) / errors).max() < 1e-3
    assert np.abs(x - exact).max() < 1e-4 * np.abs(exact).max() * (1 if spread == 1 else 10)
    assert np.abs(variances / np.diag(inverse) - 1).max() < 1e-4
    assert form[0] == pytest.approx(right @ exact, rel=1e-4)


def test_columns_that_others_explain_nearly_have_their_variances():
    """1 / (1 - R**2) of about 200, of 1,000 that are allowed."""
    matrix, right = system(rows(400, 4, shared=8.0))
    inverse = np.linalg.inv(matrix)
    assert 50 < (np.diag(inverse) * np.diag(matrix)).max() < 500
    x, variances, _ = solved(matrix, right)
    assert np.abs(variances / np.diag(inverse) - 1).max() < 2e-3
    assert np.abs((x - np.linalg.solve(matrix, right)) / np.sqrt(np.diag(inverse))).max() < 0.02


def singular(size):
    """A matrix whose last column is the sum of the others."""
    x = rows(200, size)
    x[:, -1] = x[:, :-1].sum(axis=1)
    return system(x)


def indefinite(size, place):
    """A matrix one of whose eigenvalues is negative."""
    matrix, right = system(rows(200, size))
    values, vectors = np.linalg.eigh(matrix)
    values[place] *= -1
    broken = (vectors * values) @ vectors.T
    return np.rint(np.ldexp(broken, SCALE)) * 2.0**-SCALE, right


def with_zero(size, place):
    """A covariate that is 0 in all rows."""
    matrix, right = system(rows(200, size))
    matrix[place], matrix[:, place] = 0, 0
    return matrix, right


def with_large_entry(size):
    """An entry beside the diagonal that is larger than both of its diagonal entries."""
    matrix, right = system(rows(200, size, shared=0.0))
    matrix[-1, 0] = matrix[0, -1] = 3 * matrix.max()
    return matrix, right


def alternating(size):
    """As far from definite as the range allows."""
    matrix = np.where(np.add.outer(np.arange(size), np.arange(size)) % 2 == 0, -64.0, 64.0)
    return matrix, np.ones(size)


BROKEN = {
    "singular 2": lambda: singular(2),
    "singular 9": lambda: singular(9),
    "negative 1": lambda: (np.array([[-5.0]]), np.array([1.0])),
    "zero 1": lambda: (np.zeros((1, 1)) + 0.0, np.array([1.0])),
    "negative first": lambda: indefinite(4, 0),
    "negative last": lambda: indefinite(6, -1),
    "zero first": lambda: with_zero(5, 0),
    "zero last": lambda: with_zero(5, 4),
    "large": lambda: with_large_entry(3),
    "alternating": lambda: alternating(6),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_definite_ends_in_one_bit_at_the_recipients(name):
    matrix, right = BROKEN[name]()
    matrix = matrix if matrix.any() else matrix + 0.0

    def side(session, recipients):
        top = max(1.0, np.abs(matrix).max())
        h, v = reals(session, matrix, -top, top, SCALE), reals(session, right, -99, 99, SCALE)
        definite = Definite.of(h)
        for figure in (definite.solve(v, 2), definite.variances(), definite.quadratic(v, 2)):
            if session.role in recipients:
                with pytest.raises(OutsideRange):
                    figure.reveal(recipients)
            else:
                assert figure.reveal(recipients) is None
        return True

    with unwatched():
        for recipients in ({Role.ALICE}, set(Role)):
            assert run_pair(lambda s, r=recipients: side(s, r), timeout=60) == (True, True)


def test_any_symmetric_matrix_is_solved_or_refused():
    """Random ones, most of them indefinite: what opens is right whatever words may have wrapped."""
    refused = 0
    for _ in range(25):
        size = int(uniform(1, 2, 6)[0])
        half = np.ldexp(uniform((size, size), -(1 << 18), 1 << 18).astype(float), -12)
        matrix = half + half.T + np.diag(np.ldexp(uniform(size, 0, 1 << 20).astype(float), -12))
        right = np.ldexp(uniform(size, -(1 << 12), 1 << 12).astype(float), -12)
        try:
            with unwatched():
                x, variances, _ = solved(matrix, right, reach=4)
        except OutsideRange:
            refused += 1
            continue
        assert np.linalg.eigvalsh(matrix)[0] > 0
        assert np.abs(x - np.linalg.solve(matrix, right)).max() < 1e-3
        assert np.abs(variances / np.diag(np.linalg.inv(matrix)) - 1).max() < 1e-2
    assert 5 < refused < 25


def test_a_nearer_reach_has_more_digits():
    matrix, right = system(rows(400, 3))
    small = np.rint(np.ldexp(right / 1000, SCALE)) * 2.0**-SCALE
    exact = np.linalg.solve(matrix, small)
    off = [np.abs(solved(matrix, small, reach=reach)[0] - exact).max() for reach in (64, 2.0**-9)]
    assert off[1] < 2.0**-28 < 2.0**-24 < off[0]


def test_a_solution_beyond_its_reach_ends_in_one_bit():
    matrix, right = system(rows(200, 3))
    assert np.abs(np.linalg.solve(matrix, right)).max() > 2.0**-3
    with unwatched(), pytest.raises(OutsideRange):
        solved(matrix, right, reach=2.0**-3)
    with unwatched(), pytest.raises(OutsideRange):
        solved(matrix, right * 1000)


def test_statements_of_the_matrix_and_of_the_right_side_go_with_the_solution():
    matrix, right = system(rows(200, 2))

    def side(session):
        h, v = secret(session, matrix, right)
        for pair in ((h.within(-0.5, 0.5), v), (h, v.within(-0.001, 0.001))):
            with pytest.raises(OutsideRange):
                Definite.of(pair[0]).solve(pair[1], 1).reveal()

    with unwatched():
        run_pair(side)


def test_nine_by_nine_takes_230_rounds_and_little_more_than_a_megabyte():
    matrix, right = system(rows(400, 9))

    def solve(h, v):
        Definite.of(h).solve(v, 1).reveal()

    secrets = [lambda s: secret(s, matrix, right)[0], lambda s: secret(s, matrix, right)[1]]
    found, setup = cost_of_run(solve, *secrets), cost_of_trace(lambda: None)
    assert found == cost_of_trace(solve, *secrets)
    assert sum(found[:2]) - sum(setup[:2]) <= 1_150_000
    assert found[2] <= 230


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_run_over_shapes_takes_the_bytes_and_rounds_of_a_run(size):
    matrix, right = system(rows(100, size))

    def program(h, v):
        definite = Definite.of(h)
        definite.variances().seal(definite.quadratic(v, 8)).ints.reveal()

    secrets = [lambda s: secret(s, matrix, right)[0], lambda s: secret(s, matrix, right)[1]]
    assert cost_of_run(program, *secrets) == cost_of_trace(program, *secrets)


def test_what_does_not_fit_is_refused():
    def side(session):
        square = reals(session, np.eye(2), -1, 1, 20)
        definite = Definite.of(square)
        with pytest.raises(UsageError, match="as many columns as rows"):
            Definite.of(square[:1])
        with pytest.raises(UsageError, match="as many columns as rows"):
            Definite.of(reals(session, np.eye(MOST_COLUMNS + 1), -1, 1, 4))
        with pytest.raises(UsageError, match="right side"):
            definite.solve(reals(session, [1.0], -1, 1, 20), 1)
        with pytest.raises(DomainError, match="reach"):
            definite.solve(reals(session, [1.0, 1], -1, 1, 20), 0)
        with pytest.raises(DomainError, match="too large beside"):
            definite.solve(reals(session, [1.0, 1], -(2.0**40), 2.0**40, 20), 1)

    run_pair(side)
