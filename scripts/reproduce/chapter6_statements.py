"""What chapter 6 of the thesis says of its tables, each with what is found of the court cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from calibration import Observation
from chapter6_experiments import After
from page import Statement

from anonymizer.documents.words.labels import Confusion


@dataclass(frozen=True, slots=True)
class Masked:
    """What is measured of the cases masked in one way; numbers of cases.

    Attributes:
        sizes: found by |KW|, 1 to 5.
        control: found without the article.
        corpus: found where P(w) counts w in all documents.
        second: the rows of Table 6.2.
        after: the cases sanitized, by groups of words that are searched with.
        observations: of Figure 6.3.
    """

    sizes: dict[int, int]
    control: int
    corpus: int
    second: list[list[object]]
    after: dict[int, list[After]] = field(repr=False)
    observations: list[Observation] = field(repr=False)

    @property
    def found(self) -> int:
        """Cases that are found before sanitizing."""
        return self.sizes[3]


@dataclass(frozen=True, slots=True)
class Figures:
    """All that is measured."""

    count: int
    first: list[list[object]]
    masked: dict[str, Masked]
    labels: dict[str, tuple[Confusion, float, float]]
    """By stand-in: the evaluation, and which part of cases with and without the label are found."""


def statements(figures: Figures) -> list[Statement]:
    """What the thesis says, and what is found here."""
    sums = figures.first[-1]
    found = [
        Statement(
            "6.1",
            "manual sanitizing leaves potential risk words (76 of 169)",
            f"{sums[2]} and {sums[4]} of {sums[1]}",
            0 < sums[4] <= sums[2] < sums[1],
        ),
        Statement(
            "6.1",
            "some of those left lead to the person (12 of 76)",
            f"{sums[3]} of {sums[2]} and {sums[5]} of {sums[4]}",
            sums[3] > 0 and sums[5] > 0,
        ),
    ]
    for kind, one in figures.masked.items():
        left, part = sum(each.found for each in one.after[1]), part_changed(one.after[1])
        found += [
            Statement(
                "6.2",
                f"{kind} masked: words of the two highest values lead to the person more often than others",
                " and ".join(f"{part:.2f}" for part in _parts(one.second)),
                _parts(one.second)[0] > _parts(one.second)[1],
            ),
            Statement(
                "6.2.2",
                f"{kind} masked: more than three keywords find hardly more",
                f"{one.sizes[3]} with 3, {one.sizes[5]} with 5",
                one.sizes[5] <= 1.1 * one.sizes[3],
            ),
            Statement(
                "6.2.2",
                f"{kind} masked: sanitizing what leads to the person ends all attacks, at few words",
                f"{one.found} found before, {left} after, {part:.2%} of words",
                left == 0 < one.found and part < 0.01,
            ),
            Statement(
                "6.3",
                f"{kind} masked: success is likelier with more shared words",
                " to ".join(f"{each:.2f}" for each in halves(one.observations)),
                halves(one.observations)[0] < halves(one.observations)[1],
            ),
        ]
    both, direct = figures.masked["DIRECT and QUASI"].found, figures.masked["DIRECT"].found
    return [
        *found,
        Statement("-", "masking more finds fewer people", f"{direct} to {both}", both < direct),
        Statement(
            "6.3",
            "labels are right in 0.988 of documents",
            ", ".join(f"{one.accuracy:.2f}" for one, *_ in figures.labels.values()),
            min(one.accuracy for one, *_ in figures.labels.values()) >= 0.95,
        ),
    ]


def part_changed(after: Sequence[After]) -> float:
    """Of the words of all cases."""
    return sum(one.changed() for one in after) / sum(one.words for one in after)


def halves(observations: Sequence[Observation]) -> tuple[float, float]:
    """The part that is found of cases with w below and above the middle one."""
    middle = sorted(one.shared for one in observations)[len(observations) // 2]
    low = [one.succeeded for one in observations if one.shared < middle]
    high = [one.succeeded for one in observations if one.shared >= middle]
    return sum(low) / max(1, len(low)), sum(high) / max(1, len(high))


def _parts(rows: Sequence[Sequence[object]]) -> tuple[float, float]:
    """The part that leads to the person, of words of the two highest values and of all others."""
    counts = [[int(str(cell)) for cell in row[1:]] for row in rows[:-1]]
    parts = [[sum(column) for column in zip(*some, strict=True)] for some in (counts[:2], counts[2:])]
    high, low = (part[1] / part[0] if part else 0.0 for part in parts)
    return high, low
