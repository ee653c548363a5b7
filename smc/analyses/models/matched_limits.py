"""What the limits on a model over matched rows are tested on, in secret."""

from __future__ import annotations

from typing import Final

from smc.analyses.disclosure.figures import Sum
from smc.analyses.disclosure.fits import PART_SCALE, MatchedPart
from smc.analyses.models.matched_fit import SecretFit
from smc.analyses.models.matched_rows import MatchedRows, Sided
from smc.analyses.models.parameters import LINEAR
from smc.analyses.models.run import Sizes
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

_INFORMATION_BITS: Final = 20
_VARIANCE_SCALE: Final = 24

_LARGEST_WEIGHT: Final = 2
"""Of a row in the information of a logistic model: 2**-2."""


def matched_part(
    sided: Sided, matched: MatchedRows, found: SecretFit, sizes: Sizes, *, weighs: bool
) -> MatchedPart:
    """What limits are tested on."""
    size = matched.size
    above = [matched.apart[[place]] for place in range(len(matched.apart))]
    apart = [side for count in above for side in (count, size - count)]
    outcomes = [] if found.positives is None else [found.positives, size - found.positives]
    if sided.design.model.kind == LINEAR:
        outcomes = [size]
    sums = _sums(sided, matched, found, sizes) if weighs else []
    return MatchedPart(size, outcomes, sided.design.size, apart, sums, _parts(sided, matched, found))


def _parts(sided: Sided, matched: MatchedRows, found: SecretFit) -> list[SecretInts]:
    """No person has a larger part of what a covariate tells beside the others, in units of 2**-`PART_SCALE`.

    Its variance is one over the information about it that the others leave; a person's part of that is at
    most the square of how far values of the covariate lie apart, times the largest weight.
    """
    variances = found.variances[1:].rescale(_VARIANCE_SCALE)
    # A fourth of a part is the same words with two fractional bits less.
    scale = PART_SCALE - (0 if sided.design.model.kind == LINEAR else _LARGEST_WEIGHT)
    parts = (variances * SecretReals(matched.spreads)).rescale(scale).ints
    return [
        SecretInts.from_shares(parts.session, parts[[place]].shares, parts.bounds)
        for place in range(sided.design.size - 1)
    ]


def _sums(sided: Sided, matched: MatchedRows, found: SecretFit, sizes: Sizes) -> list[Sum]:
    """Of each covariate its information about its weighted mean, and the most that is one person's.

    Both are multiplied by the information of the intercept: H_00 H_jj - H_0j**2, and H_00 times the square of
    how far values lie apart, times the largest weight.
    """
    scale = max(0, _INFORMATION_BITS - sizes.bits)
    held = found.information.rescale(scale).ints
    size = sided.design.size
    top, least = 1 << (sizes.bits + scale), Bounds(0, 1 << (sizes.bits + scale))
    first = held[0, :1].bounded(least)
    across = held[0, 1:].bounded(Bounds(-top, top))
    diagonal = held.reshape(-1)[[place * (size + 1) for place in range(1, size)]].bounded(least)
    wholes = (first * diagonal - across * across).bounded(Bounds(-1, top * top))
    largest = first * matched.spreads
    largest = largest.rescale(wholes.scale)
    return [
        Sum(
            SecretInts.from_shares(held.session, wholes[[place]].shares, wholes.bounds, wholes.scale),
            largest[[place]],
        )
        for place in range(size - 1)
    ]
