"""What has been released of a table, in a ledger beside it: releases of the same people add up.

One file, `duetto-releases.jsonl`, holds the releases of all tables of a folder. Two entries are about the
same people if they have one name of the table, whatever it held, or one content, whatever it was called; what
follows from that counts too. A copy in another folder, or one with another cell and another name, is not
recognized.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from pathlib import Path
from shlex import quote
from typing import Any, Final, Self

from anonymizer.errors import FileError, LedgerError, SpecError
from anonymizer.releases.composition import PrivacyLoss, find_sum, loss_of
from anonymizer.releases.guarantee import OF_CLASSES, Guarantee
from anonymizer.releases.manifest import ENDING as MANIFEST_ENDING
from anonymizer.releases.manifest import Manifest, named_record
from anonymizer.releases.records import Record, RecordFile

NAME: Final = "duetto-releases.jsonl"

RELEASED: Final = "release"
LIMITED: Final = "limit"
WITHDRAWN: Final = "withdrawn"

_OF_KEYS: Final = frozenset({"k-anonymity", "delta-presence"})
"""Promises about classes whose columns are all quasi-identifiers; of others the last is sensitive."""
_ROUNDING: Final = 1e-9
_CUT: Final = (
    "{path} names record {number} of {ledger}, which has no such record: it was cut, or an older copy was "
    "put back. Restore it: what it has forgotten is in no sum."
)
_OTHER: Final = (
    "{path} is on record in another ledger than {ledger}. If it is a release of this table, the ledger was "
    "emptied, deleted or exchanged, and what it has forgotten is in no sum: restore it, or name it with "
    "--ledger."
)


@dataclass(frozen=True, slots=True)
class SourceTable:
    """The table that releases are made of.

    Attributes:
        table: the name of its file.
        content: the digest of what it held, see `anonymizer.tables.contents`.
    """

    table: str
    content: str


@dataclass(frozen=True, slots=True)
class Limit:
    """What all releases of a table may come to; it belongs to the table, whatever a specification says.

    Attributes:
        epsilon: in all, above 0.
        delta: in all, from 0 to below 1.

    Raises:
        SpecError: one is out of range.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and math.isfinite(self.epsilon)):
            raise SpecError(f"The limit of epsilon is {self.epsilon}.", "Choose a number above 0, such as 3.")
        if not 0 <= self.delta < 1:
            raise SpecError(f"The limit of delta is {self.delta}.", "Choose one in [0, 1), such as 1e-6.")

    def exceeded_by(self, loss: PrivacyLoss) -> tuple[str, ...]:
        """Of what, epsilon and delta, more would be spent in all than may be; empty if of neither."""
        spent = {"epsilon": (loss.epsilon, self.epsilon), "delta": (loss.delta, self.delta)}
        return tuple(name for name, (own, most) in spent.items() if own > most * (1 + _ROUNDING))


