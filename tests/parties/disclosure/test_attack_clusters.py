"""A peer puts clusters where it wants them, by many rows of its own, and looks at which are withheld."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.clustering.study import CLUSTERING
from smc.secret.sharing.opening import OpenedBits
from tests.parties.disclosure.test_attacks import Victim, patients

TAIL = np.arange(25_000, 95_000, 5_000)
"""Where the peer has a hundred rows each."""

JOB = {
    "clusters": 16, "layout": "horizontal", "labels": False, "iterations": 5, "precision": 16,
    "columns": ["cost"], "start": "kmeans++",
}  # fmt: skip


@pytest.mark.parametrize("outliers", [(31_000, 44_300, 62_100, 62_900, 88_123), (62_100,), ()])
def test_which_clusters_are_withheld_does_not_tell_where_single_persons_are(tmp_path, outliers):
    drawn = np.random.default_rng(1)
    cost = np.r_[drawn.integers(500, 1_500, 40), drawn.integers(9_000, 11_000, 355), outliers]
    victim = Victim(tmp_path, patients(cost=cost), overlap=20)
    received, outcome = victim.asked(CLUSTERING.parse(JOB), brought={"cost": np.repeat(TAIL, 100)})
    assert outcome is None
    told = [message for message in received if isinstance(message, OpenedBits)]
    assert [message.shares.values.size for message in told] == [1]  # whether few enough stay closed
