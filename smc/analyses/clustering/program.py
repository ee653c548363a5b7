"""The joint run over a secret table: start, iterations, and the opening of what recipients are to learn."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.base import Outcome
from smc.analyses.clustering import lloyd, plain
from smc.analyses.clustering.outcome import (
    SUPPRESSED,
    centres_table,
    fit_table,
    labels_of,
    labels_table,
)
from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.start import cost_start, first_centres
from smc.analyses.clustering.table import SecretTable, Shape, Sums, cost_norms, cost_sums
from smc.analyses.disclosure.clusters import Clusters, Way, cost_failing, cost_withheld
from smc.analyses.disclosure.figures import Noisy
from smc.analyses.disclosure.release import Release
from smc.forms import Role
from smc.protocols.spec import Cost
from smc.secret import gates, opening, products
from smc.secret.bits import BOTH, cost_and
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts

WITHHELD: Final = -1
"""Stands for the size of a cluster that is not shown."""

Recipients = AbstractSet[Role]


@dataclass(slots=True)
class Program:
    """One run.

    Attributes:
        table: the rows of both.
        parameters: of the job.
        recipients: who gets the results.
        release: opens them.
        noisy: the noise of an iteration, or None for exact centres.
        marks: 1 for one row of each person on the own side, else 0; None where no group is too small.
    """

    table: SecretTable
    parameters: ClusteringParameters
    recipients: Recipients
    release: Release
    noisy: NoisyMeans | None = None
    marks: NDArray[np.uint64] | None = field(default=None, repr=False)

    def run(self) -> Outcome:
        """Start, iterate and open."""
        session, given = self.table.session, self.parameters
        session.report("start", 0, 1)
        centres = first_centres(self.table, given)
        session.report("start", 1, 1)
        counts: SecretInts | None = None
        averaged: tuple[Way, ...] = ()
        done = 0
        while done < given.iterations:
            session.report("clustering", done, given.iterations)
            sums = self.table.sums(lloyd.assign(self.table, centres), self.marks)
            averaged = _ways(sums)
            if self.noisy is None:
                after = lloyd.update(self.table.shape.grid, sums, centres)
            else:
                after, counts = self.noisy.means(sums)
            done += 1
            before, centres = centres, after
            if given.tolerance is not None and self._stops(before, after):
                break
        session.report("clustering", given.iterations, given.iterations)
        if counts is not None:
            return self._noisy_outcome(centres, counts)
        return self._exact_outcome(centres, averaged, done)

    def _stops(self, before: SecretInts, after: SecretInts) -> bool:
        grid, tolerance = self.table.shape.grid, self.parameters.tolerance
        limit = plain.movement_limit(grid, tolerance) if tolerance is not None else 0
        return self.release.step(lloyd.settled(before, after, limit))

    def _noisy_outcome(self, centres: SecretInts, counts: SecretInts) -> Outcome:
        grid = self.table.shape.grid
        opened_counts = self.release.open(counts, self.recipients, Noisy())
        opened = self.release.open(centres, self.recipients, Noisy())
        if opened is None or opened_counts is None:
            return Outcome()
        tables = [centres_table(grid, opened, opened_counts.tolist())]
        if self.parameters.labels:
            own = plain.assigned(grid, self.table.own.astype(np.int64), opened)
            tables.append(labels_table(own))
        return Outcome(tuple(tables))

    def _exact_outcome(self, centres: SecretInts, averaged: tuple[Way, ...], iterations: int) -> Outcome:
        """Open centres with the sizes of their clusters.

        Args:
            centres: the last ones.
            averaged: whom the rows are about that each centre is the mean of.
            iterations: made.
        """
        table, grid = self.table, self.table.shape.grid
        bits = lloyd.assign(table, centres)
        sums = table.sums(bits, self.marks)
        inertia = self._inertia(sums, centres)
        opened = self.release.clusters(
            Clusters(
                averaged + _ways(sums) if self.marks is not None else (),
                ((sums.sizes, WITHHELD), (centres, 0)),
                (inertia, inertia.bounds.lower),
                bits if self.parameters.labels else None,
                self._told(),
            ),
            self.recipients,
        )
        sizes, means = opened.figures
        if means is None or sizes is None or opened.whole is None:
            return Outcome()
        shown = [None if size == WITHHELD else size for size in sizes.tolist()]
        fit = None if opened.whole[0] == inertia.bounds.lower else int(opened.whole[0])
        tables = [centres_table(grid, means, shown)]
        tables += [labels_table(labels_of(part)) for part in opened.parts if part is not None]
        tables.append(fit_table(grid, fit, iterations))
        return Outcome(tuple(tables), (SUPPRESSED,) if None in shown else ())

    def _told(self) -> tuple[tuple[slice, Recipients], ...]:
        """Whose rows' clusters are opened to whom."""
        shape = self.table.shape
        if shape.layout is not Layout.HORIZONTAL:
            return ((slice(0, shape.count), self.recipients),)
        return tuple((shape.rows_of(side), frozenset({side})) for side in Role if side in self.recipients)

    def _inertia(self, sums: Sums, centres: SecretInts) -> SecretInts:
        """The sum of squared distances, in units of 2**-fraction squares of whole numbers; one number."""
        shape, session = self.table.shape, self.table.session
        grid, norms = shape.grid, self.table.norms()
        if self.table.valid is not None:
            norms = gates.gate(session, self.table.valid.shares, norms)
        total = SecretInts(session, norms, Bounds(0, grid.diagonal)).sum() * (1 << grid.fraction)
        weighted = (sums.sizes * lloyd.half_norms(grid, centres)).sum()
        crossed = weighted - (centres * sums.values).sum()
        return (total + crossed * 2).bounded(_inertia_bounds(shape))


