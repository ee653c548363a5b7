"""Notices reach each hook once and in order; a hook that fails or a restart loses and repeats few."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from parties.audit.lines import PROPOSED, STATE
from parties.audit.writer import Audit
from parties.clock import CLOCK
from parties.contracts.state import State
from parties.errors import NoticeError, PolicyError
from parties.hooks import CommandHook, EventKind
from parties.notices.alerts import Alert, certificates, newly_true
from parties.notices.notifier import Notifier
from parties.notices.queues import FILE, MAX_PENDING, read_queues
from parties.pki import certificate

SECONDS = 30


def hook(name, *events):
    return CommandHook(name=name, command=("/bin/true",), events=events or tuple(EventKind))


class Desk:
    """A home with an audit log, a notifier on it, and what came to its hooks."""

    def __init__(self, home, *hooks, failing=()):
        self.home, self.hooks, self.failing = home, hooks or (hook("a"),), set(failing)
        self.audit = Audit(home, CLOCK.stamp)
        self.got, self.tried, self.conditions = [], 0, []
        self._came = threading.Condition()
        self.gate = threading.Event()
        self.gate.set()

    def start(self, pauses=(0.01,) * 3):
        sources = lambda: ((EventKind.BUDGET, lambda: list(self.conditions)),)  # noqa: E731
        self.notifier = Notifier(
            self.home, "north", self.hooks, CLOCK, sources, deliver=self._deliver, pauses=pauses
        )
        self.audit.listen(self.notifier.hear)
        self.notifier.start()
        return self

    def _deliver(self, hook, notice):
        self.gate.wait(SECONDS)
        with self._came:
            self.tried += 1
            self._came.notify_all()
            if hook.name in self.failing:
                raise NoticeError("No.")
            self.got.append((hook.name, notice))

    def wait(self, until):
        with self._came:
            assert self._came.wait_for(until, SECONDS), (self.got, self.tried)

    def wait_for(self, count):
        self.wait(lambda: len(self.got) >= count)

    def settled(self):
        """The outbox once it shows that nothing is pending but what fails."""
        self.notifier.stop()
        for thread in self.notifier._threads.values():
            thread.join(SECONDS)
        return read_queues(self.home)

    def finish(self, *jobs):
        for job in jobs:
            self.audit.write(STATE, job=job, peer="south", state="finished")

    @property
    def jobs(self):
        return [notice.job for _, notice in self.got]


def test_each_hook_gets_its_events_in_order(tmp_path):
    desk = Desk(tmp_path, hook("all"), hook("waiting", EventKind.WAITING)).start()
    desk.audit.write(PROPOSED, job="j1", peer="south", state=State.WAITING_OWN.value)
    desk.finish("j1", "j2")
    desk.wait_for(4)
    assert [n.job for name, n in desk.got if name == "all"] == ["j1", "j1", "j2"]
    assert [n.event for name, n in desk.got if name == "waiting"] == [EventKind.WAITING]
    assert not any(queue.pending for queue in desk.settled().queues.values())
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_what_was_before_the_first_start_is_not_told_and_what_came_between_is(tmp_path):
    desk = Desk(tmp_path)
    desk.finish("old1", "old2")
    desk.start().finish("j1")
    desk.wait_for(1)
    desk.settled()
    desk.audit.listen(lambda _: None)
    desk.finish("j2")  # as if the daemon had died before it was told
    desk.start()
    desk.wait_for(2)
    desk.settled()
    desk.start()
    desk.finish("j3")
    desk.wait_for(3)
    assert desk.jobs == ["j1", "j2", "j3"]


def test_after_a_long_absence_there_is_no_flood(tmp_path):
    desk = Desk(tmp_path).start()
    desk.finish("first")
    desk.wait_for(1)
    desk.settled()
    desk.audit.listen(lambda _: None)
    desk.finish(*(f"j{n}" for n in range(MAX_PENDING + 50)))
    desk.start()
    desk.wait_for(1 + MAX_PENDING)
    desk.finish("last")
    desk.wait(lambda: "last" in desk.jobs)
    assert desk.jobs[1:] == [*(f"j{n}" for n in range(50, MAX_PENDING + 50)), "last"]


def test_a_hook_that_hangs_holds_up_neither_the_log_nor_another_hook_nor_the_end(tmp_path):
    desk = Desk(tmp_path, hook("stuck"), hook("free"))
    stuck, real = threading.Event(), desk._deliver

    def deliver(one, notice):
        if one.name == "stuck":
            stuck.wait(SECONDS)
        real(one, notice)

    desk._deliver = deliver
    desk.start()
    for first in range(0, MAX_PENDING + 20, 20):  # what is free takes them as they come
        desk.finish(*(f"j{n}" for n in range(first, first + 20)))
        desk.wait_for(first + 20)
    desk.notifier.stop()
    assert {name for name, _ in desk.got} == {"free"}
    queue = read_queues(tmp_path).queue("stuck")
    assert len(queue.pending) == MAX_PENDING
    assert queue.lost == 20
    stuck.set()


def test_a_failure_is_tried_again_and_then_given_up_and_noted(tmp_path, caplog):
    desk = Desk(tmp_path, failing={"a"}).start()
    desk.finish("j1")
    desk.wait(lambda: desk.tried == 4)
    desk.failing.clear()
    desk.finish("j2")
    desk.wait_for(1)
    assert desk.jobs == ["j2"]
    assert "is given up by hook a: No." in caplog.text
    assert desk.settled().queue("a").failure == ""


def test_a_failure_outlives_a_restart(tmp_path):
    desk = Desk(tmp_path, failing={"a"}).start(pauses=(3600.0,))
    desk.finish("j1")
    desk.wait(lambda: desk.tried == 1)
    queue = desk.settled().queue("a")
    assert (queue.failure, queue.tries, [n.job for n in queue.pending]) == ("No.", 1, ["j1"])
    desk.failing.clear()
    desk.start()
    desk.wait_for(1)
    assert desk.jobs == ["j1"]


def test_a_peer_that_is_refused_all_the_time_is_told_of_once(tmp_path):
    desk = Desk(tmp_path).start()
    for _ in range(5):
        desk.audit.write_refusal("south", "j1", "policy")
    desk.audit.write_refusal("east", "j1", "policy")
    desk.finish("end")
    desk.wait(lambda: "end" in desk.jobs)
    assert [(n.event, n.peer) for _, n in desk.got[:-1]] == [
        (EventKind.PEER, "south"),
        (EventKind.PEER, "east"),
    ]


def test_hooks_may_come_and_go_while_it_runs(tmp_path):
    desk = Desk(tmp_path).start()
    desk.notifier.follow(())
    desk.finish("j1")
    desk.notifier.follow((hook("b"),))
    desk.finish("j2")
    desk.wait(lambda: "j2" in desk.jobs)
    assert {name for name, _ in desk.got} == {"b"}


def test_a_damaged_outbox_is_begun_anew(tmp_path, caplog):
    (tmp_path / FILE).write_text('{"line": "x"}')
    desk = Desk(tmp_path)
    desk.finish("old")
    desk.start().finish("j1")
    desk.wait_for(1)
    assert desk.jobs == ["j1"]
    assert "begun anew" in caplog.text


def budget(state):
    return Alert(EventKind.BUDGET, "rule/people/south", state, "south")


def test_what_holds_is_told_once_and_across_restarts(tmp_path):
    desk = Desk(tmp_path)
    desk.conditions = [budget("80 % or more")]
    for _ in range(2):
        desk.start().finish("x")
        desk.wait(lambda: desk.jobs.count("x"))
        desk.wait(lambda: any(n.event is EventKind.BUDGET for _, n in desk.got))
        desk.settled()
    assert [n.state for _, n in desk.got if n.event is EventKind.BUDGET] == ["80 % or more"]


def test_only_the_highest_of_several_bounds_is_told():
    both = [budget("95 % or more"), budget("80 % or more")]
    new, told = newly_true([(EventKind.BUDGET, lambda: both)], set())
    assert new == both[:1]
    assert newly_true([(EventKind.BUDGET, lambda: both)], told) == ([], told)
    new, first = newly_true([(EventKind.BUDGET, lambda: both[1:])], set())
    assert new == both[1:]
    assert newly_true([(EventKind.BUDGET, lambda: both)], first)[0] == both[:1]


def test_what_cannot_be_read_changes_nothing():
    def broken():
        raise PolicyError("Unreadable.")

    told = {budget("80 % or more").key, "certificate|north|x"}
    assert newly_true([(EventKind.BUDGET, broken)], told) == ([], {budget("80 % or more").key})


@pytest.mark.parametrize(
    ("days", "states"),
    [
        (31, []),
        (29, ["ends-within-30-days"]),
        (6, ["ends-within-7-days", "ends-within-30-days"]),
        (0.5, ["ends-within-a-day", "ends-within-7-days", "ends-within-30-days"]),
    ],
)
def test_certificates_are_told_of_three_times(days, states):
    own, _ = certificate.make("north")
    peer, _ = certificate.make("south", certificate.begins(own) - timedelta(days=300))
    now = certificate.ends(peer) - timedelta(days=days)
    found = [c for c in certificates(own, {"south": peer}, now, "north") if c.peer]
    assert [c.state for c in found] == states
