"""Uniqueness in the release, and estimates of uniqueness in the population that it was sampled from.

A row that is unique in the release is a danger only if the person is unique in the population as well. Where
there is no population frame, these models estimate from the class sizes of the sample, each under assumptions
of its own; all take the sample as a simple random one. n is the rows of the sample, N those of the
population. Where a person has several rows, each class counts its persons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.measures import sized_classes
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_SMALL: Final = 50
_TERMS: Final = 300


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """Uniqueness of a release.

    Attributes:
        fraction: n / N, as given.
        rows: which rows are unique in the release, shape (n,).
        zayatz: estimated part of the population that is unique in it, by Zayatz's slide.
        pitman: the same by Pitman's sampling formula.
        match: estimated probability that a unique row, matched to the one person who fits, is that person's
            (data intrusion simulation).
        risks: estimated mean of 1 / F for each row, shape (n,), F being its class in the population.
    """

    fraction: float
    rows: NDArray[np.bool_] = field(repr=False)
    zayatz: float
    pitman: float
    match: float
    risks: Float = field(repr=False)

    @property
    def sample(self) -> float:
        """The part of the released rows that is unique in the release."""
        return float(self.rows.mean())

    @property
    def population(self) -> float:
        """The estimate to go by: Pitman's up to a tenth sampled, Zayatz's above.

        Reference: Dankar, El Emam, Neisa and Roffey, Estimating the re-identification risk of clinical data
        sets, BMC Medical Informatics and Decision Making 12, 2012, whose rule above a tenth also considers a
        third model.
        """
        return self.pitman if self.fraction <= 0.1 else self.zayatz


def uniqueness(release: Table, fraction: float) -> Uniqueness:
    """Measure and estimate.

    Args:
        release: with quasi-identifiers.
        fraction: n / N, in (0, 1]; 1 if the release is the population.

    Raises:
        TableError: the table has no rows or no quasi-identifiers, or the fraction is impossible.
    """
    if not 0 < fraction <= 1:
        raise TableError(
            f"The sampling fraction is {fraction}.", "Give released rows by population, up to 1."
        )
    own, of_classes = sized_classes(release)
    of_rows = of_classes[own]
    sizes, classes = np.unique(of_classes, return_counts=True)
    sampled = int(sizes @ classes)
    population = max(sampled, round(sampled / fraction))
    return Uniqueness(
        fraction=fraction,
        rows=of_rows == 1,
        zayatz=zayatz(sizes, classes, population),
        pitman=pitman(sizes, classes, population),
        match=match_probability(sizes, classes, fraction),
        risks=individual_risk(sizes, fraction)[np.searchsorted(sizes, of_rows)],
    )


def zayatz(sizes: Int, classes: Int, population: int) -> float:
    """Zayatz's estimate: the population has class sizes in the same proportions as the sample.

    The probability that a class of j people shows as one sampled row is hypergeometric; Bayes' rule gives the
    part of the sample uniques that are population uniques.

    Args:
        sizes: different sizes of classes in the sample, shape (s,).
        classes: how many classes have each, shape (s,).
        population: N, at least n.

    Returns:
        Estimated part of the population that is unique, in [0, 1].

    Reference: Zayatz, Estimation of the percent of unique population elements on a microdata file using the
    sample, US Bureau of the Census, 1991.
    """
    rows = int(sizes @ classes)
    unique = int(classes[sizes == 1].sum())
    if not unique:
        return 0.0
    log_one = (
        np.log(sizes)
        + _log_choose(population - sizes, rows - 1)
        - _log_choose(np.array([population]), np.array([rows]))
    )
    seen = classes * np.exp(log_one)
    probability = seen[sizes == 1].sum() / seen.sum()
    return min(1.0, float(probability * unique / rows))


def pitman(sizes: Int, classes: Int, population: int) -> float:
    """Estimate by Pitman's sampling formula with two parameters, fitted by maximum likelihood.

    Args, returns: as `zayatz`.

    Reference: Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
    Official Statistics 17, 2001. The expected number of uniques follows from the sequential form of the
    formula: one of N people stays alone with probability prod (theta + alpha + i - 1) / (theta + i).
    """
    rows, total = int(sizes @ classes), int(classes.sum())
    if population == rows or total in (1, rows):
        return float(classes[sizes == 1].sum()) / rows
    steps = np.arange(1, total)

    def loss(free: Float) -> float:
        alpha, theta = _parameters(free)
        fit = (
            np.log(theta + steps * alpha).sum()
            - scipy.special.gammaln(theta + rows)
            + scipy.special.gammaln(theta + 1)
        )
        fit += (classes * (scipy.special.gammaln(sizes - alpha) - scipy.special.gammaln(1 - alpha))).sum()
        return -float(fit) / rows

    starts = [np.array([tilt, np.log(total)]) for tilt in (-2.0, 0.5)]
    found = min(
        (scipy.optimize.minimize(loss, start, method="Nelder-Mead") for start in starts),
        key=lambda one: one.fun,
    )
    alpha, theta = _parameters(found.x)
    log_alone = (
        scipy.special.gammaln(theta + alpha + population - 1)
        - scipy.special.gammaln(theta + alpha)
        + scipy.special.gammaln(theta + 1)
        - scipy.special.gammaln(theta + population)
    )
    return float(np.clip(np.exp(log_alone), 0, 1))


def match_probability(sizes: Int, classes: Int, fraction: float) -> float:
    """Data intrusion simulation: how often a match of a sample unique to one person is right.

    With U uniques and P pairs in the sample and f sampled, f U / (f U + 2 (1 - f) P).

    Args:
        sizes: as `zayatz`.
        classes: as `zayatz`.
        fraction: f, in (0, 1].

    Reference: Skinner and Elliot, A measure of disclosure risk for microdata, Journal of the Royal
    Statistical Society B 64, 2002.
    """
    unique, pairs = (int(classes[sizes == size].sum()) for size in (1, 2))
    if not unique:
        return 0.0
    return fraction * unique / (fraction * unique + 2 * (1 - fraction) * pairs)


def individual_risk(sizes: Int, fraction: float | Float) -> Float:
    """The mean of 1 / F given f rows in the sample: F - f is negative binomial with f and the fraction.

    Args:
        sizes: f, at least 1, any shape.
        fraction: in (0, 1], a number or one for each size.

    Returns:
        In (0, 1], the shape of `sizes`: p^f / f * 2F1(f, f; f + 1; 1 - p).

    Reference: Benedetti and Franconi 1998; Franconi and Polettini, Individual risk estimation in mu-Argus,
    Privacy in Statistical Databases 2004. It takes every class by itself and so is too low where nearly all
    people are unique.
    """
    # 2F1(f, f; f+1; z) = (1-z)^(1-f) 2F1(1, 1; f+1; z), whose series ends soon where f is large
    part = np.broadcast_to(np.asarray(fraction, dtype=np.float64), sizes.shape)
    ratio = scipy.special.hyp2f1(1, 1, np.minimum(sizes, _SMALL) + 1, 1 - part)
    large = sizes > _SMALL
    steps = np.arange(1, _TERMS)
    factors = steps * (1 - part[large][:, None]) / (sizes[large][:, None] + steps)
    ratio[large] = 1 + np.cumprod(factors, axis=-1).sum(axis=-1)
    risk: Float = part / sizes * ratio
    return risk


def _parameters(free: Float) -> tuple[float, float]:
    """Alpha in (0, 1) and theta above -alpha."""
    alpha = float(np.clip(scipy.special.expit(free[0]), 1e-9, 1 - 1e-9))
    return alpha, float(np.exp(np.clip(free[1], -30, 40))) - alpha


def _log_choose(total: Int, chosen: Int | int) -> Float:
    """The logarithm of the number of ways; minus infinity if there is none."""
    possible = total >= chosen
    rest = np.where(possible, total - chosen, 0)
    ways = (
        scipy.special.gammaln(total + 1.0)
        - scipy.special.gammaln(np.asarray(chosen) + 1.0)
        - scipy.special.gammaln(rest + 1.0)
    )
    return np.where(possible, ways, -np.inf)
