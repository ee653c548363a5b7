"""Figures that docstrings of protocols state of large runs: what the exact cost says, as they are rounded."""

from __future__ import annotations

import inspect
import re

import pytest

from smc.ciphers.lattice_slots import SlotParameters
from smc.forms import Role
from smc.oblivious import silent_transfers
from smc.oblivious.silent_circuits import SilentDigits
from smc.oblivious.spans import Digits, spans
from smc.protocols.comparison import oblivious, silent
from smc.protocols.intersection import cuckoo, exact, opprf, oprf, single_oprf
from smc.protocols.intersection.records import cost_intersection, cost_opprf, cost_oprf, cost_single_oprf
from smc.protocols.intersection.sorted_masks import MaskLayout
from smc.protocols.spec import Parameters
from smc.secret.joins import circuit_psi, joins
from smc.secret.joins.records import cost_align
from smc.secret.products import lattice_multiply, narrow_sums, words

MILLION = 1_000_000


def sent(cost, count=MILLION):
    """Bytes of both directions for each of so many."""
    return (cost.alice_bytes + cost.bob_bytes) / count


def sent_and_rounds(cost):
    """The same, and rounds."""
    return sent(cost), cost.rounds


def first_span(parts):
    """How many fit into the first of several spans, to the thousand."""
    part = next(iter(parts))
    return round(part.stop - part.start, -3)


def of_oblivious():
    digits = Digits.of(32)
    return (first_span(spans(MILLION, digits.word_bytes)),)


def of_silent():
    span = next(iter(SilentDigits.of(32).spans(10 * MILLION)))
    transfers = (span.stop - span.start) * SilentDigits.of(32).transfers
    refill = silent_transfers.refills(transfers // 64)
    return (
        round(span.stop - span.start, -3),
        refill / transfers,
        silent_transfers.refills(1) / 1000,
        sent(silent.SPEC.cost(Parameters(MILLION, 32, 0, 0))),
    )


def of_exact():
    run, told = (cost_intersection(MILLION, MILLION, tell=tell) for tell in (False, True))
    fresh = cost_intersection(MILLION, MILLION, fresh=True)
    masks = MaskLayout.of(MILLION, MILLION).size / MILLION
    return sent(cost_oprf(MILLION)), masks, run.rounds, told.rounds, fresh.rounds - run.rounds


def of_opprf():
    one, two = (cost_opprf(MILLION, MILLION, words) for words in (1, 2))
    asked = sent(cost_single_oprf(cuckoo.bins_for(MILLION)))
    return one.rounds, asked, sent(two) - sent(one)


def of_circuit_psi():
    small = [cost_align(100, 100, count, count).rounds for count in (0, 1)]
    whole = [sent(cost_align(MILLION, MILLION, *columns)) for columns in ((0, 0), (1, 0), (0, 1))]
    bits = circuit_psi.tag_bits(cuckoo.bins_for(MILLION))
    span = first_span(spans(MILLION, Digits.of(bits).word_bytes))
    more = cost_align(3 * span, 3 * span, 0, 0).rounds - cost_align(2 * span, 2 * span, 0, 0).rounds
    return *small, more, span, whole[0], whole[1] - whole[0], whole[2] - whole[0]


def of_joins():
    bits = []
    for count in (1000, MILLION):
        counts, slots = dict.fromkeys(Role, count), cuckoo.bins_for(count)
        none, one = (joins.cost(counts, Role.ALICE, columns) for columns in (0, 1))
        bits.append(sent(none, slots))
    return *bits, sent(one) - sent(none)


def of_encrypted():
    block = 8192 * 100
    return tuple(sent(lattice_multiply.cost(block, terms), block) for terms in (2, 1))


def of_narrow():
    block = 16_384 * 100

    def cost(terms, answers):
        return sent(lattice_multiply.cost_sums(SlotParameters.narrow(block, terms), answers), block)

    whole = sent(narrow_sums.cost(block, 1, 1), block)
    return cost(2, 1) - cost(1, 1), cost(1, 2) - cost(1, 1), whole - cost(1, 1)


def of_products():
    count = 64 * 1000
    return sent(words._cost_transfers(count, words.SHARED, words.SHARED), count), *of_encrypted()


STATED = (
    (oblivious, "({} pairs of 32 bits)", of_oblivious),
    (
        silent,
        "({} pairs of 32 bits); per pair and digit one byte of shifts and offers, per join 0.75 bytes, and "
        "{} bytes per transfer each way of refills, of which a small batch needs a whole first portion of "
        "{} kB. For 32 bits and large batches that is {} bytes in both directions together",
        of_silent,
    ),
    (
        exact,
        "{} bytes per key of the receiver and {} per key of the sender at a million keys each; {} rounds, {} "
        "if both are to learn, and {} more where the session has made no transfers yet",
        of_exact,
    ),
    (oprf, "{} bytes per point at a million, {} rounds", lambda: sent_and_rounds(cost_oprf(MILLION))),
    (
        single_oprf,
        "{} bytes per instance at a million, {} rounds",
        lambda: sent_and_rounds(cost_single_oprf(MILLION)),
    ),
    (
        opprf,
        "{} rounds; at a million keys {} bytes per key of the receiver and {} w per key of the sender",
        of_opprf,
    ),
    (
        circuit_psi,
        "{} rounds, {} with columns of both, {} more per {} slots; at a million rows each {} bytes per row, "
        "{} more for a column of the owner and {} for one of the other party",
        of_circuit_psi,
    ),
    (
        joins,
        "a member bit {} bytes per slot of a thousand keys, {} of a million, a column {} bytes per key",
        of_joins,
    ),
    (lattice_multiply, "{} bytes a product for T = 2, {} for T = 1, where blocks are full", of_encrypted),
    (narrow_sums, "in full blocks of 16,384 rows {} bytes for each term, {} and {} for each sum", of_narrow),
    (
        words,
        "{} bytes per product of two shared integers, 12 per bit of an owned factor; by lattice encryption "
        "{} and {} in full blocks of 8,192",
        of_products,
    ),
)
"""Modules, words of their docstrings with a place for each figure, and what gives the figures."""


@pytest.mark.parametrize(
    ("module", "text", "figures"), STATED, ids=[module.__name__ for module, _, _ in STATED]
)
def test_a_stated_figure_is_what_the_cost_says(module, text, figures):
    pattern = re.escape(text).replace(r"\{\}", r"([\d,]+(?:\.\d+)?)")
    found = re.search(pattern, " ".join(inspect.getdoc(module).split()))
    assert found, "the words are others"
    shown = found.groups()
    decimals = [len(each.partition(".")[2]) for each in shown]
    exactly = [f"{value:.{places}f}" for value, places in zip(figures(), decimals, strict=True)]
    assert [each.replace(",", "") for each in shown] == exactly
