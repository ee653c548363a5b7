"""Releases of tables larger than memory, for specifications whose steps work row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError, TableError, UnreachableError
from anonymizer.gate.checks import ALTERED, declared_as, of_cells, of_roles, of_steps
from anonymizer.gate.container import MANIFEST_KEY, inspect_container
from anonymizer.gate.finding import Finding
from anonymizer.gate.gate import KEPT, Gate, publish
from anonymizer.gate.recording import Recording
from anonymizer.gate.staging import staging
from anonymizer.gate.wording import persons_in_wording
from anonymizer.hierarchies.hierarchy import Hierarchy
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import Spec
from anonymizer.releases.guarantee import ABOUT_CLASSES
from anonymizer.releases.ledger import OpenLedger, SourceTable
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.release import Release, Step
from anonymizer.tables import files
from anonymizer.tables.contents import ContentDigest
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a release by chunks has done.

    Attributes:
        rows: that were read.
        released: rows that were written.
        columns: that were written.
        names: of the columns that were read.
        manifest: as written.
        warnings: a sentence each.
    """

    rows: int
    released: int
    columns: tuple[str, ...]
    names: tuple[str, ...]
    manifest: Manifest
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Run:
    """What is known of the chunks so far.

    Attributes:
        read: rows.
        released: rows.
        first: the release of the first chunk that has one, in its columns and promises like all others.
        steps: what all chunks together have changed.
        content: of what was read.
        looked: of some chunks the first row in the output, the release, and the order of its rows.
    """

    read: int = 0
    released: int = 0
    first: Release | None = None
    steps: tuple[Step, ...] = ()
    looked: list[tuple[int, Release, Int]] = field(default_factory=list)
    chunks: int = 0
    content: ContentDigest = field(default_factory=ContentDigest)

    def add(self, release: Release, order: Int) -> None:
        """Note a chunk; the first, second, fourth, eighth and so on are kept to be looked at."""
        self.chunks += 1
        if self.chunks & (self.chunks - 1) == 0:
            self.looked.append((self.released, release, order))
        self.released += len(release)
        before = self.steps or tuple(replace(step, changed={}, lost=0) for step in release.steps)
        self.steps = tuple(_join(one, two) for one, two in zip(before, release.steps, strict=True))
        self.first = self.first or release


def stream(
    spec: Spec, source: Path, target: Path, rows: int, gate: Gate, ledger: OpenLedger | None = None
) -> Streamed:
    """Release a file chunk by chunk through the gate; the output is whole or absent.

    Rows are shuffled within chunks. The gate reads the whole output back, and looks closely at the first,
    second, fourth, eighth chunk and so on.

    Args:
        spec: all of whose steps work row by row.
        source: CSV or Parquet.
        target: CSV or Parquet.
        rows: of a chunk.
        gate: says whether rows are shuffled and which findings are accepted.
        ledger: of the table, to record the release in; None if somebody else keeps count.

    Raises:
        SpecError: a step needs the whole table.
        TableError: the file has no rows, or the table does not fit a step.
        UnreachableError: all rows would be suppressed.
        GateError: there is a finding that is not accepted. Nothing was written.
        FileError: a file cannot be read or written.
        LedgerError: the ledger cannot be written.
    """
    pipeline = spec.pipeline()
    notes: dict[str, str] = {}
    run = _Run()
    with staging() as staged:
        place = staged.place(target)
        with files.append_to(place, spec.dialect, notes) as append:
            for release in _chunks(spec, pipeline, source, rows, run):
                order = np.arange(len(release), dtype=np.int64)
                if not gate.keep_order:
                    order = Randomness(None).permutation(len(release))
                run.add(release, order)
                append(release.table.take(order))
            recording = None
            manifest = _manifest(spec, gate, run)
            if ledger is not None and run.first is not None:
                made_of = SourceTable(source.resolve().name, run.content.hexadecimal())
                keys = run.first.table.roles.quasi_identifiers
                recording = replace(Recording.of(ledger, made_of), keys=keys)
                manifest = replace(manifest, together=recording.together(run.first))
            notes[MANIFEST_KEY] = manifest.to_json()
        gate.judge(_findings(spec, place, run, rows, ordered=gate.keep_order))
        if recording is not None and run.first is not None:
            gate.judge([*recording.findings(run.first), *recording.unmeasured()])
        manifest = publish(staged, {target: place}, manifest, target, recording=recording)
    columns = () if run.first is None else run.first.table.names
    names = () if run.first is None or run.first.original is None else run.first.original.names
    warnings: tuple[str, ...] = (KEPT,) if gate.keep_order else ()
    if run.first is not None and run.first.original is not None:  # of a part of the rows
        warnings += persons_in_wording(spec, run.first.original, target)
    return Streamed(run.read, run.released, columns, names, manifest, warnings)


