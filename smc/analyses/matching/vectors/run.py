"""The joint run of a matching of feature vectors, one side."""

from __future__ import annotations

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.vectors import pairs as vector_pairs
from smc.analyses.matching.vectors.checks import check_counts, feature_schemas
from smc.analyses.matching.vectors.outcome import KEPT, details_of, links_of, pairs_table
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import SecretBits


def run(
    parameters: VectorParameters, session: Session, data: Data, recipients: frozenset[Role], release: Release
) -> Outcome:
    """Compare all pairs, and give recipients those that are alike.

    Args:
        parameters: of the job.
        session: this side.
        data: the local columns.
        recipients: who learns the pairs.
        release: opens them.

    Raises:
        DomainError: the local columns do not fit, or there are too many pairs or too few rows.
        DisclosureRefused: the limits stand against it.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    measure = VectorMeasure.of(parameters, feature_schemas(parameters, data))
    local = measure.whole(data)
    (peer,) = exchange_counts(session, [len(local)])
    release.sets(len(local), peer)
    alice, bob = (len(local), peer) if session.role is Role.ALICE else (peer, len(local))
    check_counts(parameters, alice, bob)
    numbers = session.random.permutation(len(local))
    bits = vector_pairs.alike(session, measure, local[numbers], alice, bob)
    release.intersection(lambda: vector_pairs.count_matched(session, bits, bob))
    found = release.open(SecretBits(session, bits.reshape(alice, -1)), recipients, Rows())
    details = details_of(parameters, measure, alice, bob)
    if found is None:
        return Outcome((), KEPT, details)
    links = links_of(found, bob)
    side = 0 if session.role is Role.ALICE else 1
    return pairs_table(parameters, numbers[links[:, side]], links[:, 1 - side], links[:, 2], details)
