"""Secret scores of decision trees: which feature a node looks at and its threshold are the model's secret.

    side of the model (features of nodes, thresholds, leaves)    side of rows (x)
      == a matrix of one 1 for each node, times rows: x of the node's feature, shared ==
      == comparisons with thresholds, whose sides are the signs ==
      == a walk to a leaf of each tree, whose words are added up ==

Trees are filled up to the stated depth, and trees of zeros to the stated number, so that both sides know no
more than that. Thresholds are whole steps of the columns: the most steps whose value, rounded as the program
that trained the model rounds, is not above the threshold. So every decision is that of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from smc.analyses.predictors.features import ScoredFeature
from smc.analyses.predictors.form import Forest, Leaf, Link, Precision, Predictor, Tree
from smc.analyses.predictors.layout import ERROR_BITS, SLACK, ScoreShape, Whole, Word, combine, too_large
from smc.errors import DomainError
from smc.forms import Role
from smc.numeric.shapes import shape_array
from smc.pieces import chunks
from smc.protocols.session import Session
from smc.secret.comparison import msb
from smc.secret.lattice.matrices import HeldMatrix, MatrixLayout, PeerMatrix, layout_of
from smc.secret.products import tree_walks, words
from smc.secret.products.tree_walks import MAX_ENTRIES
from smc.secret.sharing.bounds import Bounds, Operand

_PIECE: Final = 1 << 20
"""Comparisons that are made at once, for memory."""


@dataclass(frozen=True, slots=True)
class HeldTrees:
    """Trees as whole numbers, complete.

    Attributes:
        features: of all nodes, tree after tree and level after level, shape (nodes,).
        thresholds: from which steps on a path goes right, likewise.
        leaves: shape (trees, 2**depth, words of a leaf).
        base: what each column of scores begins with.
    """

    features: Whole
    thresholds: Whole
    leaves: Whole
    base: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeShape(ScoreShape):
    """What is public of trees.

    Attributes:
        trees: how many, at most.
        depth: of the deepest.
        turns: whether each tree is about one class alone, in turn.
    """

    trees: int
    depth: int
    turns: bool = False

    @property
    def votes(self) -> bool:
        """Whether a leaf is a label: of a single tree of which nothing else is asked."""
        return self.labels and self.trees == 1

    @property
    def scale(self) -> int:
        """Fractional bits of leaves."""
        return 0 if self.votes else ERROR_BITS - 1 + (self.trees + 1).bit_length()

    @property
    def word_bits(self) -> int:
        """Bits of the words of leaves."""
        return 1 if self.votes else self.width(self.scale)

    @property
    def size(self) -> int:
        """Words of a leaf."""
        return 1 if self.turns and not self.votes else self.columns

    @property
    def inner(self) -> int:
        """Nodes of a tree."""
        return (1 << self.depth) - 1

    @property
    def shapes(self) -> HeldTrees:
        """Trees of which nothing but their shape is known."""
        nodes = self.trees * self.inner
        sizes = (nodes, nodes, (self.trees, 1 << self.depth, self.size), self.columns)
        return HeldTrees(*(shape_array(size, np.int64) for size in sizes))

    @property
    def decisions(self) -> Bounds:
        """Steps of a feature less a threshold."""
        span = max(feature.span for feature in self.features)
        return Bounds(-span - 1, span)

    def to_held(self, model: Predictor) -> HeldTrees:
        """The trees as whole numbers.

        Raises:
            DomainError: the model does not fit the job, or a score could be too large.
        """
        body, places = model.body, self.places(model)
        if not isinstance(body, Forest):
            raise DomainError("The model is linear.", 'Write kind = "linear" in the job.')
        if len(body.trees) > self.trees or body.depth > self.depth:
            raise DomainError(
                f"The model has {len(body.trees)} trees of depth {body.depth}, and the job says {self.trees} "
                f"and {self.depth}.",
                "Write at least as many into the job.",
            )
        features, thresholds = (np.zeros((self.trees, self.inner), dtype=np.int64) for _ in range(2))
        leaves = np.zeros((self.trees, 1 << self.depth, self.size), dtype=np.int64)
        factors, added = self.combination(len(model.base))
        base = [each + added for each in combine(factors, model.base)]
        least, most = [*base], [*base]
        for number, tree in enumerate(body.trees):
            worth = {leaf: self._words(model, leaf, factors, number) for leaf in tree.leaves}
            self._fill(
                tree, places, body.precision, (features[number], thresholds[number], leaves[number]), worth
            )
            scores = [combine(factors, leaf.values) for leaf in tree.leaves]
            least = [old + min(each) for old, each in zip(least, zip(*scores, strict=True), strict=True)]
            most = [old + max(each) for old, each in zip(most, zip(*scores, strict=True), strict=True)]
        if self.votes:
            base = [Fraction(0)] * self.columns
        elif max(*most, *(-each for each in least)) > self.largest + SLACK:
            raise too_large(self.largest)
        rounded = [round(each * (1 << self.scale)) for each in base]
        return HeldTrees(features.reshape(-1), thresholds.reshape(-1), leaves, np.array(rounded))

    def _words(self, model: Predictor, leaf: Leaf, factors: list[list[int]], number: int) -> list[int]:
        """What a leaf of a tree has."""
        if self.votes:
            label = label_of(model, [a + b for a, b in zip(leaf.values, model.base, strict=True)])
            return [label] if self.columns == 1 else [int(label == each) for each in range(self.columns)]
        values = combine(factors, leaf.values)
        if self.turns:
            own = number % self.columns
            if any(value for place, value in enumerate(values) if place != own):
                raise DomainError(
                    "A tree of the model adds to several classes.", "Write turns = false in the job."
                )
            values = [values[own]]
        return [round(value * (1 << self.scale)) for value in values]

    def _fill(
        self,
        tree: Tree,
        places: list[int],
        precision: Precision,
        rows: tuple[Whole, Whole, Whole],
        worth: dict[Leaf, list[int]],
    ) -> None:
        features, thresholds, leaves = rows
        waiting = [(0, 0)]
        while waiting:
            number, place = waiting.pop()
            node = tree.nodes[number]
            if place >= self.inner:
                leaves[place - self.inner] = worth[node] if isinstance(node, Leaf) else 0
                continue
            if isinstance(node, Leaf):
                waiting += [(number, 2 * place + 1), (number, 2 * place + 2)]
                continue
            feature = places[node.feature]
            features[place] = feature
            thresholds[place] = steps_above(self.features[feature], node.threshold, precision)
            waiting += [(node.left, 2 * place + 1), (node.right, 2 * place + 2)]


def label_of(model: Predictor, outputs: list[float]) -> int:
    """The class that outputs stand for, the first of equals."""
    if len(outputs) > 1:
        return outputs.index(max(outputs))
    return int(outputs[0] > (0.5 if model.link is Link.IDENTITY else 0))


def steps_above(feature: ScoredFeature, threshold: float, precision: Precision) -> int:
    """From how many steps on a value is above a threshold; 0 to span + 1."""
    low, high = 0, feature.span + 1
    while low < high:
        middle = (low + high) // 2
        value = (feature.least + middle) / feature.unit
        if precision is Precision.SINGLE:
            value = float(np.float32(value))
        low, high = (middle + 1, high) if value <= threshold else (low, middle)
    return low


def tree_scores(
    session: Session, shape: TreeShape, owner: Role, mine: Whole | HeldTrees, count: int
) -> Iterator[tuple[slice, Word]]:
    """Shares modulo 2**word_bits of the scores of some rows after the other, each of shape (k, columns).

    Args:
        session: this side of the run.
        shape: public.
        owner: of the model.
        mine: at the owner its trees, at the other side its held rows.
        count: rows.
    """
    nodes, bounds = shape.trees * shape.inner, shape.decisions
    chooser = _Features(session, shape, owner, mine, count)
    entries = shape.trees * shape.size << shape.depth
    for part in chunks(count, max(1, min(_PIECE // nodes, MAX_ENTRIES // entries))):
        session.report("rows", part.start, count)
        steps = chooser.of(part)
        if isinstance(mine, HeldTrees):
            steps = steps - mine.thresholds.astype(np.uint64)
        bits = msb.nonnegative(session, steps.reshape(-1), bounds)
        height = part.stop - part.start
        decisions = bits.reshape(height * shape.trees, shape.inner)
        leaves = mine.leaves.astype(np.uint64) if isinstance(mine, HeldTrees) else None
        reached = tree_walks.walk(session, decisions, owner, leaves, shape.size, shape.word_bits)
        added = reached.reshape(height, -1, shape.columns).sum(axis=1, dtype=np.uint64)
        if isinstance(mine, HeldTrees):
            added = added + mine.base.astype(np.uint64)
        yield part, added


class _Features:
    """For each row and node the steps of the feature that the node looks at, shared.

    Args:
        session: this side of the run.
        shape: public.
        owner: of the model.
        mine: as of `tree_scores`.
        count: rows of all calls.
    """

    def __init__(
        self, session: Session, shape: TreeShape, owner: Role, mine: Whole | HeldTrees, count: int
    ) -> None:
        self._session, self._shape, self._owner = session, shape, owner
        self._nodes = shape.trees * shape.inner
        self._rows = None if isinstance(mine, HeldTrees) else mine
        self._ones: Word | None = None
        self._held: HeldMatrix | None = None
        self._peer: PeerMatrix | None = None
        layout = self._layout(count)
        if isinstance(mine, HeldTrees):
            ones = np.arange(len(shape.features))[:, None] == mine.features
            self._ones = ones.astype(np.uint64)
            if layout is not None:
                self._held = HeldMatrix(session, layout, self._ones)
        elif layout is not None:
            self._peer = PeerMatrix(session, layout)

    def of(self, part: slice) -> Word:
        """Of some rows, shape (k, nodes): shares modulo a power of two that the bounds of decisions fit."""
        height, count = part.stop - part.start, len(self._shape.features)
        if self._held is not None:
            return self._held.times(height)
        if self._peer is not None and self._rows is not None:
            return self._peer.times(self._rows[part])
        if self._rows is not None:
            rows = self._rows[part].astype(np.uint64)
            ones = np.zeros((count, self._nodes), dtype=np.uint64, like=rows)
        else:
            ones = np.zeros((count, self._nodes), dtype=np.uint64) if self._ones is None else self._ones
            rows = np.zeros((height, count), dtype=np.uint64, like=ones)
        return words.matmul(self._session, rows, ones, *self._kinds())

    def _kinds(self) -> tuple[Operand, Operand]:
        rows = Operand(Bounds(0, self._shape.decisions.upper), self._owner.other)
        return rows, Operand(Bounds(0, 1), self._owner)

    def _layout(self, count: int) -> MatrixLayout | None:
        """How the product is encrypted; None where transfers send less."""
        bounds, features = self._shape.decisions, len(self._shape.features)
        layout = layout_of(count, features, self._nodes, bounds.upper, bounds.sign_bits + 1)
        if layout is None:
            return None
        other = words.cost_matmul(count, features, self._nodes, *self._kinds())
        sent = layout.query_bytes + layout.response_bytes(count)
        return layout if sent < other.alice_bytes + other.bob_bytes else None


def plain_tree_scores(shape: TreeShape, trees: HeldTrees, held: Whole) -> Whole:
    """The same in the clear, shape (n, columns)."""
    total = np.zeros((len(held), shape.columns), dtype=np.int64) + trees.base
    features, thresholds = (
        each.reshape(shape.trees, shape.inner) for each in (trees.features, trees.thresholds)
    )
    rows = np.arange(len(held))
    for number in range(shape.trees):
        place = np.zeros(len(held), dtype=np.int64)
        for _ in range(shape.depth):
            right = held[rows, features[number, place]] >= thresholds[number, place]
            place = 2 * place + 1 + right
        found = trees.leaves[number, place - shape.inner]
        if shape.size < shape.columns:
            total[:, number % shape.columns] += found[:, 0]
        else:
            total += found
    return total