def _check_rows(pipeline: Pipeline, table: Table, hierarchies: Mapping[str, Hierarchy]) -> None:
    """Check that what becomes of a row does not depend on rows of other chunks.

    Args:
        pipeline: not yet run.
        table: any chunk, with what is declared.
        hierarchies: as declared.

    Raises:
        SpecError: it does; names the hierarchy, the column or the step.
    """
    person = table.roles.person
    if person is not None and table.schema.of(person).missing == "drop":
        raise SpecError(
            f"Rows that say nothing of {person} are left out of the whole table, and cannot be by chunks.",
            "Leave --chunk-rows out, or take these rows out of the file.",
        )
    if table.roles.rows_per_person is not None:
        raise SpecError(
            "Which rows of a person stay is drawn of the whole table and cannot be by chunks.",
            "Leave --chunk-rows out, or rows_per_person.",
        )
    for name, hierarchy in hierarchies.items():
        if hierarchy.needs_table:
            raise SpecError(
                f"The hierarchy of column {name!r} is built of the whole table and cannot be by chunks.",
                "Leave --chunk-rows out, or write its levels down.",
            )
    for name, column in table.schema.items():
        if column.missing == "impute" and not column.fills_itself:
            raise SpecError(
                f"The missing cells of column {name!r} are filled by the whole table, not by chunks.",
                "Leave --chunk-rows out, or declare bounds for it.",
            )
    for name, method in pipeline.steps:
        if not method.works_by_rows(table):
            raise SpecError(
                f"Step {name!r} needs the whole table and cannot work by chunks.",
                "Leave --chunk-rows out; of top-bottom-coding state all bounds.",
            )


def _chunks(spec: Spec, pipeline: Pipeline, source: Path, rows: int, run: _Run) -> Iterator[Release]:
    """The releases of the chunks that keep a row."""
    empty: UnreachableError | None = None
    for table in files.tables(source, rows, spec.dialect):
        if not len(table):
            continue
        declared = table.declare(spec.roles, spec.hierarchies, spec.schema)
        if not run.read:
            _check_rows(pipeline, declared, spec.hierarchies)
        run.read += len(table)
        run.content.add(table)
        try:
            yield pipeline.release(declared)
        except UnreachableError as problem:
            empty = problem
    if not run.read:
        raise TableError(f"{source} has no rows.", "Give at least one.")
    if not run.released and empty is not None:
        raise empty


def _manifest(spec: Spec, gate: Gate, run: _Run) -> Manifest:
    """The manifest; what is promised of classes cannot hold over chunks, and is not said."""
    base = Manifest() if run.first is None else run.first.manifest
    return replace(
        base,
        specification=spec.digest,
        purpose=spec.purpose,
        guarantees=tuple(one for one in base.guarantees if one.kind not in ABOUT_CLASSES),
        order="kept" if gate.keep_order else "shuffled within chunks",
        rows=run.released,
        accepted=gate.accept,
    )


def _findings(spec: Spec, place: Path, run: _Run, rows: int, *, ordered: bool) -> Iterator[Finding]:
    """All findings about the output, which is read back by chunks."""
    if run.first is None or run.first.original is None:
        return
    yield from of_roles(run.first.original)
    yield from of_steps(replace(run.first, steps=run.steps), run.read - run.released)
    yield from inspect_container(place)
    start = 0
    pieces: list[list[Table]] = [[] for _ in run.looked]
    for table in files.tables(place, rows, spec.dialect):
        if table.names != run.first.table.names:
            yield ALTERED
            return
        for held, (first, release, _) in zip(pieces, run.looked, strict=True):
            inside = np.arange(max(first, start), min(first + len(release), start + len(table)))
            if len(inside):
                held.append(table.take(inside - start))
        start += len(table)
    if start != run.released:
        yield ALTERED
        return
    for held, (_, release, order) in zip(pieces, run.looked, strict=True):
        if release.original is not None:
            read = declared_as(release, _together(held))
            origin = None if release.origin is None else release.origin[order]
            yield from of_cells(release, read, origin, ordered=ordered)


def _together(tables: Sequence[Table]) -> Table:
    """Stretches of one file as one table."""
    frame = nw.concat([table.frame for table in tables])
    return replace(tables[0], frame=frame, origin=np.arange(len(frame), dtype=np.int64))


def _join(one: Step, other: Step) -> Step:
    """What a step has done to two chunks."""
    changed = dict(one.changed)
    for name, cells in other.changed.items():
        changed[name] = changed.get(name, 0) + cells
    return replace(one, changed=changed, lost=one.lost + other.lost)
