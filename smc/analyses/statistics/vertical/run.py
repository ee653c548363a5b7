"""Statistics over matched rows: the run, when each side has columns of its own about the same persons.

Rows are aligned in secret by their keys (`smc.secret.joins.circuit_psi`), sums over the matches are formed
of both sides' columns (`sums.py`), and from there on noise, small groups and results are as for rows of
both. Nobody learns which rows match, nor how many but for the noise.

How many rows each side brings is public, so neighbouring inputs have one row of a side replaced, which can
remove one match and add another (`smc.analyses.studies.neighbours`). Where rows that repeat a key count once,
each of the two can touch two matches.

The least intersection of the policies is tested on a noisy count, which has a tenth of the loss and is not
opened itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import numpy as np

from smc.analyses.disclosure.release import Release
from smc.analyses.records.keying import keyed_rows
from smc.analyses.records.keys import KeyedRows, hash_keys
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.records.peer_schemas import read, write_schemas
from smc.analyses.statistics.kinds.statistic import Word
from smc.analyses.statistics.plans import noisy, noisy_results
from smc.analyses.statistics.plans.outcome import Reported, kept_from, noisy_details, outcome_of
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.statistics.vertical import sums as vertical_sums
from smc.analyses.statistics.vertical.terms import pairs
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome
from smc.errors import DomainError
from smc.forms import Role
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount, exchange_counts
from smc.protocols.exchange.texts import MAX_BYTES, exchange_texts
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import LIMIT, Bounds

SIZE_WEIGHT: Final = Fraction(1, 10)
"""The part of the loss that goes to the noisy size, where the policies ask for a least intersection."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What a side brings.

    Attributes:
        keyed: its keys, and which rows have them.
        columns: held values of these rows by name, shape (n,) each.
    """

    keyed: KeyedRows
    columns: Mapping[str, Ints] = field(repr=False)

    @classmethod
    def of(cls, parameters: StatisticsParameters, vertical: Vertical, data: Data, role: Role) -> Brought:
        """The rows of a side.

        Raises:
            DomainError: columns of different lengths, too many rows, keys that are missing or repeated where
                that is an error, or several rows about one person.
        """
        lengths = {len(data[name]) for name in vertical.columns(role)}
        if len(lengths) > 1:
            raise DomainError(
                "The columns of this side have different lengths.", "Give every column one value per row."
            )
        if max(lengths) > parameters.maximum_rows:
            raise DomainError(
                "This side has more rows than parameters.maximum_rows allows.",
                "Raise maximum_rows in the job, which both sides see, or use fewer rows.",
            )
        keyed = keyed_rows(data, vertical.match.recipes, vertical.match.duplicates, role.value)
        persons = data[PERSONS].array[keyed.numbers] if PERSONS in data else None
        if persons is not None and len(np.unique(persons)) < len(persons):
            raise DomainError(
                "Several rows of this side are about one person, and the guarantee is for one row of each.",
                "Bring one row per person, for instance by summing up a person's rows first.",
            )
        columns = {name: data[name].array[keyed.numbers] for name in vertical.values(role)}
        return cls(keyed, columns)


@dataclass(frozen=True, slots=True)
class Met:
    """What both sides know before they match rows.

    Attributes:
        brought: the local rows.
        peer_count: rows of the peer.
        schemas: the declared columns of both sides.
    """

    brought: Brought
    peer_count: RowCount
    schemas: Mapping[str, Schema]

    @classmethod
    def of(
        cls,
        session: Session,
        parameters: StatisticsParameters,
        vertical: Vertical,
        data: Data,
        release: Release,
    ) -> Met:
        """Exchange the numbers of rows and the declarations of columns.

        Raises:
            DomainError: as `Brought.of`; nothing was sent. Or the peer has too many rows.
            DisclosureRefused: a limit on sets stands against the run, at both sides.
            UsageError: what the peer declares cannot be read.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        role = session.role
        brought = Brought.of(parameters, vertical, data, role)
        schemas = schemas_of(data, vertical.values(role))
        declared = write_schemas(schemas.values())
        peer_count, length = exchange_counts(
            session, [len(brought.keyed), len(declared)], most=[parameters.maximum_rows, MAX_BYTES]
        )
        release.sets(len(brought.keyed), peer_count)
        theirs = read(exchange_texts(session, declared, length), vertical.values(role.other))
        return cls(brought, peer_count, {**schemas, **theirs})

    def keys(self, session: Session) -> Word:
        """The local keys, hashed under a salt of this run, shape (n, 2).

        It is tossed after both have fixed their rows, so nobody can choose keys whose hashes collide.
        """
        return hash_keys(self.brought.keyed, toss(session))


