"""Declared columns: type, domain and what a missing cell means, from knowledge of the subject.

What a method takes from here it does not take from the data: the distribution of noise, the grid of
numbers, the order and the number of categories, none of which one person's cell may decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, Self, get_args

from typing_extensions import override

from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.errors import near
from commons.settings.marks import Key, Read, Repeated, Wrong
from commons.settings.reader import read_declared

Kind = Literal["integer", "float", "category", "text", "date", "boolean"]
Missing = Literal["refuse", "value", "drop", "impute"]

KINDS: Final[tuple[str, ...]] = get_args(Kind)
MISSING: Final[tuple[str, ...]] = get_args(Missing)
LARGEST: Final = 2.0**53
"""Whole numbers beyond this are not exact in double precision."""

_BOUNDS: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 2,
    "maxItems": 2,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _read_lower(value: Any, place: str) -> float | None:
    return _ends(value, place)[0]


def _read_upper(value: Any, place: str) -> float | None:
    return _ends(value, place)[1]


def _ends(value: Any, place: str) -> tuple[float | None, float | None]:
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    if not is_pair or not all(end is None or _is_number(end) for end in value):
        raise SpecError(f"{place}: the bounds are not two numbers.", "Write bounds = [0, 120].")
    return value[0], value[1]


def _pass_on(value: Any, place: str) -> Any:
    """What the column itself checks, whoever makes it."""
    del place
    return value


@dataclass(frozen=True, slots=True)
class Column:
    """What is declared of one column.

    Attributes:
        kind: its type; None if nothing is declared, and then methods go by what the table holds.
        lower: the least number that a person can have, or None; of integers and floats only.
        upper: the largest.
        step: the distance between neighbouring numbers; 1 for integers unless declared. Numbers lie on the
            multiples of it.
        categories: the values that there are, as texts; in their order if `ordered`. Or None.
        ordered: whether the order of the categories means something, as in low, medium, high.
        missing: what an empty cell means. "refuse": methods that need the cell refuse the table. "value": it
            is a category of its own, which an attacker may know. "drop": its row is left out at the start.
            "impute": it is filled at the start, see `Pipeline`.
        unit: of numbers, for people, such as "years".

    Raises:
        SpecError: the entries do not fit each other, or a number is out of range.
    """

    kind: Annotated[Kind | None, Key("type"), Read(_pass_on, {"enum": [*KINDS]})] = None
    lower: Annotated[float | None, Key("bounds"), Read(_read_lower, _BOUNDS)] = None
    upper: Annotated[float | None, Key("bounds"), Read(_read_upper, _BOUNDS)] = None
    step: Annotated[float | None, Read(_pass_on, {"type": "number", "exclusiveMinimum": 0})] = None
    categories: Annotated[
        tuple[str, ...] | None,
        Repeated(),
        Wrong("is not a list of texts", 'Write categories = ["low", "high"].'),
    ] = None
    ordered: bool = False
    missing: Annotated[Missing, Read(_pass_on, {"enum": [*MISSING]})] = "refuse"
    unit: str = ""

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise SpecError(f"{self.kind!r} is not a valid type.", near(str(self.kind), KINDS))
        if self.missing not in MISSING:
            raise SpecError(
                f"missing = {self.missing!r} is not a way to treat missing cells.",
                near(str(self.missing), MISSING),
            )
        self._check_numbers()
        self._check_categories()

    def _check_numbers(self) -> None:
        numbers = {"lower": self.lower, "upper": self.upper, "step": self.step}
        given = {name: number for name, number in numbers.items() if number is not None}
        if given and not self.is_number:
            raise SpecError(
                "Bounds and steps are for numbers.", 'Write type = "integer" or type = "float" beside them.'
            )
        for name, number in given.items():
            if not _is_number(number) or abs(number) > LARGEST:
                raise SpecError(
                    f"{name} = {number!r} is not a finite number within 2**53.", "Write the true value."
                )
            if self.kind == "integer" and number != int(number):
                raise SpecError(f"{name} = {number!r} of a column of integers is not whole.", "Round it.")
        if self.step is not None and not self.step > 0:
            raise SpecError(f"The step {self.step} is not positive.", "Write, for example, step = 0.1.")
        if self.lower is not None and self.upper is not None:
            if not self.lower < self.upper:
                raise SpecError(
                    f"The bounds [{self.lower}, {self.upper}] are empty or the wrong way round.",
                    "Write the smaller one first.",
                )
            if self.step is not None and (self.upper - self.lower) / self.step > LARGEST:
                raise SpecError(f"The step {self.step} is too small for the bounds.", "Choose a larger one.")

    def _check_categories(self) -> None:
        if self.categories is not None:
            if self.kind not in (None, "category", "text"):
                raise SpecError(
                    f"A column of type {self.kind!r} has no categories.", 'Write type = "category".'
                )
            wrong = [one for one in self.categories if not isinstance(one, str) or not one]
            if wrong or not self.categories or len(set(self.categories)) < len(self.categories):
                raise SpecError(
                    "The categories are not different texts.", 'Write categories = ["low", "medium", "high"].'
                )
        if self.ordered and self.categories is None:
            raise SpecError(
                "An order is declared without categories.",
                'Write them in their order: categories = ["low", "medium", "high"].',
            )

    @property
    def is_number(self) -> bool:
        """Whether numbers are declared."""
        return self.kind in ("integer", "float")

    @property
    def grid(self) -> float | None:
        """The declared distance between neighbouring numbers; None if there is none."""
        return 1.0 if self.step is None and self.kind == "integer" else self.step

    @property
    def fills_itself(self) -> bool:
        """Whether missing cells can be filled without a look at others: there are bounds to be between."""
        return self.is_number and self.lower is not None and self.upper is not None

    @property
    def has_domain(self) -> bool:
        """Whether it is declared which values there can be, so that no cell decides it."""
        return self.fills_itself or self.categories is not None or self.kind == "boolean"

    @classmethod
    def from_mapping(cls, document: Any, place: str = "column") -> Self:
        """Read a column from a parsed TOML table, with `type` for the kind and `bounds` for both ends.

        Raises:
            SpecError: there is an unknown key, or an entry that is impossible.
        """
        return read_declared(cls, table_of(document, place))

    def to_mapping(self) -> dict[str, Any]:
        """The same as plain values, as `from_mapping` reads it."""
        found: dict[str, Any] = {"type": self.kind, "step": self.step, "unit": self.unit or None}
        if self.lower is not None or self.upper is not None:
            found["bounds"] = [self.lower, self.upper]
        if self.categories is not None:
            found |= {"categories": list(self.categories), "ordered": self.ordered or None}
        found["missing"] = None if self.missing == "refuse" else self.missing
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class Schema(Mapping[str, Column]):
    """The declared columns by name."""

    columns: Mapping[str, Column] = field(default_factory=dict)

    @override
    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    @override
    def __len__(self) -> int:
        return len(self.columns)

    def of(self, name: str) -> Column:
        """What is declared of a column; nothing is a `Column` without entries."""
        return self.columns.get(name, _UNDECLARED)

    @classmethod
    def from_mapping(cls, document: Mapping[str, Any], place: str = "columns") -> Self:
        """Read the table `[columns]` of a specification.

        Raises:
            SpecError: as `Column.from_mapping`; names the column.
        """
        return cls(
            {name: Column.from_mapping(given, f"{place}, {name!r}") for name, given in document.items()}
        )

    def to_mapping(self) -> dict[str, Any]:
        """The same as plain values."""
        return {name: column.to_mapping() for name, column in self.items()}

    def among(self, names: Iterable[str]) -> Schema:
        """The declarations of some columns only."""
        kept = set(names)
        return Schema({name: column for name, column in self.items() if name in kept})

    def check(self, names: Iterable[str]) -> None:
        """Check that every declared column is there.

        Raises:
            SpecError: names the first that is not, and the nearest that is.
        """
        there = list(names)
        for name in self:
            if name not in there:
                raise SpecError(f"The table has no column {name!r}, which is declared.", near(name, there))


_UNDECLARED: Final = Column()