def _inertia_bounds(shape: Shape) -> Bounds:
    """Of an inertia; the lower one is never reached and stands for one that is not shown.

    Halves of norms are rounded down, so that a row's part can come out below 0, by less than 2.
    """
    return Bounds(-2 * shape.count - 1, shape.count * (shape.grid.diagonal << shape.grid.fraction) + 1)


def _ways(sums: Sums) -> tuple[Way, ...]:
    """The ways of counting persons: both sides' own ones are added, those of common rows are alternatives."""
    if sums.rows:
        return (Way(sums.persons, sums.rows),)
    return tuple(Way((persons,)) for persons in sums.persons)


def cost(
    parameters: ClusteringParameters,
    shape: Shape,
    recipients: Recipients,
    minimum_group: int,
    noisy: NoisyMeans | None,
) -> Cost:
    """The exact cost of `Program.run` with all iterations, without the set-up of oblivious transfer."""
    grid, k, n, marks = shape.grid, parameters.clusters, shape.count, int(minimum_group > 0)
    total, made = cost_start(parameters, shape)
    valid = shape.owner is not None
    step = cost_sums(shape, k, marks)
    step += lloyd.cost_update(shape, k) if noisy is None else noisy.cost(n)
    if parameters.tolerance is not None:
        limit = plain.movement_limit(grid, parameters.tolerance)
        step += lloyd.cost_settled(grid, k, limit) + opening.cost_bits(1, BOTH)
    later = lloyd.cost_assign(shape, k, first=False, valid=valid)
    for number in range(parameters.iterations):
        first = number == 0 and not made
        total += lloyd.cost_assign(shape, k, first=True, valid=valid) if first else later
        total += step
    if noisy is not None:
        return total + opening.cost(k, recipients) + opening.cost(k * grid.dimensions, recipients)
    total += later + cost_sums(shape, k, marks)
    total += _cost_inertia(shape, k)
    if minimum_group > 0:
        total += _cost_withholding(parameters, shape, minimum_group)
    for numbers in (k, k * grid.dimensions, 1):
        total += opening.cost(numbers, recipients)
    if parameters.labels:
        if shape.layout is not Layout.HORIZONTAL:
            return total + opening.cost_bits(n * k, recipients)
        for role in sorted(recipients, key=list(Role).index):
            total += opening.cost_bits(shape.entries(role).rows * k, frozenset({role}))
    return total


def _cost_inertia(shape: Shape, clusters: int) -> Cost:
    numbers = clusters * shape.grid.dimensions
    halves = lloyd.cost_half_norms(shape.grid, clusters)
    norms = cost_norms(shape) + (gates.cost(shape.count) if shape.owner is not None else Cost())
    return norms + halves + products.cost_multiply(clusters) + products.cost_multiply(numbers)


def _cost_withholding(parameters: ClusteringParameters, shape: Shape, minimum: int) -> Cost:
    k, n = parameters.clusters, shape.count
    ways, parts = (2, 2) if shape.layout is Layout.HORIZONTAL else (4, 1)
    total = cost_withheld(ways, parts, k, n, minimum)
    total += gates.cost(k) + gates.cost(k * shape.grid.dimensions)
    total += cost_failing(ways, parts, 1, n, minimum) + gates.cost(1)
    return total + (cost_and(n * k) if parameters.labels else Cost())
