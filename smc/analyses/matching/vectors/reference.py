"""What a matching of feature vectors gives in the clear."""

from __future__ import annotations

from smc.analyses.matching.vectors import pairs as vector_pairs
from smc.analyses.matching.vectors.checks import check_counts, feature_schemas
from smc.analyses.matching.vectors.outcome import KEPT, details_of, links_of, pairs_table
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: VectorParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The same rule in the clear; a partner's number is its row. Of equals it takes the earlier ones."""
    measure = VectorMeasure.of(parameters, feature_schemas(parameters, alice))
    first, second = measure.whole(alice), measure.whole(bob)
    check_counts(parameters, len(first), len(second))
    links = links_of(vector_pairs.plain_alike(measure, first, second), len(second))
    details = details_of(parameters, measure, len(first), len(second))
    outcomes = [
        pairs_table(parameters, links[:, side], links[:, 1 - side], links[:, 2], details)
        if role in recipients
        else Outcome((), KEPT, details)
        for side, role in enumerate(Role)
    ]
    return outcomes[0], outcomes[1]
