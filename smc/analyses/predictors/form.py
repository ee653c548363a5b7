"""The one form of a predictive model, whatever program made it, checked when it is made.

A model has outputs: sums of weighted terms, or of the leaves of decision trees. One output is a number, or
the log-odds or the chance of the second of two classes; several are as many classes' scores or chances.

All decisions read `value <= threshold`, true to the left; where a program says `<`, the importer takes the
number before the threshold in the precision of the program. Nothing is left open: no missing values, no
categories by set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from itertools import chain
from math import isfinite
from typing import Final, Self

from smc.errors import DomainError

MAX_FEATURES: Final = 256
MAX_CLASSES: Final = 16
MAX_TREES: Final = 1_000
MAX_DEPTH: Final = 12
MAX_SPLITS: Final = 4_096
"""Of a tree, and of all trees of a model once each is complete to the depth of the deepest."""

MAX_TERMS: Final = 1_024
MAX_VALUE: Final = 1 << 40
"""The largest weight, leaf or constant in absolute value."""

MAX_NAME: Final = 200
"""Characters of the name of a feature or class."""

OTHERWISE: Final = "Correct the file, or export the model again."


@unique
class Link(Enum):
    """What outputs are."""

    IDENTITY = "identity"
    """Numbers, or chances of classes."""
    LOGISTIC = "logistic"
    """The log-odds of the second of two classes."""
    SOFTMAX = "softmax"
    """Logarithms of chances, up to a constant."""


@unique
class Precision(Enum):
    """What a value is rounded to before it is held against a threshold."""

    SINGLE = "single"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """What a weight is for: a feature, its square, or whether it has a label.

    Attributes:
        feature: its place.
        square: whether it is squared.
        label: of a category; empty for a number.
    """

    feature: int
    square: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class Linear:
    """Weighted sums.

    Attributes:
        terms: what the weights are for.
        weights: for each output one of each term.
    """

    terms: tuple[WeightedTerm, ...]
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: what it adds to each output."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A decision, with the numbers of the nodes that follow.

    Attributes:
        feature: whose value it looks at.
        threshold: up to it the path goes left.
        left: the node there.
        right: the other.
    """

    feature: int
    threshold: float
    left: int
    right: int


Node = Leaf | Split


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision tree: its nodes, the root first, each before those that follow it."""

    nodes: tuple[Node, ...]

    @classmethod
    def grow(cls, root: int, node: Callable[[int], Node]) -> Self:
        """From nodes with any numbers.

        Args:
            root: the number of the first.
            node: the node of a number; raises LookupError if there is none.

        Raises:
            DomainError: a node is missing, or reached twice, as in a circle; or the tree is too large.
        """
        found: list[Node] = []
        waiting, seen = [(root, 0, -1, False)], {root}
        while waiting:
            number, depth, parent, right = waiting.pop()
            try:
                each = node(number)
            except LookupError:
                raise DomainError(
                    f"A tree has no node {number}, which another leads to.", OTHERWISE
                ) from None
            place = len(found)
            if parent >= 0:
                before = found[parent]
                if isinstance(before, Split):
                    left = before.left if right else place
                    found[parent] = Split(
                        before.feature, before.threshold, left, place if right else before.right
                    )
            found.append(each)
            if isinstance(each, Leaf):
                continue
            if depth == MAX_DEPTH or len(found) > 2 * MAX_SPLITS:
                raise DomainError(
                    f"A tree is deeper than {MAX_DEPTH} decisions or has more than {MAX_SPLITS}.",
                    "Train with less depth or fewer leaves.",
                )
            for child, is_right in ((each.right, True), (each.left, False)):
                if child in seen:
                    raise DomainError(f"Two ways lead to node {child} of a tree, or a circle.", OTHERWISE)
                seen.add(child)
                waiting.append((child, depth + 1, place, is_right))
        return cls(tuple(found))

    @property
    def leaves(self) -> Iterable[Leaf]:
        """In the order of the nodes."""
        return (node for node in self.nodes if isinstance(node, Leaf))

    @property
    def splits(self) -> Iterable[Split]:
        """In the order of the nodes."""
        return (node for node in self.nodes if isinstance(node, Split))

    @property
    def depth(self) -> int:
        """The most decisions on a path."""
        depths = [0] * len(self.nodes)
        for place, node in enumerate(self.nodes):
            if isinstance(node, Split):
                depths[node.left] = depths[node.right] = depths[place] + 1
        return max(depths)


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaves are added up.

    Attributes:
        trees: at least one.
        precision: of values before they are compared.
    """

    trees: tuple[Tree, ...]
    precision: Precision

    @property
    def depth(self) -> int:
        """Of the deepest tree; at least 1."""
        return max(1, *(tree.depth for tree in self.trees))


