"""The gate and the ledger of a table: it is asked before a release, and written before that gets its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import AnonymizerError, FileError, GateError, list_names
from anonymizer.gate.finding import Finding
from anonymizer.releases.composition import PrivacyLoss, loss_of
from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee
from anonymizer.releases.ledger import History, OpenLedger, PastRelease, SourceTable, find_changed
from anonymizer.releases.manifest import Manifest, digest
from anonymizer.releases.release import Release
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import Intersection, Left, intersect
from anonymizer.tables import csvs, files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

_THIS: Final = "this release"
_OF_ONE_ROW: Final = (
    "Releases of this table before have counted epsilon for all rows of a person, and this one counts it for "
    "a single row, so that the sum would be too small."
)
_OF_ROWS: Final = (
    "A limit of epsilon holds for this table. Releases before (records {}) have counted epsilon for a single "
    "row, and this one counts it for all rows of a person, which nothing bounds in those before."
)
_TOGETHER: Final = (
    "Release the same classes again or coarser ones; withdraw a release that never left the house "
    "(`duetto anonymize releases`); or accept it with a reason."
)


@dataclass(frozen=True)
class Recording:
    """A release that is to be recorded.

    Attributes:
        ledger: that is held until the files have their names.
        source: what the release is made of.
        history: what was released of it before.
        reference: what the manifest says of its record, see `Manifest.record`.
        others: those releases that rest on classes and whose files stand, as an attacker has them.
        promises: what these have promised, in the same order.
        unread: why others of them could not be measured again, by the path of their main table.
        joint: what is left of this release, first, and of the others to somebody who has all of them; None
            if there are none.
        blurred: the columns of this release whose cells were drawn at random.
        bare: the columns that its epsilon does not cover; empty if it has none.
    """

    ledger: OpenLedger
    source: SourceTable
    history: History = field(repr=False)
    reference: Mapping[str, Any] = field(default_factory=dict, repr=False)
    others: tuple[ReleasedRows, ...] = field(default=(), repr=False)
    promises: tuple[tuple[Guarantee, ...], ...] = field(default=(), repr=False)
    unread: tuple[tuple[str, str], ...] = ()
    joint: Intersection | None = field(default=None, repr=False)
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

        Synthetic tables are left out: no row of them is a person's, and they add up by epsilon. Noise on some
        columns leaves what the others show.

        Args:
            release: that is to be recorded, with its original.
            dialect: of CSV files.
            seed: of the persons that are looked for, where all would be too many.
        """
        original = release.original
        found = replace(self, blurred=release.blurred, bare=_bare(release))
        if original is None or release.is_synthetic:
            return found
        others, promises, unread = [], [], []
        for one in self.history.counted:
            if any(promise.kind == "dp" for promise in one.guarantees):
                continue  # synthetic
            why = self._unfit(one, original)
            if why:
                unread.append((one.output, why))
                continue
            try:
                others.append(self._read(one, original, dialect))
                promises.append(one.guarantees)
            except AnonymizerError as problem:
                unread.append((one.output, problem.what))
        found = replace(found, others=tuple(others), promises=tuple(promises), unread=tuple(unread))
        keys = set(release.table.roles.quasi_identifiers)
        if not others or not keys or keys & set(release.blurred):
            return found
        own = ReleasedRows.of(
            _THIS, release.table, original.roles, release.extra, release.origin, release.blurred
        )
        return replace(
            found, joint=intersect(original, (own, *others), Randomness(seed, "releases together"))
        )

    def _unfit(self, one: PastRelease, original: Table) -> str:
        """Why a release cannot be measured again, a sentence; "" if it can."""
        noisy = sorted(set(one.blurred) & set(original.roles.quasi_identifiers))
        if noisy:
            return f"the cells of {', '.join(noisy)} were drawn at random and fit nobody."
        wrong = find_changed(one, self.ledger.folder, digest)
        return next((f"{path} {what}." for path, what in wrong.items()), "")

    def _read(self, one: PastRelease, original: Table, dialect: Dialect) -> ReleasedRows:
        """A release as it lies there."""
        folder = self.ledger.folder
        main, *further = sorted(one.files, key=lambda path: path != one.output)
        extra = {path: _table(folder / path, dialect) for path in further}
        table = _table(folder / main, dialect)
        return ReleasedRows.of(main, table, original.roles, extra, blurred=one.blurred)

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
            promises = (release.guarantees, *self.promises)
            for left, promised in zip(self.joint.left, promises, strict=True):
                yield from _find_shortfall(left, promised)

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
    def lines(self) -> tuple[str, ...]:
        """What there is to say of the releases before, for people."""
        if self.joint is None:
            return ()
        said = [] if self.joint.k is None else [f"k = {self.joint.k}"]
        said += [f"l = {least} for {name}" for name, least in self.joint.l.items()]
        others = f"{len(self.others)} release{'s' * (len(self.others) > 1)}"
        return (f"together with {others} before: {', '.join(said) or 'not measured'}",)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What epsilon does not cover, and the releases that were not measured, a sentence each."""
        bare = (
            f"Epsilon counts for the columns with noise alone: {list_names(self.bare)} tell what they tell, "
            "and no sum or limit of epsilon holds them.",
        )
        return (bare if self.bare else ()) + tuple(
            f"The release {path} was made of this table before and is not measured together with this one: "
            f"{what}"
            for path, what in self.unread
        )

    def together(self, release: Release) -> dict[str, Any]:
        """What this release and those before come to, for the manifest; plain JSON values."""
        total, outside = self.history.with_another(loss_of(release.guarantees))
        return {
            "releases": len(self.history.counted) + 1,
            "without_epsilon": outside,
            "epsilon": total.epsilon,
            "delta": total.delta,
            "neighbours": total.neighbours,
            "measured": len(self.others) + 1 if self.joint is not None else 0,
            "k": None if self.joint is None else self.joint.k,
            "l": {} if self.joint is None else self.joint.l,
            "looked": 0 if self.joint is None else self.joint.looked,
        }

    def record(self, manifest: Manifest, path: Path) -> None:
        """Write the release into the ledger.

        Args:
            manifest: with the digests of the files.
            path: where the main table will lie.

        Raises:
            LedgerError: it cannot be written.
        """
        self.ledger.record(self.source, manifest, path, self.blurred)


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


def _bare(release: Release) -> tuple[str, ...]:
    """The columns of a release that its epsilon does not cover."""
    claims = [one for one in release.guarantees if one.kind == "local-dp"]
    if release.is_synthetic or not claims:
        return ()
    covered = {column for one in claims for column in one.columns}
    return tuple(name for name in release.table.names if name not in covered)


def _of_classes(one: Guarantee) -> bool:
    return one.kind in ABOUT_CLASSES or one.kind in _OF_VALUES


def _find_shortfall(left: Left, promised: tuple[Guarantee, ...]) -> Iterator[Finding]:
    """Where less is left of a release than it promises, or has promised, and than it has alone."""
    for one in promised:
        k, l = int(one.number("k")), one.number("l")  # noqa: E741 - the name of the field
        if one.kind == "k-anonymity" and left.k is not None and left.k < min(k, left.k_alone or k):
            yield Finding(
                "together",
                None,
                f"k = {k} is promised of {left.name}; who has the other releases of this table is left with "
                f"{left.k} candidates for a person.",
                _TOGETHER,
            )
        column = one.columns[-1] if one.columns else ""
        least = left.l.get(column)
        if one.kind in _OF_VALUES and least is not None and least < min(l, left.l_alone[column]):
            yield Finding(
                "together",
                column,
                f"{one.kind} with l = {l:g} is promised of {left.name}; who has the other releases of this "
                f"table is left with {least} values of {column} for a person.",
                _TOGETHER,
            )


_OF_VALUES: Final = frozenset(
    {"distinct-l-diversity", "entropy-l-diversity", "recursive-cl-diversity", "anatomy"}
)
"""Promises that do not hold of fewer than l values."""