@dataclass(frozen=True, slots=True)
class PastRelease:
    """A release that was recorded.

    Attributes:
        sequence: the number of its record.
        time: when it was recorded, RFC 3339 in UTC.
        account: who made it, the name of the account.
        source: the table that it was made of.
        specification: SHA-256 of the specification, hexadecimal.
        output: path of the main table from the folder of the ledger.
        files: of each released file its path, from there, and the SHA-256 of its bytes.
        rows: of the release.
        blurred: the columns whose cells were drawn at random.
        guarantees: as its manifest has them.
        withdrawn: why it does not count; "" if it does.
        id: that was drawn for it and that its manifest names; "" of records from before there were any.
        quasi_identifiers: of its specification, as far as they were released; empty of records from before
            they were written, see `keys`.
    """

    sequence: int
    time: str
    account: str
    source: SourceTable
    specification: str
    output: str
    files: Mapping[str, str]
    rows: int
    blurred: tuple[str, ...]
    guarantees: tuple[Guarantee, ...] = field(repr=False)
    withdrawn: str = ""
    id: str = ""
    quasi_identifiers: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Its quasi-identifiers; of an older record the columns of the classes that it has promised."""
        promised = (
            one.columns if one.kind in _OF_KEYS else one.columns[:-1]
            for one in self.guarantees
            if one.kind in OF_CLASSES
        )
        return self.quasi_identifiers or tuple(dict.fromkeys(name for own in promised for name in own))

    @property
    def loss(self) -> PrivacyLoss | None:
        """What it has spent of differential privacy; None if it claims none."""
        return loss_of(self.guarantees)

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "sequence": self.sequence,
            "time": self.time,
            "account": self.account,
            "table": self.source.table,
            "content": self.source.content,
            "specification": self.specification,
            "output": self.output,
            "files": dict(self.files),
            "rows": self.rows,
            "blurred": list(self.blurred),
            "guarantees": [one.to_document() for one in self.guarantees],
            "withdrawn": self.withdrawn,
            "id": self.id,
            "quasi_identifiers": list(self.quasi_identifiers),
        }


@dataclass(frozen=True, slots=True)
class History:
    """What was released of one table.

    Attributes:
        releases: all of them, withdrawn ones included, in order.
        limit: what they may come to; None if nobody has set one.
        names: of the table.
        contents: that it had.
    """

    releases: tuple[PastRelease, ...] = ()
    limit: Limit | None = None
    names: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()

    @property
    def counted(self) -> tuple[PastRelease, ...]:
        """Those that were not withdrawn."""
        return tuple(one for one in self.releases if not one.withdrawn)

    @property
    def spent(self) -> PrivacyLoss:
        """What they have spent together; see `find_sum` for those that are in no sum."""
        return find_sum(one.loss for one in self.counted)[0]

    def with_another(self, loss: PrivacyLoss | None) -> tuple[PrivacyLoss, int]:
        """What they and another release have spent together, and how many of them are in no sum."""
        return find_sum((*(one.loss for one in self.counted), loss))

    @property
    def unbounded(self) -> int:
        """How many are in no sum: what they reveal is not bounded by what is spent."""
        return find_sum(one.loss for one in self.counted)[1]

    @property
    def of_rows(self) -> tuple[PastRelease, ...]:
        """Those whose epsilon counts for one row of a person."""
        return tuple(one for one in self.counted if one.loss is not None and not one.loss.of_persons)

    def beyond(self, loss: PrivacyLoss | None) -> str:
        """Why another release would pass the limit, a sentence; "" if it does not.

        Args:
            loss: of the other release; None if it claims no differential privacy, which passes every limit.
        """
        if self.limit is None:
            return ""
        most = f"{self.limit.epsilon:.6g} and delta {self.limit.delta:.6g}"
        if loss is None:
            return (
                f"All releases of this table may spend epsilon {most}, and this one promises no differential "
                "privacy, so that nothing bounds what it spends."
            )
        after, _ = self.with_another(loss)
        exceeded = self.limit.exceeded_by(after)
        if not exceeded:
            return ""
        before = self.spent
        return (
            f"All releases of this table may spend epsilon {most}. Those before have spent "
            f"{before.epsilon:.6g} and {before.delta:.6g}; with this one it would be {after.epsilon:.6g} and "
            f"{after.delta:.6g}: more {' and '.join(exceeded)} than is allowed."
        )

    def limit_for(self, loss: PrivacyLoss | None) -> str:
        """The options that set a limit under which another release is allowed; without figures for None."""
        if loss is None or self.limit is None:
            return "--limit-epsilon"
        after, _ = self.with_another(loss)
        epsilon = max(self.limit.epsilon, after.epsilon)
        delta = max(self.limit.delta, after.delta)
        return f"--limit-epsilon {_at_least(epsilon)}" + (
            f" --limit-delta {_at_least(delta)}" if delta else ""
        )


def _at_least(number: float) -> str:
    """A number of three digits that is not below another one."""
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(number)):g}"


class ReleaseLedger:
    """The ledger of the tables of a folder.

    Args:
        path: of its file.
        own: the file in the folder of the tables, where that is another one: what it knows is not to be
            forgotten here.
    """

    def __init__(self, path: Path, own: Path | None = None) -> None:
        self.path: Final = path
        self._chain = RecordFile(path)
        self._own = own if own != path else None

    @classmethod
    def of(cls, table: Path, path: Path | None = None) -> Self:
        """The ledger of a table: in its folder, wherever links to it lie, or at another path."""
        own = table.resolve().parent / NAME
        return cls(own if path is None else path.resolve(), own)

    def records(self) -> tuple[Record, ...]:
        """All records, checked.

        Raises:
            LedgerError: the file is unreadable, or was changed.
        """
        return self._chain.read()

    @property
    def losses(self) -> tuple[str, ...]:
        """As `RecordFile.losses`."""
        return self._chain.losses

    def strangers(self, output: Path | None = None) -> tuple[str, ...]:
        """The releases beside the tables that the ledger does not know, a sentence each.

        A ledger that was emptied, cut at its end or exchanged for an older copy is a whole chain; what tells
        are the manifests of the releases that it has forgotten.

        Args:
            output: where a release is about to lie: beside it those count that name this ledger, as releases
                of other tables may lie there too.

        Raises:
            LedgerError: as `records`.
        """
        records = [one for one in self.records() if one.event == RELEASED]
        known = {one.content.get("id") for one in records}
        first = next((one.content.get("id") for one in records), None)
        own = {self.path.parent, *([self._own.parent] if self._own else [])}
        found = {}
        for folder in (*own, *([output.resolve().parent] if output is not None else [])):
            for path in sorted(folder.glob(f"*{MANIFEST_ENDING}")):
                named = named_record(path)
                if not named.get("id") or named["id"] in known:
                    continue
                if records and named.get("ledger") == (first or ""):
                    found[path] = _CUT.format(path=path, number=named.get("number"), ledger=self.path)
                elif folder in own:
                    found[path] = _OTHER.format(path=path, ledger=self.path)
        return tuple(found.values())

    def history(self, source: SourceTable) -> History:
        """What was released of a table.

        Raises:
            LedgerError: as `records`, or the ledger in the table's folder knows the table and is another one.
        """
        self._check(source)
        return history_of(self._chain.read(), source)

    def _check(self, source: SourceTable) -> None:
        if self._own is None:
            return
        known = history_of(RecordFile(self._own).read(), source)
        if known.releases or known.limit is not None:
            raise LedgerError(
                f"Releases of this table are on record in {self._own}, which {self.path} would forget.",
                self._hint(self._own),
            )

    def _hint(self, own: Path) -> str:
        """What to do instead; a move only where it writes over no records and the paths in it stay right."""
        if self._chain.read() or self.path.parent != own.parent:
            return "Leave --ledger out: two ledgers cannot be joined, and paths in one go from its folder."
        return (
            f"Leave --ledger out, or give that file the other name first: mv -n {quote(str(own))} "
            f"{quote(str(self.path))}"
        )

    @contextmanager
    def open(self) -> Iterator[OpenLedger]:
        """Hold the ledger, for those who write; others wait.

        Raises:
            LedgerError: as `records`, or it cannot be written.
        """
        with self._chain.lock() as records:
            yield OpenLedger(self._chain, records, self._check)


class OpenLedger:
    """A ledger that is held."""

    def __init__(
        self, chain: RecordFile, records: Sequence[Record], check: Callable[[SourceTable], None]
    ) -> None:
        self._chain = chain
        self._records = records
        self._check = check

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._chain.path.parent

    def reference(self) -> dict[str, Any]:
        """What a manifest says of the record that is written next, see `Manifest.record`."""
        own = secrets.token_hex(16)
        first = next((one.content.get("id") for one in self._records if one.event == RELEASED), own)
        return {"number": len(self._records), "id": own, "ledger": first or ""}

    def history(self, source: SourceTable) -> History:
        """As `ReleaseLedger.history`."""
        self._check(source)
        return history_of(self._records, source)

    def record(
        self,
        source: SourceTable,
        manifest: Manifest,
        output: Path,
        blurred: Sequence[str] = (),
        quasi_identifiers: Sequence[str] = (),
    ) -> Record:
        """Write that a release is about to get its name; on return it is on the disk.

        Args:
            source: what it was made of.
            manifest: of the release, with the digests of its files.
            output: where its main table will lie; the others lie beside it.
            blurred: the columns whose cells were drawn at random.
            quasi_identifiers: that are in it.

        Raises:
            LedgerError: it cannot be written.
        """
        self._check(source)
        place = Path(os.path.relpath(output.resolve(), self.folder))
        return self._chain.append(
            RELEASED,
            {
                "id": manifest.record.get("id", ""),
                "table": source.table,
                "content": source.content,
                "specification": manifest.specification,
                "output": str(place),
                "files": {str(place.with_name(name)): value for name, value in manifest.files.items()},
                "rows": manifest.rows,
                "blurred": list(blurred),
                "quasi_identifiers": list(quasi_identifiers),
                "guarantees": [one.to_document() for one in manifest.guarantees],
            },
        )

    def limit(self, source: SourceTable, limit: Limit) -> Record:
        """Write what all releases of a table may come to; the last word counts. Raises as `record`."""
        self._check(source)
        content = {"table": source.table, "content": source.content}
        return self._chain.append(LIMITED, {**content, "epsilon": limit.epsilon, "delta": limit.delta})

    def withdraw(self, source: SourceTable, sequence: int, why: str) -> Record:
        """Write that a release has not left the house, so that it counts no more.

        Args:
            source: the table.
            sequence: the number of its record.
            why: a sentence.

        Raises:
            SpecError: the table has no release of that number that counts, or the reason is empty.
            LedgerError: it cannot be written.
        """
        if not why.strip():
            raise SpecError(
                f"Release {sequence} is withdrawn without a reason.", 'Write --why "it was never given out".'
            )
        if sequence not in {one.sequence for one in self.history(source).counted}:
            raise SpecError(
                f"{source.table} has no release {sequence} that counts.",
                f"List them: duetto anonymize releases {source.table}.",
            )
        return self._chain.append(WITHDRAWN, {"release": sequence, "why": why})


def history_of(records: Sequence[Record], source: SourceTable) -> History:
    """What records say of one table.

    Raises:
        LedgerError: a record does not hold what its event has.
    """
    about = [one for one in records if one.event in (RELEASED, LIMITED)]
    for one in about:
        if not all(isinstance(one.content.get(key), str) for key in ("table", "content")):
            raise _strange(one)
    names, contents, known = {source.table}, {source.content}, 0
    while known != len(names) + len(contents):
        known = len(names) + len(contents)
        for one in about:
            if one.content["table"] in names or one.content["content"] in contents:
                names.add(one.content["table"])
                contents.add(one.content["content"])
    own = [one for one in about if one.content["table"] in names]
    reasons = _withdrawals(records)
    releases = tuple(_release(one, reasons.get(one.sequence, "")) for one in own if one.event == RELEASED)
    limits = [_limit(one) for one in own if one.event == LIMITED]
    return History(releases, limits[-1] if limits else None, frozenset(names), frozenset(contents))


def find_changed(one: PastRelease, folder: Path, digest: Callable[[Path], str]) -> dict[str, str]:
    """The files of a release that do not lie where they were written, or are others now.

    Args:
        one: the release.
        folder: of the ledger.
        digest: gives the SHA-256 of a file, hexadecimal.

    Returns:
        By path what is wrong, the end of a sentence; empty if all stand.
    """
    found = {}
    for path, value in one.files.items():
        try:
            if digest(folder / path) != value:
                found[path] = "is another file than the one that was recorded"
        except OSError as problem:
            found[path] = f"cannot be read: {problem.strerror or type(problem).__name__}"
    return found


def _withdrawals(records: Iterable[Record]) -> dict[int, str]:
    found = {}
    for one in records:
        if one.event == WITHDRAWN:
            release, why = one.content.get("release"), one.content.get("why")
            if type(release) is not int or not isinstance(why, str):
                raise _strange(one)
            found[release] = why
    return found


def _limit(record: Record) -> Limit:
    try:
        return Limit(float(record.content["epsilon"]), float(record.content["delta"]))
    except (KeyError, TypeError, ValueError, SpecError):
        raise _strange(record) from None


def _release(record: Record, withdrawn: str) -> PastRelease:
    content = record.content
    kinds = {"specification": str, "output": str, "files": dict, "rows": int, "blurred": list}
    if not all(type(content.get(key)) is kind for key, kind in {**kinds, "guarantees": list}.items()):
        raise _strange(record)
    keys = content.get("quasi_identifiers", [])  # not in records of older versions
    if type(keys) is not list:
        raise _strange(record)
    if not all(isinstance(value, str) for value in (*content["files"].values(), *content["blurred"], *keys)):
        raise _strange(record)
    try:
        guarantees = tuple(map(Guarantee.from_document, content["guarantees"]))
    except FileError:
        raise _strange(record) from None
    return PastRelease(
        record.sequence,
        record.time,
        record.account,
        SourceTable(content["table"], content["content"]),
        content["specification"],
        content["output"],
        content["files"],
        content["rows"],
        tuple(content["blurred"]),
        guarantees,
        withdrawn,
        str(content.get("id", "")),
        tuple(keys),
    )


def _strange(record: Record) -> LedgerError:
    return LedgerError(
        f"Record {record.sequence} of the releases ({record.event}) does not hold what it should.",
        "Read it with the version of duetto that wrote it.",
    )
