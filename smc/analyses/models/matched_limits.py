"""What the limits on a model over matched rows are tested on, in secret."""

from __future__ import annotations

from typing import Final

from smc.analyses.disclosure.figures import Sum
from smc.analyses.disclosure.fits import PART_SCALE, MatchedPart
from smc.analyses.models.matched_fit import SecretFit
from smc.analyses.models.matched_outcomes import outcome_part
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sides import Sided
from smc.analyses.models.parameters import LINEAR, LOGISTIC
from smc.analyses.models.run import Sizes
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

_INFORMATION_BITS: Final = 20
_WEIGHT_BITS: Final = 4
_VARIANCE_SCALE: Final = 24

_LARGEST_WEIGHT: Final = 2
"""Of a row in the information of a logistic model: 2**-2."""


def matched_part(
    sided: Sided, matched: MatchedRows, found: SecretFit, sizes: Sizes, factor: int
) -> MatchedPart:
    """What limits are tested on.

    Args:
        sided: the model, under limits.
        matched: its rows.
        found: what is to be opened.
        sizes: what is public of sums over so many.
        factor: by what sums are multiplied where they are weighed.
    """
    counts, weighs = sided.counts, sided.weighs
    persons, kind = matched.persons, sided.design.model.kind
    above = [matched.apart[[place]] for place in range(len(matched.apart))]
    apart = [side for count in above for side in (count, persons - count)]
    outcomes = [persons if kind == LINEAR else matched.happened]
    if kind == LOGISTIC:
        outcomes.append(persons - matched.happened)
    heaviest = _heaviest(found.weights) if found.weights is not None and (counts or weighs) else None
    sums = _sums(sided, matched, found, sizes, heaviest) if weighs else []
    parts = _parts(sided, matched, found, heaviest) if counts else []
    explained = outcome_part(sided, matched, found.coefficients, factor)
    return MatchedPart(persons, outcomes, sided.design.size, apart, sums, parts, explained)


def _parts(
    sided: Sided, matched: MatchedRows, found: SecretFit, heaviest: SecretInts | None
) -> list[SecretInts]:
    """No person has a larger part of what a covariate tells beside the others, in units of 2**-`PART_SCALE`.

    Its variance is one over the information about it that the others leave; a person's part of that is at
    most the square of how far values of the covariate lie apart, times the largest weight: 1 in a linear
    model, a fourth in a logistic one, else `heaviest`.
    """
    inverse = found.inverse[int(sided.design.model.has_constant) :].rescale(_VARIANCE_SCALE)
    each = inverse * SecretReals(matched.spreads)
    if heaviest is not None:
        short = each.rescale(PART_SCALE - _WEIGHT_BITS)
        parts = (short * SecretReals(heaviest)).rescale(PART_SCALE).ints
    else:
        # A fourth of a part is the same words with two fractional bits less.
        drop = _LARGEST_WEIGHT if sided.design.model.kind == LOGISTIC else 0
        parts = each.rescale(PART_SCALE - drop).ints
    return [
        SecretInts.from_shares(parts.session, parts[[place]].shares, parts.bounds)
        for place in range(len(matched.spreads))
    ]


def _sums(
    sided: Sided, matched: MatchedRows, found: SecretFit, sizes: Sizes, heaviest: SecretInts | None
) -> list[Sum]:
    """Of each covariate its information about its weighted mean, and the most that is one person's.

    Both are multiplied by the information of the intercept, where there is one: H_00 H_jj - H_0j**2, and H_00
    times the square of how far values lie apart, times the largest weight.
    """
    scale = max(0, _INFORMATION_BITS - sizes.bits)
    held = found.information.rescale(scale).ints
    size = sided.design.size
    top, least = 1 << (sizes.bits + scale), Bounds(0, 1 << (sizes.bits + scale))
    diagonal = held.reshape(-1)[[place * (size + 1) for place in range(size)]].bounded(least)
    largest = matched.spreads if heaviest is None else matched.spreads * heaviest
    if sided.design.model.has_constant:
        first = diagonal[:1]
        across = held[0, 1:].bounded(Bounds(-top, top))
        wholes = (first * diagonal[1:] - across * across).bounded(Bounds(-1, top * top))
        largest = first * largest
    else:
        wholes = diagonal
    largest = largest.rescale(wholes.scale)
    return [
        Sum(
            SecretInts.from_shares(held.session, wholes[[place]].shares, wholes.bounds, wholes.scale),
            largest[[place]],
        )
        for place in range(len(matched.spreads))
    ]


def _heaviest(weights: SecretReals) -> SecretInts:
    """The largest weight of a match, and a little more, since rounding takes some of it away."""
    short = weights.ints.truncate(weights.scale - _WEIGHT_BITS)
    held = SecretInts.from_shares(short.session, short.shares, short.bounds, _WEIGHT_BITS)
    _, most = held.maximum()
    found = most + Fixed.of(2.0**-_WEIGHT_BITS, _WEIGHT_BITS)
    return found.bounded(Bounds(0, found.bounds.upper))
