"""Regression models over matched rows: each side has other columns of the same persons, without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.fits import Coefficients
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.models.design import Design
from smc.analyses.models.intervals import INTERVALS, Intervals
from smc.analyses.models.matched_fit import SecretFit, fit
from smc.analyses.models.matched_limits import matched_part
from smc.analyses.models.matched_logistic import PREDICTOR
from smc.analyses.models.matched_newton import TIMES
from smc.analyses.models.matched_own import OwnRows
from smc.analyses.models.matched_parameters import MatchedParameters
from smc.analyses.models.matched_rows import align_rows
from smc.analyses.models.matched_sides import Sided
from smc.analyses.models.outcome import DETAILS, SINGLE_ROWS, outcome_of
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON
from smc.analyses.models.reference import fit_joined
from smc.analyses.models.run import Fit, Sizes
from smc.analyses.records.joint_keys import (
    ALIGNED_MEMORY,
    KEYING_SECONDS,
    check_key_rows,
    key_rows,
    plain_keys,
)
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.records.peer_schemas import KINDS, read, write_schemas
from smc.analyses.studies.brief import LEAST_MATCHES, Brief, count_of
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Stated, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.errors import OutsideRange, UsageError
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.exchange.texts import MAX_BYTES, exchange_texts
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals

CHOSEN: Final = (
    "by chosen values of its own covariates or outcomes: of single rows whether they match, and what the "
    "other side has of them, as far as the digits of coefficients go"
)
BROKEN: Final = {
    LINEAR: "",
    LOGISTIC: ", where sizes of coefficients of covariates from -1 to 1 add up to more than "
    f"{PREDICTOR}, or where outcomes are split so that no estimate exists",
    POISSON: ", where somebody is expected to have more than 48 times the average count or less than a 950th "
    "of it, or where counts are split so that no estimate exists",
    COX: ", where somebody's hazard is more than 48 times the average or less than a 950th of it, or where "
    "events are split so that no estimate exists",
}
"""What else a model cannot be computed of, by its kind."""

_ROW_MEMORY: Final = 2_000
_TIMES_MEMORY: Final = 5_000
"""More for each row of a model of times."""


@dataclass(frozen=True, slots=True)
class MatchedModelsStudy(Study):
    """A job."""

    parameters: MatchedParameters
    gives = "models"
    route = "rows aligned in secret by their keys; Newton's steps in secret; open to recipients"
    pace = Pace(KEYING_SECONDS, byte=1e-7, round=1.05e-3, row=2e-5)
    least_rows = 2

    @property
    def _vertical(self) -> Vertical:
        return self.parameters.vertical

    @property
    @override
    def depends_on_rounding(self) -> bool:
        """Logarithms of exposures, and the angles of shares."""
        return True

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The keys, and of the columns that the models name those of the role."""
        return {role: self._vertical.columns(role) for role in Role}

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        for role, schemas in zip(Role, (alice, bob), strict=True):
            self.check_side(schemas, role)
        self._designs({**_of(alice, self._vertical.alice), **_of(bob, self._vertical.bob)})

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        Study.check_side(self, schemas, role)
        check_keys(self._vertical.match, schemas, role)
        for name in self._vertical.values(role):
            if schemas[name].kind not in KINDS:
                raise UsageError(
                    f"{role.value}'s column {name!r} is of kind {schemas[name].kind}.",
                    f"Name a column of kind {', '.join(KINDS)}.",
                )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        stated = [Stated.BOUNDS] if any(model.ranges for model in self.parameters.models) else []
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=bool(recipients),
            comparison_type=None,
            exact=ExactFigures(len(self.parameters.models), Whom.MATCHES),
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(
                queries=frozenset(model.kind for model in self.parameters.models),
                keys=frozenset(self._vertical.match.columns),
                values=frozenset(self._vertical.match.columns)
                & frozenset((*self._vertical.alice, *self._vertical.bob)),
                states=frozenset(stated),
            ),
        )

    def _chooses(self, recipients: frozenset[Role]) -> bool:
        """Whether a recipient brings a column, whose values it can choose."""
        return any(self._vertical.values(role) for role in recipients)

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets: list[str] = []
        for model in self.parameters.models:
            rest = ", the sum of squared residuals" if model.kind == LINEAR else ""
            baseline = "; baselines and intervals stay closed" if model.kind == COX else ""
            gets += [
                f'the exact {model.kind} model "{model.name}" of the rows that both have: coefficients, '
                f"their standard errors{rest}, rounded, and how many rows match{baseline}",
                f'whether "{model.name}" can be computed, one bit: not where a covariate follows from others '
                f"or nearly so{BROKEN[model.kind]}",
            ]
        bit = (
            f"whether the limits of disclosure hold, one bit, where the policies set any that apply; {ASKED}"
        )
        alice, bob = (
            (
                *(gets if role in recipients else ()),
                *((SINGLE_ROWS,) if role in recipients else ()),
                *((CHOSEN,) if role in recipients and self._vertical.values(role) else ()),
                bit,
            )
            for role in Role
        )
        return Leakage(alice, bob, self._public)

    @property
    def _public(self) -> tuple[str, ...]:
        ranges = (
            f"that {name} goes from {float(lower):g} to {float(upper):g} in {model.name!r}"
            for model in self.parameters.models
            for name, (lower, upper) in model.ranges.items()
        )
        names = ", ".join((*self._vertical.alice, *self._vertical.bob))
        kept = [model for model in self.parameters.models if model.kind == COX]
        return (
            "the models and their covariates, and how keys are matched",
            *ranges,
            *(f"that times of {model.name!r} are cut into {INTERVALS} intervals at most" for model in kept),
            f"the declarations of {names}",
            "the number of rows of each side that take part",
        )

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = tuple(model.name for model in self.parameters.models)
        models = count_of(len(names), "exact model")
        gets = (f"coefficients and standard errors of {models}", "how many rows match")
        chosen = ("with chosen values: which of its own rows match",)
        does = f"match the rows of both by their keys, and fit {models} to the matches"
        hides = "the rows themselves" + ("" if self._chooses(recipients) else ", and which match")
        alice, bob = (
            (
                *(gets if role in recipients else ()),
                *(chosen if role in recipients and self._vertical.values(role) else ()),
                LEAST_MATCHES,
            )
            for role in Role
        )
        return Brief(does, alice, bob, hides, names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Check keys and sets, and that rows fit the models as far as one side shows it."""
        numbers = check_key_rows(self._vertical.match, data, role, limits)
        schemas = {name: column.schema for name, column in data.items()}
        self.check_side(schemas, role)
        if limits.counts_groups or limits.counts_matches or limits.weighs:
            check_one_row_each(data[PERSONS].array[numbers] if PERSONS in data else None)
        limits.check_persons(len(numbers))
        if peer is not None and set(self._vertical.values(role.other)) <= set(peer):
            self._designs(
                {
                    **_of(schemas, self._vertical.values(role)),
                    **_of(peer, self._vertical.values(role.other)),
                }
            )
        return Preview()

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        more = _TIMES_MEMORY * any(model.kind == COX for model in self.parameters.models)
        return Memory(ALIGNED_MEMORY.fixed, ALIGNED_MEMORY.row + _ROW_MEMORY + more).at(max(setting.rows))

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts, and values as the models would have them, as far as it is not known."""
        found = dict.fromkeys(
            (*self._vertical.alice, *self._vertical.bob),
            Schema("integer", lower=0, upper=1),
        )
        for model in self.parameters.models:
            if model.labels:
                labels = (*model.labels, "".join(model.labels) + " not")
                column = model.event or model.outcome
                found[column] = Schema("category", lower=0, upper=len(labels) - 1, categories=labels)
        return {**found, **dict.fromkeys(self._vertical.match.columns, Schema("text")), **schemas}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the columns of both sides do not fit the models.
            DomainError: keys repeat or are missing, or several rows are about one person where limits count
                persons.
            DisclosureRefused: a limit stands against a model, at both sides; nothing more was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        role = session.role
        rows, peer_count = key_rows(session, self._vertical.match, data, release)
        if release.counts_groups or release.counts_matches or release.weighs:
            check_one_row_each(rows.persons)
        own = {name: data[name].schema for name in self._vertical.values(role)}
        declared = write_schemas(own.values())
        (length,) = exchange_counts(session, [len(declared)], most=[MAX_BYTES])
        theirs = read(exchange_texts(session, declared, length), self._vertical.values(role.other))
        fits = []
        for asked in self._designs({**own, **theirs}):
            sided = asked.under(counts=release.counts_groups, weighs=release.weighs)
            brought = OwnRows.of(sided, rows, role)
            matched = align_rows(session, sided, rows.keys, peer_count, brought, TIMES)
            sizes = Sizes.of(sided.design, (-(-matched.most // 2),) * 2)
            found = fit(sided, matched, sizes)
            size = matched.size
            release.intersection(partial(_only, size))
            part = matched_part(sided, matched, found, sizes, release.weight_factor)
            admitted = release.exact(part, recipients)
            fits.append((sided.design, _open(found, size, sizes, admitted)))
        if role not in recipients:
            return Outcome.withhold(details=DETAILS)
        return outcome_of([(design, fitted) for design, fitted in fits if fitted is not None])

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        sides = {Role.ALICE: alice, Role.BOB: bob}
        keys, numbers = zip(
            *(plain_keys(self._vertical.match, data, role) for role, data in sides.items()),
            strict=True,
        )
        places = {key: place for place, key in enumerate(keys[1])}
        common = [(place, places[key]) for place, key in enumerate(keys[0]) if key in places]
        joined = np.array(common, dtype=np.int64).reshape(-1, 2)
        held = {
            name: data[name].array[numbers[place][joined[:, place]]]
            for place, (role, data) in enumerate(sides.items())
            for name in self._vertical.values(role)
        }
        schemas = {
            name: data[name].schema for role, data in sides.items() for name in self._vertical.values(role)
        }
        most, fits = min(map(len, keys)), []
        for sided in self._designs(schemas):
            model, intervals = sided.design.model, None
            if sided.slots_of is not None:
                place = list(Role).index(sided.slots_of)
                times, events = (
                    sides[sided.slots_of][name].array[numbers[place]] for name in (model.outcome, model.event)
                )
                intervals = Intervals.of(times, np.isin(events, sided.design.codes))
            fits.append((sided.design, fit_joined(sided.design, sided.design.join(held), most, intervals)))
        found = outcome_of(fits)
        first, second = (found if role in recipients else Outcome.withhold(details=DETAILS) for role in Role)
        return first, second

    def _designs(self, schemas: Mapping[str, Schema]) -> list[Sided]:
        """The models over declared columns of both sides.

        Raises:
            UsageError: they do not fit; names the column.
        """
        return [
            Sided.of(Design.of(model, schemas), self._vertical, schemas[model.outcome])
            for model in self.parameters.models
        ]


def _only(size: SecretInts) -> tuple[SecretInts]:
    return (size,)


def _of(schemas: Mapping[str, Schema], names: Sequence[str]) -> dict[str, Schema]:
    return {name: schemas[name] for name in names}


def _open(found: SecretFit, size: SecretInts, sizes: Sizes, admitted: Coefficients) -> Fit | None:
    """What the recipients get; None at another party."""
    held = found.variances
    figures = [held.rescale(min(held.scale, sizes.variance_bits)), SecretReals(size)]
    if found.squares is not None:
        figures.append(found.squares.rescale(sizes.squares_bits))
    sealed = found.coefficients.rescale(sizes.coefficient_bits).seal(*figures)
    opened = admitted.open(sealed.ints)
    try:
        read = sealed.read(opened)
    except OutsideRange:
        return Fit(None, np.zeros(len(found.coefficients)), 0.0, None, 1, converged=False)
    if read is None:
        return None
    values, variances, rows, *rest = read
    return Fit(values, variances, float(rest[0][0]) if rest else 0.0, int(rows[0]), 1, converged=True)
