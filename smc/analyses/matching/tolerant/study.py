"""Tolerant matching: which rows of both sides are about the same person, by records that resemble each other.

Each side turns its records into Bloom filters of their q-grams, which it keeps. Rows that meet in a bucket by
a blocking key are compared inside the protocol, and recipients learn which pairs are alike by the Dice
coefficient of their filters. What they learn of the other side's row is a number that stands for it in this
run alone.

References: Schnell, Bachteler and Reiher, BMC Medical Informatics and Decision Making 9, 2009; Vatsalan,
Christen and Verykios, A taxonomy of privacy-preserving record linkage techniques, Information Systems 38,
2013; comparing filters without a third party: this house.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.columns import Data, Schema
from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.matching.tolerant.assignment import largest_assignment
from smc.analyses.matching.tolerant.cost import run_cost
from smc.analyses.matching.tolerant.coverage import Coverage
from smc.analyses.matching.tolerant.one_to_one import OneToOne
from smc.analyses.matching.tolerant.parameters import GREEDY, LARGEST, NONE, TolerantParameters, parse
from smc.analyses.matching.tolerant.records import Records, Texts, count_rows, layouts, prepare, read_texts
from smc.analyses.matching.tolerant.reference import plain_links
from smc.analyses.matching.tolerant.run import AllAlike, Linkage, Links
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome, Table
from smc.analyses.records.normalization import KINDS, normalized
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session

_SECONDS_PER_BYTE: Final = 1.2e-8
_SETUP_SECONDS: Final = 0.1
_MEMORY: Final = Memory(90 * MEBI, 14_500)
_KEPT: Final = ("The matches went to the other party only.",)
_EMPTY: Final = ("A side has no rows, so nothing matches.",)
_ROUTE: Final = "Bloom filters compared bucket by bucket by oblivious transfer"


@dataclass(frozen=True, slots=True)
class TolerantStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: TolerantParameters

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """What is compared, blocks or is shown, under the same names on both sides."""
        return dict.fromkeys(Role, tuple(dict.fromkeys((*self.parameters.columns, *self.parameters.show))))

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides declare the columns as texts, integers, dates or categories.

        Raises:
            UsageError: they do not.
        """
        for role, schemas in zip(Role, (alice, bob), strict=True):
            self._check_side(schemas, role)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to.

        Raises:
            UsageError: nobody does.
        """
        if not recipients:
            raise UsageError("Nobody receives the matches.", "Name alice, bob or both as recipients.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and the pairs are about single rows."""
        del recipients
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=True,
            comparison_type=None,
            exact=False,
            sorts_by=frozenset(),
            loss=Loss(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn their rows with a match and a number for each partner."""
        gets = _LEARNS[self.parameters.one_to_one]
        public = (
            "how many rows each side has",
            "the fields, the size of filters, the threshold, the blocking keys and the size of buckets",
            *(
                ()
                if self.parameters.accept_overflow
                else ("by the refusal, if there is one: that passes leave out too many rows of one side",)
            ),
            f"where the policies ask for a least number of matches: whether there are as many; {ASKED}",
        )
        return Leakage(
            gets if Role.ALICE in recipients else (), gets if Role.BOB in recipients else (), public
        )

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """How many own rows find their bucket full or have no key, if the other side has no more rows.

        With more rows there it has more buckets, and they are hardly fuller.
        """
        parameters = self.parameters
        del peer
        schemas = {name: column.schema for name, column in data.items()}

        def look() -> None:
            self._check_side(schemas, role)
            own = count_rows(parameters, data)
            limits.check_sets(own, own)

        found = Preview.of(look)
        if found.refusal is not None:
            return found
        return _preview(parameters, read_texts(parameters, data), count_rows(parameters, data))

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes."""
        del schemas, key_bits
        cost = run_cost(self.parameters, dict.fromkeys(Role, max(1, rows)), recipients, limits)
        seconds = _SETUP_SECONDS + _SECONDS_PER_BYTE * (cost.alice_bytes + cost.bob_bytes)
        return Estimate(cost.rounds, cost.alice_bytes, cost.bob_bytes, seconds, _ROUTE, _MEMORY.at(rows))

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side.

        Raises:
            DomainError: the local columns do not fit, or too many rows are left out; nothing was sent.
            DisclosureRefused: the limits stand against it.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        own = count_rows(parameters, data)
        texts = read_texts(parameters, data)
        _preview(parameters, texts, own).require()
        (peer,) = exchange_counts(session, [own])
        release.sets(own, peer)
        counts = {session.role: own, session.role.other: peer}
        if not (own and peer):
            return _nothing(session, parameters, counts, data, recipients, release)
        session.report("encode", 0, 1)
        records = prepare(parameters, texts, parameters.buckets((own, peer)))
        session.report("encode", 1, 1)
        program: type[Linkage] = OneToOne if parameters.one_to_one == GREEDY else AllAlike
        linkage = program(session, parameters, records, counts, recipients, release)
        links = linkage.links()
        if links is None:
            return Outcome((), _KEPT, _details(parameters, counts))
        alice, bob = _ordered(parameters, links).T
        own_numbers, partners = (alice, bob) if session.role is Role.ALICE else (bob, alice)
        rows = np.argsort(linkage.numbers)[own_numbers - 1]
        return _outcome(parameters, counts, data, rows, partners, _notes(parameters, records))

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same rule in the clear; a partner's number is its row.

        Of largest assignments, where there are several, it may find another one than the joint run.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        sides = dict(zip(Role, (alice, bob), strict=True))
        counts = {role: count_rows(parameters, data) for role, data in sides.items()}
        texts = {role: read_texts(parameters, data) for role, data in sides.items()}
        for role in Role:
            _preview(parameters, texts[role], counts[role]).require()
        buckets = parameters.buckets(tuple(counts.values()))
        links = np.empty((0, 2), dtype=np.int64)
        notes: dict[Role, tuple[str, ...]] = dict.fromkeys(Role, _EMPTY)
        if all(counts.values()):
            records = {role: prepare(parameters, texts[role], buckets) for role in Role}
            links = plain_links(parameters, records[Role.ALICE], records[Role.BOB])
            notes = {role: _notes(parameters, records[role]) for role in Role}
        first, second = _ordered(parameters, links).T
        outcomes = [
            _outcome(parameters, counts, sides[role], rows, partners + 1, notes[role])
            if role in recipients
            else Outcome((), _KEPT, _details(parameters, counts))
            for role, rows, partners in zip(Role, (first, second), (second, first), strict=True)
        ]
        return outcomes[0], outcomes[1]

    def _check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        for name in self.columns[role]:
            if name not in schemas:
                raise UsageError(f"{role.name.title()} declares no column {name!r}.", "Add it to the job.")
            if schemas[name].kind not in KINDS:
                raise UsageError(
                    f"{role.name.title()}'s column {name!r} is of kind {schemas[name].kind!r}.",
                    f"Records are compared as texts; declare one of {', '.join(KINDS)}.",
                )
        self.parameters.check_dates(schemas)


class Tolerant:
    """The method `tolerant`; see `smc.analyses.study.Analysis` for its methods' contracts."""

    name: Final = "tolerant"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> TolerantStudy:
        """Check the `[parameters]` of a job, see `smc.analyses.matching.tolerant.parameters`."""
        return TolerantStudy(parse(parameters))


TOLERANT: Final = Tolerant()
"""The method, for `smc.analyses.matching.analysis`."""


def _ordered(parameters: TolerantParameters, links: Links) -> Links:
    """The pairs of the result, as Alice's and Bob's numbers, in an order that both sides find alike."""
    if parameters.one_to_one == LARGEST:
        chosen = largest_assignment((int(left), int(right)) for left, right in links)
        return np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def _nothing(
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
        return Outcome((), _KEPT, _details(parameters, counts))
    none = np.empty(0, dtype=np.int64)
    return _outcome(parameters, counts, data, none, none, _EMPTY)


def _outcome(
    parameters: TolerantParameters,
    counts: Mapping[Role, int],
    data: Data,
    rows: NDArray[np.int64],
    partners: NDArray[np.int64],
    notes: tuple[str, ...],
) -> Outcome:
    columns: dict[str, list[Any]] = {
        "pair": list(range(1, len(rows) + 1)),
        "row": (rows + 1).tolist(),
        "partner": partners.tolist(),
    }
    for name in parameters.show:
        texts = normalized(data[name], (), f"The column {name!r}")
        columns[name] = [texts[row] for row in rows]
    return Outcome((Table("pairs", columns),), notes, _details(parameters, counts))


def _preview(parameters: TolerantParameters, texts: Texts, rows: int) -> Preview:
    """What is known of the local rows when nothing is known of the other side's."""
    if not rows:
        return Preview()
    coverage = Coverage.of(parameters, layouts(parameters, texts, parameters.buckets((rows,))), rows)
    refusal = None if parameters.accept_overflow else coverage.refusal
    return Preview(coverage.notes, coverage.details, refusal)


def _notes(parameters: TolerantParameters, records: Records) -> tuple[str, ...]:
    notes = [
        "Rows count from 1. A pair has the same number in the tables of both recipients; a partner's number "
        "stands for a row of the other side in this run alone."
    ]
    coverage = Coverage.of(parameters, records.layouts, len(records))
    if any((*coverage.full, *coverage.keyless)):
        notes.extend(coverage.notes)
    empty = int((~records.filters.rows.any(axis=1)).sum())
    if empty:
        notes.append(f"{empty} own rows have no text in any field and match nothing.")
    if records.filters.thinned:
        notes.append(f"The filters of {records.filters.thinned} own rows were too full and lost some ones.")
    return tuple(notes)


def _details(parameters: TolerantParameters, counts: Mapping[Role, int]) -> dict[str, Any]:
    buckets = parameters.buckets(tuple(counts.values()))
    return {
        "route": _ROUTE,
        "engine": "oblivious",
        "one_to_one": parameters.one_to_one,
        "threshold": str(parameters.threshold),
        "bits": parameters.bits,
        "passes": len(parameters.blocking),
        "buckets": buckets,
        "compared": len(parameters.blocking) * buckets * parameters.bucket**2,
    }


_PARTNER: Final = "and for each a number that stands for the other side's row in this run alone"
_PASSES: Final = (
    "of each pair in which passes its rows met: that their blocking keys agree, or their hashes happen to"
)
_LEARNS: Final[Mapping[str, tuple[str, ...]]] = {
    GREEDY: (
        f"which of its own rows were paired, {_PARTNER}; not by which pass, "
        "and nothing of other similar pairs",
    ),
    NONE: (f"which of its own rows are alike to rows of the other side, {_PARTNER}", _PASSES),
    LARGEST: (
        f"which of its own rows are alike to rows of the other side, {_PARTNER}; also the pairs that "
        "the assignment leaves out",
        _PASSES,
    ),
}
