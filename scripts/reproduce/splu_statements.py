"""What section 6 of the paper on small-sum privacy says of its figures, each with what is found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from page import Statement

Rows = Sequence[Sequence[object]]


def statements(figures: Mapping[str, Rows]) -> list[Statement]:
    """The statements about figures 5, 7, 8, 9 and 12.

    Args:
        figures: of each, by names such as `Figure 9a`, its rows as the page shows them; bands without enough
            queries hold a text.
    """
    return [
        _guarantee(figures["Figure 5"]),
        *_small(figures["Figure 7"]),
        *_by_selectivity(figures["Figure 8"]),
        *_by_rows(figures),
        _two(figures["Figure 12"], figures["Figure 9a"]),
    ]


def _numbers(row: Sequence[object]) -> list[float]:
    return [float(cell) for cell in row if isinstance(cell, float)]


def _guarantee(rows: Rows) -> Statement:
    least = min(row[2] for row in rows[:3] if isinstance(row[2], float))
    says = "counts of 3 and less miss by more than 30 % with probability 0.6 or more at gamma = 10"
    return Statement("5", says, f"{least:.3f} or more", least >= 0.6)


def _small(rows: Rows) -> list[Statement]:
    """Columns: gamma, SPLU-Gen, as printed, Anatomy, DBR, Laplace with ln 3 and ln 2."""
    found = [_numbers(row) for row in rows]
    splu = [row[0] for row in found]
    last = found[-1]
    above = [str(row[0]) for row, cells in zip(rows, found, strict=True) if cells[0] > max(cells[2:])]
    weak = max(row[4] for row in found)
    others = min(min(row[0], row[2], row[3]) for row in found)
    return [
        Statement(
            "7",
            "the error of SPLU-Gen on small counts grows with gamma",
            f"{splu[0]:.2f} to {splu[-1]:.2f}",
            splu == sorted(splu),
        ),
        Statement(
            "7",
            "SPLU-Gen has the highest error on small counts at larger gamma",
            f"at gamma = {', '.join(above) or 'none'}",
            last[0] > max(last[2:]),
        ),
        Statement(
            "7",
            "counts with Laplace noise at epsilon = ln 3 err less than all others on small counts",
            f"{weak:.2f}, the others {others:.2f} and more",
            weak < others,
        ),
    ]


def _by_selectivity(rows: Rows) -> list[Statement]:
    """Columns: selectivity, SPLU-Gen, as printed, Anatomy, DBR, queries."""
    found = [cells for row in rows if len(cells := _numbers(row)) == 4]
    return [
        Statement(
            "8",
            f"the error of {name} {says} with the selectivity",
            f"{series[0]:.3f}, at the last {series[-1]:.3f}",
            (series == sorted(series, reverse=True)) == falls,
        )
        for name, says, falls, series in (
            ("SPLU-Gen", "falls", True, [row[0] for row in found]),
            ("Anatomy", "does not fall throughout", False, [row[2] for row in found]),
        )
    ]


def _by_rows(figures: Mapping[str, Rows]) -> list[Statement]:
    splu, anatomy, dbr = ([_numbers(row) for row in figures[f"Figure 9{one}"]] for one in "acd")
    sizes = [str(row[0]) for row in figures["Figure 9a"]]
    worst = max(max(row) for row in splu)
    told = [
        Statement(
            "9",
            "errors of SPLU-Gen are at most 20 % from 0.5 to 5 % of the rows",
            f"{worst:.1%} at most",
            worst <= 0.2,
        )
    ]
    for name, other in (("Anatomy", anatomy), ("DBR", dbr)):
        below = [
            size
            for size, one, two in zip(sizes, splu, other, strict=True)
            if sum(one) / len(one) < sum(two) / len(two)
        ]
        told.append(
            Statement(
                "9",
                f"SPLU-Gen errs less on large counts than {name}, in the mean of the bands",
                f"at {len(below)} of {len(sizes)} sizes: {'; '.join(below) or 'none'}",
                len(below) == len(sizes),
            )
        )
    return told


def _two(rows: Rows, single: Rows) -> Statement:
    """At gamma = 5 and 100,000 rows, the nearest bands that the two figures have."""
    two = next(_numbers(row)[-1] for row in rows if row[0] == 5)
    one = _numbers(single[0])[0]
    says = "two sensitive columns are as accurate as one, gamma = 5"
    return Statement(
        "12", says, f"{two:.2f} at 0.5 to 0.7 %, one column {one:.2f} at 0.5 to 1 %", two <= 2 * one
    )
