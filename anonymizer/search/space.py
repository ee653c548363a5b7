"""A specification with ranges in the place of values.

[[steps]]
method = "noise"
epsilon = { from = 0.1, to = 1.0, points = 10, scale = "log" }

[[steps]]
method = "generalization"
levels = { age = { choices = [1, 2] }, workclass = 1 }
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from anonymizer.errors import SpecError
from anonymizer.pipelines.spec import THE_DATA, Spec, dialect_of, parse, spec_schema
from anonymizer.schema.documents import document_of, table_of
from commons.errors import near
from commons.settings.shapes import Document
from commons.tabular.dialect import Dialect

_RANGE: Final = ("from", "to", "points", "scale")
_SCALES: Final = ("linear", "log")
_LARGEST: Final = 2.0**53
_POINTS: Final = 10_000
_COMBINATIONS: Final = 1_000_000
"""Most points of a range, and most combinations of a grid; each is a release or more."""

Place = tuple[str | int, ...]
"""Where a parameter stands in the document: keys, and numbers of entries of lists."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers between two ends, both included.

    Attributes:
        low: the smaller end.
        high: the larger end.
        points: how many a grid takes, at least 1.
        log: whether equal factors instead of equal steps lie between them.
        whole: whether both ends are whole numbers, and so all points.
    """

    low: float
    high: float
    points: int
    log: bool
    whole: bool

    @property
    def grid(self) -> tuple[Any, ...]:
        """The points, each once."""
        space = np.geomspace if self.log else np.linspace
        found = space(self.low, self.high, self.points)
        numbers = [round(one) for one in found] if self.whole else [float(f"{one:.12g}") for one in found]
        return tuple(dict.fromkeys(numbers))


@dataclass(frozen=True, slots=True)
class Choices:
    """Some values.

    Attributes:
        grid: the values.
    """

    grid: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """What a search may choose.

    Attributes:
        free: the free parameters by name, such as "noise.epsilon" or "generalization.levels.age"; the number
            of the step goes before if a method comes twice.
        document: the specification as parsed, ranges included.
        folder: where files that it names are meant from.
        place: how errors call it.
    """

    free: Mapping[str, Range | Choices]
    document: Mapping[str, Any] = field(repr=False)
    folder: Path
    place: str = "spec"
    _places: Mapping[str, Place] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, document: Mapping[str, Any], folder: Path, place: str = "spec") -> Self:
        """Find the free parameters of a parsed specification.

        Raises:
            SpecError: a range is malformed, or nothing is free.
        """
        steps = document.get("steps")
        found: dict[str, Range | Choices] = {}
        places: dict[str, Place] = {}
        if isinstance(steps, list):
            words = [step.get("method") if isinstance(step, Mapping) else None for step in steps]
            for number, (step, word) in enumerate(zip(steps, words, strict=True)):
                start = str(word) if words.count(word) == 1 else f"{number + 1}-{word}"
                for where, given in _free(step, ()):
                    name = ".".join((start, *map(str, where)))
                    found[name] = _read(given, f"{place}, {name}")
                    places[name] = (number, *where)
        if not found:
            raise SpecError(
                f"{place} leaves nothing to search for.",
                "Write a range such as epsilon = { from = 0.1, to = 1.0, points = 10 } in a step.",
            )
        return cls(found, document, folder, place, places)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a specification with ranges.

        Raises:
            FileError: it cannot be read.
            SpecError: it is no TOML, or as `of`.
        """
        file = Path(path)
        document = document_of(file)
        return cls.of(document, file.parent, file.name)

    @property
    def dialect(self) -> Dialect:
        """Of CSV files, as in a specification.

        Raises:
            SpecError: an entry is impossible.
        """
        return dialect_of(self.document, self.place)

    @property
    def grid(self) -> tuple[Mapping[str, Any], ...]:
        """All combinations of the points, by name.

        Raises:
            SpecError: they are too many.
        """
        from sklearn.model_selection import ParameterGrid

        combinations = math.prod(len(one.grid) for one in self.free.values())
        if combinations > _COMBINATIONS:
            raise SpecError(
                f"{self.place} has {combinations:,} combinations of points.",
                f'Write fewer points (at most {_COMBINATIONS:,} combinations), or search with "bayes".',
            )
        return tuple(ParameterGrid({name: list(one.grid) for name, one in self.free.items()}))

    def spec(self, point: Mapping[str, Any]) -> Spec:
        """The specification with values in the place of the ranges.

        Args:
            point: a value for each free parameter.

        Raises:
            SpecError: the specification is wrong; as `parse`.
        """
        filled: dict[str, Any] = copy.deepcopy(dict(self.document))
        for name, where in self._places.items():
            holder: Any = filled["steps"]
            for key in where[:-1]:
                holder = holder[key]
            holder[where[-1]] = point[name]
        return parse({**filled, "chosen_on": THE_DATA} if self._places else filled, self.folder, self.place)


def space_schema() -> Document:
    """The JSON Schema of a specification with ranges."""
    found = spec_schema()
    for step in found["properties"]["steps"]["items"]["anyOf"]:
        for key, value in step["properties"].items():
            if key != "method":
                step["properties"][key] = {"anyOf": [value, {"type": "object"}]}
    return {**found, "title": "A specification of duetto search"}


def _free(given: Any, where: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if not isinstance(given, Mapping | list):
        return
    if isinstance(given, Mapping) and ("choices" in given or {"from", "to"} <= set(given)):
        yield where, given
        return
    entries = given.items() if isinstance(given, Mapping) else enumerate(given)
    for key, value in entries:
        yield from _free(value, (*where, key))


def _read(given: Mapping[str, Any], place: str) -> Range | Choices:
    table_of(given, place).only(("choices",) if "choices" in given else _RANGE)
    if "choices" in given:
        if not isinstance(given["choices"], list) or not given["choices"]:
            raise SpecError(f"{place}: the choices are not a list, or empty.", "Write choices = [1, 2].")
        return Choices(tuple(given["choices"]))
    ends, points, scale = (given["from"], given["to"]), given.get("points", 5), given.get("scale", "linear")
    if scale not in _SCALES:
        raise SpecError(f"{place} has an unknown scale {scale!r}.", near(str(scale), _SCALES))
    whole = isinstance(points, int) and not isinstance(points, bool) and 1 <= points <= _POINTS
    if not all(_is_number(end) for end in ends) or not whole:
        raise SpecError(
            f"{place}: an end is not a number, or points is not 1 to {_POINTS:,}.",
            "Write { from = 0.1, to = 1.0, points = 10 }.",
        )
    if ends[0] > ends[1] or (scale == "log" and ends[0] <= 0):
        raise SpecError(
            f"{place}: {ends[0]} to {ends[1]} is not a range on a {scale} scale.",
            "Write the smaller end first; a log scale needs positive ends.",
        )
    return Range(*ends, points, scale == "log", all(isinstance(end, int) for end in ends))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
