"""Rows that passes of a tolerant matching leave out: counted, told and refused before anything is sent."""

from __future__ import annotations

import json

import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from tests.support.transcript import transcripts

BOTH = frozenset(Role)
TEXT = Schema("text")


def parameters(*blocking, **changes):
    given = {
        "fields": [{"column": "name"}],
        "threshold": "0.8",
        "blocking": [list(key) for key in blocking],
        "bucket": 4,
        "load": 2,
    }
    return TOLERANT.parse({**given, **changes})


def table(groups, lone=0, keyless=0):
    """Groups of rows with one name each, rows with a name of their own, rows without; towns are distinct."""
    names = [f"n{chr(97 + number)}" for number, size in enumerate(groups) for _ in range(size)]
    names += [f"x{number:04}" for number in range(lone)] + [""] * keyless
    towns = [f"{number:05}" for number in range(len(names))]
    return {"name": Column(names, TEXT), "town": Column(towns, TEXT)}


def preview(parsed, data):
    return parsed.preview(data, Role.ALICE, NO_LIMITS)


NAMES, TOWNS = ("name:value",), ("town:value",)
OTHERS = ((), (TOWNS,), (TOWNS, ("town:prefix5",)))


def test_full_and_keyless_rows_are_counted_pass_by_pass():
    """40 rows of one name fill a bucket of 4; 8 of 50 have no name, and all a town."""
    shown = preview(parameters(NAMES, TOWNS, load=1), table([40], keyless=8, lone=2))
    assert shown.details["rows"] == 50
    first, second = shown.details["passes"]
    assert first == {"key": "name:value", "full": 36, "keyless": 8}
    assert (second["key"], second["keyless"]) == ("town:value", 0)
    assert (
        shown.notes[0]
        == "Pass 1 (name:value): 72 % of this side's rows find their bucket full, 16 % have no key."
    )
    assert "Pass 2 (town:value)" in shown.notes[1]
    json.dumps(shown.details)


def test_rows_in_no_pass_are_counted_once():
    shown = preview(parameters(NAMES, ("name:prefix1",)), table([40], keyless=10))
    assert shown.details["compared_in_no_pass"] == 46
    assert shown.notes[-1] == "Own rows that no pass compares: 92 %."


@pytest.mark.parametrize(
    ("groups", "lone", "refused"), [([4], 96, False), ([30], 70, False), ([60], 40, True), ([100], 0, True)]
)
def test_a_job_that_leaves_out_more_than_a_fifth_is_refused(groups, lone, refused):
    data = table(groups, lone)
    shown = preview(parameters(NAMES, TOWNS, load=1), data)
    assert shown.details["compared_in_no_pass"] <= 0.05 * len(data["name"])
    share = sum(each["full"] for each in shown.details["passes"]) / (2 * len(data["name"]))
    assert (share > 0.2) is refused
    assert (shown.refusal is not None) is refused
    if refused:
        with pytest.raises(
            DomainError, match=r"bucket full over all passes, .* in pass 1 \(name:value\)"
        ) as caught:
            shown.require()
        assert caught.value.stable_code == "overflow"
        assert 'overflow = "accept"' in caught.value.hint


def test_other_passes_make_up_for_one_that_is_full():
    """Over all passes 36, 18 and 12 in 100 rows are left out; each of them is in a pass by town."""
    data = table([40], 60)
    share = [preview(parameters(NAMES, *others, load=1), data) for others in OTHERS]
    assert [shown.refusal is not None for shown in share] == [True, False, False]
    assert all(shown.details["passes"][0]["full"] >= 36 for shown in share)


def test_rows_without_a_key_count_only_where_no_other_pass_has_them():
    """Missing names are nothing wrong as long as another pass compares their rows."""
    data = table([], lone=60, keyless=40)
    assert preview(parameters(NAMES, TOWNS, load=1), data).refusal is None
    refusal = preview(parameters(NAMES, load=1), data).refusal
    assert "40 % of this side's rows are compared in no pass" in refusal.what
    assert preview(parameters(NAMES, load=1), table([], lone=96, keyless=4)).refusal is None


def test_a_refusal_can_be_waived_and_its_figures_stay():
    data = table([100])
    shown = preview(parameters(NAMES, overflow="accept"), data)
    assert shown.refusal is None
    shown.require()
    assert shown.details == preview(parameters(NAMES), data).details
    with pytest.raises(UsageError, match="overflow"):
        parameters(NAMES, overflow="maybe")


def test_no_rows_are_nothing_to_refuse():
    assert preview(parameters(NAMES), table([])).refusal is None


@pytest.mark.parametrize("side", list(Role))
def test_the_run_refuses_what_the_check_refuses_and_sends_nothing(monkeypatch, side):
    """Row 5 of a block was left out without a word; now neither party sends anything about it."""
    full, fine = table([40]), table([], lone=40)
    parsed = parameters(NAMES)
    data = {side: full, side.other: fine}
    refused = []

    def run(session):
        if session.role is side:
            with pytest.raises(DomainError, match="bucket full") as caught:
                run_study(parsed, session, data[session.role], BOTH, NO_LIMITS.of_both)
            refused.append(caught.value.stable_code)

    _, seen = transcripts(monkeypatch, run)
    assert refused == ["overflow"]
    assert not any(seen.values())
    with pytest.raises(DomainError, match="bucket full"):
        parsed.reference(data[Role.ALICE], data[Role.BOB], BOTH)


def test_the_notes_of_the_result_tell_the_same():
    data = table([40])
    parsed = parameters(NAMES, overflow="accept", one_to_one="none")

    def run(session):
        return run_study(parsed, session, data, BOTH, NO_LIMITS.of_both)

    alice, bob = run_pair(run, run)
    for note in preview(parsed, data).notes:
        assert note in alice.notes
        assert note in bob.notes
    assert len(alice.tables[0].columns["row"]) == 16
