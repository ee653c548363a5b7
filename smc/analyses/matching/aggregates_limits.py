"""The limits of disclosure on figures about an intersection: tested in secret, opened as one bit.

- `minimum_intersection`: the size is at least that; for sums at least `minimum_group`, too;
- `dominance`: of every column, the largest absolute value is at most that part of the sum of all.

With epsilon the least sizes are tested on the noisy size, which costs nothing more, and dominance is not
tested: the noise is as large as a single row may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates_parameters import SHARES, SIZE, AggregateParameters
from smc.errors import DisclosureRefused, DomainError
from smc.protocols.session import Session
from smc.protocols.sizes import RowCount
from smc.secret.alignment import Aligned, align
from smc.secret.bits import BOTH, SecretBits
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts
from smc.secret.laplace import DiscreteLaplace


def large_enough(size: SecretInts, minimum: int, release: Release) -> bool:
    """Whether a secret size reaches a minimum, opened to both parties as one bit and nothing else.

    Args:
        size: one secret integer.
        minimum: public.
        release: opens the bit.
    """
    return minimum <= 0 or _opened(size >= minimum, release)


def check_intersection(
    session: Session, keys: NDArray[np.uint64], peer_count: RowCount, release: Release
) -> None:
    """Refuse, at both sides, an intersection that is too small, before another protocol shows of what it is.

    Args:
        session: the own side.
        keys: distinct, shape (n, 2).
        peer_count: keys of the peer.
        release: with the limits.

    Raises:
        DisclosureRefused: it is smaller; both learn that and nothing else.
    """
    minimum = release.limits.minimum_intersection
    if minimum > 0:
        nothing = np.zeros((len(keys), 0), dtype=np.int64)
        if not large_enough(align(session, keys, peer_count, nothing, (), ()).size(), minimum, release):
            raise _refused()


def check_persons(parameters: AggregateParameters, persons: NDArray[np.int64] | None, limits: Limits) -> None:
    """Check that rows are persons where persons count.

    Args:
        parameters: as parsed.
        persons: of the own rows, or None where each row is a person of its own.
        limits: of both policies.

    Raises:
        DomainError: two rows are about one person, and the policies or epsilon speak of persons.
    """
    limited = parameters.output != SIZE and (limits.minimum_group > 0 or limits.dominance < 1)
    if persons is None or not (limited or parameters.epsilon is not None):
        return
    if len(np.unique(persons)) < len(persons):
        raise DomainError(
            "Several rows of this side are about one person, and limits or epsilon count persons.",
            "Bring one row per person, for instance by summing up a person's rows first.",
        )


def check_room(
    parameters: AggregateParameters,
    bounds: Sequence[Bounds],
    noises: Sequence[DiscreteLaplace],
    most: int,
    limits: Limits,
) -> None:
    """Check, before rows are aligned, that no sum and no test of a limit can leave 63 bits.

    Args:
        parameters: as parsed.
        bounds: of every value.
        noises: of the size and of every sum; empty if they are exact.
        most: the largest size that the intersection can have.
        limits: of both policies.

    Raises:
        DomainError: one could.
    """
    factor = 1
    if checks_dominance(parameters, limits):
        factor = limits.dominance.denominator
    reach = [law.bound for law in noises[1:]] or [0] * len(bounds)
    for each, most_noise in zip(bounds, reach, strict=True):
        Bounds(0, 2 * factor * max(1, most) * each.magnitude + most_noise).fit("sum over the intersection")


def checks_dominance(parameters: AggregateParameters, limits: Limits) -> bool:
    """Whether the part of the largest contribution is tested."""
    return limits.dominance < 1 and parameters.epsilon is None and parameters.output not in (SIZE, SHARES)


def check_limits(
    parameters: AggregateParameters,
    aligned: Aligned,
    size: SecretInts,
    contributions: Sequence[SecretInts],
    release: Release,
) -> None:
    """Test all limits that apply, open whether all hold, and refuse if not.

    Args:
        parameters: as parsed.
        aligned: the slots.
        size: of the intersection, noisy if there is noise.
        contributions: per value the absolute values in all slots.
        release: with the limits.

    Raises:
        DisclosureRefused: one does not hold; both learn that and nothing else.
    """
    limits = release.limits
    minimum = limits.minimum_intersection
    if parameters.output != SIZE:
        minimum = max(minimum, limits.minimum_group)
    holds: list[SecretBits] = []
    if minimum > 0:
        holds.append(size >= minimum)
    if checks_dominance(parameters, limits):
        part, whole = limits.dominance.numerator, limits.dominance.denominator
        for column in contributions:
            _, largest = column.maximum()
            holds.append(aligned.total(column) * part >= largest * whole)
    if holds and not _opened(reduce(and_, holds), release):
        raise _refused()


def _opened(bit: SecretBits, release: Release) -> bool:
    opened = release.bits(bit, BOTH)
    return opened is not None and bool(opened.all())


def _refused() -> DisclosureRefused:
    return DisclosureRefused(
        "The intersection is smaller than the policies allow, or one row dominates a sum over it.",
        "Match sets that have more in common; neither party learnt more than this.",
    )
