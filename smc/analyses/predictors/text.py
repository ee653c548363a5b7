"""A model as text, the same for the same model, and the commitment to it.

The text is canonical JSON without blanks. It is kept in a data set of one column, in pieces, as texts of a
catalog are short.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from smc.analyses.predictors.form import (
    OTHERWISE,
    Forest,
    Leaf,
    Linear,
    Link,
    Node,
    Precision,
    Predictor,
    Split,
    Tree,
    WeightedTerm,
)
from smc.errors import DomainError

PIECE: Final = 180
"""Characters of a piece: what a text column of a catalog holds unless it says more."""

MAX_TEXT: Final = 8 << 20
"""Characters of a model, at most."""

SALT: Final = re.compile(r"[0-9a-f]{64}")
_DOMAIN: Final = b"duetto model v1\0"
_FORM: Final = 1


def text_of(model: Predictor) -> str:
    """The text of a model."""
    document = {
        "form": _FORM,
        "features": model.features,
        "classes": model.classes,
        "link": model.link.value,
        "base": model.base,
        "salt": model.salt,
        "body": _linear(model.body) if isinstance(model.body, Linear) else _forest(model.body),
    }
    written = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    # Blanks are in names alone, where a piece that ends with one would lose it.
    return written.replace(" ", "\\u0020")


def model_of(text: str) -> Predictor:
    """The model of a text.

    Raises:
        DomainError: it is not one, or too long; says what is wrong.
    """
    document = read_json(text, MAX_TEXT)
    try:
        if document["form"] != _FORM:
            raise DomainError(
                f"The model has form {document['form']!r}, and not {_FORM}.", "Import it by this release."
            )
        body = document["body"]
        return Predictor(
            _texts(document["features"]),
            _texts(document["classes"]),
            Link(document["link"]),
            numbers(document["base"]),
            _parse_forest(body) if "trees" in body else _parse_linear(body),
            _salt(document["salt"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise DomainError(
            "The data set holds no model in duetto's form.", "Make it with `duetto model import`."
        ) from None


def pieces(text: str) -> list[str]:
    """The text in pieces for a data set."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def join(parts: Sequence[str]) -> Predictor:
    """The model of the pieces of a text, in their order. Raises as `model_of`."""
    return model_of("".join(parts))


def commitment(model: Predictor) -> str:
    """What a job names the model by: 64 hexadecimal digits, which bind to it and hide it.

    Raises:
        DomainError: the model has no salt, so that whoever guesses it could tell.
    """
    if not model.salt:
        raise DomainError("The model has no salt.", "Make it with `duetto model import`.")
    return hashlib.sha256(_DOMAIN + text_of(model).encode()).hexdigest()


def open_commitment(parts: Sequence[str], wanted: str) -> Predictor:
    """The model of a data set, if it is the one that a job names. Raises as `model_of`.

    Raises:
        DomainError: it is another one.
    """
    found = join(parts)
    if commitment(found) != wanted:
        raise DomainError(
            "The model of this data set is not the one that the job is committed to.",
            "Use the data set that `duetto model import` wrote when it printed the commitment.",
        )
    return found


def read_json(text: str | bytes, most: int) -> Any:
    """A JSON document of a file of somebody else.

    Args:
        text: the document.
        most: of characters or bytes.

    Raises:
        DomainError: it is too long, too deep, no JSON, or has numbers that are none.
    """
    if len(text) > most:
        raise DomainError(f"The model is longer than {most:,} bytes.", "Train a smaller one.")

    def no_number(name: str) -> NoReturn:
        raise DomainError(f"The model holds {name} for a number.", OTHERWISE)

    try:
        return json.loads(text, parse_constant=no_number)
    except RecursionError:
        raise DomainError("The JSON of the model is nested too deeply.", OTHERWISE) from None
    except ValueError:
        raise DomainError("The model is no JSON, or has a number that is too long.", OTHERWISE) from None


def number(value: Any) -> float:
    """A number of a JSON document.

    Raises:
        TypeError: it is none; truth values are not.
        ValueError: it is too large to be one.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        raise ValueError from None


def whole(value: Any) -> int:
    """A whole number of a JSON document.

    Raises:
        TypeError: it is none.
    """
    if type(value) is not int:
        raise TypeError
    return value


def numbers(values: Any) -> tuple[float, ...]:
    """A list of them. Raises as `number`."""
    return tuple(number(value) for value in _list(values))


def _list(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError
    return values


def _texts(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in _list(values)):
        raise TypeError
    return tuple(values)


def _salt(value: Any) -> str:
    if value and not SALT.fullmatch(value):
        raise ValueError
    return str(value)


def _linear(body: Linear) -> Mapping[str, Any]:
    return {
        "terms": [[term.feature, term.square, term.label] for term in body.terms],
        "weights": body.weights,
    }


def _forest(body: Forest) -> Mapping[str, Any]:
    return {
        "precision": body.precision.value,
        "trees": [[_node(node) for node in tree.nodes] for tree in body.trees],
    }


def _node(node: Node) -> Sequence[Any]:
    return [node.values] if isinstance(node, Leaf) else [node.feature, node.threshold, node.left, node.right]


def _parse_linear(body: Mapping[str, Any]) -> Linear:
    return Linear(tuple(map(_parse_term, _list(body["terms"]))), tuple(map(numbers, _list(body["weights"]))))


def _parse_term(entry: Any) -> WeightedTerm:
    feature, square, label = _list(entry)
    if not isinstance(square, bool) or not isinstance(label, str):
        raise TypeError
    return WeightedTerm(whole(feature), square, label)


def _parse_forest(body: Mapping[str, Any]) -> Forest:
    trees = tuple(_parse_tree(_list(nodes)) for nodes in _list(body["trees"]))
    return Forest(trees, Precision(body["precision"]))


def _parse_tree(entries: Sequence[Any]) -> Tree:
    nodes = [*map(_parse_node, entries)]

    def at(place: int) -> Node:
        if not 0 <= place < len(nodes):
            raise LookupError
        return nodes[place]

    found = Tree.grow(0, at)
    if len(found.nodes) != len(nodes):
        raise ValueError
    return found


def _parse_node(entry: Any) -> Node:
    if len(_list(entry)) == 1:
        return Leaf(numbers(entry[0]))
    feature, threshold, left, right = entry
    return Split(whole(feature), number(threshold), whole(left), whole(right))
