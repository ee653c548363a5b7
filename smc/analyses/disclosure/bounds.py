"""Exact sums keep the declared bounds of their columns.

A sum of values that are clamped to bounds of the job's choice counts, or adds up, what lies beyond them: with
`lower = c` and `upper = c + 1` it is the number of persons above c, a group that no smallest size applies to.
"""

from __future__ import annotations

from smc.errors import UsageError


def check_not_narrower(
    lower: int | None, upper: int | None, declared: tuple[int | None, int | None], place: str
) -> None:
    """Check the bounds of an exact sum.

    Args:
        lower: as the job states it, in held units; None where it does not.
        upper: likewise.
        declared: of the column; None where it declares none.
        place: query or value and column, for people.

    Raises:
        UsageError: a stated bound is narrower than the declared one.
    """
    least, most = declared
    wrong = [
        name
        for name, narrower in (
            ("lower", lower is not None and least is not None and lower > least),
            ("upper", upper is not None and most is not None and upper < most),
        )
        if narrower
    ]
    if wrong:
        raise UsageError(
            f"{place}: without noise, {' and '.join(wrong)} must not be narrower than the column declares: "
            "the sum would reveal the few rows outside them.",
            f"Leave {' and '.join(wrong)} out of the job, or add noise.",
        )
