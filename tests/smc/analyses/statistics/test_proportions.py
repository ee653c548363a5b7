"""Figures of two groups in the clear, beside statsmodels and scipy.

The figures are those of statsmodels 0.15.0: `Table2x2(cells)` with `riskratio_confint` and
`oddsratio_confint`, `confint_proportions_2indep(..., method="newcomb")`, `proportion_confint(...,
method="wilson")`.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest
from scipy.stats import fisher_exact, hypergeom

from smc.analyses.statistics.kinds.proportions import (
    DIFFERENCE,
    ODDS_RATIO,
    RANGES,
    RISK_RATIO,
    RISKS,
    figures,
    join,
    mid_p,
    sampling_ends,
)

TABLES = {
    (30, 70, 18, 92): {
        RISKS[0]: (0.3, 0.21894885294932756, 0.39584854633346667),
        DIFFERENCE: (0.13636363636363635, 0.02230597228029131, 0.24816144125221762),
        RISK_RATIO: (1.8333333333333333, 1.0923451465047034, 3.0769680461034015),
        ODDS_RATIO: (2.1904761904761907, 1.1300148433491057, 4.2461264728367265),
    },
    (5, 995, 9, 491): {
        RISKS[0]: (0.005, 0.0021375355273244604, 0.011650955373375117),
        DIFFERENCE: (-0.013, -0.02910804685417512, -0.0022057457595507906),
        RISK_RATIO: (0.2777777777777778, 0.0935868033288831, 0.824480493857695),
        ODDS_RATIO: (0.2741485203796762, 0.09138882661460311, 0.8223916862759688),
    },
    (7, 3, 2, 11): {
        RISKS[0]: (0.7, 0.39677814746114537, 0.8922087325936989),
        DIFFERENCE: (0.5461538461538461, 0.14114048116899036, 0.7679057282379147),
        RISK_RATIO: (4.55, 1.1939513860049746, 17.339483200628194),
        ODDS_RATIO: (12.833333333333334, 1.6945091838845987, 97.19300786962309),
    },
}


@pytest.mark.parametrize("cells", TABLES)
def test_they_are_those_of_statsmodels(cells):
    values, ends = figures(np.array(cells, dtype=float)[:, None]), sampling_ends(cells)
    for name, (value, low, high) in TABLES[cells].items():
        assert float(values[name][0]) == pytest.approx(value, rel=1e-12)
        assert ends[name] == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))


def test_tables_with_zeros_tell_what_they_can():
    values = figures(np.array([[0.0, 5], [10, 0], [4, 0], [6, 0]]))
    assert values[RISK_RATIO][0] == 0
    assert isnan(values[RISKS[1]][1])
    ends = sampling_ends((0, 10, 4, 6))
    assert ends[RISK_RATIO] == ends[ODDS_RATIO] == (0, inf)
    assert ends[RISKS[0]][0] == pytest.approx(0)
    assert ends[RISKS[0]][1] < 0.3
    assert sampling_ends((5, 0, 0, 0)) == dict(RANGES)


def test_the_mid_p_value_is_that_of_the_hypergeometric_distribution():
    drawn = np.random.default_rng(7)
    for cells in drawn.integers(1, 40, (200, 4)).tolist():
        a, b, c, d = cells
        law = hypergeom(a + b + c + d, a + b, a + c)
        chances = law.pmf(np.arange(min(a + b, a + c) + 1))
        tied = chances[np.isclose(chances, law.pmf(a), rtol=1e-7, atol=0)].sum()
        assert mid_p(cells) == pytest.approx(fisher_exact([[a, b], [c, d]])[1] - tied / 2, abs=1e-9)
    assert mid_p((0, 5, 0, 7)) is None
    assert mid_p((300_000, 700_000, 301_000, 699_000)) == pytest.approx(0.1230, abs=5e-4)


def test_distances_of_both_intervals_add_up_as_squares():
    assert join(1.0, (0.7, 1.3), (0.6, 1.4), ratio=False) == (pytest.approx(0.5), pytest.approx(1.5))
    assert join(2.0, (1.0, 4.0), (2.0, 2.0), ratio=True) == (pytest.approx(1.0), pytest.approx(4.0))
    assert join(2.0, (0.0, inf), (1.0, 4.0), ratio=True) == (0.0, inf)
    assert join(0.0, (0.0, 1.0), (0.0, inf), ratio=True) == (0.0, inf)
