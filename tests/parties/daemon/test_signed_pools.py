"""Pools that were read before a person had signed them are filled once one has, without another reload."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from parties.config import load
from parties.daemon import daemon
from parties.daemon.daemon import Daemon
from parties.errors import PolicyError
from tests.parties.test_config import GOOD, POOLS, written


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A daemon of nothing but what fills pools, and the gate that asks for a signature."""
    monkeypatch.setattr(daemon, "_SIGNATURE_SECONDS", 0.0)
    found = object.__new__(Daemon)
    found._config, found.followed, found.is_signed = load(written(tmp_path, GOOD + POOLS)), [], False

    def require(*_):
        if not found.is_signed:
            raise PolicyError("Nobody has signed it.", "Sign it.")

    found._manager = SimpleNamespace(gate=SimpleNamespace(require=require))
    found._filler = SimpleNamespace(follow=found.followed.append)
    return found


def test_a_signature_after_a_reload_fills_pools(made):
    assert made._with_signed_pools(made._config).pools == ()
    made._follow_signature()
    assert made.followed == []
    made.is_signed = True
    made._follow_signature()
    assert [config.pools for config in made.followed] == [made._config.pools]
    made._follow_signature()
    assert len(made.followed) == 1


def test_nothing_is_asked_where_pools_are_signed(made):
    made.is_signed = True
    assert made._with_signed_pools(made._config).pools
    made._follow_signature()
    assert made.followed == []