@dataclass(frozen=True, slots=True)
class Predictor:
    """A model.

    Attributes:
        features: the names of what it looks at.
        classes: what it tells apart; none where it predicts a number.
        link: what outputs are.
        base: what each output begins with.
        body: what is added to that.
        salt: 32 random bytes in hexadecimal, so that a commitment to the model tells nobody a guess; empty
            before it has one.

    Raises:
        DomainError: something does not fit, is too large, or is not a number; the message says what.
    """

    features: tuple[str, ...]
    classes: tuple[str, ...]
    link: Link
    base: tuple[float, ...]
    body: Linear | Forest
    salt: str = ""

    def __post_init__(self) -> None:
        _check_names("features", self.features, 1, MAX_FEATURES)
        _check_names("classes", self.classes, 0, MAX_CLASSES)
        outputs, classes = len(self.base), len(self.classes)
        fits = {
            Link.LOGISTIC: outputs == 1 and classes == 2,
            Link.SOFTMAX: outputs == classes >= 2,
            Link.IDENTITY: (outputs == 1 and classes in (0, 2)) or (outputs == classes >= 2),
        }
        if not fits[self.link]:
            raise DomainError(
                f"A {self.link.value} model of {classes} classes has {outputs} outputs.", OTHERWISE
            )
        _check_values("constants", self.base)
        if isinstance(self.body, Linear):
            self._check_linear(self.body)
        else:
            self._check_forest(self.body)

    def _check_linear(self, body: Linear) -> None:
        if not 1 <= len(body.terms) <= MAX_TERMS or len({*body.terms}) < len(body.terms):
            raise DomainError(f"A model has not 1 to {MAX_TERMS} terms, or one twice.", OTHERWISE)
        if any(not 0 <= term.feature < len(self.features) for term in body.terms):
            raise DomainError("A weight is for a feature that there is not.", OTHERWISE)
        if any(term.square and term.label for term in body.terms):
            raise DomainError("A label of a category is squared.", OTHERWISE)
        labelled = {term.feature for term in body.terms if term.label}
        if any(term.feature in labelled and not term.label for term in body.terms):
            raise DomainError("A feature is a number and a category.", OTHERWISE)
        if len(body.weights) != len(self.base) or any(len(row) != len(body.terms) for row in body.weights):
            raise DomainError("There is not one weight for each term and output.", OTHERWISE)
        _check_values("weights", chain.from_iterable(body.weights))

    def _check_forest(self, body: Forest) -> None:
        if not 1 <= len(body.trees) <= MAX_TREES:
            raise DomainError(f"A model has not 1 to {MAX_TREES} trees.", OTHERWISE)
        for tree in body.trees:
            if any(not 0 <= split.feature < len(self.features) for split in tree.splits):
                raise DomainError("A decision is about a feature that there is not.", OTHERWISE)
            if not all(isfinite(split.threshold) for split in tree.splits):
                raise DomainError("A threshold is infinite, or no number.", OTHERWISE)
            if any(len(leaf.values) != len(self.base) for leaf in tree.leaves):
                raise DomainError("A leaf has not one value for each output.", OTHERWISE)
            _check_values("leaves", chain.from_iterable(leaf.values for leaf in tree.leaves))


def _check_names(what: str, names: Sequence[str], least: int, most: int) -> None:
    if not least <= len(names) <= most or (len(names) == 1 and what == "classes"):
        raise DomainError(f"A model has not {least} to {most} {what}, or one class alone.", OTHERWISE)
    if len({*names}) < len(names):
        raise DomainError(f"Two {what} have one name.", OTHERWISE)
    if any(
        not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip() for name in names
    ):
        raise DomainError(
            f"A name among the {what} is empty, longer than {MAX_NAME} characters, or not printable.",
            "Rename it.",
        )


def _check_values(what: str, values: Iterable[float]) -> None:
    if not all(isfinite(value) and abs(value) <= MAX_VALUE for value in values):
        raise DomainError(
            f"One of the {what} is above 2**40 in absolute value, infinite, or no number.", OTHERWISE
        )
