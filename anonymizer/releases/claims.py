"""Whether a promise holds, by what the released cells were made of and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from anonymizer.releases.guarantee import ABOUT_CLASSES, Guarantee
from anonymizer.tables.provenance import COUNT, Dependence, TableProvenance

OF_RECORDS: Final = frozenset({"local-dp", "dp", "idp"})
"""Guarantees of single records, by noise: runs on neighbours can refute them."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A guarantee that a step gives, before it is granted.

    Attributes:
        guarantee: with the columns of the original that it is about, see `Guarantee.over`.
        mark: of its mechanism among the sources of what is released.
    """

    guarantee: Guarantee
    mark: str

    @classmethod
    def of(cls, guarantee: Guarantee, given: TableProvenance, mark: str) -> Self:
        """The claim of a step.

        Args:
            guarantee: as the step gives it.
            given: what the table was made of that the step was given.
            mark: of the step as a mechanism.
        """
        if guarantee.kind in OF_RECORDS:
            over = given.content(*guarantee.columns).columns - {COUNT}
            guarantee = replace(guarantee, over=tuple(sorted(over)))
        return cls(guarantee, mark)

    def deny(self, released: TableProvenance) -> tuple[str, Dependence] | None:
        """What of a release takes the claim away; None if it is granted.

        Differential privacy is granted where all that is released depends on the columns of the claim through
        its mechanism only: own cells that the mechanism accounts for, no gap that stays, no hierarchy, domain
        or other cell that was taken from them. Where neighbours have a row more or less, the same holds of
        which rows there are. A promise about classes is granted where no other column holds, row by row, what
        its columns were made of.

        Args:
            released: what is released was made of.

        Returns:
            The column, or `COUNT` for the rows, and the part of its dependence that is not accounted for.
        """
        one = self.guarantee
        if one.kind in OF_RECORDS:
            over = {*one.over, COUNT} if one.neighbours == "add-remove" else set(one.over)
            sound: set[int] = set()
            for name, part in released.parts():
                if id(part.sources) in sound:  # as all columns that are recoded together
                    continue
                left = part.around(self.mark, over)
                if left.sources:
                    return name, left
                sound.add(id(part.sources))
        if one.kind in ABOUT_CLASSES:
            for name, provenance in released.columns.items():
                seen = provenance.content.plain("own") & set(one.columns) - {name}
                if name not in (*one.columns, *one.known) and seen:
                    return name, Dependence.on(seen, "own")
        return None


def split(
    claims: Iterable[Claim],
    released: TableProvenance,
    trail: Sequence[tuple[str, TableProvenance]] = (),
) -> tuple[tuple[Guarantee, ...], tuple[tuple[Guarantee, str], ...]]:
    """The guarantees that are granted, and the others with the reason.

    Args:
        claims: of all steps, in order.
        released: what is released was made of.
        trail: of each step its name and what its output was made of, that of the original first, with "" as
            name: by it the reason names the step.
    """
    granted, refused = [], []
    for claim in claims:
        why = claim.deny(released)
        if why is None:
            granted.append(claim.guarantee)
        else:
            refused.append((claim.guarantee, _reason(*why, trail)))
    return tuple(granted), tuple(refused)


def _reason(name: str, part: Dependence, trail: Sequence[tuple[str, TableProvenance]]) -> str:
    """Why a claim is refused, with the first step that brought this dependence about."""
    what = "which rows there are depends" if name == COUNT else f"what is released of {name!r} depends"
    steps = (
        step
        for step, one in trail
        if any(part.sources & found.sources for shown, found in one.parts() if shown == name)
    )
    step = next(steps, "")
    by = f" by the step {step!r}" if step else ""
    return f"{what}{by} on these columns beside its noise ({part.describe(name)})"


def sentence(guarantee: Guarantee, why: str) -> str:
    """What is said of a guarantee that does not hold."""
    return (
        f"Not promised of the release: {guarantee.kind} in {', '.join(guarantee.columns)} "
        f"({guarantee.method}), as {why}."
    )
