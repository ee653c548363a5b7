"""The joint run, one side: agree on what is public, check it, bring the rows together, run the program."""

from __future__ import annotations

from dataclasses import replace

from smc.analyses.clustering import matched
from smc.analyses.clustering.census import PersonCounts
from smc.analyses.clustering.checks import check_shape, local_persons
from smc.analyses.clustering.leakage import details
from smc.analyses.clustering.outcome import show_dates
from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.program import Program
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import agree
from smc.analyses.clustering.table import SecretTable, Shape
from smc.analyses.disclosure.release import Release
from smc.analyses.records.fixed_point import DeclaredRange
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.session import Session


def run(
    parameters: ClusteringParameters,
    session: Session,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """Cluster the rows of both; see `ClusteringStudy.run` for what it raises."""
    names = parameters.values(session.role)
    own = {name: DeclaredRange.of(name, data[name].schema) for name in names}
    persons = local_persons(parameters, data)
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
    # Numbers of rows and declarations are public in this analysis; all that follows is sized by them.
    rows, declared = agree(session, parameters, own, count)
    if keyed is not None:
        release.sets(*rows)
    columns = scaled_columns(parameters, declared)
    block = columns.whole(data, names)
    shape = Shape.of(parameters, columns, *rows)
    exact = parameters.epsilon is None
    # With epsilon the noise protects persons, and there is no limit on sizes to test.
    if exact:
        release.persons(shape.most)
        release.test()
    noisy = check_shape(parameters, shape, release)
    if keyed is None:
        table = SecretTable(session, shape, block)
        census = PersonCounts.of(table, persons) if exact and release.counts_clusters else None
    else:
        block = block[keyed.numbers]
        table, census = matched.table(session, shape, keyed, block, release, exact=exact)
    outcome = Program(table, parameters, recipients, release, noisy, census).run()
    notes = outcome.notes if outcome.tables else ("The results went to the other party only.",)
    dates = [name for name in names if data[name].schema.is_date and shape.layout is not Layout.ARBITRARY]
    return replace(
        outcome,
        tables=show_dates(outcome.tables, dates),
        notes=notes,
        details=details(parameters, shape, noisy),
    )
