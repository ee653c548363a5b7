"""The program over a secret table: start, iterations, and the opening of what recipients are to learn."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.analyses.clustering import lloyd
from smc.analyses.clustering import reference as plain
from smc.analyses.clustering.census import PersonCounts
from smc.analyses.clustering.orders import orders
from smc.analyses.clustering.outcome import (
    SUPPRESSED,
    centres_table,
    fit_table,
    labels_of,
    labels_table,
    noisy_table,
)
from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.start import first_centres
from smc.analyses.clustering.table import SecretTable, Shape, Sums
from smc.analyses.disclosure.cluster_sums import ClusterSums
from smc.analyses.disclosure.clusters import Assignment, Clusters
from smc.analyses.disclosure.figures import Noisy
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.prefetch import NO_PREFETCH

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
        census: what the limits are tested on; None where nothing is limited.
    """

    table: SecretTable
    parameters: ClusteringParameters
    recipients: Recipients
    release: Release
    noisy: NoisyMeans | None = None
    census: PersonCounts | None = None

    def run(self) -> Outcome:
        """Start, iterate and open."""
        session, given = self.table.session, self.parameters
        session.report("start", 0, 1)
        first, later = orders(session.network, session.lanes, given, self.table.shape, self.noisy)
        first.order(session)
        self.table.prepare()
        first.deliver(session)
        centres = first_centres(self.table, given)
        session.report("start", 1, 1)
        counts: SecretInts | None = None
        averaged: tuple[SecretBits, Sums] | None = None
        done = 0
        while done < given.iterations:
            session.report("clustering", done, given.iterations)
            last = done + 1 == given.iterations and self.noisy is not None
            own, following = later if done else first, NO_PREFETCH if last else later
            bits = lloyd.assign(self.table, centres, own, following)
            sums = self.table.sums(bits)
            # Another thread works on it from here on, as this one mostly waits in the steps that follow.
            following.deliver(session)
            averaged = (bits, sums)
            if self.noisy is None:
                after = lloyd.update(self.table.shape.scaled, sums, centres)
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
        scaled, tolerance = self.table.shape.scaled, self.parameters.tolerance
        limit = plain.movement_limit(scaled, tolerance) if tolerance is not None else 0
        return self.release.step(lloyd.has_settled(before, after, limit))

    def _noisy_outcome(self, centres: SecretInts, counts: SecretInts) -> Outcome:
        scaled = self.table.shape.scaled
        opened_counts = self.release.open(counts, self.recipients, Noisy())
        opened = self.release.open(centres, self.recipients, Noisy())
        if opened is None or opened_counts is None or self.noisy is None:
            return Outcome()
        tables = [noisy_table(self.noisy, opened, opened_counts.tolist())]
        if self.parameters.labels:
            own = plain.assign_rows(scaled, self.table.own.astype(np.int64), opened)
            tables.append(labels_table(own))
        return Outcome(tuple(tables))

    def _exact_outcome(
        self, centres: SecretInts, averaged: tuple[SecretBits, Sums] | None, iterations: int
    ) -> Outcome:
        """Open centres with the sizes of their clusters.

        Args:
            centres: the last ones.
            averaged: which rows each centre is the mean of, and their sums.
            iterations: made.
        """
        table, scaled = self.table, self.table.shape.scaled
        session = table.session
        later = orders(session.network, session.lanes, self.parameters, table.shape, None)[1]
        bits = lloyd.assign(table, centres, later)
        sums = table.sums(bits)
        inertia = self._inertia(sums, centres)
        ways: tuple[Assignment, ...] = ()
        summed: tuple[ClusterSums, ...] = ()
        if self.census is not None and averaged is not None:
            ways, summed = self.census.count(averaged, (bits, sums)), self.census.sum_clusters(averaged[0])
        opened = self.release.exact(
            Clusters(
                ways,
                summed,
                ((sums.sizes, WITHHELD), (centres, 0)),
                (inertia, inertia.bounds.lower),
                bits if self.parameters.labels else None,
                self._openings(),
            ),
            self.recipients,
        )
        sizes, means = opened.figures
        if means is None or sizes is None or opened.whole is None:
            return Outcome()
        shown = [None if size == WITHHELD else size for size in sizes.tolist()]
        fit = None if opened.whole[0] == inertia.bounds.lower else int(opened.whole[0])
        tables = [centres_table(scaled, means, shown)]
        tables += [labels_table(labels_of(part)) for part in opened.parts if part is not None]
        tables.append(fit_table(scaled, fit, iterations))
        return Outcome(tuple(tables), (SUPPRESSED,) if None in shown else ())

    def _openings(self) -> tuple[tuple[slice, Recipients], ...]:
        """Whose rows' clusters are opened to whom."""
        shape = self.table.shape
        if shape.layout is not Layout.HORIZONTAL:
            return ((slice(0, shape.count), self.recipients),)
        return tuple((shape.rows_of(side), frozenset({side})) for side in Role if side in self.recipients)

    def _inertia(self, sums: Sums, centres: SecretInts) -> SecretInts:
        """The sum of squared distances, in units of 2**-fraction squares of whole numbers; one number."""
        shape, session = self.table.shape, self.table.session
        scaled, norms = shape.scaled, self.table.norms()
        if self.table.valid is not None:
            norms = mux.select(session, self.table.valid.shares, norms)
        total = SecretInts(session, norms, Bounds(0, scaled.diagonal)).sum() * (1 << scaled.fraction)
        weighted = (sums.sizes * lloyd.half_norms(scaled, centres)).sum()
        crossed = weighted - (centres * sums.values).sum()
        return (total + crossed * 2).with_bounds(_inertia_bounds(shape))


def _inertia_bounds(shape: Shape) -> Bounds:
    """Of an inertia; the lower one is never reached and stands for one that is not shown.

    Halves of norms are rounded down, so that a row's part can come out below 0, by less than 2.
    """
    return Bounds(-2 * shape.count - 1, shape.count * (shape.scaled.diagonal << shape.scaled.fraction) + 1)
