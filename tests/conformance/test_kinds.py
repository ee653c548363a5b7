"""Each kind of message, changed: the other side ends with a typed error, or as its entry says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smc.channel.message import KINDS
from smc.errors import DuettoError, ProtocolViolation
from smc.levels import level_of
from smc.protocols.against import Against
from tests.conformance.deviating import (
    BASELINE,
    DEVIATIONS,
    Outcome,
    again,
    bit,
    examples,
    honest,
    outcome,
    word,
    zeros,
)
from tests.conformance.entries import ELSEWHERE, ENTRIES, Demand

ROOT = Path(__file__).parents[2]
ALLOWED = {
    Demand.REFUSED: {Outcome.ERROR},
    Demand.CHECKED: {Outcome.ERROR},
    Demand.HARMLESS: {Outcome.ERROR, Outcome.SAME},
    Demand.UNPROTECTED: set(Outcome),
}


@pytest.mark.parametrize("deviation", ["bit", "word", "zeros"])
@pytest.mark.parametrize("kind", sorted(ENTRIES))
def test_a_changed_message_ends_as_its_entry_says(kind, deviation):
    found, error = outcome(kind, DEVIATIONS[deviation])
    assert error is None or isinstance(error, DuettoError), repr(error)
    entry = ENTRIES[kind]
    if entry.demand is not Demand.CHECKED or deviation != "bit":
        assert found in ALLOWED[entry.demand], entry.reason


@pytest.mark.parametrize("kind", sorted(ENTRIES))
def test_a_message_that_comes_again_is_refused(kind):
    found, error = outcome(kind, again)
    assert found is Outcome.ERROR
    assert isinstance(error, ProtocolViolation), repr(error)


def test_every_kind_has_an_entry():
    """A new kind of message needs one in `entries.py`; one that is gone has none."""
    said = json.loads(BASELINE.read_text(encoding="utf-8"))["messages"]
    assert {*ENTRIES, *ELSEWHERE} == {*said}
    assert ENTRIES.keys() == examples().keys()
    assert not ENTRIES.keys() & ELSEWHERE.keys()
    for file, test in ELSEWHERE.values():
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_results_are_unprotected_only_where_the_level_says_so():
    """A protocol that is active refuses every change, but for what a side declares of itself."""
    for kind, entry in ENTRIES.items():
        level = level_of(KINDS[kind].rpartition(".")[0])
        if entry.demand is Demand.UNPROTECTED:
            assert level is not Against.ACTIVE or "its own to say" in entry.reason, kind


def test_deviations_change_what_they_say():
    body = bytes(range(1, 21))
    (flipped,), (inverted,), (nothing,) = bit(body), word(body), zeros(body)
    assert sum((a ^ b).bit_count() for a, b in zip(body, flipped, strict=True)) == 1
    assert sum((a ^ b).bit_count() for a, b in zip(body, inverted, strict=True)) == 64
    assert nothing == bytes(20)
    assert again(body) == [body, body]
    assert word(b"\1") == [b"\xfe"]


def test_an_honest_run_of_each_example_has_results():
    """So that a changed one can have another: what sides are compared by is not empty."""
    for example in {*examples().values()}:
        assert len(honest(example.run)[example.sender.other]) > 0
