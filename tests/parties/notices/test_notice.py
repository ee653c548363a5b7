"""What a notice says, and that it says nothing else."""

from __future__ import annotations

import pytest

from parties.audit.lines import DECIDED, EVENTS, PROPOSED, REFUSED, STATE, AuditLine
from parties.contracts.state import State
from parties.hooks import EventKind
from parties.notices.notice import Notice, make_notice, of_line

ALLOWED = {"id", "event", "time", "party", "peer", "job", "state"}
TIME = "2026-11-28T12:00:00Z"
SECRETS = {
    "analysis": "statistics",
    "dataset": "hiv_patients",
    "title": "a rare disease",
    "digest": "ab" * 32,
    "actor": "Ann Other",
    "rule": "rare",
    "code": "budget",
    "uid": 7,
}


def line(event, **about):
    return AuditLine(3, "0" * 64, TIME, event, {**SECRETS, "peer": "south", "job": "j1", **about})


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", list(State))
def test_only_the_allowed_fields_are_sent_and_no_other_text_of_the_log(event, state):
    notice = of_line(line(event, state=state.value), "north")
    if notice is not None:
        assert notice.document.keys() == ALLOWED
        sent = f"{notice.body!r} {notice.sentence}"
        assert not any(str(value) in sent for name, value in SECRETS.items() if name != "uid")


@pytest.mark.parametrize(
    ("event", "state", "kind"),
    [
        (PROPOSED, State.WAITING_OWN, EventKind.WAITING),
        (PROPOSED, State.PROPOSED, None),
        (STATE, State.PROPOSED, EventKind.DECIDED),
        (STATE, State.APPROVED, EventKind.DECIDED),
        (STATE, State.DENIED, EventKind.DECIDED),
        (STATE, State.CANCELLED, EventKind.DECIDED),
        (STATE, State.WAITING_PEER, None),
        (STATE, State.RUNNING, None),
        (STATE, State.FAILED, EventKind.FAILED),
        (STATE, State.FINISHED, EventKind.FINISHED),
        (REFUSED, State.PROPOSED, EventKind.PEER),
        (DECIDED, State.PROPOSED, None),  # the state says it, with the name of the job
    ],
)
def test_events_follow_from_lines(event, state, kind):
    notice = of_line(line(event, state=state.value), "north")
    assert (notice.event if notice else None) is kind
    if notice is not None:
        assert (notice.party, notice.peer, notice.job, notice.time) == ("north", "south", "j1", TIME)


def test_a_name_that_a_peer_made_up_is_left_out():
    notice = of_line(line(REFUSED, job="ring +49 555 now"), "north")
    assert notice is not None
    assert notice.job == ""


@pytest.mark.parametrize("kind", list(EventKind))
def test_every_event_has_a_sentence(kind):
    said = make_notice(kind, TIME, "north", peer="south", job="j1", state="ends-within-7-days").sentence
    assert "south" in said
    assert said.endswith(".")


def test_a_notice_is_read_as_it_was_written():
    notice = make_notice(EventKind.WAITING, TIME, "north", peer="south", job="j1")
    assert Notice.parse(notice.document) == notice
    for wrong in ({}, [], {**notice.document, "title": "x"}, {**notice.document, "job": 3}):
        with pytest.raises(ValueError):
            Notice.parse(wrong)
