"""Jobs tried on two frames in this process."""

from __future__ import annotations

import pytest

import duetto
from tests.support.seeds import seeded

pandas = pytest.importorskip("pandas")
RANDOM = seeded()
STATISTICS = """
[job]
analysis = "statistics"
alice = "north"
bob = "south"
recipients = ["alice"]

[alice]
dataset = "patients"
columns = { age = "Alter", smoker = "Raucher" }

[bob]
dataset = "patients"
columns = { age = "age", smoker = "smoker" }

[parameters]
epsilon = "20"
queries = [
    { kind = "count" }, { kind = "mean", column = "age" }, { kind = "mean", column = "age", by = "smoker" },
]
"""


def table(rows, *names):
    ages = RANDOM.below(90, rows)
    return pandas.DataFrame({names[0]: ages, names[1]: ["ja" if age % 3 else "nein" for age in ages]})


def test_a_job_on_two_frames_gives_what_a_recipient_would_get():
    north, south = table(400, "Alter", "Raucher"), table(300, "age", "smoker")
    result = duetto.rehearse(STATISTICS, north, south)
    frame = result.frame("results").set_index(["query", "group"])
    ages = pandas.concat([north["Alter"], south["age"]])
    assert abs(frame.loc["count", "value"].iloc[0] - 700) < 5
    assert abs(frame.loc["mean of age", "value"].iloc[0] - ages.mean()) < 1
    assert len(result.leakage["alice"]) > 0
    with pytest.raises(duetto.JobError, match="no table for this party"):
        duetto.rehearse(STATISTICS, north, south, role="bob").frame("results")


def test_what_does_not_fit_is_named():
    north, south = table(20, "Alter", "Raucher"), table(20, "age", "smoker")
    with pytest.raises(duetto.JobError, match="table of bob lacks the columns 'smoker'"):
        duetto.rehearse(STATISTICS, north, south[["age"]])
    with pytest.raises(duetto.JobError, match="no analysis 'statistic'"):
        duetto.rehearse(STATISTICS.replace('"statistics"', '"statistic"'), north, south)
    with pytest.raises(duetto.UsageError, match="'carol' is neither"):
        duetto.rehearse(STATISTICS, north, south, role="carol")
