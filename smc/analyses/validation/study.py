"""Validation: how well a model of one side predicts outcomes of the other's rows, and nothing about one row.

    rows' side (features X, outcomes y)             model's side (weights w)
      == scores X w, secret products ==
      == which scores reach each cut, by comparisons ==
      == rows by score and outcome: counts, and y times the bits ==
      == noise that neither knows ==              the numbers of rows, at the recipients

What is opened are numbers of rows between the cuts, without and with the outcome, with noise. All figures
follow from them in the clear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.figures import Noisy
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.predictors.tree_scores import HeldTrees, plain_tree_scores
from smc.analyses.records.numbers import text
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.facts import Answers, Asked, Facts, RowBounds
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.precision import expectation, with_precision
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.analyses.validation.figures import NORMAL_95, tables_of
from smc.analyses.validation.parameters import NEIGHBOURS, TREES, ValidationParameters
from smc.analyses.validation.scores import (
    Model,
    cuts_of,
    plain_score,
    reached_by_trees,
    score,
    standardize,
    tree_rows,
    trees_of,
    weights_of,
)
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts, concatenate
from smc.secret.linear_ints import LinearInts
from smc.secret.noise import noise
from smc.secret.sharing.bounds import LIMIT, Bounds

MODEL: Final = ("feature", "weight")
"""The columns of a model: its features' names, and their weights."""

TREE_MODEL: Final = "model"
"""The column of a model of trees, as `duetto model import` writes it."""