def plan_queries(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    *,
    counts_matches: bool,
    counts_groups: bool,
) -> tuple[Planned, ...]:
    """All queries resolved; first comes the size, if the policies ask for a least intersection.

    Args:
        parameters: as parsed.
        schemas: the declared columns of both sides.
        counts_matches: whether the policies ask for a least intersection.
        counts_groups: whether they ask for a smallest group.

    Raises:
        UsageError: a query does not fit its columns, or a total could leave 63 bits.
    """
    if counts_matches:
        # Whether there are enough matches is an answer about the data, and has to be paid for like a query.
        rest = 1 - SIZE_WEIGHT
        size = Query("", "count", (), _part(parameters.loss, SIZE_WEIGHT))
        others = [replace(query, loss=_part(query.loss, rest)) for query in parameters.queries]
        parameters = replace(parameters, queries=(size, *others))
    return plan(parameters, schemas, counted=counts_groups)


def _part(loss: Loss, part: Fraction) -> Loss:
    return Loss(loss.epsilon * part, rho=loss.rho * part)


def run(
    session: Session,
    parameters: StatisticsParameters,
    vertical: Vertical,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    """The joint run, one side.

    Raises:
        DomainError: the local data do not fit, and nothing was sent; or there are too many numbers.
        DisclosureRefused: a limit stands against the result, at both sides.
        UsageError: the columns of both sides do not fit the queries.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    met = Met.of(session, parameters, vertical, data, release)
    plans = plan_queries(
        parameters,
        met.schemas,
        counts_matches=release.counts_matches,
        counts_groups=release.counts_groups,
    )
    wanted = [pairs(each, vertical.alice) for each in plans]
    # All products go through one matching of the rows; `_by_group` deals the sums out to the queries again.
    flat = [pair for each in wanted for pair in each]
    found = vertical_sums.sums(session, flat, met.brought.columns, met.keys(session), met.peer_count)
    words = noisy.noisy_words(session, plans, _by_group(plans, [len(each) for each in wanted], found))
    seed = noisy.simulation_seed(session, plans)
    details = noisy_details(parameters, plans)
    # The size carries its noise already: the limit is tested on the noisy size, as the loss does not cover
    # the exact one.
    release.intersection(lambda: (_size(session, words),))
    if release.counts_matches:
        plans, words = plans[1:], words[1:]
    opened = noisy.open_noisy(session, plans, words, recipients, release)
    if opened is None:
        return kept_from(details)
    reported = reported_of(plans, opened, seed, is_noisy=True, limited=release.counts_groups)
    return outcome_of(parameters, reported, details, noisy=True)


def schemas_of(data: Data, names: Sequence[str]) -> dict[str, Schema]:
    """The declarations of some columns."""
    return {name: data[name].schema for name in names}


def _by_group(plans: Sequence[Planned], lengths: Sequence[int], found: Word) -> list[Ints]:
    """Shares of sums as `noisy.local` arranges them, shape (groups, entries) for each statistic."""
    parts = np.split(found, np.cumsum(lengths)[:-1])
    return [
        part.view(np.int64).reshape(len(each.groups), -1) for each, part in zip(plans, parts, strict=True)
    ]


def _size(session: Session, words: Word) -> SecretInts:
    """The noisy size of the intersection, which comes first where it is counted."""
    return SecretInts.from_shares(session, words[:1], Bounds(1 - LIMIT // 2, LIMIT // 2 - 1))


def reported_of(
    plans: Sequence[Planned], entries: Sequence[Ints], seed: bytes, *, is_noisy: bool, limited: bool
) -> list[Reported]:
    """The results of the opened entries, for `smc.analyses.statistics.plans.outcome`."""
    return [
        (each.query, each.statistic, group, result)
        for each, opened in zip(plans, entries, strict=True)
        for group, result in noisy_results.results(each, opened, seed, noisy=is_noisy, limited=limited)
    ]
