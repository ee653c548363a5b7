"""The figures that the paper on the risk of disclosure prints, as they stand there."""

from __future__ import annotations

from typing import Final

TABLE_1: Final = {
    0.02: (37, 37),
    0.05: (28, 34),
    0.1: (18, 18),
    0.5: (7, 6),
    1.0: (6, 6),
    5.0: (5, 5),
    10.0: (5, 5),
}
"""By epsilon: predicted and real risk distance."""

REAL: Final = {
    0.01: 91.1924361,
    0.05: 9.1253869,
    0.1: 3.1175912,
    0.5: 0.6377946,
    1.0: 0.4102599,
    5.0: 0.1385792,
    10.0: 0.1335111,
}
"""Tables 2 and 3: real variance error in percent, by epsilon."""

TABLE_2: Final = {
    0.01: 91.1805406,
    0.05: 17.7786689,
    0.1: 8.6034350,
    0.5: 1.2632478,
    1.0: 0.3457244,
    5.0: -0.3882943,
    10.0: -0.4800466,
}
"""Predicted by Eq. 13."""

TABLE_3: Final = {
    0.01: 91.1924361,
    0.05: 7.7767367,
    0.1: 3.2832387,
    0.5: 0.6377946,
    1.0: 0.3664488,
    5.0: 0.1588656,
    10.0: 0.1335111,
}
"""Predicted by Eq. 15."""

LEARNED_FROM: Final = (0.01, 0.5, 10.0)
"""The epsilons whose errors the curves of Tables 2 and 3 are learned from."""
EQUATION_14: Final = 0.2
"""The variance error by epsilon, 1 / (5 epsilon), "after averaging all the coefficients"."""
