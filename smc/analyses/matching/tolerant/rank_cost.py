"""What a pairing sends where passes are joins, exactly; see `smc.analyses.matching.tolerant.rank_join`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.costs import cost_test
from smc.analyses.matching.tolerant import likeness
from smc.analyses.matching.tolerant.histogram import EDGES, Histogram
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.rank_join import COLUMNS, filter_words, leads, stretches
from smc.forms import Role
from smc.protocols.coins import TOSS_COST
from smc.protocols.intersection import cuckoo
from smc.protocols.spec import Cost
from smc.secret import common_ones, joins, msb, mux, noise, opening, pairing
from smc.secret.bits import BOTH, cost_and
from smc.secret.bounds import Bounds
from smc.secret.circuit_psi import table_owner

_ANSWER: Final = 1


class RankCosts:
    """The steps through the passes, in their order.

    Args:
        parameters: of the job.
        counts: rows of each side.
        minimum: of matches, of both policies; there are as many.
    """

    def __init__(self, parameters: TolerantParameters, counts: Mapping[Role, int], minimum: int = 0) -> None:
        self._parameters = parameters
        self._minimum = minimum
        self._counts = counts
        self._claiming = table_owner(counts[Role.ALICE], counts[Role.BOB])
        self._items = {role: parameters.ranks * counts[role] for role in Role}
        self._slots = {role: cuckoo.bins_for(self._items[role]) for role in Role}

    def paired(self) -> Cost:
        """Everything up to the words of both sides' rows, without the set-up of oblivious transfer."""
        passes = len(self._parameters.blocking)
        columns = passes * self._parameters.ranks
        claiming, other = self._claiming, self._claiming.other
        total = TOSS_COST
        for number in range(passes):
            total += self._compared(fresh=number == 0)
        rows, most = self._counts[claiming], self._parameters.rule.most_score
        histogram = self._parameters.histogram
        if histogram is None:
            total += pairing.cost_winners(rows, columns, Bounds(-most, most))
            total += msb.cost_nonnegative(rows, Bounds(-1, most))
        else:
            total += pairing.cost_winners(rows, columns, leads(most)) + self._choice(histogram, rows)
            total += likeness.cost_reaches(rows, most)
        total += cost_and(rows * columns) + mux.cost(rows * columns)
        for number in range(passes):
            total += self._carried(claiming)
            total += joins.cost(self._items, other, COLUMNS, fresh=number == 0)
            total += mux.cost(self._slots[other]) + self._permuted(other)
        rows = self._counts[other]
        total += pairing.cost_winners(rows, columns, leads(most))
        total += cost_and(rows * columns) + mux.cost(rows * columns, other)
        for _ in range(passes):
            total += self._carried(other) + joins.cost_values(self._items, claiming, _ANSWER)
            total += mux.cost(self._slots[claiming]) + self._permuted(claiming)
        return total

    def _choice(self, histogram: Histogram, rows: int) -> Cost:
        distribution = histogram.noise
        bounds = Bounds(-distribution.bound, rows + distribution.bound).summed(len(EDGES))
        total = likeness.cost_counted(rows, self._parameters.rule.most_score)
        total += noise.cost([distribution] * len(EDGES))
        return total + cost_test([(bounds, self._minimum)]) + opening.cost(len(EDGES), BOTH)

    def _compared(self, *, fresh: bool) -> Cost:
        claiming, rule, bits = self._claiming, self._parameters.rule, self._parameters.bits
        slots = self._slots[claiming]
        total = joins.cost(self._items, claiming, COLUMNS + filter_words(bits), fresh=fresh)
        for part in stretches(slots):
            total += common_ones.cost(part.stop - part.start, 1, bits, claiming.other)
        total += msb.cost_nonnegative(slots, rule.margins) + cost_and(slots) + mux.cost(slots)
        return total + self._permuted(claiming)

    def _carried(self, owner: Role) -> Cost:
        return joins.cost_carried(self._slots[owner], owner)

    def _permuted(self, owner: Role) -> Cost:
        return joins.cost_by_item(self._slots[owner], owner)
