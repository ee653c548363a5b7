"""Classes of rows alike, and what they give away of each sensitive column."""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, Tile, number
from anonymizer.risk.class_risk import ClassRisk, Distance, SensitiveRisk, class_risk


class Classes(Measure[ClassRisk]):
    """k, l, t and delta of the release."""

    name = "classes"
    title = "Classes of rows alike"
    kind = "risk"
    needs = (Need.QUASI_IDENTIFIERS, Need.PERSONS)
    passes = 30.0  # each column is sorted into classes

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The quasi-identifiers and the sensitive columns."""
        return (*case.keys, *case.release.roles.sensitive)

    @override
    def measure(self, case: Case) -> ClassRisk:
        found = class_risk(case.release, case.original)
        if case.pipeline is None:
            return found
        drawn = found.sensitive if case.origin is None else case.pipeline.blurred
        return replace(found, drawn=tuple(name for name in found.sensitive if name in drawn))

    @override
    def describe(self, found: ClassRisk) -> Presentation:
        """k, and a row for each sensitive column."""
        return Presentation(
            values={
                "k": found.k,
                "classes": found.classes,
                "sensitive": {name: _values(one) for name, one in found.sensitive.items()},
            },
            lines=[
                ("classes", f"{found.classes:,}, the smallest of k = {found.k}"),
                *((name, _line(one)) for name, one in found.sensitive.items()),
            ],
            cautions=[
                one
                for name, risk in found.sensitive.items()
                for one in _cautions(name, risk, drawn=name in found.drawn)
            ],
            cards=[Tile(f"k = {found.k}", f"{found.counts} in the smallest class of rows alike")],
            text="Rows with the same quasi-identifiers form a class. Who knows that a person is in the "
            "release and what class the person belongs to guesses the row with probability 1 / size of the "
            "class.",
            facts=[
                ("Classes", f"{found.classes:,}"),
                ("k", f"{found.k} {found.counts}: no class is smaller"),
            ],
            grids=_grids(found),
        )


def _values(one: SensitiveRisk) -> dict[str, object]:
    return {
        "l": one.l,
        "entropy_l": one.entropy_l,
        "t": {word: {"release": t.release, "table": t.table} for word, t in one.t.items()},
        "delta_disclosure": one.delta,
        "missing": one.missing,
        "nearly_alike": one.alike,
    }


def _line(one: SensitiveRisk) -> str:
    parts = [f"l = {one.l}", f"entropy l = {one.entropy_l:.4g}"]
    for word, t in one.t.items():
        name = "t" if word == "equal" else f"{word} t"
        against = "" if t.table is None else f" ({t.table:.4g} against the table)"
        parts.append(f"{name} = {t.release:.4g}{against}")
    return ", ".join([*parts, f"delta = {one.delta:.4g}"])


def _grids(found: ClassRisk) -> list[Grid]:
    if not found.sensitive:
        return []
    words = [word for word in ("equal", "ordered", "hierarchical") if _has(found, word)]
    heads = ["Sensitive column", "l", "entropy l"]
    for word in words:
        name = "t" if word == "equal" else f"{word} t"
        heads += [f"{name}, to the release", f"{name}, to the table"]
    rows = []
    for column, one in found.sensitive.items():
        cells = [column, str(one.l), number(one.entropy_l)]
        for word in words:
            t = one.t.get(word, Distance(float("nan"), None))
            cells += [number(t.release), number(t.table)]
        rows.append([*cells, number(one.delta)])
    caption = (
        "What a class gives away. l: the fewest different values in a class, more is safer; missing cells do "
        "not count. t: how far the values of a class are from those of the whole release, or of the original "
        "table, from 0 (alike) to 1; ordered where values have an order, hierarchical where they have a "
        "hierarchy. delta: the largest logarithm of how much likelier or less likely a class makes a value."
    )
    return [Grid(caption, [*heads, "delta"], rows)]


def _has(found: ClassRisk, word: str) -> bool:
    return any(word in one.t for one in found.sensitive.values())


def _cautions(name: str, one: SensitiveRisk, *, drawn: bool) -> list[str]:
    cautions = []
    if one.l == 1 and not drawn:
        cautions.append(
            f"Some class has only one value of {name} (l = 1): who finds a person's class knows it."
        )
    if one.l == 0 and not drawn:
        cautions.append(
            f"Some class has no value of {name} at all: who finds a person's class knows that it is missing."
        )
    if one.missing and one.l > 1:
        cautions.append(
            f"{one.missing:,} released rows have no value of {name}; they count for no l and no t."
        )
    if one.alike:
        cautions.append(
            f"Column {name} has values that differ in blanks, case or width alone, {one.alike} times: they "
            "count as different, so that l looks larger than it is. Write them alike."
        )
    return cautions
