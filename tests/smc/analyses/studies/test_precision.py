"""The rows that say what error bars to expect."""

from __future__ import annotations

import pytest

from smc.analyses.studies.columns import DAYS
from smc.analyses.studies.precision import expectation


@pytest.mark.parametrize(
    ("unit", "shown"), [("kg", "kg"), ("", ""), (DAYS, "days"), (f"kg per {DAYS}", "kg per days")]
)
def test_a_distance_between_dates_is_in_days(unit, shown):
    row = expectation("q", "mean", 3.0, unit, {"epsilon": "1"})
    assert (row["half_width"], row["unit"]) == (3.0, shown)
