"""What others have seen of a chain is held against it, wherever its files begin."""

from __future__ import annotations

import pytest

from commons.logs.witnesses import Standing, Witness, contradictions, find_contradicted, standing
from parties.audit.lines import AuditLine


@pytest.fixture(scope="module")
def lines():
    made = []
    for number in range(6):
        before = made[-1].hash if made else "0" * 64
        made.append(AuditLine(number, before, "2026-01-01T00:00:00Z", "state").seal())
    return made


def test_every_line_of_a_whole_log_is_there(lines):
    assert {standing(lines, one.link) for one in lines} == {Standing.THERE}


def test_of_a_log_that_begins_later_the_line_before_is_known_and_no_earlier_one(lines):
    found = [standing(lines[3:], one.link) for one in lines]
    assert found == [Standing.ELSEWHERE] * 2 + [Standing.THERE] * 4
    assert standing(lines[3:], (2, "f" * 64)) is Standing.CHANGED


def test_what_is_cut_off_is_missing_and_what_differs_is_changed(lines):
    assert standing(lines[:3], lines[3].link) is Standing.MISSING
    assert standing([], lines[0].link) is Standing.MISSING
    assert standing(lines, (2, lines[3].hash)) is Standing.CHANGED


def seen(line, day):
    return Witness(line.link, f"2026-01-0{day}T00:00:00Z", f"stamp {day}")


def test_the_first_and_the_last_line_that_is_gone_are_told_and_how_many_say_so(lines):
    witnesses = [seen(lines[4], 4), seen(lines[1], 1), seen(lines[3], 2), seen(lines[3], 3)]
    assert contradictions(lines, witnesses, "Line", "log") == []
    first, last = contradictions(lines[:2], witnesses, "Line", "log")
    assert first == (
        "Line 3 of the log is missing: the log ends with line 1. "
        "It was there at 2026-01-02T00:00:00Z, by stamp 2."
    )
    assert last.startswith("Line 4 of the log is missing")
    assert last.endswith("by stamp 4. 1 more speaks against the log as well.")
    assert [one.source for one in find_contradicted(lines[:2], witnesses)] == [
        "stamp 2",
        "stamp 3",
        "stamp 4",
    ]


def test_one_line_that_several_have_seen_is_told_once(lines):
    (told,) = contradictions([], [seen(lines[0], 1), seen(lines[0], 2), seen(lines[0], 3)], "Line", "log")
    assert "the log is empty" in told
    assert told.endswith("by stamp 1. 2 more speak against the log as well.")


def test_a_log_of_which_no_line_was_seen_lately_is_told(lines):
    """A forged log may begin after everything that anybody has seen."""
    (told,) = contradictions(lines[4:], [seen(lines[0], 1), seen(lines[2], 2)], "Line", "log")
    assert told.startswith("Line 2, the newest that is witnessed (stamp 2, 2026-01-02T00:00:00Z)")
    assert contradictions(lines[4:], [seen(lines[0], 1), seen(lines[3], 2)], "Line", "log") == []
