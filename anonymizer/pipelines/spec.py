"""A pipeline as a TOML file: one can review it, sign it and run it again.

[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "workclass"]
sensitive = ["income"]

[columns]
age = { type = "integer", bounds = [0, 120] }

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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import tomli_w

from anonymizer.errors import AnonymizerError, SpecError
from anonymizer.hierarchies.declared import build, hierarchies_schema, resolve
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.methods.contract.method import Method
from anonymizer.methods.plugins import load_methods
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines.parameters import check, parameter_schema
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.purpose import Purpose
from anonymizer.schema.columns import Column, Schema
from anonymizer.schema.documents import document_of, table_of
from anonymizer.tables.dialect import read_dialect
from anonymizer.tables.roles import Roles
from commons.errors import near
from commons.settings.marks import Item, Key, Length, Read, Repeated, Wrong
from commons.settings.reader import Tables, read_declared, schema_of
from commons.settings.shapes import Document, keys_schema
from commons.tabular.dialect import Dialect

THE_DATA: Final = "the data"
"""What `chosen_on` says where epsilon, or anything else, was chosen by trials on the data themselves."""

NOTHING: Final[Mapping[str, type[Method]]] = MappingProxyType({})


_PLUGINS: Final = 'Write the names of installed packages: methods = ["duetto-rounding"].'
Steps = Annotated[tuple[Any, ...], Repeated(), Wrong("is not a list", "Write each below [[steps]].")]
"""Methods with their parameters, in order."""


@dataclass(frozen=True, slots=True)
class SpecFile:
    """The tables of a specification.

    Attributes:
        title: for people.
        csv: how CSV files are written.
        release_as_is: that a table without quasi-identifiers is meant.
        chosen_on: what epsilon, or another parameter, was chosen on.
        purpose: what the release is for.
        plugins: packages whose methods steps may name.
        roles: of the columns.
        columns: what is declared of columns.
        hierarchies: by column.
        steps: methods, in order, with their parameters.
        accept: findings of the gate that are accepted, each with a reason.
    """

    title: str = ""
    csv: Annotated[Dialect, Read(read_dialect, Tables(Dialect).schema)] = field(default_factory=Dialect)
    release_as_is: bool = False
    chosen_on: str = ""
    purpose: Purpose = field(default_factory=Purpose)
    plugins: Annotated[
        tuple[Annotated[str, Length(1)], ...],
        Key("plugins.methods"),
        Repeated(),
        Wrong("is not a list of names", _PLUGINS),
    ] = ()
    roles: Annotated[Roles, Read(Roles.from_mapping, Tables(Roles).schema)] = field(default_factory=Roles)
    columns: Annotated[Mapping[str, Column], Item("column")] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    steps: Steps = ()
    accept: Annotated[tuple[Acceptance, ...], Item("acceptance")] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """A specification, checked for form.

    Attributes:
        roles: of the columns.
        hierarchies: by column.
        schema: what is declared of columns.
        document: the whole of it as plain values, hierarchies from files included as rows, so that the digest
            covers them.
        title: for people.
        dialect: of CSV files, the table `[csv]`.
        accept: findings of the gate that are accepted.
        methods: of other programs that `[plugins]` names and steps use, by name.
        purpose: what the release is for, the table `[purpose]`.
    """

    roles: Roles
    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    schema: Schema = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)
    title: str = ""
    dialect: Dialect = field(default_factory=Dialect)
    accept: tuple[Acceptance, ...] = ()
    methods: Mapping[str, type[Method]] = field(default_factory=dict, repr=False)
    purpose: Purpose = field(default_factory=Purpose)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the document, in hexadecimal."""
        return digest_of(self.document)

    @property
    def choice(self) -> str:
        """How epsilon was chosen, a sentence; "" if it is not said."""
        chosen_on = self.document.get("chosen_on", "")
        if chosen_on == THE_DATA:
            return (
                "Epsilon, or another parameter, was chosen by trials on the data themselves. The choice is a "
                "release of them too, and epsilon does not cover it."
            )
        return f"Epsilon was chosen by trials on {chosen_on}, not on the data." if chosen_on else ""

    @property
    def steps(self) -> tuple[Mapping[str, Any], ...]:
        """The steps as written."""
        return tuple(self.document["steps"])

    def to_toml(self) -> str:
        """The whole of it as one TOML file that needs no others; it has the same digest."""
        return tomli_w.dumps(dict(self.document))

    def with_epsilon(self, name: str, epsilon: float, chosen_on: str) -> Spec:
        """The same with another epsilon of one step, and what it was chosen on.

        Args:
            name: of the step.
            epsilon: the value.
            chosen_on: `THE_DATA`, or the name of what stood in for them.

        Raises:
            SpecError: the step does not take the epsilon.
        """
        steps = [
            {**step, "epsilon": epsilon} if _name(step, number) == name else dict(step)
            for number, step in enumerate(self.steps)
        ]
        return parse({**self.document, "steps": steps, "chosen_on": chosen_on}, Path())

    def pipeline(self, seed: int | None = None) -> Pipeline:
        """A fresh pipeline.

        Args:
            seed: if given, step i has seed + i, and the choice of rows of a person has it, so that a run can
                be repeated; else the operating system's randomness.

        Raises:
            SpecError: no quasi-identifiers are declared, and nothing says that this is meant.
        """
        if not self.roles.quasi_identifiers and not any(one.finding == "roles" for one in self.accept):
            raise SpecError(
                "The specification declares no quasi-identifiers, so that nothing protects the people in it.",
                'Write [roles] quasi_identifiers = ["age", "zip"]; if there are none, write '
                "quasi_identifiers = [] and, at the top, release_as_is = true.",
            )
        steps = []
        for number, step in enumerate(self.steps):
            method = make_method(step, f"step {number + 1}", self.methods)
            if seed is not None and "random_state" in method.get_params():
                method.set_params(random_state=seed + number)
            steps.append((_name(step, number), method))
        found = Pipeline(steps=steps, roles=self.roles, hierarchies=self.hierarchies, schema=self.schema)
        if self.roles.rows_per_person is not None:
            found.rows_seed_ = seed
        found.specification_ = self.digest
        found.choice_ = self.choice
        found.purpose_ = self.purpose
        return found


