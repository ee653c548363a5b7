"""`/healthz`: yes or no and the names of checks, found as `duetto party health` finds them."""

from __future__ import annotations

import http.client
import json

import pytest

from parties import doctor
from parties.config import load
from parties.daemon import healthz
from parties.daemon.healthz import Health
from parties.daemon.metrics import MetricsServer
from parties.findings import DAEMON, DRAINING, Finding, Status
from parties.session.draining import Drain

SECRETS = ("/srv/duetto", "south", "17 of 20", "chmod o-w")


def finding(check, verdict):
    return Finding("self", check, verdict, f"{SECRETS[0]} {SECRETS[1]} {SECRETS[2]}", SECRETS[3])


def drained(*, is_draining):
    drain = Drain(lambda: None, lambda: 2, 60)
    if is_draining:
        drain.start()
    return drain


@pytest.mark.parametrize(
    ("findings", "is_draining", "ill"),
    [
        ([finding("disk", Status.OK), finding("policy", Status.WARN)], False, []),
        ([finding("disk", Status.FAIL), finding("data", Status.FAIL)], False, ["data", "disk"]),
        ([finding(DAEMON, Status.WARN)], False, [DAEMON]),
        ([finding(DRAINING, Status.WARN), finding("disk", Status.FAIL)], True, ["disk", DRAINING]),
        ([], True, [DRAINING]),
    ],
)
def test_it_answers_by_the_checks_and_tells_their_names_alone(findings, is_draining, ill):
    status, body = Health(lambda: findings, drained(is_draining=is_draining)).answer()
    assert (int(status), json.loads(body)) == (503 if ill else 200, {"healthy": not ill, "ill": ill})
    assert not any(secret in body.decode() for secret in SECRETS)


def test_the_checks_are_made_once_in_a_while_and_draining_is_told_at_once():
    now, asked = [0.0], []
    drain = drained(is_draining=False)
    health = Health(lambda: asked.append(1) or [], drain, lambda: now[0])
    for moment in (0.0, 1.0, healthz.FRESH_SECONDS - 0.1):
        now[0] = moment
        assert health.answer()[0] == 200
    assert asked == [1]
    drain.start()
    assert (health.answer()[0], asked) == (503, [1])
    now[0] = healthz.FRESH_SECONDS
    health.answer()
    assert asked == [1, 1]


def test_over_http_it_says_what_is_wrong_with_the_catalog(served, monkeypatch):
    pytest.importorskip("prometheus_client")
    config = load(served.folder / "north")
    monkeypatch.setattr("parties.doctor.running_pid", lambda _: 7)
    now = [0.0]

    class Nothing:
        def collect(self):
            return []

    health = Health(lambda: doctor.examine_self(config), drained(is_draining=False), lambda: now[0])
    server = MetricsServer(0, Nothing(), health)
    server.start()

    def ill():
        now[0] += healthz.FRESH_SECONDS
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        line.request("GET", "/healthz")
        answer = line.getresponse()
        assert answer.headers["Content-Type"] == "application/json"
        found = json.loads(answer.read())
        line.close()
        assert (answer.status == 200) is found["healthy"] is (not found["ill"])
        return set(found["ill"])

    try:
        before = ill()
        assert not before & {"configuration", "data", "disk"}
        config.catalog.write_text("[datasets")
        assert ill() - before == {"configuration", "data", "policy"}
    finally:
        server.stop()
