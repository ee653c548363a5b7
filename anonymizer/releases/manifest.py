"""The manifest: what lies beside a release and says how it was made and what is promised of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from anonymizer.errors import FileError, SpecError
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.foreign import ForeignCode
from anonymizer.releases.guarantee import Guarantee, strict
from anonymizer.releases.purpose import Purpose
from anonymizer.schema.columns import Schema

Order = Literal["kept", "shuffled", "shuffled within chunks"]
Counts = Literal["rows", "persons"]

FORMAT: Final = 2
ENDING: Final = ".manifest.json"
"""Of the name of a manifest, behind that of the release."""
_MOST_BYTES: Final = 16 * 2**20


@cache
def program_version() -> str:
    """The version of the program, "unknown" where it is not installed."""
    try:
        return version("duetto")
    except PackageNotFoundError:
        return "unknown"


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is said of a release. Nothing in it comes from single cells of the original.

    Attributes:
        specification: SHA-256 of the specification, hierarchies included; "" if there is none.
        purpose: what the release is for, as the specification says it.
        columns: the declared domain of columns: types, bounds, categories.
        guarantees: that hold for the release.
        epsilon: of a whole record, all steps together; None if no differential privacy is claimed.
        delta: belongs to epsilon.
        gamma: the size of the decoy groups of a release with small-sum privacy; else None.
        choice: how epsilon was chosen, a sentence that says whether it covers that; "" if not said.
        discretisation: of a synthetic release, of each column the cells that rows were counted in:
            categories or the edges of bins; declared, not taken from the data.
        seeded: whether random steps, or the shuffle of the rows, drew from a seed.
        order: of the rows: as in the input, or shuffled.
        rows: of the release.
        counts: what promises count: rows, or persons, of whom one may have several rows.
        rows_per_person: at most this many rows of a person were taken in; None if there is no bound. How many
            rows were left out is not said, as that comes from the data.
        made_of: of each column which cells of the original decide what stands in it, those of the same row
            or of all rows, in words; hierarchies, domains and the pattern of empty cells included.
        rows_by: the same of which rows there are.
        together: what this release and those before of the same table come to, by the ledger: how many there
            are, `epsilon` and `delta` of those that claim them, how many claim none, and `k` and `l` to who
            has all of them. Where something was not measured, see `unmeasured`, these are left out, and
            `at_most` has what was measured. Empty if it was not recorded.
        record: of this release in the ledger: its `number`, the `id` that was drawn for it and that of the
            first release there (`ledger`); empty if it was not recorded. Its hash is not said, as a digest of
            the original is in it.
        accepted: findings of the gate that were accepted, with their reasons.
        files: by name of each released file the SHA-256 of its bytes.
        program: its name and version.
        code: other programs whose methods have made it.
    """

    specification: str = ""
    purpose: Purpose = field(default_factory=Purpose)
    columns: Schema = field(default_factory=Schema)
    guarantees: tuple[Guarantee, ...] = ()
    epsilon: float | None = None
    delta: float | None = None
    gamma: float | None = None
    choice: str = ""
    discretisation: Mapping[str, Any] = field(default_factory=dict)
    seeded: bool = False
    order: Order = "kept"
    rows: int = 0
    counts: Counts = "rows"
    rows_per_person: int | None = None
    made_of: Mapping[str, str] = field(default_factory=dict)
    rows_by: str = ""
    together: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    accepted: tuple[Acceptance, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    program: str = field(default_factory=lambda: f"duetto {program_version()}")
    code: tuple[ForeignCode, ...] = ()

    def to_json(self) -> str:
        """The manifest as one JSON object, keys sorted."""
        document = {
            "format": FORMAT,
            "program": self.program,
            "specification": self.specification,
            "purpose": self.purpose.to_mapping(),
            "columns": self.columns.to_mapping(),
            "guarantees": [one.to_document() for one in self.guarantees],
            "epsilon": self.epsilon,
            "delta": self.delta,
            "gamma": self.gamma,
            "choice": self.choice,
            "discretisation": dict(self.discretisation),
            "seeded": self.seeded,
            "order": self.order,
            "rows": self.rows,
            "counts": self.counts,
            "rows_per_person": self.rows_per_person,
            "made_of": dict(self.made_of),
            "rows_by": self.rows_by,
            "together": dict(self.together),
            "record": dict(self.record),
            "accepted": [one.to_mapping() for one in self.accepted],
            "files": dict(self.files),
            "code": [one.to_mapping() for one in self.code],
        }
        return json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` has written.

        Raises:
            FileError: it is not JSON, a key is unknown or missing, or a value is of the wrong type.
        """
        try:
            document = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise FileError("The manifest is not JSON.", "Take it as the program wrote it.") from None
        if isinstance(document, dict) and isinstance(document.get("format"), int):
            _check_format(document["format"])
            document = {**_LATER, **document}
        strict(document, _TYPES, "manifest")
        given = {key: value for key, value in document.items() if key != "format"}
        if given["order"] not in get_args(Order) or given["rows"] < 0:
            raise FileError("The manifest has an impossible order or number of rows.", "Take it as written.")
        if given["counts"] not in get_args(Counts) or (given["rows_per_person"] or 1) < 1:
            raise FileError("The manifest does not say what its promises count.", "Take it as written.")
        if not all(isinstance(value, str) for value in given["files"].values()):
            raise FileError("The manifest has a digest that is not a text.", "Take it as written.")
        if not all(isinstance(value, str) for value in given["made_of"].values()):
            raise FileError("The manifest has a provenance that is not a text.", "Take it as written.")
        try:
            entries = enumerate(given["accepted"], 1)
            given["accepted"] = tuple(
                Acceptance.from_mapping(one, f"manifest, acceptance {number}") for number, one in entries
            )
            given["purpose"] = Purpose.from_mapping(given["purpose"], "manifest, purpose")
            given["columns"] = Schema.from_mapping(given["columns"], "manifest, columns")
        except SpecError as problem:
            raise FileError(problem.what, problem.hint) from None
        given["code"] = tuple(map(ForeignCode.from_mapping, given["code"]))
        given["guarantees"] = tuple(map(Guarantee.from_document, given["guarantees"]))
        return cls(**given)


def named_record(path: Path) -> Mapping[str, Any]:
    """What a file that is called a manifest says of its record in a ledger; empty if it says nothing."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return {}
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    record = document.get("record") if isinstance(document, dict) else None
    if not isinstance(record, dict):
        return {}
    kinds = {"number": int, "id": str, "ledger": str}
    return record if all(type(record.get(key)) is kind for key, kind in kinds.items()) else {}


_LATER: Final[Mapping[str, Any]] = {
    "made_of": {},
    "rows_by": "",
    "together": {},
    "record": {},
    "purpose": {},
    "counts": "rows",
    "rows_per_person": None,
}
"""What manifests of before may lack."""
_TYPES: Final[Mapping[str, Any]] = {
    "format": int,
    "program": str,
    "specification": str,
    "purpose": dict,
    "columns": dict,
    "guarantees": list,
    "epsilon": float | int | None,
    "delta": float | int | None,
    "gamma": float | int | None,
    "choice": str,
    "discretisation": dict,
    "seeded": bool,
    "order": str,
    "rows": int,
    "counts": str,
    "rows_per_person": int | None,
    "made_of": dict,
    "rows_by": str,
    "together": dict,
    "record": dict,
    "accepted": list,
    "files": dict,
    "code": list,
}


def _check_format(form: int) -> None:
    if form != FORMAT:
        raise FileError(
            f"The manifest has the format {form}, and this version of duetto reads format {FORMAT}.",
            "Read it with the version of duetto that wrote it; the manifest names it as program.",
        )


def _refuse(word: str) -> None:
    raise ValueError(word)