def read(path: str | Path) -> Spec:
    """Read a specification; files in it are meant from its folder.

    Raises:
        FileError: it, or a file that it names, cannot be read.
        SpecError: it is no TOML, or has an unknown, missing or impossible entry.
        HierarchyError: a hierarchy is malformed.
        PluginError: a method of another program cannot be used.
    """
    place = Path(path)
    document = document_of(place)
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
    found = read_declared(SpecFile, table_of(document, place, folder=folder))
    declared_as = {
        column: resolve(column, given, folder, f"{place}, hierarchy of {column!r}")
        for column, given in found.hierarchies.items()
    }
    hierarchies = {
        column: build(column, given, place, found.csv.writing.date_format)
        for column, given in declared_as.items()
    }
    if not found.steps:
        raise SpecError(f"{place} has no steps.", "Write each below [[steps]].")
    methods = _load_plugins(found)
    for number, step in enumerate(found.steps, 1):
        make_method(step, f"{place}, step {number}", methods)
    accepted = found.accept + _as_is(found, "quasi_identifiers" in document.get("roles", {}), place)
    accepted += tuple(
        Acceptance("unchanged", _name(step, number), step["unchanged"])
        for number, step in enumerate(found.steps)
        if "unchanged" in step
    )
    whole = {**document, "hierarchies": declared_as, "steps": [dict(step) for step in found.steps]}
    return Spec(
        roles=found.roles,
        hierarchies=hierarchies,
        schema=Schema(found.columns),
        document=whole,
        title=found.title,
        dialect=found.csv,
        accept=accepted,
        methods=methods,
        purpose=found.purpose,
    )


