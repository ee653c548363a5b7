"""The gate and the ledger of a table: it is asked before a release, and written before that gets its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import AnonymizerError, FileError, GateError, list_names
from anonymizer.gate.finding import Finding
from anonymizer.gate.together import OF_VALUES, HeldRelease, ReleasesTogether, Unmeasured, measure_together
from anonymizer.releases.composition import PrivacyLoss, loss_of
from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee
from anonymizer.releases.ledger import History, OpenLedger, PastRelease, SourceTable, find_changed
from anonymizer.releases.manifest import Manifest, digest
from anonymizer.releases.release import Release
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import Intersection
from anonymizer.tables import csvs, files
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

_THIS: Final = "this release"
_MANY: Final = 0.1
"""A part of the rows."""
_OF_ONE_ROW: Final = (
    "Releases of this table before have counted epsilon for all rows of a person, and this one counts it for "
    "a single row, so that the sum would be too small."
)
_OF_ROWS: Final = (
    "A limit of epsilon holds for this table. Releases before (records {}) have counted epsilon for a single "
    "row, and this one counts it for all rows of a person, which nothing bounds in those before."
)


@dataclass(frozen=True)
class Recording:
    """A release that is to be recorded.

    Attributes:
        ledger: that is held until the files have their names.
        source: what the release is made of.
        history: what was released of it before.
        reference: what the manifest says of its record, see `Manifest.record`.
        joint: what is left of this release, first, and of those before to somebody who has all of them; None
            if it was not looked at, as of a synthetic table.
        keys: the quasi-identifiers of this release.
        blurred: the columns of this release whose cells were drawn at random, or stand for others than their
            persons, as means do.
        bare: the columns that its epsilon does not cover; empty if it has none.
    """

    ledger: OpenLedger
    source: SourceTable
    history: History = field(repr=False)
    reference: Mapping[str, Any] = field(default_factory=dict, repr=False)
    joint: ReleasesTogether | None = field(default=None, repr=False)
    keys: tuple[str, ...] = ()
    blurred: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()

    @classmethod
    def of(cls, ledger: OpenLedger, source: SourceTable) -> Recording:
        """With the history of the table."""
        return cls(ledger, source, ledger.history(source), ledger.reference())

    def check(self, declared: PrivacyLoss | None) -> None:
        """Refuse by the parameters alone, before anything is drawn.

        Args:
            declared: what a specification says that it spends, or less; None if only a run tells.

        Raises:
            GateError: that is beyond what all releases of the table may spend.
        """
        why = "" if declared is None else self.history.beyond(declared)
        if why:
            raise GateError([self._budget(why, declared).to_json()])

    def beside(self, release: Release, dialect: Dialect, seed: int | None = None) -> Recording:
        """With what is left of k and l to somebody who has the releases before, too.

        Synthetic tables are left out: no row of them is a person's, and they add up by epsilon.

        Args:
            release: that is to be recorded, with its original.
            dialect: of CSV files.
            seed: of the persons that are looked for, where all would be too many.
        """
        original = release.original
        keys = tuple(release.table.roles.quasi_identifiers)
        blurred = (*release.blurred, *_strange(release))
        found = replace(self, blurred=blurred, bare=_bare(release), keys=keys)
        if original is None or release.is_synthetic:
            return found
        own = HeldRelease(
            _THIS,
            None,
            release.table,
            keys,
            release.guarantees,
            release.extra,
            release.origin,
            blurred,
        )
        held, unread = [own], []
        for one in self.history.counted:
            if any(promise.kind == "dp" for promise in one.guarantees):
                continue  # synthetic
            wrong = find_changed(one, self.ledger.folder, digest)
            why = next((f"{path} {what}." for path, what in wrong.items()), "")
            try:
                if not why:
                    held.append(self._read(one, dialect))
            except AnonymizerError as problem:
                why = problem.what
            if why:
                said = f"The release {one.output} was made of this table before and is not measured together "
                unread.append(Unmeasured(one.sequence, "file", (), f"{said}with this one: {why}"))
        joint = measure_together(original, held, seed) if len(held) > 1 else ReleasesTogether((own,), ())
        return replace(found, joint=replace(joint, unmeasured=(*unread, *joint.unmeasured)))

    def _read(self, one: PastRelease, dialect: Dialect) -> HeldRelease:
        """A release as it lies there."""
        folder = self.ledger.folder
        main, *further = sorted(one.files, key=lambda path: path != one.output)
        return HeldRelease(
            main,
            one.sequence,
            _table(folder / main, dialect),
            one.keys,
            one.guarantees,
            {path: _table(folder / path, dialect) for path in further},
            blurred=one.blurred,
        )

    def _budget(self, why: str, loss: PrivacyLoss | None) -> Finding:
        if loss is None:
            hint = "Give a step an epsilon, or release nothing more: no limit covers a release without one."
        else:
            hint = (
                f"Lower {'epsilon or delta' if loss.delta else 'epsilon'}, or release nothing more. `duetto "
                f"anonymize releases DATA {self.history.limit_for(loss)}` raises the limit, which is a "
                "decision about the people in the table."
            )
        return Finding("budget", None, why, hint)

    def findings(self, release: Release) -> Iterator[Finding]:
        """What is found of a release beside those before."""
        loss = loss_of(release.guarantees)
        why = self.history.beyond(loss)
        if why:
            yield self._budget(why, loss)
        if loss is not None and not loss.of_persons and self.history.spent.of_persons:
            yield Finding(
                "budget", None, _OF_ONE_ROW, "Write person and rows_per_person below [roles] again."
            )
        if loss is not None and loss.of_persons and self.history.limit is not None and self.history.of_rows:
            numbers = list_names([str(one.sequence) for one in self.history.of_rows], "records")
            yield Finding(
                "budget",
                None,
                _OF_ROWS.format(numbers),
                "Withdraw those that never left the house (`duetto anonymize releases`). If one did, no "
                "limit on what persons have spent can be kept for this table.",
            )
        if self.history.limit is not None and self.bare:
            yield Finding(
                "uncovered",
                None,
                f"A limit of epsilon holds for this table, and {list_names(self.bare)} of this release have "
                "no noise: what they tell is in no sum.",
                "Take them out, or release them with noise or as a synthetic table; or accept it with the "
                "reason why they may leave beside the limit.",
            )
        if self.joint is not None:
            yield from self.joint.findings()

    def unmeasured(self) -> Iterator[Finding]:
        """What a release by chunks may undo of releases before: its rows are never held together to look."""
        held = [one.output for one in self.history.counted if any(map(_of_classes, one.guarantees))]
        if held:
            yield Finding(
                "together",
                None,
                f"{list_names(held, 'releases')} of this table promised classes of rows that look alike, and "
                "what is left of them beside a release by chunks is not measured.",
                "Leave --chunk-rows out, so that it is; or accept it with a reason.",
            )

    @property
    def intersection(self) -> Intersection | None:
        """What is left of this release, first, and of those before at worst; None if it was not measured."""
        return None if self.joint is None else self.joint.worst

    @property
    def _unmeasured(self) -> tuple[Unmeasured, ...]:
        return () if self.joint is None else self.joint.unmeasured

    @property
    def lines(self) -> tuple[str, ...]:
        """What there is to say of the releases before, for people."""
        found = self.intersection
        if found is None:
            return ("together with the releases before: not measured",) if self._unmeasured else ()
        said = [] if found.k is None else [f"k = {found.k}"]
        said += [f"l = {least} for {name}" for name, least in found.l.items()]
        count = len(found.left) - 1
        most = "at most " if self._unmeasured and said else ""
        figures = f"{most}{', '.join(said) or 'not measured'}"
        part = ", as not all was measured" if most else ""
        return (f"together with {count} release{'s' * (count > 1)} before: {figures}{part}",)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What epsilon does not cover, and what was not measured of the releases, a sentence each."""
        bare = (
            f"Epsilon counts for the columns with noise alone: {list_names(self.bare)} tell what they tell, "
            "and no sum or limit of epsilon holds them.",
        )
        return (bare if self.bare else ()) + tuple(one.text for one in self._unmeasured)

    def together(self, release: Release) -> dict[str, Any]:
        """What this release and those before come to, for the manifest; plain JSON values."""
        total, outside = self.history.with_another(loss_of(release.guarantees))
        found, missing = self.intersection, self._unmeasured
        figures = {"k": None, "l": {}} if found is None else {"k": found.k, "l": found.l}
        return {
            "releases": len(self.history.counted) + 1,
            "without_epsilon": outside,
            "epsilon": total.epsilon,
            "delta": total.delta,
            "neighbours": total.neighbours,
            "measured": 0 if found is None else len(found.left),
            **({"k": None, "l": {}} if missing else figures),
            "at_most": figures if missing and found is not None else {},
            "unmeasured": [one.to_document() for one in missing],
            "looked": 0 if found is None else found.looked,
        }

    def record(self, manifest: Manifest, path: Path) -> None:
        """Write the release into the ledger.

        Args:
            manifest: with the digests of the files.
            path: where the main table will lie.

        Raises:
            LedgerError: it cannot be written.
        """
        self.ledger.record(self.source, manifest, path, self.blurred, self.keys)


