"""What a tolerant matching sends, exactly; see `smc.analyses.matching.tolerant.linkage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.costs import cost_test
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.tolerant.outcome import route
from smc.analyses.matching.tolerant.parameters import GREEDY, TolerantParameters
from smc.analyses.matching.tolerant.places import cost_newly, stretches
from smc.analyses.matching.tolerant.rank_cost import RankCosts
from smc.analyses.studies.estimates import Pace, estimated, sides
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.oblivious import cost as oblivious
from smc.protocols.exchange.row_counts import counts_cost
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST, cost_of
from smc.secret import common_ones, msb, mux, opening, pairing, row_state
from smc.secret.bounds import Bounds

_PACE: Final = Pace(0.06, byte=5e-9)
_JOIN_PACE: Final = Pace(0.35, byte=1.05e-8, numpy=1.3)
_FIXED: Final = 90 * MEBI
_JOIN_FIXED: Final = 70 * MEBI
_BUCKETS_ROW: Final = 14_500
_ROW: Final = 1_000
_ITEM: Final = 750


def estimate(
    parameters: TolerantParameters, recipients: frozenset[Role], rows: int, limits: Limits
) -> Estimate:
    """Exact rounds and bytes of a run over `rows` rows of each side; the rest as of `run_cost`."""
    counts = dict(zip(Role, sides(rows, least=1), strict=True))
    cost = run_cost(parameters, counts, recipients, limits)
    most = memory(parameters).at(max(counts.values()))
    return estimated(cost, seconds(parameters, cost), route(parameters), most)


def memory(parameters: TolerantParameters) -> Memory:
    """Measured, of a run whose records are compared."""
    if parameters.ranks:
        return Memory(_JOIN_FIXED, _ROW + _ITEM * parameters.ranks * len(parameters.blocking))
    return Memory(_FIXED, _BUCKETS_ROW)


def seconds(parameters: TolerantParameters, cost: Cost) -> float:
    """About how long a run takes over a fast network, by what it sends."""
    return (_JOIN_PACE if parameters.ranks else _PACE).seconds(cost)


def run_cost(
    parameters: TolerantParameters, counts: Mapping[Role, int], recipients: frozenset[Role], limits: Limits
) -> Cost:
    """The exact cost of a run in a fresh session, without the gate.

    Args:
        parameters: of the job.
        counts: rows of each side, none 0.
        recipients: who learns the pairs.
        limits: of both policies; there are as many matches as they ask for.
    """
    receivers = [role for role in Role if role in recipients]
    total = counts_cost(1) + SETUP_COST
    if parameters.ranks:
        total += RankCosts(parameters, counts, limits.minimum_intersection).paired()
        total += cost_counted(counts, limits.minimum_intersection)
        for role in receivers:
            total += opening.cost(counts[role], {role})
        return total
    way = PassCosts(parameters, counts)
    if parameters.one_to_one == GREEDY:
        total += way.one_to_one() + way.counted(limits.minimum_intersection)
        for role in receivers:
            total += row_state.cost(way.sizes[role], role) + opening.cost(counts[role], {role})
        return total
    for number in range(len(parameters.blocking)):
        if limits.counts_matches:
            total += way.arranged(number > 0)
        for blocks in way.blocks:
            total += way.compared(blocks)
            for role in receivers:
                total += mux.cost(blocks * parameters.bucket**2, role.other)
            for _ in Role if limits.counts_matches else ():
                total += cost_newly(blocks, parameters.bucket)
    total += way.counted(limits.minimum_intersection)
    for role in receivers:
        total += opening.cost(len(parameters.blocking) * sum(way.blocks) * parameters.bucket**2, {role})
    return total


def cost_counted(marks: Mapping[Role, int], minimum: int) -> Cost:
    """How many rows of either side have a partner, by so many marks, and whether there are enough."""
    total = Cost()
    for role in Role if minimum > 0 else ():
        total += mux.cost_to_words(marks[role])
    return total + cost_test([(Bounds(0, marks[role]), minimum) for role in Role])


def cost_paired(parameters: TolerantParameters, counts: Mapping[Role, int]) -> Cost:
    """The exact cost of a one-to-one pairing of which nothing is opened, in the order of rows."""
    if parameters.ranks:
        return RankCosts(parameters, counts).paired()
    way = PassCosts(parameters, counts)
    total = way.one_to_one()
    for role in Role:
        total += row_state.cost(way.sizes[role], role)
    return total


class PassCosts:
    """The steps through the passes, in their order, which decides how many flights meet.

    Args:
        parameters: of the job.
        counts: rows of each side.
    """

    def __init__(self, parameters: TolerantParameters, counts: Mapping[Role, int]) -> None:
        self._parameters = parameters
        buckets = parameters.buckets(tuple(counts.values()))
        self._places = buckets * parameters.bucket
        self.blocks = [part.stop - part.start for part in stretches(buckets, parameters.bucket)]
        self.sizes = {role: max(self._places, counts[role]) for role in Role}

    def one_to_one(self) -> Cost:
        """All rounds of `smc.analyses.matching.tolerant.one_to_one`."""
        rounds, passes = self._parameters.rounds, len(self._parameters.blocking)
        total = Cost()
        if rounds > 1:
            for _ in range(passes):
                for blocks in self.blocks:
                    total += self.compared(blocks)
        for number in range(rounds):
            for step in range(passes):
                total += self.arranged(step > 0) + self.arranged(number > 0)
                total += self._forwards(compare=rounds == 1, free=number > 0)
            for step in range(passes):
                total += self.arranged(step > 0) + self.arranged(number > 0 or step > 0)
                total += self._backwards()
        return total

    def compared(self, blocks: int) -> Cost:
        """The overlaps of a stretch and which of its pairs are alike."""
        capacity = self._parameters.bucket
        alike = msb.cost_nonnegative(blocks * capacity**2, self._parameters.rule.margins)
        return common_ones.cost(blocks, capacity, self._parameters.bits) + alike

    def arranged(self, moved: bool) -> Cost:
        """The registers of both sides brought into the order of a pass, if anything is in them."""
        total = Cost()
        for role in Role if moved else ():
            total += row_state.cost(self.sizes[role], role)
        return total

    def counted(self, minimum: int) -> Cost:
        """How many rows of either side have a partner, and whether there are as many as asked for."""
        return cost_counted(self.sizes, minimum)

    def _forwards(self, *, compare: bool, free: bool) -> Cost:
        capacity, most = self._parameters.bucket, self._parameters.rule.most_score
        total = Cost()
        for blocks in self.blocks:
            total += self.compared(blocks) if compare else Cost()
            total += self._both(blocks) if free else Cost()
            total += pairing.cost(blocks, capacity, most)
        for _ in Role:
            total += msb.cost_nonnegative(self._places, Bounds(-most, most)) + mux.cost(self._places)
        return total

    def _backwards(self) -> Cost:
        total = Cost()
        for _ in Role:
            total += cost_of(oblivious.conjunction(self._places)) + mux.cost_to_words(self._places)
        for blocks in self.blocks:
            total += self._both(blocks)
            for role in Role:
                total += mux.cost(blocks * self._parameters.bucket**2, role.other)
        return total

    def _both(self, blocks: int) -> Cost:
        """Pairs of marked rows and columns, among some pairs."""
        capacity = self._parameters.bucket
        return pairing.cost_both(blocks, capacity) + cost_of(oblivious.conjunction(blocks * capacity**2))
