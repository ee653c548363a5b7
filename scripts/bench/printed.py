"""What the thesis prints in section 8.2: one comparison of type 1, 1024-bit keys, Intel Core i7-4790.

Of the figures 8.4 and 8.5 it prints curves without numbers, so that of the other protocols only Table 8.3 can
stand beside what is measured here.
"""

from __future__ import annotations

from typing import Final

BITS: Final = (5, 10, 25, 50, 100)

TOTAL_MS: Final = dict(zip(BITS, (47.731, 47.700, 50.301, 56.419, 65.459), strict=True))
"""Table 8.1, computation."""

TOTAL_KB: Final = dict(zip(BITS, (5.294, 8.399, 17.715, 33.243, 64.296), strict=True))
"""Table 8.1, communication."""

STEPS_MS: Final = {
    "step 1": dict(zip(BITS, (0.011, 0.011, 0.011, 0.012, 0.012), strict=True)),
    "step 2": dict(zip(BITS, (47.350, 47.679, 50.279, 56.396, 65.435), strict=True)),
    "step 2, inner": dict(zip(BITS, (38.626, 38.678, 38.220, 38.030, 35.000), strict=True)),
    "step 2, outer": dict(zip(BITS, (8.724, 9.001, 12.059, 18.366, 30.435), strict=True)),
    "step 3": dict(zip(BITS, (0.010, 0.010, 0.011, 0.011, 0.011), strict=True)),
}
"""Table 8.2."""

INITIAL_MS: Final = {"paillier": 89.124, "bo07": 89.124, "ghjr15": 612.375, "vbdhe15": 132.501}
"""Table 8.3."""

LABELS: Final = {
    "paillier": "ours",
    "bo07": "[BO07]",
    "ghjr15": "[GHJR15]",
    "vbdhe15": "[VBdHE15]",
    "dgk": "[VBdHE15], DGK's cipher",
}
