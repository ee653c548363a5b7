"""A pipeline as a TOML file: one can review it, sign it and run it again.

[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "workclass"]
sensitive = ["income"]

[hierarchies]
age = { widths = [10, 20, 40], lower = 0, upper = 120 }
workclass = { file = "workclass.csv" }

[[steps]]
method = "generalization"
levels = { workclass = 1 }

[[steps]]
method = "sampling"
rate = 0.8
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomli_w

from anonymizer.errors import FileError, HierarchyError, SpecError
from anonymizer.hierarchies import arx
from anonymizer.hierarchies.adult import thesis_hierarchies
from anonymizer.hierarchies.dates import DateHierarchy
from anonymizer.hierarchies.hierarchy import Hierarchy, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.models.method import Method
from anonymizer.models.registry import METHODS
from anonymizer.pipelines.parameters import check
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.tables.roles import Roles, near


@dataclass(frozen=True, slots=True)
class Spec:
    """A specification, checked for form.

    Attributes:
        roles: of the columns.
        hierarchies: by column.
        document: the whole of it as plain values, hierarchies from files included as rows, so that the digest
            covers them.
        title: for people.
    """

    roles: Roles
    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)
    title: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the document, in hexadecimal."""
        text = json.dumps(
            self.document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_dated
        )
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def steps(self) -> tuple[Mapping[str, Any], ...]:
        """The steps as written."""
        return tuple(self.document["steps"])

    def to_toml(self) -> str:
        """The whole of it as one TOML file that needs no others; it has the same digest."""
        return tomli_w.dumps(dict(self.document))

    def pipeline(self, seed: int | None = None) -> Pipeline:
        """A fresh pipeline.

        Args:
            seed: if given, step i has seed + i, so that a run can be repeated; else the operating system's
                randomness.
        """
        steps = []
        for number, step in enumerate(self.steps):
            method = made(step, f"step {number + 1}")
            if seed is not None and "random_state" in method.get_params():
                method.set_params(random_state=seed + number)
            steps.append((str(step.get("name", f"{number + 1}-{step['method']}")), method))
        return Pipeline(steps=steps, roles=self.roles, hierarchies=self.hierarchies)


def read(path: str | Path) -> Spec:
    """Read a specification; files in it are meant from its folder.

    Raises:
        FileError: it, or a file that it names, cannot be read.
        SpecError: it is no TOML, or has an unknown, missing or impossible entry.
        HierarchyError: a hierarchy is malformed.
    """
    place = Path(path)
    try:
        document = tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{place} cannot be read: {type(problem).__name__}.", "Check the path.") from None
    except tomllib.TOMLDecodeError as problem:
        raise SpecError(f"{place.name} is no TOML: {problem}.", "Correct the named place.") from None
    return parse(document, place.parent, place.name)


def parse(document: Mapping[str, Any], folder: Path, place: str = "spec") -> Spec:
    """Check a parsed specification.

    Args:
        document: the parsed TOML.
        folder: where files that it names are meant from.
        place: how errors call it.

    Raises:
        SpecError: as `read`.
    """
    _known(document, ("title", "roles", "hierarchies", "steps"), place)
    roles = Roles.from_mapping(_table(document, "roles", place), f"{place}, roles")
    declared = {
        column: _resolved(column, given, folder, f"{place}, hierarchy of {column!r}")
        for column, given in _table(document, "hierarchies", place).items()
    }
    hierarchies = {column: _built(column, given, place) for column, given in declared.items()}
    steps = document.get("steps", [])
    if not isinstance(steps, list) or not steps:
        raise SpecError(f"{place} has no steps.", "Write each below [[steps]].")
    for number, step in enumerate(steps, 1):
        made(step, f"{place}, step {number}")
    title = document.get("title", "")
    if not isinstance(title, str):
        raise SpecError(f"{place}: the title is no text.", "Put it in quotes.")
    whole = {**document, "hierarchies": declared, "steps": [dict(step) for step in steps]}
    return Spec(roles, hierarchies, whole, title)


def made(step: Any, place: str) -> Method:
    """The method of a step.

    Raises:
        SpecError: there is no such method, it has no such parameter, or takes another type for it.
    """
    if not isinstance(step, Mapping) or not isinstance(step.get("method"), str):
        raise SpecError(f"{place} names no method.", 'Write method = "generalization".')
    word = step["method"]
    if word not in METHODS:
        raise SpecError(f"{place}: there is no method {word!r}.", near(word, sorted(METHODS)))
    parameters = {key: _plain(value) for key, value in step.items() if key not in ("method", "name")}
    known = METHODS[word]().get_params()
    _known(parameters, tuple(known), f"{place} ({word})")
    check(METHODS[word], parameters, f"{place} ({word})")
    return METHODS[word](**parameters)


def _dated(value: Any) -> Mapping[str, str]:
    """What TOML has and JSON lacks: dates and times."""
    return {type(value).__name__: value.isoformat()}


def _plain(value: Any) -> Any:
    """Lists as tuples, which methods take for columns and bounds."""
    if isinstance(value, list):
        return tuple(map(_plain, value))
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def _known(given: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in given:
        if key not in known:
            raise SpecError(f"{place} has an unknown key {key!r}.", near(key, known))


def _table(document: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, Mapping):
        raise SpecError(f"{place}: {key} is no table.", f"Write it below [{key}].")
    return found


def _resolved(column: str, given: Any, folder: Path, place: str) -> Mapping[str, Any]:
    """The declaration with the rows of its file in place of the file."""
    del column
    if not isinstance(given, Mapping):
        raise SpecError(f"{place} is no table.", 'Write { file = "age.csv" } or { widths = [10, 20], ... }.')
    if "file" not in given:
        return dict(given)
    _known(given, ("file",), place)
    return {"rows": [list(row) for row in arx.read(folder / str(given["file"])).rows]}


def _built(column: str, given: Mapping[str, Any], place: str) -> Hierarchy:
    for key, (others, build) in _BUILDERS.items():
        if key in given:
            _known(given, (key, *others), f"{place}, hierarchy of {column!r}")
            try:
                return build(column, given)
            except (TypeError, ValueError, KeyError):
                raise SpecError(
                    f"{place}: the hierarchy of {column!r} lacks an entry, or one is of the wrong type.",
                    f"It needs {', '.join((key, *others))}.",
                ) from None
    raise SpecError(
        f"{place}: the hierarchy of {column!r} is of no known kind.", f"Give one of {', '.join(_BUILDERS)}."
    )


def _thesis(column: str, given: Mapping[str, Any]) -> Hierarchy:
    found = thesis_hierarchies().get(column)
    if given["builtin"] != "thesis-adult" or found is None:
        raise HierarchyError(
            f"There is no built-in hierarchy {given['builtin']!r} for column {column!r}.",
            f"thesis-adult has {', '.join(thesis_hierarchies())}.",
        )
    return found


_BUILDERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[str, Mapping[str, Any]], Hierarchy]]]] = {
    "rows": ((), lambda _, given: ValueHierarchy(given["rows"])),
    "widths": (
        ("lower", "upper"),
        lambda _, given: IntervalHierarchy.of_widths(given["lower"], given["upper"], given["widths"]),
    ),
    "levels": (
        ("open_ends",),
        lambda _, given: IntervalHierarchy(given["levels"], open_ends=given.get("open_ends", False)),
    ),
    "dates": ((), lambda _, given: DateHierarchy(given["dates"])),
    "prefix": (("alphabet",), lambda _, given: PrefixHierarchy(given["prefix"], given.get("alphabet", 10))),
    "builtin": ((), _thesis),
}
