"""Joint k-means clustering of the rows of both parties.

Assignments, sizes and centres stay secret through all iterations; what is opened are the last centres, to the
recipients, with the sizes, the inertia and each recipient's labels, or, with an epsilon, noisy centres alone.
The notion is that of Bunn and Ostrovsky, Secure two-party k-means clustering, CCS 2007; the protocol is made
of oblivious transfer instead of homomorphic encryption, see `smc.secret.repeated` and `smc.secret.grouped`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering import matched, privacy
from smc.analyses.clustering import reference as plain
from smc.analyses.clustering.census import Census, check_weight
from smc.analyses.clustering.grid import grid_of
from smc.analyses.clustering.leakage import details, leakage, tells_members
from smc.analyses.clustering.outcome import centres_table, fit_table, labels_table
from smc.analyses.clustering.parameters import ClusteringParameters, Layout, parse
from smc.analyses.clustering.run import Program, cost
from smc.analyses.clustering.sides import agree, check_sides, cost_agree
from smc.analyses.clustering.start import check_room
from smc.analyses.clustering.table import SecretTable, Shape
from smc.analyses.columns import PERSONS, Data, Schema
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome
from smc.analyses.records.fixed_point import DeclaredRange, FixedPointColumns, Scaling
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.transfer_costs import SETUP_COST

_SECONDS_PER_BYTE: Final = 12e-9
_SECONDS_PER_ROUND: Final = 5e-4
_ROW_MEMORY: Final = 2_500
_CENTRE_MEMORY: Final = 125
_MAX_INERTIA: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class ClusteringStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: ClusteringParameters

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns that the role brings."""
        return {role: self.parameters.columns(role) for role in Role}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that all columns are bounded numbers, declared alike where both bring them, and fit."""
        parameters = self.parameters
        columns = grid_of(parameters, check_sides(parameters, alice, bob))
        columns.stated(parameters.centres)
        privacy.plan(parameters, columns)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to."""
        if not recipients:
            raise UsageError("Nobody receives the clusters.", "Name alice, bob or both as recipients.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows of both sides are matched, or belong together by position unless each has rows of its own.

        Without an epsilon centres, sizes and inertia are exact, and labels are about single rows; so are
        centres of rows that both sides hold parts of (`smc.analyses.clustering.leakage`). With an epsilon, a
        recipient takes the labels of its own rows from the noisy centres.
        """
        parameters = self.parameters
        del recipients  # each of them holds columns
        matches = parameters.match is not None
        return Facts(
            pairs_by_position=parameters.layout is not Layout.HORIZONTAL and not matches,
            matches=matches,
            row_results=parameters.epsilon is None and (parameters.labels or tells_members(parameters)),
            comparison_type=None,
            exact=parameters.epsilon is None,
            sorts_by=frozenset(),
            loss=Loss() if parameters.epsilon is None else Loss(parameters.epsilon, privacy.MAX_DELTA),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Who learns what, see `smc.analyses.clustering.leakage`."""
        return leakage(self.parameters, recipients)

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether rows, keys, persons and sums fit, if the peer's rows and columns are like the local ones.

        Where each side brings rows of its own and the local ones are too few alone, a note says how many are
        needed: the peer may bring the rest.
        """
        parameters = self.parameters
        notes = []

        def look() -> None:
            _persons(parameters, data)
            names = parameters.values(role)
            count = len(data[names[0]])
            schemas = {name: column.schema for name, column in data.items()}
            if parameters.match is not None:
                check_keys(parameters.match, schemas, role)
                matched.check_limits(parameters, limits)
                each = limits.counts_clusters
                count = len(matched.rows_of(parameters, parameters.match, data, role, one_row_each=each))
                limits.check_sets(count, count)
            columns = _likely_grid(parameters, {**(peer or {}), **{name: schemas[name] for name in names}})
            columns.check_stated(parameters.centres, names)
            columns.whole(data, names)
            shape = Shape.of(parameters, columns, count, count)
            if parameters.layout is not Layout.HORIZONTAL:
                if parameters.epsilon is None:
                    limits.check_persons(shape.most)
                _check_enough(parameters, shape)
            elif count < parameters.clusters:
                notes.append(
                    f"{parameters.clusters} clusters need as many rows of both sides together; here are "
                    f"{count}, and with too few of the other side the run is refused."
                )
            known = parameters.scaling is Scaling.RANGE or (peer is not None and parameters.match is None)
            if parameters.layout is not Layout.VERTICAL or known:
                _check_room(parameters, shape, limits)

        return replace(Preview.of(look), notes=tuple(notes))

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes of a run that makes all iterations and withholds nothing.

        Of a vertical layout the local columns stand for the peer's as well.
        """
        parameters = self.parameters
        del key_bits
        columns = _likely_grid(parameters, schemas)
        shape = Shape.of(parameters, columns, rows, rows)
        total = cost_agree(parameters)
        total += SETUP_COST if shape.owner is None else matched.cost(parameters, shape, limits)
        total += cost(parameters, shape, recipients, limits, privacy.plan(parameters, columns))
        sent = total.alice_bytes + total.bob_bytes
        return Estimate(
            total.rounds,
            total.alice_bytes,
            total.bob_bytes,
            _SECONDS_PER_BYTE * sent + _SECONDS_PER_ROUND * total.rounds,
            "Lloyd's iterations over shared centres by oblivious transfer; assignments stay secret",
            None if shape.owner is not None else _memory(parameters, columns.dimensions, limits).at(rows),
        )

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local data do not fit; nothing but row counts and declarations was sent.
            DomainError: keys are missing or repeated, or columns have different lengths; as above.
            DisclosureRefused: all rows together are fewer than the smallest group, or the sets that are
                matched, or the matches, fewer than the policies ask.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        names = parameters.values(session.role)
        own = {name: DeclaredRange.of(name, data[name].schema) for name in names}
        persons = _persons(parameters, data)
        keyed = None
        if parameters.match is not None:
            matched.check_limits(parameters, release)
            keyed = matched.rows_of(
                parameters,
                parameters.match,
                data,
                session.role,
                one_row_each=release.counts_clusters,
            )
        count = len(data[names[0]]) if keyed is None else len(keyed)
        rows, declared = agree(session, parameters, own, count)
        if keyed is not None:
            release.sets(*rows)
        columns = grid_of(parameters, declared)
        block = columns.whole(data, names)
        shape = Shape.of(parameters, columns, *rows)
        exact = parameters.epsilon is None
        if exact:
            release.persons(shape.most)
            release.test()
        noisy = _check(parameters, shape, release)
        if keyed is None:
            table = SecretTable(session, shape, block)
            census = Census.of(table, persons) if exact and release.counts_clusters else None
        else:
            block = block[keyed.numbers]
            table, census = matched.table(session, shape, keyed, block, release, exact=exact)
        outcome = Program(table, parameters, recipients, release, noisy, census).run()
        notes = outcome.notes if outcome.tables else ("The results went to the other party only.",)
        return replace(outcome, notes=notes, details=details(parameters, shape, noisy))

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The reference, without noise and without limits; random starts are drawn anew."""
        parameters = self.parameters
        self.check_recipients(recipients)
        sides = dict(zip(Role, (alice, bob), strict=True))
        schemas = {
            role: {name: data[name].schema for name in parameters.columns(role)}
            for role, data in sides.items()
        }
        columns = grid_of(parameters, check_sides(parameters, schemas[Role.ALICE], schemas[Role.BOB]))
        joined, shape = _plain_table(parameters, columns, sides)
        _check(parameters, shape, NO_LIMITS)
        found = plain.clustered(parameters, columns, joined)
        first, second = (
            _plain_outcome(parameters, shape, found, role) if role in recipients else Outcome()
            for role in Role
        )
        return first, second


class Clustering:
    """The analysis `clustering`; see `smc.analyses.study.Analysis` for its methods' contracts."""

    name: Final = "clustering"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> ClusteringStudy:
        """Check the `[parameters]` of a job, see `smc.analyses.clustering.parameters`."""
        return ClusteringStudy(parse(parameters))


CLUSTERING: Final = Clustering()
"""The analysis, for the registry."""


def _memory(parameters: ClusteringParameters, columns: int, limits: Limits) -> Memory:
    """Of rows that are not matched: a part of each row is for every column of every centre."""
    tested = parameters.epsilon is None and limits.counts_clusters
    fixed = 25 * MEBI * (1 + tested)
    return Memory(fixed, _ROW_MEMORY + _CENTRE_MEMORY * parameters.clusters * columns)


def _likely_grid(parameters: ClusteringParameters, schemas: Mapping[str, Schema]) -> FixedPointColumns:
    """The grid of a job by one side's declarations, which stand for the other's where that has its own."""
    own = {name: DeclaredRange.of(name, schemas[name]) for name in parameters.names if name in schemas}
    likely = next(iter(own.values()))
    return grid_of(parameters, {name: own.get(name, likely) for name in parameters.names})


def _persons(parameters: ClusteringParameters, data: Data) -> NDArray[np.int64] | None:
    """The numbers of the persons of own rows, or None where each row is a person.

    Raises:
        UsageError: under epsilon, a person has more rows than the job says.
    """
    if PERSONS not in data:
        return None
    persons = data[PERSONS].array
    if parameters.epsilon is not None and privacy.rows_of_one(persons) > parameters.rows_per_person:
        raise UsageError(
            "A person has more rows on this side than parameters.rows_per_person allows.",
            "Raise it in the job, which both sides see and which adds noise, or use fewer rows.",
        )
    return persons


def _plain_table(
    parameters: ClusteringParameters, columns: FixedPointColumns, sides: Mapping[Role, Data]
) -> tuple[NDArray[np.int64], Shape]:
    """The whole numbers of all rows in the clear, and what would be public of them."""
    if parameters.match is not None:
        joined, counts = matched.joined(parameters, parameters.match, columns, sides)
        return joined, Shape.of(parameters, columns, *counts)
    blocks = {
        role: columns.whole(data, parameters.values(role)).astype(np.int64) for role, data in sides.items()
    }
    shape = Shape.of(parameters, columns, *(len(blocks[role]) for role in Role))
    joined = np.zeros((shape.count, columns.dimensions), dtype=np.int64)
    for role, block in blocks.items():
        joined[shape.rows_of(role), shape.columns_of(role)[0] : shape.columns_of(role)[-1] + 1] += block
    return joined, shape


def _check(
    parameters: ClusteringParameters, shape: Shape, limits: Release | Limits
) -> privacy.NoisyMeans | None:
    """Check all that can be known before data move; the noise of an iteration."""
    alice, bob = shape.rows
    if shape.layout is not Layout.HORIZONTAL and shape.owner is None and alice != bob:
        raise DomainError(
            f"Alice has {alice} rows and Bob has {bob}; this layout needs the same rows on both sides.",
            "Bring the same rows in the same order.",
        )
    _check_enough(parameters, shape)
    return _check_room(parameters, shape, limits)


def _check_enough(parameters: ClusteringParameters, shape: Shape) -> None:
    if shape.most < parameters.clusters:
        raise DomainError(
            f"There are {shape.most} rows for {parameters.clusters} clusters.", "Ask for fewer clusters."
        )


def _check_room(
    parameters: ClusteringParameters, shape: Shape, limits: Release | Limits
) -> privacy.NoisyMeans | None:
    """Check that numbers fit their words; the noise of an iteration."""
    check_room(parameters, shape)
    if parameters.epsilon is None:
        check_weight(shape, limits.weight_factor)
    if shape.count * (shape.grid.diagonal << shape.grid.fraction) >= _MAX_INERTIA:
        raise DomainError("The inertia of so many rows does not fit.", "Lower the precision.")
    noisy = privacy.plan(parameters, shape.grid)
    if noisy is not None:
        noisy.check_room(shape.count)
    return noisy


def _plain_outcome(
    parameters: ClusteringParameters, shape: Shape, found: plain.FoundClusters, role: Role
) -> Outcome:
    columns: FixedPointColumns = shape.grid
    tables = [centres_table(columns, found.centres, found.sizes.tolist())]
    if parameters.labels:
        tables.append(labels_table(found.labels[shape.rows_of(role)]))
    if parameters.epsilon is None:
        tables.append(fit_table(columns, found.inertia, found.iterations))
    return Outcome(tuple(tables))