def spec_schema() -> Document:
    """The JSON Schema of a specification."""
    found = schema_of(SpecFile, "A specification of duetto anonymize")
    found["properties"]["steps"]["items"] = step_schema()
    found["properties"]["hierarchies"] = hierarchies_schema()
    return found


def step_schema() -> Document:
    """JSON Schema of a step: one of the methods with its parameters, or a method of another program."""
    about = {"name": {"type": "string"}, "unchanged": {"type": "string"}}
    own = [
        keys_schema((), ("method",), **parameter_schema(method), **about, method={"const": word})
        for word, method in METHODS.items()
    ]
    other = {"method": {"type": "string", "not": {"enum": [*METHODS]}}}
    return {"anyOf": [*own, {"type": "object", "properties": other, "required": ["method"]}]}


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a parsed specification, in hexadecimal."""
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_convert_date
    )
    return hashlib.sha256(text.encode()).hexdigest()


def dialect_of(document: Mapping[str, Any], place: str = "spec") -> Dialect:
    """The dialect of CSV files that a parsed specification declares.

    Raises:
        SpecError: an entry is impossible.
    """
    return read_dialect(document.get("csv", {}), f"{place}, csv")


def _load_plugins(found: SpecFile) -> Mapping[str, type[Method]]:
    """The methods of other programs that the table `[plugins]` allows and steps ask for."""
    asked = {step.get("method") for step in found.steps if isinstance(step, Mapping)}
    return load_methods(tuple(dict.fromkeys(found.plugins)), {one for one in asked if isinstance(one, str)})


def make_method(step: Any, place: str, methods: Mapping[str, type[Method]] = NOTHING) -> Method:
    """The method of a step.

    Args:
        step: as written.
        place: how errors call it.
        methods: of other programs, by name.

    Raises:
        SpecError: the method or the parameter does not exist, or it takes another
            type or other values for it.
    """
    if not isinstance(step, Mapping) or not isinstance(step.get("method"), str):
        raise SpecError(f"{place} names no method.", 'Write method = "generalization".')
    reason = step.get("unchanged", "so")
    if not isinstance(reason, str) or not reason.strip():
        raise SpecError(
            f"{place}: unchanged is not a reason.", 'Write unchanged = "No cell is missing this year."'
        )
    word = step["method"]
    known = {**METHODS, **methods}
    if word not in known:
        raise SpecError(f"{place}: there is no method {word!r}.", near(word, sorted(known)))
    parameters = {key: _plain(value) for key, value in step.items() if key not in _ABOUT}
    table_of(parameters, f"{place} ({word})").only(known[word]().get_params())
    check(known[word], parameters, f"{place} ({word})")
    method = known[word](**parameters)
    try:
        method.check()
    except AnonymizerError as problem:
        raise SpecError(f"{place} ({word}): {problem.what}", problem.hint) from None
    return method


_ABOUT: Final = ("method", "name", "unchanged")
"""Keys of a step that are not parameters."""


def _name(step: Mapping[str, Any], number: int) -> str:
    """The name of a step, its number counted from 0."""
    return str(step.get("name", f"{number + 1}-{step['method']}"))


def _as_is(found: SpecFile, are_stated: bool, place: str) -> tuple[Acceptance, ...]:
    """What `release_as_is` says: that a table without quasi-identifiers is meant."""
    if found.release_as_is and (found.roles.quasi_identifiers or not are_stated):
        raise SpecError(
            f"{place}: release_as_is is for tables without quasi-identifiers, and says that this is meant.",
            "Write [roles] quasi_identifiers = [] beside it, or leave it out.",
        )
    return (Acceptance("roles", "", "release_as_is"),) if found.release_as_is else ()


def _convert_date(value: Any) -> Mapping[str, str]:
    """What TOML has and JSON lacks: dates and times."""
    return {type(value).__name__: value.isoformat()}


def _plain(value: Any) -> Any:
    """Lists as tuples, which methods take for columns and bounds."""
    if isinstance(value, list):
        return tuple(map(_plain, value))
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value
