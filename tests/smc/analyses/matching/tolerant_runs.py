"""Tolerant matching jobs, people of both sides for them, and joint runs that are checked."""

from __future__ import annotations

from parties.bench.people import FIELDS, people
from parties.bench.workloads import made_up
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.oblivious.base_ot import BaseAnswer, BaseKeyOffer, BaseOffer
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import Counts
from tests.support import openings
from tests.support.transcript import BYTES_BOUND, byte_statistic

BOTH = frozenset(Role)
ALICE, BOB = frozenset([Role.ALICE]), frozenset([Role.BOB])


PASSES = {
    "fields": [{"column": name, "bits": 32} for name in FIELDS],
    "threshold": "0.5",
    "blocking": [["born:value"], ["surname:soundex"], ["town:prefix3"]],
    "bucket": 5,
    "load": 3,
    "overflow": "accept",
}
RANKED = {"ranks": 2, "bucket": None, "load": None}
"""What changes where rows meet by ranks, and not in buckets."""


def parameters(mode="greedy", **changes):
    """A job in which rows meet in buckets; keys that change to None are left out."""
    given = {**PASSES, "one_to_one": mode, **changes}
    return TOLERANT.parse({key: value for key, value in given.items() if value is not None})


LINEAR = {
    "threshold": None,
    "least_score": -2,
    "fields": [
        {"column": "given_name", "weight": 5, "gram": "-2.25", "empty": "-3", "rarity": "0.5"},
        {"column": "surname", "weight": 3, "gram": "-1.4", "rarity": "1.25"},
        {"column": "born", "weight": 4, "gram": "-2.1", "empty": "6"},
        {"column": "postcode", "weight": 2, "gram": "-0.75"},
    ],
}
"""What changes where fields have local terms."""


def by_ranks(ranks=2, **changes):
    return parameters(**RANKED | {"ranks": ranks} | changes)


def part(data, rows):
    return {name: Column([column.texts[row] for row in rows], column.schema) for name, column in data.items()}


def tables(rows=60, common=45, bob_rows=None):
    """People of both sides, Bob's in another order, and the true pairs."""
    source = made_up()
    data = people(source, rows, common)
    order = source.permutation(rows)[:bob_rows]
    truth = {(int(row), place) for place, row in enumerate(order) if row < common}
    return data[Role.ALICE], part(data[Role.BOB], order), truth


def side(study, alice, bob, recipients=BOTH, limits=NO_LIMITS, gate=open_gate):
    def run(session):
        data = alice if session.role is Role.ALICE else bob
        return run_study(study, session, data, recipients, limits.of_both, gate)

    return run


def joined(first, second):
    """Pairs of own rows, from the tables of both recipients."""
    a, b = (outcome.tables[0].columns for outcome in (first, second))
    assert a["pair"] == b["pair"] == list(range(1, len(a["pair"]) + 1))
    pairs = list(zip((row - 1 for row in a["row"]), (row - 1 for row in b["row"]), strict=True))
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def check_estimate(parsed, alice, bob, recipients):
    def measured(session):
        side(parsed, alice, bob, recipients)(session)
        return session.channel.traffic

    first, second = run_pair(measured, measured)
    rows = len(alice["surname"])
    estimate = estimate_cost(parsed, {}, recipients, RunSetting((rows, rows)))
    assert (estimate.alice_bytes, estimate.bob_bytes) == (first.sent, second.sent)
    assert estimate.rounds == max(first.rounds, second.rounds)


BASE = {BaseOffer.__name__, BaseKeyOffer.__name__, BaseAnswer.__name__}
"""Points, keys and ciphertexts: uniform in groups and rings, not as bytes."""

OPEN = {openings.SHARES, openings.BITS, Counts.__name__, *BASE}


class ClosedError(Exception):
    """The gate does not open."""


def closed(channel):
    raise ClosedError


def check_noise(seen, shown=OPEN):
    """Demand that what both sides received looks like noise, but for the kinds that are shown."""
    for rows in seen.values():
        for kind in {kind for kind, _ in rows} - shown:
            data = b"".join(body for name, body in rows if name == kind)
            if len(data) > 3000:
                assert byte_statistic(data) < BYTES_BOUND, kind
