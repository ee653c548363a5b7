"""Whether what is promised of a release holds in the tables that were read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import AnonymizerError
from anonymizer.gate.finding import Finding
from anonymizer.gate.looks import differing
from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.conditions.constraints import WORDS
from anonymizer.releases.composition import budget, compose
from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee
from anonymizer.releases.release import Release
from anonymizer.risk.classes import class_sizes, classes_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

_MEASURED: Final = ABOUT_CLASSES - {"delta-presence", "k-map"}
_AFTER: Final = "Put the step that promises it behind the others, or take it out of the specification."


def find_broken(
    release: Release, read: Table, extra: Mapping[str, Table], origin: Int | None
) -> Iterator[Finding]:
    """Measure again what the steps have promised.

    Args:
        release: with its original.
        read: the main table as it was read back.
        extra: the further tables as they were read back.
        origin: where each row of `read` stood.
    """
    for guarantee, step in release.broken:
        reason = _failing(guarantee, release, read, extra, origin)
        if reason is not None:
            yield Finding(
                "guarantee",
                None,
                f"{guarantee.method or 'A step'} has promised {guarantee.kind}, and the later step {step} "
                f"takes it away: {reason}.",
                _AFTER,
            )
    for guarantee in release.guarantees:
        reason = _failing(guarantee, release, read, extra, origin)
        if reason is not None:
            yield Finding(
                "guarantee",
                None,
                f"{guarantee.kind} is promised and does not hold in the released file: {reason}.",
                "Report this as a defect, and release nothing of it.",
            )
    yield from _narrow(release, read, origin)
    yield from _budget(release)


def _narrow(release: Release, read: Table, origin: Int | None) -> Iterator[Finding]:
    """K that is promised of some quasi-identifiers and does not hold over all."""
    quasi = [name for name in read.roles.quasi_identifiers if name in read.names]
    for guarantee in release.guarantees:
        asked = int(guarantee.number("k"))
        if guarantee.kind != "k-anonymity" or set(quasi) <= set(guarantee.columns) or not len(read):
            continue
        found = _smallest(_with_persons(read, release.original, origin), tuple(quasi))
        if found < asked:
            yield Finding(
                "narrow",
                None,
                f"k = {asked} is promised over {', '.join(guarantee.columns)} only; over all "
                f"quasi-identifiers k is {found}.",
                "Leave columns out of the step, so that it takes them all, or protect the others.",
            )


def _budget(release: Release) -> Iterator[Finding]:
    """Differential privacy: the manifest must name what the cells of a record have spent together."""
    cells = [one for one in release.guarantees if one.unit == "cell"]
    epsilon, delta = budget(compose(cells))
    rows = release.manifest.rows_per_person or 1
    epsilon, delta = (epsilon or 0.0) * rows, (delta or 0.0) * rows
    stated = release.manifest.epsilon or 0.0, release.manifest.delta or 0.0
    if stated[0] < epsilon * (1 - 1e-9) or stated[1] < delta * (1 - 1e-9):
        yield Finding(
            "guarantee",
            None,
            f"A {'record' if rows == 1 else 'person'} has spent epsilon {epsilon:.6g}, and the manifest says "
            f"{stated[0]:.6g}.",
            "Report this as a defect, and release nothing of it.",
        )


def _failing(
    guarantee: Guarantee, release: Release, read: Table, extra: Mapping[str, Table], origin: Int | None
) -> str | None:
    """Why a promise does not hold, the end of a sentence; None if it does, or if files cannot show it."""
    if guarantee.kind == "anatomy":
        return _anatomy(guarantee, read, extra)
    return _of_classes(guarantee, release.original, read, origin) if guarantee.kind in _MEASURED else None


def _of_classes(guarantee: Guarantee, original: Table | None, read: Table, origin: Int | None) -> str | None:
    """The same for classes of rows alike."""
    of_rows = guarantee.kind == "k-anonymity"
    columns = guarantee.columns if of_rows else guarantee.columns[:-1]
    missing = [name for name in columns if name not in read.names]
    if missing:
        return f"the release lacks {', '.join(missing)}"
    if of_rows:
        counted = _with_persons(read, original, origin)
        found = _smallest(counted, columns)
        what = "rows" if counted.persons is None else "persons"
        return f"the smallest class has {found} {what}" if found < guarantee.number("k") else None
    if origin is None or original is None:
        return "the rows are not of persons"
    return _contents(guarantee, original, read, columns, origin)


def _smallest(table: Table, columns: tuple[str, ...]) -> int:
    classes, count = classes_of(table, columns)
    return int(class_sizes(table, classes, count).min(initial=len(table)))


def _with_persons(read: Table, original: Table | None, origin: Int | None) -> Table:
    """The table as it was read back, with whose its rows are."""
    if original is None or original.persons is None or origin is None:
        return read
    return replace(read, persons=original.persons.take(origin))


def _contents(
    guarantee: Guarantee, original: Table, read: Table, columns: tuple[str, ...], origin: Int
) -> str | None:
    """The same for what classes hold.

    A column that is not in the file, as groups of people are not, is taken from the original. The values of
    classes are compared with those of the original, or of the released rows: a step may have seen either.
    """
    kind = WORDS[guarantee.kind]
    named = {one.name for one in fields(kind)}
    given: dict[str, Any] = {key: value for key, value in guarantee.parameters.items() if key in named}
    sensitive = guarantee.columns[-1]
    for name in (sensitive, *guarantee.known):  # what is recoded makes the classes, in which rows agree in it
        if name in read.names and name not in columns and differing(original, read, origin, name).any():
            return f"cells of {name} are others than those it was measured on"
    classes, count = classes_of(read, columns)
    rows = np.arange(len(read), dtype=np.int64)
    try:
        asked = (kind(sensitive, known=guarantee.known, **given),)
        judges = (Allowed(original, 1, asked).of(origin), Allowed(original.take(origin), 1, asked))
        if any(judge(rows, classes, count).all() for judge in judges):
            return None
    except AnonymizerError as problem:
        return problem.what
    return f"a class does not fulfil it for {sensitive}"


def _anatomy(guarantee: Guarantee, read: Table, extra: Mapping[str, Table]) -> str | None:
    """Nobody's value may be known with more than 1 / l from the two tables."""
    if len(extra) != 1:
        return "the table of the sensitive values is missing"
    table = next(iter(extra.values()))
    group, _, count = table.names
    groups, counts = table.codes(group), table.numbers(count)
    rows = read.codes(group)
    if rows.values.tolist() != groups.values.tolist():
        return "the two tables have other groups"
    sizes = np.bincount(rows.codes)
    if (np.bincount(groups.codes, counts) != sizes).any():
        return "the counts do not add up to the groups"
    share = float((counts / sizes[groups.codes]).max())
    return None if share <= 1 / guarantee.number("l") + 1e-12 else f"a value has the part {share:.3g}"
