"""The command that makes a release, as a function of a table that gives bytes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from anonymizer.errors import AnonymizerError
from anonymizer.gate.gate import Gate, manifest_path
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import Spec
from anonymizer.releases.acceptance import Acceptance
from anonymizer.releases.release import Release
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

_MEMORY: Final = Path("/dev/shm")  # noqa: S108
"""A folder in memory, where the system has one: an audit writes thousands of files."""
_NAME: Final = "release"


@dataclass(frozen=True, slots=True)
class Output:
    """What one run lets out.

    Attributes:
        files: the bytes of each file by its name; empty if the run was refused.
        refusal: what was refused, or "".
        manifest: the manifest, without the digests of the files, which say nothing beside these.
    """

    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    refusal: str = ""
    manifest: str = field(default="", repr=False)


@dataclass(frozen=True)
class Command:
    """What `duetto anonymize` does with a table that it has read: pipeline, gate, files.

    Attributes:
        pipeline: makes a fresh pipeline.
        accept: findings of the gate that are accepted.
        dialect: of CSV files; None is that of the table.
        keep_order: as of the command.
        ending: of the files, `.csv` or `.parquet`.
    """

    pipeline: Callable[[], Pipeline]
    accept: tuple[Acceptance, ...] = ()
    dialect: Dialect | None = None
    keep_order: bool = False
    ending: str = ".csv"

    @classmethod
    def of(cls, spec: Spec, *, keep_order: bool = False, ending: str = ".csv") -> Self:
        """The command with a specification."""
        return cls(spec.pipeline, spec.accept, spec.dialect, keep_order, ending)

    def release(self, table: Table) -> Release:
        """What would go to the gate.

        Raises:
            AnonymizerError: the table is refused.
        """
        return self.pipeline().release(table)

    def run(self, table: Table, folder: Path) -> Output:
        """Run it, and read what it has written.

        Args:
            table: with roles and declarations.
            folder: to write in; it is left empty.
        """
        path = folder / f"{_NAME}{self.ending}"
        gate = Gate(keep_order=self.keep_order, accept=self.accept, dialect=self.dialect)
        try:
            passed = gate.write(self.release(table), path)
        except AnonymizerError as problem:
            return Output(refusal=f"{type(problem).__name__}: {problem.what}")
        found = {place.name: place.read_bytes() for place in passed.paths}
        for place in passed.paths:
            place.unlink()
        manifest: dict[str, Any] = json.loads(found.pop(manifest_path(path).name))
        manifest.pop("files")
        return Output(found, manifest=json.dumps(manifest, sort_keys=True))


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder that nobody else may read and that is gone afterwards, in memory where there is room."""
    in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(prefix="duetto-audit-", dir=_MEMORY if in_memory else None) as folder:
        yield Path(folder)
