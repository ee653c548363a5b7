"""Figures that docstrings of protocols state of large runs: each is what the exact cost says, as it is rounded."""

from __future__ import annotations

import inspect
import re

import pytest

from smc.forms import Role
from smc.oblivious import silent_transfers
from smc.oblivious.silent_circuits import SilentDigits
from smc.oblivious.spans import Digits, spans
from smc.protocols.comparison import oblivious, oblivious_record, silent
from smc.protocols.intersection import cuckoo, exact, opprf, oprf, single_oprf
from smc.protocols.intersection.records import cost_intersection, cost_opprf, cost_oprf, cost_single_oprf
from smc.protocols.intersection.sorted_masks import MaskLayout
from smc.protocols.spec import Parameters
from smc.secret.joins import circuit_psi
from smc.secret.joins.records import cost_align
from smc.secret.products import lattice_multiply, narrow_sums, words

MILLION = 1_000_000
ROW = Role.ALICE, Role.BOB


def sent(cost, count=MILLION):
    """Bytes of both directions for each of so many."""
    return (cost.alice_bytes + cost.bob_bytes) / count


def compared(spec, count=MILLION):
    """The cost of comparisons of 32 bits."""
    return spec.cost(Parameters(count, 32, 0, 0))


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
        sent(compared(silent.SPEC)),
    )


def of_exact():
    run, told = (cost_intersection(MILLION, MILLION, tell=tell) for tell in (False, True))
    fresh = cost_intersection(MILLION, MILLION, turned=True)
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


def of_products():
    block = 8192 * 100
    return sent(lattice_multiply.cost(block, 2), block), sent(lattice_multiply.cost(block, 1), block)


STATED = (
    (oblivious, "({} pairs of 32 bits)", of_oblivious),
    (
        silent,
        "({} pairs of 32 bits); per pair and digit one byte of shifts and offers, per join 0.75 bytes, and {} bytes "
        "per transfer each way of refills, of which a small batch needs a whole first portion of {} kB. For 32 bits "
        "and large batches that is {} bytes in both directions together",
        of_silent,
    ),
    (
        exact,
        "{} bytes per key of the receiver and {} per key of the sender at a million keys each; {} rounds, {} if both "
        "are to learn, and {} more at the first use of vector OLE in a session",
        of_exact,
    ),
    (oprf, "{} bytes per point at a million, {} rounds", lambda: (sent(cost_oprf(MILLION)), cost_oprf(MILLION).rounds)),
    (
        single_oprf,
        "{} bytes per instance at a million, {} rounds",
        lambda: (sent(cost_single_oprf(MILLION)), cost_single_oprf(MILLION).rounds),
    ),
    (opprf, "{} rounds; at a million keys {} bytes per key of the receiver and {} w per key of the sender", of_opprf),
    (
        circuit_psi,
        "{} rounds, {} with columns of both, {} more per {} slots; at a million rows each {} bytes per row, {} more for "
        "a column of the owner and {} for one of the other party",
        of_circuit_psi,
    ),
    (lattice_multiply, "{} bytes a product for T = 2, {} for T = 1, where blocks are full", of_products),
    (words, "by lattice encryption {} and {} in full blocks of 8,192", of_products),
)
"""Modules, words of their docstrings with a place for each figure, and what gives the figures."""


@pytest.mark.parametrize(("module", "text", "figures"), STATED, ids=lambda each: getattr(each, "__name__", None))
def test_a_stated_figure_is_what_the_cost_says(module, text, figures):
    pattern = re.escape(text).replace(r"\{\}", r"([\d,]+(?:\.\d+)?)")
    found = re.search(pattern, " ".join(inspect.getdoc(module).split()).replace("\\", ""))
    assert found, "the words are others"
    shown = found.groups()
    decimals = [len(each.partition(".")[2]) for each in shown]
    assert list(shown) == [f"{value:,.{places}f}" for value, places in zip(figures(), decimals, strict=True)]
