"""Links and sessions of the dashboard, by a clock that the test moves."""

from __future__ import annotations

import pytest

from parties.dashboard.entrance.access import LINK_SECONDS, MAX_SESSIONS, Access, same_form


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def access(clock):
    return Access(idle_seconds=60, clock=clock)


def test_a_link_lets_one_browser_in(access):
    token = access.invite()
    session = access.enter(token)
    assert session is not None
    assert access.enter(token) is None
    assert access.find(session.key, uses=True) is session


@pytest.mark.parametrize("token", ["", "x", "\udcff", "ü" * 50])
def test_an_unknown_link_lets_nobody_in(access, token):
    access.invite()
    assert access.enter(token) is None
    assert access.find(token, uses=True) is None


def test_links_grow_old(access, clock):
    early, late = access.invite(), access.invite()
    clock.now += LINK_SECONDS
    assert access.enter(early) is not None
    clock.now += 0.001
    assert access.enter(late) is None


def test_sessions_end_when_nobody_uses_them(access, clock):
    session = access.enter(access.invite())
    clock.now += 60
    assert access.find(session.key, uses=True) is session
    clock.now += 60
    assert access.find(session.key, uses=False) is session
    clock.now += 0.001  # a page that refreshes itself has not kept it alive
    assert access.find(session.key, uses=True) is None


def test_leaving_ends_one_session(access):
    one, other = (access.enter(access.invite()) for _ in range(2))
    access.leave(one)
    assert access.find(one.key, uses=True) is None
    assert access.find(other.key, uses=True) is other


def test_sessions_are_bounded(access):
    first = access.enter(access.invite())
    others = [access.enter(access.invite()) for _ in range(MAX_SESSIONS)]
    assert access.find(first.key, uses=True) is None
    assert all(access.find(one.key, uses=True) is one for one in others)


def test_secrets_are_long_apart_and_not_shown(access):
    sessions = [access.enter(access.invite()) for _ in range(3)]
    secrets = {text for one in sessions for text in (one.key, one.form_key)}
    assert len(secrets) == 6
    assert all(len(text) >= 43 for text in secrets)
    assert not any(text in repr(sessions) for text in secrets)
    assert same_form(sessions[0], sessions[0].form_key)
    assert not same_form(sessions[0], sessions[1].form_key)
