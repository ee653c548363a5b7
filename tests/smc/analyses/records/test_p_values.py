"""Adjusted p-values.

The figures are those of statsmodels 0.15.0, `multipletests(p, method="holm" or "fdr_bh")`.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.records.p_values import benjamini_hochberg, holm

P = [0.03, 0.001, 0.5, 0.04, 0.02]


def test_they_are_those_of_statsmodels():
    assert holm(P) == pytest.approx([0.09, 0.005, 0.5, 0.09, 0.08])
    assert benjamini_hochberg(P) == pytest.approx([0.05, 0.005, 0.5, 0.05, 0.05])


def test_a_test_that_could_not_be_made_counts():
    assert holm([0.01, None, 0.02]) == pytest.approx([0.03, None, 0.04])
    assert benjamini_hochberg([0.01, None, 0.02]) == pytest.approx([0.03, None, 0.03])
    assert holm([]) == benjamini_hochberg([]) == []


def test_holm_keeps_the_level_over_all_tests():
    """All hypotheses are true: any is rejected at 5 % in about one family of twenty."""
    families = np.random.default_rng(8).random((4000, 6))
    rejected = sum(
        min(value for value in holm(row.tolist()) if value is not None) <= 0.05 for row in families
    )
    assert 0.036 <= rejected / 4000 <= 0.064
