"""Audits: they find most of a loss that is there, and none that is not."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.dp.audit import clopper_pearson, event_loss, loss_at_least
from anonymizer.errors import AnonymizerError
from anonymizer.tables.randomness import Randomness


def test_bounds_of_probabilities():
    assert clopper_pearson(0, 1000, 0.01)[1] == pytest.approx(1 - 0.01 ** (1 / 1000), rel=1e-6)
    assert clopper_pearson(1000, 1000, 0.01) == (pytest.approx(0.01 ** (1 / 1000), rel=1e-6), 1.0)
    assert event_loss(900, 100, (1000, 1000), 0.0, 1e-6) < np.log(9)
    assert event_loss(100, 900, (1000, 1000), 0.0, 1e-6) == 0
    for wrong in ((1, 0, 0.1), (2, 1, 0.1), (1, 2, 0.0)):
        with pytest.raises(AnonymizerError):
            clopper_pearson(*wrong)
    for sample in ([1.0, 2], [1.0, np.nan, 3, 4, 5]):
        with pytest.raises(AnonymizerError, match="four numbers"):
            loss_at_least(sample, sample)


def test_the_audit_finds_most_of_a_loss_and_no_more():
    draw = Randomness(3)
    first, second = draw.laplace(20_000), draw.laplace(20_000)
    assert loss_at_least(first, second) == 0
    assert 0.75 < loss_at_least(first + 1, second) <= 1
    assert loss_at_least(first + 1, second, delta=0.5) == 0
