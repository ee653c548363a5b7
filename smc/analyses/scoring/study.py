"""Scoring: what a model of one side says of each row of the other, told to the side of the rows alone.

    side of the rows (features)                side of the model
      == secret scores, by the kind of the model ==
      == the class, the bands, or nothing more ==
      a label, band or score of each row       learns how many rows there were

The side of the model learns nothing of a row. The other side learns the model's answers about its rows, and
with rows of its choice what these tell of the model, which is why policies bound rows and runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.predictors.features import held_rows, outside
from smc.analyses.predictors.layout import Whole, Word
from smc.analyses.predictors.linear_scores import LinearShape, linear_scores
from smc.analyses.predictors.text import open_commitment
from smc.analyses.predictors.tree_scores import HeldTrees, TreeShape, plain_tree_scores, tree_scores
from smc.analyses.records.numbers import text
from smc.analyses.scoring.parameters import BAND, LABEL, SCORE, TREES, ScoringParameters
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.facts import Answers, Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import chunks
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import argmin_one_hot, msb
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

MODEL: Final = "model"
"""The column of a model."""

_MODELS: Final = 1
"""What the side of the model announces."""

_PIECE: Final = 1 << 20
"""Comparisons that are made at once, for memory."""

Held = tuple[Whole, Whole] | HeldTrees
"""A model as whole numbers: weights and constants, or trees."""


@dataclass(frozen=True, slots=True)
class ScoringStudy(Study):
    """A job."""

    parameters: ScoringParameters
    gives = "answers"
    pace = Pace(0.07, byte=8e-9)
    least_rows = 1

    @property
    @override
    def route(self) -> str:
        if isinstance(self.parameters.shape, LinearShape):
            return "secret products of rows and weights; comparisons by oblivious transfer"
        return "secret choice of features, comparisons and walks by oblivious transfer"

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        given = self.parameters
        return {given.model: (MODEL,), given.rows: tuple(feature.name for feature in given.features)}

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        Study.check_side(self, schemas, role)
        if role is self.parameters.model:
            if schemas[MODEL].kind != "text":
                raise UsageError(f"Column {MODEL} is not a text.", 'Declare type = "text".')
            return
        for feature in self.parameters.features:
            feature.check(schemas[feature.name])

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        if recipients != {self.parameters.rows}:
            raise UsageError(
                "The answers of a scoring are for the side that has the rows, and for nobody else.",
                f'Write recipients = ["{self.parameters.rows.value}"]; to learn how well a model does on '
                "the other side's rows, ask for a validation.",
            )

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """What is not known is as the job takes it for."""
        assumed = {
            feature.name: Schema("category", categories=feature.labels)
            if feature.labels
            else Schema("decimal", feature.digits)
            for feature in self.parameters.features
        }
        return {**assumed, MODEL: Schema("text"), **schemas}

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        given = self.parameters
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(given.maximum_rows),
            asked=Asked(answers=(Answers(given.model, given.maximum_rows),)),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        given = self.parameters
        of_row = {
            LABEL: "the class that the model gives it",
            BAND: "between which of the cuts its score lies",
            SCORE: "its score",
        }[given.output]
        rows = (
            f"of each of its own rows {of_row}",
            f"by rows of its choice, up to {given.maximum_rows} in a run: {self._describe_probing()}",
        )
        public: tuple[str, ...] = (
            "how many rows there are",
            "the features with their ranges, the kind and the classes of the model, its commitment, and the "
            "bound on its scores",
        )
        if given.kind == TREES:
            public += ("how many trees the model has at most, and of which depth",)
        sides = {given.rows: rows if given.rows in recipients else (), given.model: ()}
        return Leakage(sides[Role.ALICE], sides[Role.BOB], public)

    def _describe_probing(self) -> str:
        """What chosen rows find of a model."""
        given, shape = self.parameters, self.parameters.shape
        if isinstance(shape, TreeShape):
            return (
                "each threshold on the way of a row, after as many answers as its feature's range has bits; "
                "and so in time all trees" + (", with what their leaves add" if given.output == SCORE else "")
            )
        unknowns = len(shape.pieces)
        if given.output == SCORE:
            return f"all weights and the constant, by solving for them after {unknowns + 1} scores"
        return (
            "where the border between classes or bands lies, a bit of a point of it for each answer; "
            f"{unknowns} such points are the weights, up to a factor"
        )

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        given = self.parameters
        gets = (f"a {given.output} of each of its own rows",)
        both = {given.rows: gets if given.rows in recipients else (), given.model: ()}
        does = f"score {given.rows.name.title()}'s rows by {given.model.name.title()}'s model"
        hides = "the rows, and of the model what is not told by these answers"
        return Brief(does, both[Role.ALICE], both[Role.BOB], hides)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        del limits, peer
        if role is self.parameters.model:
            held_model(self.parameters, data[MODEL])
            return Preview()
        self._rows(data)
        cut = outside(self.parameters.features, data)
        if not cut:
            return Preview()
        return Preview(
            (f"{cut} rows have a value outside the ranges of the job, and count as at their ends.",)
        )

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        given, role = self.parameters, session.role
        mine: Held | Whole
        if role is given.model:
            mine = held_model(given, data[MODEL])
            (peer,) = exchange_counts(session, [_MODELS], most=[given.maximum_rows])
            count = int(peer)
        else:
            mine = self._rows(data)
            count = len(mine)
            (models,) = exchange_counts(session, [count], most=[_MODELS])
            if models != _MODELS:
                raise ProtocolViolation("The peer announced that it has no model.")
        if not count:
            raise DomainError("The side with rows has none.", "Use a data set with rows.")
        if given.output == SCORE:
            scores = self._scores(session, mine, count)
            shift = 64 - self._width
            widened = SecretInts.from_shares(
                session, scores[:, 0] << np.uint64(shift), Bounds(-(1 << 62), 1 << 62)
            )
            opened = release.open(widened, recipients, Rows())
            answers = None if opened is None else opened >> shift
        else:
            bits = SecretBits(session, self._decide(session, mine, count))
            shown = release.open(bits, recipients, Rows())
            answers = None if shown is None else self._read(shown)
        return self._outcome(answers)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        given = self.parameters
        sides = dict(zip(Role, (alice, bob), strict=True))
        model, shape = held_model(given, sides[given.model][MODEL]), given.shape
        held = held_rows(given.features, sides[given.rows])
        if isinstance(model, HeldTrees) and isinstance(shape, TreeShape):
            scores = plain_tree_scores(shape, model, held)
        elif isinstance(shape, LinearShape) and isinstance(model, tuple):
            scores = shape.rows(held) @ model[0] + model[1]
        if given.output == SCORE:
            answers: NDArray[Any] = scores[:, 0]
        elif given.output == BAND:
            answers = np.searchsorted(given.held_cuts, scores[:, 0], side="right")
        elif shape.columns > 1:
            answers = scores.argmax(axis=1)
        else:
            answers = (scores[:, 0] > 0).astype(np.int64)
        first, second = (self._outcome(answers if role in recipients else None) for role in Role)
        return first, second

    def _rows(self, data: Data) -> Whole:
        """Own rows, as the kind of model takes them.

        Raises:
            DomainError: columns of different lengths, or too many rows.
        """
        given = self.parameters
        held = held_rows(given.features, data)
        if len(held) > given.maximum_rows:
            raise DomainError(
                "This side has more rows than parameters.maximum_rows allows.",
                "Raise maximum_rows in the job, or use fewer rows.",
            )
        return given.shape.rows(held) if isinstance(given.shape, LinearShape) else held

    @property
    def _width(self) -> int:
        """Bits of the words of scores."""
        shape = self.parameters.shape
        return shape.word_bits if isinstance(shape, TreeShape) else shape.width(shape.scale)

    def _parts(self, session: Session, mine: Held | Whole, count: int) -> Any:
        """Rows and the shares of their scores, part after part."""
        given, shape = self.parameters, self.parameters.shape
        if isinstance(shape, TreeShape) and not isinstance(mine, tuple):
            yield from tree_scores(session, shape, given.model, mine, count)
        elif isinstance(shape, LinearShape) and not isinstance(mine, HeldTrees):
            scores = linear_scores(session, shape, given.model, mine, count)
            for part in chunks(count, max(1, _PIECE // max(shape.columns, len(given.cuts)))):
                session.report("rows", part.start, count)
                yield part, scores[part]

    def _scores(self, session: Session, mine: Held | Whole, count: int) -> Word:
        parts = [scores for _, scores in self._parts(session, mine, count)]
        found: Word = np.concatenate(parts)
        return found

    def _decide(self, session: Session, mine: Held | Whole, count: int) -> NDArray[np.uint8]:
        """Local shares of what is told of each row: a bit, bits of cuts, or bits of classes; (n, bits)."""
        given, shape = self.parameters, self.parameters.shape
        if isinstance(shape, TreeShape) and shape.votes:
            return (self._scores(session, mine, count) & np.uint64(1)).astype(np.uint8)
        reach = shape.reach(shape.scale)
        found = []
        for _, scores in self._parts(session, mine, count):
            if shape.columns > 1:
                differences = Bounds(-2 * reach, 2 * reach)
                found.append(argmin_one_hot.one_hot(session, np.negative(scores), differences))
                continue
            # The second class is that of positive scores.
            cuts = np.array([1] if given.output == LABEL else given.held_cuts, dtype=np.int64)
            mine_to_take = cuts.astype(np.uint64) * np.uint64(session.role is given.model)
            bits = msb.nonnegative(
                session, (scores - mine_to_take).reshape(-1), Bounds(-2 * reach - 1, 2 * reach)
            )
            found.append(bits.reshape(len(scores), -1))
        return np.concatenate(found)

    def _read(self, shown: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The place of each row's label or band."""
        if self.parameters.output == LABEL and shown.shape[1] > 1:
            found: NDArray[np.int64] = shown.argmax(axis=1).astype(np.int64)
            return found
        counted: NDArray[np.int64] = shown.sum(axis=1).astype(np.int64)
        return counted

    def _outcome(self, answers: NDArray[np.int64] | None) -> Outcome:
        given = self.parameters
        details = {
            "route": self.route,
            "engine": "oblivious",
            "commitment": given.commitment,
            "model_owner": given.model.value,
        }
        if answers is None:
            return Outcome.withhold(self.gives, details)
        columns: dict[str, list[Any]] = {"row": list(range(1, len(answers) + 1))}
        if given.output == SCORE:
            return Outcome((Table("scores", columns | self._numbers(answers)),), (), details)
        names = [*given.classes] if given.output == LABEL else self._bands()
        told = [names[answer] for answer in answers.tolist()]
        counts = Counter(told)
        by_answer: dict[str, list[Any]] = {given.output: names, "rows": [counts[name] for name in names]}
        return Outcome(
            (Table(f"by {given.output}", by_answer), Table("rows", columns | {given.output: told})),
            (),
            details,
        )

    def _bands(self) -> list[str]:
        cuts = [text(cut) for cut in self.parameters.cuts]
        inner = [f"{low} to {high}" for low, high in pairwise(cuts)]
        return [f"below {cuts[0]}", *inner, f"from {cuts[-1]}"]

    def _numbers(self, answers: NDArray[np.int64]) -> dict[str, list[Any]]:
        """Scores, and the chance of the second class where there is one."""
        given = self.parameters
        scores = np.ldexp(answers.astype(np.float64), -given.shape.scale)
        if not given.classes:
            return {"score": scores.tolist()}
        if given.shape.is_chance:
            return {"chance": scores.tolist()}
        return {"score": scores.tolist(), "chance": (1 / (1 + np.exp(-scores))).tolist()}


def _shapes(parameters: ScoringParameters, column: Column) -> Held:
    """A model of which nothing but its shape is known."""
    del column
    shape = parameters.shape
    if isinstance(shape, LinearShape):
        sizes: tuple[Any, ...] = ((len(shape.pieces), shape.columns), shape.columns)
        weights, constants = (shape_array(size, np.int64) for size in sizes)
        return weights, constants
    return shape.shapes


@of_shape(_shapes)
def held_model(parameters: ScoringParameters, column: Column) -> Held:
    """The model of a data set as whole numbers.

    Raises:
        DomainError: it is none, does not fit the job, or is not the one that the job is committed to.
    """
    model, shape = open_commitment(column.texts, parameters.commitment), parameters.shape
    return shape.weights(model) if isinstance(shape, LinearShape) else shape.to_held(model)


SCORING: Final = DeclaredAnalysis("scoring", ScoringStudy, ScoringParameters)
"""The analysis."""
