"""Rates of success by shared words with exact intervals, and the threshold that they allow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from anonymizer.errors import TableError
from scripts.reproduce.calibration import Observation, rates, threshold


def observed(**counts):
    """For "w4": (documents, succeeded)."""
    return [
        Observation(int(w[1:]), at < succeeded)
        for w, (documents, succeeded) in counts.items()
        for at in range(documents)
    ]


def test_rates_have_the_exact_interval():
    found = rates(observed(w4=(40, 0), w8=(20, 5), w16=(4, 4)), 0.9)
    assert [(one.shared, one.documents, one.succeeded) for one in found] == [
        (4, 40, 0),
        (8, 20, 5),
        (16, 4, 4),
    ]
    for one in found:
        expected = binomtest(one.succeeded, one.documents).proportion_ci(0.9, "exact")
        assert (one.low, one.high) == pytest.approx((expected.low, expected.high))
        assert one.low <= one.rate <= one.high


def test_the_threshold_is_the_largest_that_bears_the_probability():
    given = observed(w2=(210, 0), w5=(200, 4), w9=(100, 60))
    assert threshold(given, 0.02) == 3
    assert threshold(given, 0.05) == 6
    assert threshold(given, 0.25) == 10


def test_the_bound_holds_for_all_thresholds_together():
    """Two candidates share the confidence: 59 documents show 0.05 with 0.95 alone, 72 with 0.975."""
    alone = observed(w2=(59, 0))
    assert threshold(alone, 0.05) == 3
    with pytest.raises(TableError, match="At least 72 documents without success"):
        threshold([*alone, *observed(w9=(10, 10))], 0.05)
    assert threshold([*observed(w2=(72, 0)), *observed(w9=(10, 10))], 0.05) == 3


def test_too_low_a_probability_is_refused():
    with pytest.raises(TableError, match=r"No threshold has a probability of at most 0.01.*At least 299 doc"):
        threshold(observed(w2=(100, 0)), 0.01)


def test_the_real_rate_below_the_threshold_is_seldom_above_the_probability():
    """At a confidence of 0.9 one threshold in ten may be wrong; 45 of 200 have a chance below 1e-6."""
    draw = np.random.default_rng(7)
    real = {2: 0.02, 5: 0.10, 8: 0.14, 12: 0.6}
    wrong = 0
    for _ in range(200):
        shared = draw.choice(list(real), 300)
        given = [Observation(int(w), bool(draw.random() < real[w])) for w in shared]
        try:
            found = threshold(given, 0.085, 0.9)
        except TableError:
            continue
        wrong += np.mean([real[w] for w in real if w < found]) > 0.085
    assert wrong < 45


@pytest.mark.parametrize("count", [0, 19])
def test_few_documents_are_refused(count):
    for call in (rates, lambda given: threshold(given, 0.1)):
        with pytest.raises(TableError, match=f"{count} documents are too few"):
            call(observed(w2=(count, 0)))


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(TableError, match=r"of .* is out of range"):
        rates(observed(w2=(30, 0)), confidence)


@pytest.mark.parametrize("probability", [0, 1, -0.1])
def test_a_probability_out_of_range_is_refused(probability):
    with pytest.raises(TableError, match=r"of .* is out of range"):
        threshold(observed(w2=(30, 0)), probability)
