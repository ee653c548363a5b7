"""What several guarantees of one release come to together."""

from __future__ import annotations

from collections.abc import Iterable

from anonymizer.releases.guarantee import Guarantee


def composed(guarantees: Iterable[Guarantee]) -> tuple[Guarantee, ...]:
    """Add up what a record has spent on differential privacy, over columns and steps.

    A record of several cells has the sum of their epsilons and deltas (sequential composition). Where several
    steps put noise on one column, the later ones work on what the first has released, and the column has
    spent the least of them (what is done to a release costs nothing, and noise that a step gets in costs
    nothing either).

    Args:
        guarantees: those that hold, in the order of their steps.

    Returns:
        The same, and at the end one for the whole record if any column has local differential privacy.

    Reference: thesis, Theorem 2.3; Dwork and Roth, The algorithmic foundations of differential privacy, 2014,
        Proposition 2.1 and Theorem 3.14.
    """
    held = tuple(guarantees)
    cells = [one for one in held if one.kind == "local-dp" and one.unit == "cell"]
    if not cells:
        return held
    spent: dict[str, tuple[float, float]] = {}
    for one in cells:
        for column in one.columns:
            budget = (one.number("epsilon"), one.number("delta"))
            spent[column] = min(spent.get(column, budget), budget)
    return (
        *held,
        Guarantee(
            "local-dp",
            {
                "epsilon": sum(epsilon for epsilon, _ in spent.values()),
                "delta": sum(delta for _, delta in spent.values()),
            },
            "record",
            tuple(spent),
            "replace",
            "It is the sum over these columns, for one such release, and says nothing of other columns.",
            ", ".join(dict.fromkeys(one.method for one in cells)),
        ),
    )


def budget(guarantees: Iterable[Guarantee]) -> tuple[float | None, float | None]:
    """Epsilon and delta of a whole record or table, None if no differential privacy is claimed."""
    for one in guarantees:
        if one.kind in ("local-dp", "dp") and one.unit != "cell":
            return one.number("epsilon"), one.number("delta")
    return None, None
