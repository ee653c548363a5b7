"""What is promised of a release, as a value: one guarantee says what, of which columns and to whom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, get_args

from typing_extensions import override

from anonymizer.errors import FileError, SpecError
from commons.errors import near

Unit = Literal["cell", "record", "person", "table"]
Neighbours = Literal["replace", "add-remove"]
Parameter = float | int | str

MIN_EPSILON: Final = 1e-6
MAX_EPSILON: Final = 100.0
"""Beyond this a probability may grow by more than 10**43: nothing is protected."""
MIN_DELTA: Final = 1e-30
MAX_DELTA: Final = 0.1

OF_CLASSES: Final = frozenset(
    {
        "k-anonymity",
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-cl-diversity",
        "t-closeness",
        "delta-disclosure",
        "delta-presence",
    }
)
"""Guarantees about the classes of rows alike in some columns; they can be measured again on the release."""
ABOUT_CLASSES: Final = OF_CLASSES | {"k-groups", "k-map"}
"""With those that a column says which is not released."""
KINDS: Final = ABOUT_CLASSES | {
    "anatomy", "local-dp", "dp", "idp", "small-sum-privacy", "utility", "search-attack",
}  # fmt: skip
"""`search-attack` is about documents: with so many of their words (`keywords`), all combinations, an `engine`
named no document about the person among its first `results`."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One promise.

    Attributes:
        kind: one of `KINDS`.
        parameters: by name, such as {"k": 5} or {"epsilon": 1.0, "delta": 1e-6}.
        unit: what it is of: a cell of each column, a record (one row of a person), a person (all its
            rows), or the whole table.
        columns: that it speaks of; of diversity and closeness the last is the sensitive one.
        neighbours: of differential privacy, whether a record is replaced or added and removed; else None.
        condition: a sentence, where more must be true than can be seen; or "".
        method: the word of the step that gives it, or "".
        known: of diversity and closeness, other columns that an attacker may know: it holds as well among the
            rows of a class that agree in them.
        over: of guarantees of records the columns of the original in which neighbours differ: those that the
            cells were made of. Set when the claim is granted.

    Raises:
        SpecError: the kind is unknown, or a parameter is out of range.
    """

    kind: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    unit: Unit = "table"
    columns: tuple[str, ...] = ()
    neighbours: Neighbours | None = None
    condition: str = ""
    method: str = ""
    known: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SpecError(f"{self.kind!r} is not a valid guarantee.", near(self.kind, sorted(KINDS)))
        for name, value in self.parameters.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise SpecError(f"{name} of {self.kind} is {value}.", "Choose a finite number.")

    def number(self, name: str) -> float:
        """A parameter that is a number; 0 if there is none of the name."""
        return float(self.parameters.get(name, 0.0))

    @property
    def sensitive(self) -> str | None:
        """The sensitive column of a promise about classes; None for k-anonymity and other kinds."""
        return self.columns[-1] if self.kind in ABOUT_CLASSES - {"k-anonymity"} else None

    @override
    def __str__(self) -> str:
        """One sentence for people."""
        numbers = ", ".join(
            f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.parameters.items()
        )
        where = f" in {', '.join(self.columns)}" if self.columns else ""
        unit = "" if self.unit == "table" else f" of one {self.unit}"
        who = f" (by {self.method})" if self.method else ""
        return f"{self.kind}{unit}{where}: {numbers}{who}.{' ' + self.condition if self.condition else ''}"

    def to_document(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return {
            "kind": self.kind,
            "parameters": dict(self.parameters),
            "unit": self.unit,
            "columns": list(self.columns),
            "neighbours": self.neighbours,
            "condition": self.condition,
            "method": self.method,
            "known": list(self.known),
            "over": list(self.over),
        }

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read what `to_document` has written.

        Raises:
            FileError: a key is unknown or missing, or a value is of the wrong type.
        """
        if isinstance(document, dict):
            document = {"known": [], "over": [], **document}
        strict(document, _TYPES, "guarantee")
        parameters = document["parameters"]
        names = {key: tuple(document[key]) for key in ("columns", "known", "over")}
        plain = all(isinstance(v, int | float | str) and not isinstance(v, bool) for v in parameters.values())
        if not plain or not all(isinstance(name, str) for listed in names.values() for name in listed):
            raise FileError("A guarantee of the manifest has an entry of the wrong type.", _MADE)
        for key, known in (("unit", get_args(Unit)), ("neighbours", (*get_args(Neighbours), None))):
            if document[key] not in known:
                raise FileError(f"A guarantee of the manifest has the {key} {document[key]!r}.", _MADE)
        try:
            return cls(**{**document, **names})
        except SpecError as problem:
            raise FileError(f"The manifest is wrong: {problem.what}", problem.hint) from None


_MADE: Final = "Take the manifest as the program wrote it."
_TYPES: Final[Mapping[str, Any]] = {
    "kind": str,
    "parameters": dict,
    "unit": str,
    "columns": list,
    "neighbours": str | None,
    "condition": str,
    "method": str,
    "known": list,
    "over": list,
}


def strict(document: Any, types: Mapping[str, Any], place: str) -> None:
    """Check a parsed JSON object.

    Args:
        document: anything.
        types: of each key the type of its value; all are needed.
        place: how errors call it.

    Raises:
        FileError: it is not an object, a key is unknown or missing, or a value is of another type.
    """
    if not isinstance(document, dict):
        raise FileError(f"A {place} of the manifest is not an object.", _MADE)
    for key in document:
        if key not in types:
            raise FileError(f"The {place} has an unknown key {key!r}.", near(str(key), tuple(types)))
    for key, kind in types.items():
        if key not in document:
            raise FileError(f"The {place} lacks the key {key!r}.", _MADE)
        value = document[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FileError(f"The {place} has a {key} of the wrong type.", _MADE)


def published_gamma(guarantees: Iterable[Guarantee]) -> float | None:
    """The size of decoy groups, by which counts are estimated from a release; None where there are none."""
    return next((one.number("gamma") for one in guarantees if one.kind == "small-sum-privacy"), None)


def k_anonymity(k: int, columns: tuple[str, ...], method: str) -> tuple[Guarantee, ...]:
    """That every class of rows alike in the columns has k rows; nothing if k is 1."""
    return (Guarantee("k-anonymity", {"k": k}, columns=columns, method=method),) if k > 1 else ()


def checked_budget(epsilon: float, delta: float = 0.0) -> None:
    """Check a privacy budget where it is given.

    Args:
        epsilon: from `MIN_EPSILON` to `MAX_EPSILON`.
        delta: 0, or from `MIN_DELTA` to `MAX_DELTA`.

    Raises:
        SpecError: one lies outside, or is not a number.
    """
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise SpecError(
            f"epsilon is {epsilon}, outside [{MIN_EPSILON:g}, {MAX_EPSILON:g}].",
            "Choose, for example, 1.0; smaller protects more.",
        )
    if delta != 0 and not MIN_DELTA <= delta <= MAX_DELTA:
        raise SpecError(
            f"delta is {delta}, outside [{MIN_DELTA:g}, {MAX_DELTA:g}].",
            "Choose one well below 1 / records, such as 1e-6.",
        )
