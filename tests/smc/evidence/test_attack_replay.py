"""Attacks on replays: an honest side whose program is slower here than the frames may wait."""

from __future__ import annotations

import pytest

from smc.errors import DuettoError
from smc.evidence.replay import replay
from smc.evidence.verdict import judge
from smc.forms import Role
from tests.smc.evidence.test_replay import conjunction
from tests.support.recorded import recorded


@pytest.mark.parametrize("role", Role)
def test_a_slow_machine_convicts_nobody(role):
    """What a replay has not sent in time is not what the program does not send."""
    side = conjunction
    each = recorded(side, lanes=2)[role]
    try:
        sent = replay(side, role, each.seed, each.frames, **{**each.given, "waiting": 0.0})
    except DuettoError:
        return
    assert judge(each.sent, sent).is_cleared
