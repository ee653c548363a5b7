"""What a tolerant matching sends, exactly; see `smc.analyses.matching.linkage`."""

from __future__ import annotations

from collections.abc import Mapping

from smc.analyses.matching.places import stretches
from smc.analyses.matching.tolerant_parameters import GREEDY, TolerantParameters
from smc.forms import Role
from smc.oblivious import cost as oblivious
from smc.protocols.sizes import counts_cost
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST, cost_of
from smc.secret import gates, opening, overlap, pairing, register, signs


def run_cost(parameters: TolerantParameters, counts: Mapping[Role, int], recipients: frozenset[Role]) -> Cost:
    """The exact cost of a run in a fresh session, without the gate and the count of matches.

    Args:
        parameters: of the job.
        counts: rows of each side, none 0.
        recipients: who learns the pairs.
    """
    buckets, capacity, rule = parameters.buckets(tuple(counts.values())), parameters.bucket, parameters.rule
    greedy = parameters.one_to_one == GREEDY
    sizes = {role: max(buckets * capacity, counts[role]) for role in Role}
    total = counts_cost(1) + SETUP_COST
    for number in range(len(parameters.blocking)):
        if greedy and number:
            for role in Role:
                total += register.cost(sizes[role], role)
        for part in stretches(buckets, capacity):
            blocks = part.stop - part.start
            pairs = blocks * capacity**2
            total += overlap.cost(blocks, capacity, parameters.bits)
            total += signs.cost_nonnegative(pairs, rule.margins)
            if greedy:
                if number:
                    total += pairing.cost_neither(blocks, capacity) + cost_of(oblivious.conjunction(pairs))
                total += pairing.cost(blocks, capacity, rule.most_score, parameters.rounds)
            for role in Role:
                if greedy or role in recipients:
                    total += gates.cost(pairs, role.other)
    for role in (role for role in Role if role in recipients):
        if greedy:
            total += register.cost(sizes[role], role) + opening.cost(counts[role], {role})
        else:
            total += opening.cost(len(parameters.blocking) * buckets * capacity**2, {role})
    return total