_PIECE: Final = 1 << 20
"""Comparisons that are made at once, for memory."""

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ValidationStudy(Study):
    """A job."""

    parameters: ValidationParameters
    gives = "validation"
    route = "secret products of features and weights; comparisons by oblivious transfer; joint noise"
    pace = Pace(0.07, byte=6e-9)
    least_rows = 1

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        given = self.parameters
        names = (*(feature.name for feature in given.features), given.outcome)
        return {given.model: (TREE_MODEL,) if given.kind == TREES else MODEL, given.rows: names}

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        Study.check_side(self, schemas, role)
        given = self.parameters
        if role is given.model and given.kind == TREES:
            if schemas[TREE_MODEL].kind != "text":
                raise UsageError("Column model is not a text.", 'Declare type = "text".')
            return
        if role is given.model:
            if schemas["feature"].kind != "text":
                raise UsageError("Column feature of the model is not a text.", 'Declare type = "text".')
            _check_number("weight", schemas["weight"])
            return
        for feature in given.features:
            _check_number(feature.name, schemas[feature.name])
        if given.kind == TREES:
            for each in given.shape.features:
                each.check(schemas[each.name])
        self._outcomes(schemas[given.outcome])

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """What is not known is as the job takes it for: numbers, an outcome, a model."""
        given = self.parameters
        labels = (*given.positive, "")
        outcome = Schema("category", categories=labels) if given.positive else Schema("integer", 0, 0, 1)
        assumed = dict.fromkeys((feature.name for feature in given.features), Schema("integer"))
        return {
            **assumed,
            given.outcome: outcome,
            "feature": Schema("text"),
            TREE_MODEL: Schema("text"),
            "weight": Schema("decimal"),
            **schemas,
        }

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=False,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=self.parameters.loss,
            bounds=RowBounds(self.parameters.maximum_rows),
            asked=Asked(answers=self._answers(recipients)),
        )

    def _answers(self, recipients: frozenset[Role]) -> tuple[Answers, ...]:
        """What the side with rows can find of the model: each of its rows twice as often as the one before.

        Noise does not hide rows that stand there often enough, so a run tells between which cuts the scores
        lie of as many as the number of rows has bits.
        """
        given = self.parameters
        told = given.rows in recipients
        return (Answers(given.model, given.maximum_rows.bit_length()),) if told else ()

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        given = self.parameters
        numbers = 2 * (len(given.bins) + 1)
        gets = (
            f"{numbers} noisy numbers of rows, by score and outcome, and what follows from them; under "
            f"differential privacy with epsilon {text(given.epsilon)} for the side with rows: {NEIGHBOURS}; "
            "neither party knows the noise",
        )
        public = (
            "the number of rows",
            "the features with their ranges, the kind of model, the bound on its scores, and the cuts"
            + ("; the commitment to it, and how many trees of which depth" if given.kind == TREES else ""),
        )
        found = Leakage.to(recipients, gets, public)
        if given.rows not in recipients:
            return found
        model = (
            "of the model what these numbers tell of how it scores this side's own rows; by rows of its "
            "choice, repeated so often that noise does not hide them: between which cuts their scores lie, "
            "of as many rows in a run as their number has bits"
        )
        alice, bob = (
            (*side, model) if role is given.rows else side
            for role, side in zip(Role, (found.alice, found.bob), strict=True)
        )
        return Leakage(alice, bob, public)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        owner = self.parameters.model.name.title()
        gets = ("how well the model predicts: noisy counts by score and outcome",)
        hides = "the score of any row, and the weights of the model"
        does = f"score the other side's rows by {owner}'s model and count outcomes by score, with noise"
        return Brief.to(recipients, does, gets, hides)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        if role is self.parameters.model:
            self._model(data)
            return Preview()
        _, outcomes = self._rows(data)
        limits.check_persons(len(outcomes))
        width = float(NORMAL_95 * self.parameters.distribution.deviation)
        loss = {"epsilon": text(self.parameters.epsilon)}
        return with_precision(
            Preview(), [expectation("rows by score and outcome", "count", width, "rows", loss)]
        )

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        given, role = self.parameters, session.role
        model: Model | HeldTrees | None = None
        features = outcomes = None
        if role is given.model:
            model = self._model(data)
        else:
            features, outcomes = self._rows(data)
        local = 0 if outcomes is None else len(outcomes)
        most = given.maximum_rows if role is given.model else 0
        (peer,) = exchange_counts(session, [local], most=[most])
        count = local or int(peer)
        if not count:
            raise DomainError("The side with rows has none.", "Use a data set with rows.")
        release.persons(count)
        ones = SecretInts.from_plain(session, outcomes, given.rows, Bounds(0, 1), count)
        parts = self._reaching(session, features, model, count)
        drawn = noise.draw(session, [given.distribution] * (2 * (len(given.bins) + 1)))
        numbers = self._count(parts, ones, count)
        noisy = LinearInts.from_shares(
            session, numbers.shares + drawn, Bounds(1 - LIMIT // 2, LIMIT // 2 - 1)
        )
        opened = release.open(noisy, recipients, Noisy(np.arange(len(drawn))))
        if opened is None:
            return self._outcome(None)
        # Under limits every number that is shown is positive.
        shown = [None if release.counts_groups and not each else each for each in opened.tolist()]
        return self._outcome(shown)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        sides = dict(zip(Role, (alice, bob), strict=True))
        features, outcomes = self._rows(sides[self.parameters.rows])
        model = self._model(sides[self.parameters.model])
        if isinstance(model, HeldTrees):
            scores = plain_tree_scores(self.parameters.shape, model, features)[:, 0]
        else:
            scores = plain_score(features, model)
        cells = np.searchsorted(cuts_of(self.parameters).held, scores, side="right")
        size = len(self.parameters.bins) + 1
        numbers = np.bincount(cells + size * outcomes, minlength=2 * size).tolist()
        first, second = (self._outcome(numbers if role in recipients else None) for role in Role)
        return first, second

    def _model(self, data: Data) -> Model | HeldTrees:
        """The model as whole numbers, at its side."""
        if self.parameters.kind == TREES:
            return trees_of(self.parameters, data[TREE_MODEL])
        return weights_of(self.parameters, data)

    def _reaching(
        self, session: Session, features: Whole | None, model: Model | HeldTrees | None, count: int
    ) -> Iterator[tuple[slice, SecretBits]]:
        """Which cuts the scores of rows reach, part after part."""
        given = self.parameters
        if given.kind != TREES and not isinstance(model, HeldTrees):
            return self._compare(session, score(session, given, features, model, count), count)
        mine = model if isinstance(model, HeldTrees) else features
        return iter(()) if mine is None else reached_by_trees(session, given, mine, count)

    def _compare(
        self, session: Session, scores: SecretInts, count: int
    ) -> Iterator[tuple[slice, SecretBits]]:
        cuts = cuts_of(self.parameters)
        for part in chunks(count, max(1, _PIECE // len(cuts.held))):
            session.report("rows", part.start, count)
            yield part, scores[part].reshape(part.stop - part.start, 1) >= cuts

    def _count(self, parts: Iterator[tuple[slice, SecretBits]], ones: SecretInts, count: int) -> SecretInts:
        """Rows between the cuts, without the outcome and then with it, shape (2 * (cuts + 1),)."""
        cuts, found = len(self.parameters.bins), []
        for part, bits in parts:
            reached = SecretInts.from_bits(bits)
            with_outcome = ones[part].reshape(1, -1) @ reached
            found.append(concatenate([reached.sum(axis=0), with_outcome.reshape(-1)]))
        reached = reduce(add, found)
        every = reached[:cuts], -reached[:1] + count
        positive = reached[cuts:], ones.sum() - reached[cuts]
        above, with_outcome = (_between(*each) for each in (every, positive))
        return concatenate([above - with_outcome, with_outcome])

    def _rows(self, data: Data) -> tuple[Whole, Whole]:
        """Own features and outcomes.

        Raises:
            DomainError: columns of different lengths, too many rows, or several about one person.
        """
        given = self.parameters
        lengths = {len(data[name]) for name in self.columns[given.rows]}
        if len(lengths) > 1:
            raise DomainError("The columns have different lengths.", "Give every column one value per row.")
        if max(lengths) > given.maximum_rows:
            raise DomainError(
                "This side has more rows than parameters.maximum_rows allows.",
                "Raise maximum_rows in the job, or use fewer rows.",
            )
        persons = data[PERSONS].array if PERSONS in data else None
        if persons is not None and len(np.unique(persons)) < len(persons):
            raise DomainError(
                "Several rows are about one person, and the guarantee is for one row of each.",
                "Bring one row per person.",
            )
        held = self._outcomes(data[given.outcome].schema)
        outcomes = np.isin(data[given.outcome].array, held).astype(np.int64)
        features = tree_rows(given, data) if given.kind == TREES else standardize(given.features, data)
        return features, outcomes

    def _outcomes(self, schema: Schema) -> list[int]:
        """Which held values of the column count as 1.

        Raises:
            UsageError: it is neither a column of 0 and 1 nor a category with the labels of `positive`.
        """
        given = self.parameters
        if not given.positive and schema.kind == "integer" and (schema.lower, schema.upper) == (0, 1):
            return [1]
        if schema.kind == "category" and given.positive and {*given.positive} < {*schema.categories}:
            return [schema.categories.index(label) for label in given.positive]
        raise UsageError(
            f"Column {given.outcome} is not an outcome: neither an integer from 0 to 1 nor a category that "
            "has the labels of parameters.positive and others.",
            "Declare it so, or correct positive.",
        )

    def _outcome(self, numbers: Sequence[int | None] | None) -> Outcome:
        given = self.parameters
        details = {
            "route": self.route,
            "engine": "oblivious",
            "guarantee": "(epsilon, delta)-differential privacy, computational towards the parties",
            "neighbours": str(NEIGHBOURS),
            "noise_scale": str(1 / given.distribution.rate),
        }
        if numbers is None:
            return Outcome.withhold(self.gives, details)
        notes: tuple[str, ...] = (
            "Intervals include sampling and noise; noise_alone is half the width of that of the noise.",
            f"A row is predicted to have the outcome from {text(given.predicted)} on.",
        )
        if None in numbers:
            notes += (
                "Numbers of rows below the smallest group of the policies are withheld, and so is what they "
                "belong to: state fewer cuts, between which more rows lie.",
            )
        if given.has_chances:
            notes += ("The Brier score takes chances for the middles of their cells.",)
        return Outcome(tables_of(given, numbers, given.distribution.deviation**2), notes, details)


def _between(reached: SecretInts, below: SecretInts) -> SecretInts:
    """Rows in each cell, by how many reach each cut, and how many none."""
    return concatenate([below, reached[:-1] - reached[1:], reached[-1:]])


def _check_number(name: str, schema: Schema) -> None:
    if schema.kind not in ("integer", "decimal"):
        raise UsageError(f"Column {name} is not a number.", "Declare it as integer or decimal.")


VALIDATION: Final = DeclaredAnalysis("validation", ValidationStudy, ValidationParameters)
"""The analysis."""
