"""The gate: a release is written where nobody looks, read back, looked at, and only then put in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import GateError
from anonymizer.gate.checks import findings
from anonymizer.gate.container import MANIFEST_KEY
from anonymizer.gate.finding import Finding
from anonymizer.gate.recording import Recording
from anonymizer.gate.staging import Staging, staging
from anonymizer.releases.acceptance import ACCEPTABLE, Acceptance
from anonymizer.releases.manifest import ENDING, Manifest, digest
from anonymizer.releases.release import Release
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from commons.tabular.dialect import Dialect

Int = NDArray[np.int64]

Page = Callable[[Manifest], str]
"""Makes a text about a release of its manifest, as it is written."""

KEPT: Final = (
    "The rows keep the order of the original: who has a list of the people in that order reads off "
    "who is who."
)

SEEDED: Final = (
    "The rows were shuffled by the seed: who guesses it puts them back into the order of the original, and "
    "then a list of the people in that order tells who is who. Release without a seed."
)


@dataclass(frozen=True, slots=True)
class Passed:
    """What went through the gate.

    Attributes:
        manifest: as written.
        paths: of the files, the release first, then its further tables and the manifest.
        warnings: a sentence each.
    """

    manifest: Manifest
    paths: tuple[Path, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets a release out, or says why not.

    Attributes:
        keep_order: leave the rows in the order of the original.
        accept: findings that are right.
        dialect: of CSV files; None is that of the original.
        seed: makes the order of the rows repeatable, for trials; None is the operating system's randomness.
    """

    keep_order: bool = False
    accept: tuple[Acceptance, ...] = ()
    dialect: Dialect | None = None
    seed: int | None = field(default=None, repr=False)

    def write(
        self,
        release: Release,
        path: str | Path,
        pages: Mapping[Path, Page] | None = None,
        recording: Recording | None = None,
    ) -> Passed:
        """Write a release: the main table, further tables beside it, the manifest, and pages about it.

        Args:
            release: with its original.
            path: of the main table; its ending says the kind of all tables.
            pages: by path, which appear together with the release.
            recording: in the ledger of the table; None if somebody else keeps count.

        Raises:
            GateError: there is a finding that is not accepted. Nothing was written.
            FileError: a file cannot be written; no file was.
            LedgerError: the ledger cannot be written; no file was.
        """
        if release.original is None:
            raise GateError([_WITHOUT.to_json()])
        path = Path(path)
        order = np.arange(len(release), dtype=np.int64)
        if not self.keep_order:
            order = Randomness(self.seed, "order of the rows").permutation(len(release))
        manifest = replace(
            release.manifest,
            guarantees=release.guarantees,
            order="kept" if self.keep_order else "shuffled",
            rows=len(release),
            accepted=self.accept,
            seeded=release.manifest.seeded or (self.seed is not None and not self.keep_order),
            together={} if recording is None else recording.together(release),
        )
        dialect = self.dialect or release.original.dialect or Dialect()
        tables = {path: release.table.take(order)}
        tables |= {beside(path, word): table for word, table in release.extra.items()}
        with staging() as staged:
            places = {wanted: staged.place(wanted) for wanted in tables}
            for wanted, table in tables.items():
                files.write(table, places[wanted], dialect, {MANIFEST_KEY: manifest.to_json()})
            origin = None if release.origin is None else release.origin[order]
            self.judge(findings(release, places, origin, dialect, ordered=self.keep_order))
            self.judge(() if recording is None else recording.findings(release))
            manifest = publish(staged, places, manifest, path, pages, recording)
        paths = (*tables, manifest_path(path), *(pages or {}))
        return Passed(manifest, paths, self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of the order of the rows."""
        if self.keep_order:
            return (KEPT,)
        return () if self.seed is None else (SEEDED,)

    def judge(self, found: Iterable[Finding]) -> None:
        """Refuse a release with a finding that is not accepted.

        Raises:
            GateError: names them all.
        """
        accepted = {(one.finding, one.column) for one in self.accept}
        left = [one for one in dict.fromkeys(found) if (one.rule, one.column or "") not in accepted]
        if left:
            decisions = [each for one in left for each in one.decisions]
            acceptable = dict.fromkeys(one.rule for one in left if one.rule in ACCEPTABLE)
            plain = [one.to_json() for one in left]
            raise GateError(plain, tuple(dict.fromkeys(decisions)), tuple(acceptable))


def manifest_path(path: Path) -> Path:
    """Where the manifest of a release lies."""
    return path.with_name(f"{path.name}{ENDING}")


def beside(path: Path, word: str) -> Path:
    """Where a further table of a release lies."""
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}-{word}{dot}{endings}")


_WITHOUT: Final = Finding(
    "original",
    None,
    "The release does not know the table that it was made of.",
    "Make it by the release() of a method or a pipeline.",
)


def publish(
    staged: Staging,
    places: Mapping[Path, Path],
    manifest: Manifest,
    path: Path,
    pages: Mapping[Path, Page] | None = None,
    recording: Recording | None = None,
) -> Manifest:
    """Put the tables of a release, its manifest and pages about it into their places; record it just before.

    Returns:
        The manifest with the digests of the tables and the number of the record.
    """
    manifest = replace(
        manifest,
        files={wanted.name: digest(place) for wanted, place in places.items()},
        record={} if recording is None else recording.reference,
    )
    made: Mapping[Path, Page] = {manifest_path(path): Manifest.to_json, **(pages or {})}
    for wanted, page in made.items():
        staged.place(wanted).write_text(page(manifest), encoding="utf-8")
    if recording is not None:
        recording.record(manifest, path)
    staged.publish()
    return manifest
