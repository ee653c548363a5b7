"""Audit: the real privacy loss of every kind of output, from 100,000 runs on neighbouring tables.

The noise comes from the distributions' own words, thresholds and weights, as the protocol evaluates them,
here in the clear; that the protocol draws the same distribution, `tests/smc/secret` tests. Events are "the
log-likelihood ratio is at least t"; their probabilities have Clopper and Pearson's bounds, all together wrong
with probability 0.001. A wrong alarm needs more: the loss is not reached exactly, and the seed of the runs is
fixed.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import log

import numpy as np
import pytest

from anonymizer.dp.audit import clopper_pearson
from smc.analyses.statistics.kinds.quantiles import Quantile
from smc.analyses.statistics.plans.noisy import local
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Column
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.secret.noise import noise
from smc.secret.noise.gaussian import DiscreteGaussian
from tests.smc.analyses.statistics_runs import SCHEMAS, columns, parsed
from tests.support.grids import grid

RUNS = 100_000
WRONG = 0.001
DELTA = Fraction(1, 1000)

ADDITIVE = {
    "count": 'kind = "count"\ncolumn = "age"',
    "sum": 'kind = "sum"\ncolumn = "age"\nupper = 3',
    "mean": 'kind = "mean"\ncolumn = "age"\nupper = 4',
    "variance": 'kind = "variance"\ncolumn = "age"\nupper = 4',
    "deviation": 'kind = "deviation"\ncolumn = "age"\nupper = 4',
    "covariance": 'kind = "covariance"\ncolumns = ["age", "weight"]\nupper = { age = 4, weight = "0.4" }',
    "correlation": 'kind = "correlation"\ncolumns = ["age", "weight"]\nupper = { age = 2, weight = "0.2" }',
    "regression": 'kind = "regression"\ntarget = "age"\non = ["weight"]\nupper = { age = 2, weight = "0.2" }',
    "histogram": 'kind = "histogram"\ncolumn = "age"\nedges = [0, 100, 150]',
    "crosstab": 'kind = "crosstab"\ncolumns = ["group", "age"]\nedges = { age = [0, 100, 150] }',
    "count by": 'kind = "count"\nby = "group"',
    "survival": 'kind = "survival"\ntime = "age"\nevent = "group"\nevents = ["0"]\nevery = 100\nuntil = 200',
}
QUICK = ("count", "variance", "count by")
KINDS = grid(ADDITIVE, QUICK)
LEVELS = {"median": 'kind = "median"', "quantile": 'kind = "quantile"\nlevel = "0.8"'}


class Stream:
    """Reproducible bytes."""

    def __init__(self, seed):
        self._seed, self._count = seed, 0

    def __call__(self, count):
        self._count += 1
        return hashlib.shake_256(f"{self._seed}/{self._count}".encode()).digest(count)


def random(seed):
    return Randomness(Stream(seed))


def draws(distribution, count, source):
    """Values of a distribution, from its bits."""
    bits = distribution.bits
    found = np.empty(count, dtype=np.int64)
    width = int(bits.words[-1]) + 1
    for start in range(0, count, 5000):
        part = min(5000, count - start)
        words = source.words(width * part).reshape(part, width)
        found[start : start + part] = bits.offset + (words[:, bits.words] < bits.thresholds) @ bits.weights
    return found


def loss_at_least(first, second, delta=0.0):
    """A lower bound on epsilon from statistics on two neighbouring tables, larger for the first."""
    both = np.concatenate([first, second])
    edges = np.unique(np.quantile(both, [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97]))
    best = 0.0
    wrong = WRONG / (4 * len(edges))
    for edge in edges:
        for a, b in ((first >= edge, second >= edge), (second < edge, first < edge)):
            low = clopper_pearson(int(a.sum()), len(a), wrong)[0] - delta
            high = clopper_pearson(int(b.sum()), len(b), wrong)[1]
            if low > 0:
                best = max(best, log(low / high))
    return best


def log_ratio(values, shifts, distributions):
    """The log-likelihood ratio of values shifted and not, for independent entries."""
    total = np.zeros(len(values))
    for column, shift, distribution in zip(values.T, shifts, distributions, strict=True):
        if isinstance(distribution, DiscreteGaussian):
            total += (column**2 - (column - shift) ** 2) / (2 * float(distribution.variance))
        else:
            total += float(distribution.rate) * (np.abs(column) - np.abs(column - shift))
    return total


def planned(query, budget):
    return plan(parsed(f"{budget}\nmaximum_rows = 10\n[[queries]]\n{query}").parameters, SCHEMAS)[0]


def audited(query, budget, delta=0.0):
    """The audited loss of an additive statistic, for a row whose values are all as large as can be."""
    one = planned(query, budget)
    study = parsed(f"{budget}\nmaximum_rows = 10\n[[queries]]\n{query}")
    largest = {
        name: Column(np.array([SCHEMAS[name].upper or 3]), SCHEMAS[name])
        for name in study.columns[Role.ALICE]
    }
    shifts = local(one, LocalRows.of(study.parameters, largest)).reshape(-1)
    assert shifts.any()
    moved = [place for place in range(len(shifts)) if shifts[place]]
    distributions = [one.distributions[place] for place in moved]
    source = random(query + budget)
    values = np.column_stack([draws(distribution, RUNS, source) for distribution in distributions])
    return loss_at_least(
        log_ratio(values + shifts[moved], shifts[moved], distributions),
        log_ratio(values, shifts[moved], distributions),
        delta,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_laplace_noise_keeps_its_epsilon(kind):
    assert 0.4 < audited(ADDITIVE[kind], 'epsilon = "1"') <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_gaussian_noise_keeps_its_rho(kind):
    query = ADDITIVE[kind]
    loss = parsed(f'noise = "gaussian"\nrho = "1/8"\n[[queries]]\n{query}').facts(frozenset(Role)).loss
    stated = float(loss.epsilon_at(DELTA))
    assert 0.3 < audited(query, 'noise = "gaussian"\nrho = "1/8"', float(DELTA)) <= stated


@pytest.mark.parametrize("budget", ['epsilon = "1"', 'noise = "gaussian"\nrho = "1/8"'])
def test_the_audit_finds_noise_for_a_third_of_the_sensitivity(budget):
    one = planned(ADDITIVE["count"], budget)
    values = draws(one.distributions[0], RUNS, random("weak"))[:, None]
    ratios = (log_ratio(values + shift, [3], one.distributions) for shift in (3, 0))
    delta = 0.0 if "epsilon" in budget else float(DELTA)
    claimed = 1.0
    if delta:
        claimed = float(
            parsed(f"{budget}\n[[queries]]\n{ADDITIVE['count']}")
            .facts(frozenset(Role))
            .loss.epsilon_at(DELTA)
        )
    assert loss_at_least(*ratios, delta) > claimed


def chosen(statistic, counts, runs, source, weaken=1):
    """Places that runs of the choices give, shape (runs, choices), by the definition in the clear."""
    over, under = statistic._sides(counts[None], alice=True)
    misses = np.maximum(np.maximum(over, under), 0)[0]
    found = []
    for miss, distribution in zip(misses, statistic.choice_distributions, strict=True):
        drawn = draws(distribution, runs * len(miss), source).reshape(runs, -1) // weaken
        found.append(np.argmin(miss - drawn, axis=1))
    return np.column_stack(found)


def choice_ratio(places, candidates, first, second):
    """Log-ratios of places by how often they came in other runs on the two tables."""
    sizes = [np.bincount(sample, minlength=candidates) + 1.0 for sample in (first, second)]
    return np.log(sizes[0] / sizes[1])[places]


@pytest.mark.parametrize(("kind", "weaken"), [("median", 1), ("quantile", 1), ("median", 6)])
def test_a_choice_keeps_its_epsilon(kind, weaken):
    """The three choices, each by itself, for the neighbours that move the misses most."""
    query = f'{LEVELS[kind]}\ncolumn = "age"\nlower = 0\nupper = 3'
    statistic = planned(query, 'epsilon = "4"').statistic
    assert isinstance(statistic, Quantile)
    found = []
    for before, after in ((2, 3), (0, 1)):
        tables = [np.array([2, 0, 0, before]), np.array([2, 0, 0, after])]
        source = random(query)
        samples = [chosen(statistic, counts, RUNS, source, weaken) for counts in tables]
        hints = [chosen(statistic, counts, RUNS, source, weaken) for counts in tables]
        for place, part in enumerate(statistic.parts):
            ratios = [
                choice_ratio(sample[:, place], statistic.candidates, hints[0][:, place], hints[1][:, place])
                for sample in samples
            ]
            found.append(loss_at_least(*ratios) / (4 * float(part.weight)))
    if weaken == 1:
        assert 0.05 < max(found) <= 1
    else:
        assert max(found) > 1


def test_the_choice_in_the_protocol_is_the_one_in_the_clear():
    """Same distribution of places, by 400 groups at once; the bounds are wrong once in a million."""
    text = (
        'epsilon = "8"\nmaximum_rows = 10\n[[queries]]\nkind = "median"\ncolumn = "age"\nlower = 0\nupper = 3'
    )
    statistic = plan(parsed(text).parameters, SCHEMAS)[0].statistic
    groups, counts = 400, np.array([2, 0, 1, 1])

    def side(session):
        own = np.tile(counts if session.role is Role.ALICE else counts[::-1].copy(), (groups, 1))
        drawn = noise.draw(session, statistic.distributions * groups).reshape(groups, -1)
        return statistic.combine(session, own, drawn)

    places = np.add(*run_pair(side, side)).astype(np.int64)
    clear = chosen(statistic, counts + counts[::-1], RUNS, random("clear"))
    for choice in range(3):
        often = np.bincount(clear[:, choice], minlength=statistic.candidates) / RUNS
        for place, chance in enumerate(often):
            hits = int((places[:, choice] == place).sum())
            low, high = clopper_pearson(hits, groups, 1e-6 / (3 * 6 * 4))
            slack = 5 * (chance / RUNS) ** 0.5 + 20 / RUNS
            assert low - slack <= chance <= high + slack


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "batches"), [("count", 10), ("variance", 2), ("correlation", 1)])
def test_joint_draws_keep_their_epsilon(kind, batches):
    """As the tests above, with the noise of joint runs."""
    query = ADDITIVE[kind]
    one = planned(query, 'epsilon = "1"')
    values = np.concatenate(
        [
            np.add(*run_pair(*[lambda s: noise.draw(s, one.distributions * 10_000)] * 2)).view(np.int64)
            for _ in range(batches)
        ]
    ).reshape(10_000 * batches, -1)
    shifts = local(
        one,
        LocalRows.of(
            parsed(f'epsilon = "1"\n[[queries]]\n{query}').parameters, columns(age=[150], weight=[2500])
        ),
    )[0]
    ratios = (log_ratio(values + shift, shifts, one.distributions) for shift in (shifts, 0 * shifts))
    assert 0.4 < loss_at_least(*ratios) <= 1
