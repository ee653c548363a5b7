"""The joint run of a tolerant matching, one side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.tolerant.linkage import AllAlike, Linkage
from smc.analyses.matching.tolerant.one_to_one import OneToOne
from smc.analyses.matching.tolerant.outcome import (
    NO_ROWS,
    details_of,
    notes_of,
    order_pairs,
    pairs_table,
)
from smc.analyses.matching.tolerant.parameters import GREEDY, TolerantParameters
from smc.analyses.matching.tolerant.preview import check_persons, preview_rows
from smc.analyses.matching.tolerant.rank_join import RankJoin
from smc.analyses.matching.tolerant.records import count_rows, prepare, read_texts
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session


def run(
    parameters: TolerantParameters,
    session: Session,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """Compare the records that meet, and give recipients their pairs.

    Args:
        parameters: of the job.
        session: this side.
        data: the local columns.
        recipients: who learns the pairs.
        release: opens them.

    Raises:
        DomainError: the local columns do not fit, or too many rows are left out; nothing was sent.
        DisclosureRefused: the limits stand against it.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    local = count_rows(parameters, data)
    texts = read_texts(parameters, data)
    # Checked once more, on the rows that are there now and before anything is sent.
    preview_rows(parameters, texts, local).require()
    check_persons(parameters, data)
    (peer,) = exchange_counts(session, [local])
    release.sets(local, peer)
    counts = {session.role: local, session.role.other: peer}
    # Without rows on one side there is nothing to compare in secret, and both know that.
    if not (local and peer):
        return _no_pairs(session, parameters, counts, data, recipients, release)
    session.report("encode", 0, 1)
    records = prepare(parameters, texts, parameters.buckets((local, peer)))
    session.report("encode", 1, 1)
    program: type[Linkage] = one_to_one(parameters) if parameters.one_to_one == GREEDY else AllAlike
    linkage = program(session, parameters, records, counts, recipients, release)
    links = linkage.links()
    if links is None:
        return Outcome.withhold("matches", details_of(parameters, counts, linkage.chosen))
    alice, bob = order_pairs(parameters, links).T
    numbers, partners = (alice, bob) if session.role is Role.ALICE else (bob, alice)
    # Links name rows by the numbers of this run, from 1; argsort turns that numbering around.
    rows = np.argsort(linkage.numbers)[numbers - 1]
    notes = notes_of(parameters, records)
    return pairs_table(parameters, counts, data, rows, partners, notes, linkage.chosen)


def one_to_one(parameters: TolerantParameters) -> type[RankJoin] | type[OneToOne]:
    """What pairs the records of a job one to one."""
    return RankJoin if parameters.ranks else OneToOne


def _no_pairs(
    session: Session,
    parameters: TolerantParameters,
    counts: Mapping[Role, int],
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """The result where a side has no rows, which is public.

    Raises:
        DisclosureRefused: the policies ask for matches.
    """
    release.intersection(lambda: (0,))
    release.admit(Rows())
    if session.role not in recipients:
        return Outcome.withhold("matches", details_of(parameters, counts))
    none = np.empty(0, dtype=np.int64)
    return pairs_table(parameters, counts, data, none, none, NO_ROWS)