def _table(path: Path, dialect: Dialect) -> Table:
    """A release before, also where it was written in another form of CSV than this one."""
    try:
        found = files.table(path, dialect)
    except FileError:
        found = None
    if found is not None and (len(found.names) > 1 or path.suffix == ".parquet"):
        return found
    seen, _ = csvs.source_of(path, dialect).guess_dialect()
    return files.table(path, replace(dialect, delimiter=seen.delimiter, encoding=seen.encoding))


def _strange(release: Release) -> tuple[str, ...]:
    """The quasi-identifiers that a step has made other numbers of, which are not those of their persons.

    Who reads the release without its origin would take such a number for that of somebody else. Some cells
    are so for other reasons, as where missing ones were filled.
    """
    original = release.original
    if original is None or release.origin is None or not len(release):
        return ()
    keys = release.table.roles.quasi_identifiers
    changed = [name for name in keys if name in release.changed and release.table.is_numeric(name)]
    roles = replace(original.roles, quasi_identifiers=tuple(changed))
    rows = ReleasedRows.of(_THIS, release.table, roles, persons=release.origin)
    _, counts = rows.without_unread(original)
    blurred = release.blurred
    return tuple(n for n, count in counts.items() if n not in blurred and count > _MANY * len(release))


def _bare(release: Release) -> tuple[str, ...]:
    """The columns of a release that its epsilon does not cover."""
    claims = [one for one in release.guarantees if one.kind == "local-dp"]
    if release.is_synthetic or not claims:
        return ()
    covered = {column for one in claims for column in one.columns}
    return tuple(name for name in release.table.names if name not in covered)


def _of_classes(one: Guarantee) -> bool:
    return one.kind in ABOUT_CLASSES or one.kind in OF_VALUES
