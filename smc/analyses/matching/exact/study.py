"""Exact matching: which rows of both sides have the same key, or only figures about them.

Keys are the normal forms of one or several columns. The output `keys` shows recipients which of their own
rows the other side has, and nothing else: by private set intersection. All other outputs keep that secret and
open figures only.

A recipient of `keys` learns of each of its keys whether the other side has it. Where keys can be guessed,
names and dates of birth for instance, a party can put guesses among its rows; no protocol prevents that. What
stands against it are the limits of the policies: least sizes, the ratio of the sizes, the least intersection,
and the number of runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.columns import Data, Schema
from smc.analyses.disclosure.costs import cost_test
from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.matching.aggregates import contract as aggregates_contract
from smc.analyses.matching.aggregates.run import Brought, check_own, plain_aggregates, run_aggregates
from smc.analyses.matching.exact.parameters import ExactParameters, parse_exact
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome, Table
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.records.keys import DISTINCT, MULTISET, KeyedRows, hashed, keyed_rows
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.coins import TOSS_COST, toss
from smc.protocols.exchange.row_counts import RowCount, counts_cost, exchange_counts
from smc.protocols.intersection import cuckoo, exact
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret import circuit_psi, mux
from smc.secret.bounds import Bounds
from smc.secret.circuit_psi import align
from smc.secret.ints import SecretInts

_ROUTE: Final = "private set intersection: batched oblivious pseudorandom functions, cuckoo hashing"
_ALIGNED: Final = "rows aligned in secret by their keys; sums over the intersection"
_SECONDS_PER_KEY: Final = 3e-6
_SECONDS_PER_SLOT: Final = 4e-5
_SETUP_SECONDS: Final = 0.05
_KEYS_MEMORY: Final = Memory(10 * MEBI, 400)
_ALIGNED_MEMORY: Final = Memory(25 * MEBI, 750)
_DIGIT_MEMORY: Final = 72


@dataclass(frozen=True, slots=True)
class ExactStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: ExactParameters

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The key columns, and the local values."""
        return {role: self.parameters.columns(role) for role in Role}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check the kinds of keys and values."""
        parameters = self.parameters
        for role, schemas in zip(Role, (alice, bob), strict=True):
            check_keys(parameters.match, schemas, role)
        if parameters.aggregates is not None:
            aggregates_contract.check_values(parameters.aggregates, alice, bob)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Somebody receives; shares need both."""
        if self.parameters.aggregates is not None:
            aggregates_contract.check_aggregate_recipients(self.parameters.aggregates, recipients)
        elif not recipients:
            raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Keys are about single rows; figures over the intersection are exact, noisy or stay shared.

        Exact sums are about single rows, too, where somebody gets the sum of its own column.
        """
        over = self.parameters.aggregates
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=over is None or aggregates_contract.shows_rows(over, recipients),
            comparison_type=None,
            exact=over is not None and aggregates_contract.releases_exactly(over),
            sorts_by=frozenset(),
            loss=Loss() if over is None else aggregates_contract.aggregate_loss(over),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn which of their keys the other side has, or figures."""
        parameters = self.parameters
        if parameters.aggregates is not None:
            return aggregates_contract.aggregate_leakage(parameters.aggregates, recipients)
        gets = "which of its own keys the other side has too, and so their number"
        bit = f"whether the intersection has as many keys as the policies ask for, where they ask; {ASKED}"
        rows = (
            "the number of distinct keys" if parameters.match.duplicates == DISTINCT else "the number of rows"
        )
        return Leakage(
            (*((gets,) if Role.ALICE in recipients else ()), bit),
            (*((gets,) if Role.BOB in recipients else ()), bit),
            (f"{rows} of each side",),
        )

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether keys are there and distinct, sets large enough, and rows persons where that counts."""
        parameters = self.parameters

        def look() -> None:
            check_keys(parameters.match, {name: column.schema for name, column in data.items()}, role)
            keyed = keyed_rows(data, parameters.match.recipes, parameters.match.duplicates, role.value)
            limits.check_sets(len(keyed), len(keyed))
            if parameters.aggregates is not None:
                check_own(parameters.aggregates, keyed.numbers, data, role, limits, peer)

        return Preview.of(look)

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes, where the declarations of all values are known."""
        parameters = self.parameters
        del key_bits
        total = counts_cost(1) + TOSS_COST
        if parameters.aggregates is None:
            total += keys_cost(recipients, rows, rows, limits)
            seconds, route, memory = _SECONDS_PER_KEY, _ROUTE, _KEYS_MEMORY
            if limits.counts_matches:
                memory = _ALIGNED_MEMORY
        else:
            total += aggregates_contract.aggregate_cost(
                parameters.aggregates, schemas, recipients, (rows, rows), limits
            )
            digits = aggregates_contract.digits(parameters.aggregates, schemas, limits)
            seconds, route = _SECONDS_PER_SLOT, _ALIGNED
            memory = Memory(_ALIGNED_MEMORY.fixed, _ALIGNED_MEMORY.row + _DIGIT_MEMORY * digits)
        return Estimate(
            total.rounds,
            total.alice_bytes,
            total.bob_bytes,
            _SETUP_SECONDS + seconds * rows,
            route,
            memory.at(rows),
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
            DomainError: this party's keys repeat, or are missing; nothing was sent.
            DisclosureRefused: a limit stands against the run, at both sides.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        session.report("keys", 0, 1)
        keyed = keyed_rows(data, parameters.match.recipes, parameters.match.duplicates, session.role.value)
        peer_count = exchange_counts(session, [len(keyed)])[0]
        release.sets(len(keyed), peer_count)
        keys = hashed(keyed, toss(session))
        session.report("keys", 1, 1)
        if parameters.aggregates is not None:
            rows = Brought(keys, keyed.numbers, data)
            return run_aggregates(session, parameters.aggregates, rows, peer_count, recipients, release)
        release.intersection(lambda: (_size(session, keys, peer_count),))
        tell = len(recipients) == len(Role)
        found: NDArray[np.bool_] | None
        if session.role is receiver_of(recipients, *_by_role(session.role, len(keyed), peer_count)):
            found = release.protocol(Rows(), exact.receive, session, keys, peer_count, tell=tell)
        else:
            found = release.protocol(Rows(), exact.send, session, keys, peer_count, tell=tell)
        return _outcome(parameters, data, keyed, found)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The reference: the intersection of the normal forms."""
        parameters = self.parameters
        self.check_recipients(recipients)
        sides = [
            keyed_rows(data, parameters.match.recipes, parameters.match.duplicates, role.value)
            for role, data in ((Role.ALICE, alice), (Role.BOB, bob))
        ]
        first, second = (side.plain() for side in sides)
        if parameters.aggregates is not None:
            numbers = (sides[0].numbers, sides[1].numbers)
            return plain_aggregates(parameters.aggregates, (first, second), numbers, (alice, bob), recipients)
        common = set(first) & set(second)
        outcomes = [
            _outcome(
                parameters,
                data,
                side,
                np.array([key in common for key in keys], dtype=np.bool_) if role in recipients else None,
            )
            for role, data, side, keys in zip(Role, (alice, bob), sides, (first, second), strict=True)
        ]
        return outcomes[0], outcomes[1]


class ExactMatching:
    """The method `exact` of matching; see `smc.analyses.study.Analysis` for its methods' contracts."""

    name: Final = "exact"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> ExactStudy:
        """See `smc.analyses.matching.exact.parameters`."""
        return ExactStudy(parse_exact(parameters))


EXACT: Final = ExactMatching()
"""The method, as `smc.analyses.matching.analysis` lists it."""


def receiver_of(recipients: frozenset[Role], alice_count: int, bob_count: int) -> Role:
    """Who receives in the protocol: the recipient; of two the one with fewer keys, which costs less."""
    if len(recipients) == 1:
        return next(iter(recipients))
    return Role.ALICE if alice_count <= bob_count else Role.BOB


def keys_cost(recipients: frozenset[Role], alice_count: int, bob_count: int, limits: Limits) -> Cost:
    """The exact cost of finding the common keys in a fresh session.

    Args:
        recipients: who gets them.
        alice_count: keys of Alice.
        bob_count: keys of Bob.
        limits: of both policies, none of which stands against the result.
    """
    receiver = receiver_of(recipients, alice_count, bob_count)
    total, fresh, turned = Cost(), True, False
    if limits.counts_matches:
        total, fresh = _size_cost(alice_count, bob_count, limits), False
        turned = receiver is not circuit_psi.table_owner(alice_count, bob_count)
    tell = len(recipients) == len(Role)
    if receiver is Role.ALICE:
        return total + exact.cost(alice_count, bob_count, tell=tell, fresh=fresh, turned=turned)
    return total + exact.cost(bob_count, alice_count, tell=tell, fresh=fresh, turned=turned).mirror


def _size(session: Session, keys: NDArray[np.uint64], peer_count: RowCount) -> SecretInts:
    """How many keys both sides have, one secret number, before a protocol shows of what they are."""
    nothing = np.zeros((len(keys), 0), dtype=np.int64)
    return align(session, keys, peer_count, nothing, (), ()).size()


def _size_cost(alice_count: int, bob_count: int, limits: Limits) -> Cost:
    """The exact cost of `_size` in a fresh session, and of its test."""
    fewer = min(alice_count, bob_count)
    total = circuit_psi.cost(alice_count, bob_count, 0, 0, fresh=True)
    total += mux.cost_to_words(cuckoo.bins_for(fewer))
    return total + cost_test([(Bounds(0, fewer), limits.minimum_intersection)])


def _by_role(role: Role, own: int, peer: int) -> tuple[int, int]:
    return (own, peer) if role is Role.ALICE else (peer, own)


def _outcome(
    parameters: ExactParameters, data: Data, keyed: KeyedRows, found: NDArray[np.bool_] | None
) -> Outcome:
    """The local rows that match by number, from 1, with their keys as they stand in the local data."""
    details = {"route": _ROUTE, "duplicates": parameters.match.duplicates}
    if found is None:
        return Outcome((), ("The results went to the other party only.",), details)
    rows = keyed.numbers[found].tolist()
    columns: dict[str, list[Any]] = {"row": [row + 1 for row in rows]}
    for name, _ in parameters.match.recipes:
        columns[name] = _cells(data, name, rows)
    size = Table("intersection", {"size": [len(rows)]})
    return Outcome((Table("matches", columns), size), _notes(parameters, len(rows)), details)


def _cells(data: Data, name: str, rows: list[int]) -> list[Any]:
    column = data[name]
    if column.schema.kind == "text":
        return [column.texts[row] for row in rows]
    values = column.integers
    if column.schema.kind == "category":
        return [column.schema.categories[values[row]] for row in rows]
    return [values[row] for row in rows]


def _notes(parameters: ExactParameters, size: int) -> tuple[str, ...]:
    notes: list[str] = []
    if not size:
        notes.append("The two sides have no key in common.")
    if parameters.match.duplicates == DISTINCT:
        notes.append("Rows with equal keys count once; the first of them is listed.")
    if parameters.match.duplicates == MULTISET:
        notes.append("The k-th row with a key matches the k-th row of the other side with that key.")
    return tuple(notes)
