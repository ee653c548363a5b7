"""What chapter 6 of the thesis says of its tables, each with what is found of the court cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

from calibration import Observation
from chapter6_experiments import After
from page import Margin, Statement, around, every, exactly

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
    """What is said, found and held."""
    sums = [int(str(cell)) if cell != "#PRWs" else 0 for cell in figures.first[-1]]
    words = f"{sums[1]} words"
    found = [
        Statement(
            "Table 6.1",
            "manual sanitizing leaves potential risk words (76 of 169), not all",
            f"{sums[2]} and {sums[4]} of {sums[1]}",
            every(
                [part(one, sums[1], 4) for count in (sums[2], sums[4]) for one in (count, sums[1] - count)]
            ),
            words,
            OTHER,
        ),
        Statement(
            "Table 6.1",
            "some of those left lead to the person (12 of 76)",
            f"{sums[3]} of {sums[2]} and {sums[5]} of {sums[4]}",
            every([part(sums[3], sums[2], 2), part(sums[5], sums[4], 2)]),
            words,
            OTHER,
        ),
    ]
    for kind, one in figures.masked.items():
        left, changed = sum(each.found for each in one.after[1]), part_changed(one.after[1])
        found += [
            of_words(kind, *_parts(one.second)),
            of_sizes(kind, one.sizes[3], one.sizes[5], figures.count),
            of_sanitizing(kind, one.found, left, changed),
            of_shared(kind, *halves(one.observations)),
        ]
    return [*found, of_labels([one.accuracy for one, *_ in figures.labels.values()], figures.count)]


OTHER: Final = "data: other documents"


def part(count: int, of: int, parts: int = 1, less: float = 0.0) -> Margin:
    """The interval of a share, Wilson's, less a number."""
    z = around(0.0, 1.0, parts=parts)[1]
    share = count / of
    middle, far = share + z**2 / 2 / of, z * sqrt(share * (1 - share) / of + z**2 / 4 / of**2)
    low = (middle - far) / (1 + z**2 / of) if count else 0.0
    return low - less, (middle + far) / (1 + z**2 / of) - less


def _gap(more: tuple[int, int], less: tuple[int, int]) -> Margin:
    """By how much one share is larger than another."""
    shares = [count / of for count, of in (more, less)]
    error = sqrt(sum(p * (1 - p) / of for p, (_, of) in zip(shares, (more, less), strict=True)))
    return around(shares[0] - shares[1], error)


def of_words(kind: str, high: tuple[int, int], low: tuple[int, int]) -> Statement:
    """Table 6.2: words that lead to the person, of how many, by value."""
    says = f"{kind} masked: words of the two highest values lead to the person more often than others"
    shown = f"{high[0]} of {high[1]} and {low[0]} of {low[1]}"
    return Statement("Table 6.2", says, shown, _gap(high, low), f"{high[1] + low[1]} words", OTHER)


def of_sizes(kind: str, three: int, five: int, cases: int) -> Statement:
    """Section 6.2.2: what three keywords find, five find as well."""
    gain, share = (five - three) / cases, three / cases
    error = sqrt((gain * (1 - gain) + 0.01 * share * (1 - share)) / cases)
    says = f"{kind} masked: more than three keywords find hardly more, at most a tenth"
    shown = f"{three} with 3, {five} with 5"
    return Statement("Section 6.2.2", says, shown, around(0.1 * share - gain, error), f"{cases} cases", OTHER)


def of_sanitizing(kind: str, before: int, after: int, changed: float) -> Statement:
    """Section 6.2.2: attacks on sanitized cases."""
    return Statement(
        "Section 6.2.2",
        f"{kind} masked: sanitizing what leads to the person ends all attacks, at few words",
        f"{before} found before, {after} after, {changed:.2%} of words",
        exactly(after == 0 < before and changed < 0.01),
    )


def of_shared(kind: str, low: tuple[int, int], high: tuple[int, int]) -> Statement:
    """Figure 6.3: cases that are found, of how many, below and above the middle w."""
    says = f"{kind} masked: success is likelier with more shared words"
    shown = f"{low[0]} of {low[1]} and {high[0]} of {high[1]}"
    return Statement("Figure 6.3", says, shown, _gap(high, low), f"{low[1] + high[1]} cases", OTHER)


def of_labels(accuracies: Sequence[float], cases: int) -> Statement:
    """Table 6.3."""
    margins = [part(round(one * cases), cases, len(accuracies), 0.95) for one in accuracies]
    return Statement(
        "Table 6.3",
        "labels are right in 0.988 of documents: in 0.95 and more here",
        ", ".join(f"{one:.2f}" for one in accuracies),
        every(margins),
        f"{cases} cases",
        "data: other documents and labels",
    )


def part_changed(after: Sequence[After]) -> float:
    """Of the words of all cases."""
    return sum(one.changed() for one in after) / sum(one.words for one in after)


def halves(observations: Sequence[Observation]) -> tuple[tuple[int, int], tuple[int, int]]:
    """How many are found, of how many cases, with w below and above the middle one."""
    middle = sorted(one.shared for one in observations)[len(observations) // 2]
    low = [one.succeeded for one in observations if one.shared < middle]
    high = [one.succeeded for one in observations if one.shared >= middle]
    return (sum(low), max(1, len(low))), (sum(high), max(1, len(high)))


def _parts(rows: Sequence[Sequence[object]]) -> list[tuple[int, int]]:
    """How many lead to the person, of how many words, of the two highest values and of all others."""
    counts = [[int(str(cell)) for cell in row[1:]] for row in rows[:-1]]
    sums = [[sum(column) for column in zip(*some, strict=True)] for some in (counts[:2], counts[2:])]
    return [(one[1], max(1, one[0])) if one else (0, 1) for one in sums]
