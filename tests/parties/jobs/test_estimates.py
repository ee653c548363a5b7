"""What `job estimate` says under the local policy, and the facts of a run, against what the run sent."""

from __future__ import annotations

import pytest

from parties.client import job_text
from tests.parties.jobs.institutions import job
from tests.parties.jobs.test_analyses_limits import CLUSTERING, COUNT, MATCHINGS, matching, people, statistics

FROM_ROWS = {key: value for key, value in CLUSTERING.items() if key != "centres"}
JOBS = {name: matching(name) for name in MATCHINGS if name != "noisy size"} | {
    "exact table": statistics(COUNT),
    "noisy table": statistics(COUNT, noise="laplace", epsilon="8"),
    "clusters": job("clustering", CLUSTERING, ["v"]),
    "clusters from rows": job("clustering", FROM_ROWS, ["v"]),
}
UNDER_LIMITS = [name for name in JOBS if name != "clusters"]  # which no rule lets begin at stated centres
FIGURES = ("rounds", "sent", "received")


@pytest.mark.parametrize("name", UNDER_LIMITS)
def test_estimates_hold_under_limits(institutions, name):
    people(institutions, range(30), range(8, 38))
    for side in ("north", "south"):
        institutions.allow(side, minimum_intersection=4, minimum_group=4)
    said = institutions.north.estimate(job_text(institutions.file(JOBS[name])), rows=0, rtt_ms=0, mbit=0)
    assert (said["limits"]["minimum_group"], said["limits"]["minimum_intersection"]) == (4, 4)
    assert said["total_seconds"] == said["seconds"]
    assert said["memory"] > 10 << 20
    found = institutions.run(JOBS[name])
    facts = found.results["north"]["facts"]
    assert {figure: said[figure] for figure in FIGURES} == {figure: facts[figure] for figure in FIGURES}
    for result in found.results.values():
        facts = result["facts"]
        assert {figure: facts["estimate"][figure] for figure in FIGURES} == {
            figure: facts[figure] for figure in FIGURES
        }


@pytest.mark.parametrize("name", ["clusters", next(iter(MATCHINGS))])
def test_estimates_hold_for_a_peer_with_more_rows(institutions, name):
    people(institutions, range(30), range(8, 61))
    for side, rows, others in (("north", 30, 53), ("south", 53, 30)):
        text = job_text(institutions.file(JOBS[name]))
        daemon = getattr(institutions, side)
        said = daemon.estimate(text, rows=0, rtt_ms=0, mbit=0, peer_rows=others)
        assert said == {
            **daemon.estimate(text, rows=rows, rtt_ms=0, mbit=0, peer_rows=others),
            "preview": said["preview"],
        }
        if side == "north":
            expected = {figure: said[figure] for figure in FIGURES}
    found = institutions.run(JOBS[name])
    facts = found.results["north"]["facts"]
    assert {figure: facts[figure] for figure in FIGURES} == expected


def test_loss_and_half_widths_are_known_before_anything_is_spent(institutions):
    people(institutions, range(30), range(8, 38))
    said = institutions.north.estimate(
        job_text(institutions.file(JOBS["noisy table"])), rows=0, rtt_ms=0, mbit=0
    )
    assert (said["epsilon"], said["rho"]) == ("8", "0")
    rows = said["preview"]["details"]["precision"]
    found = institutions.run(JOBS["noisy table"])
    table = found.tables("north")["results"]
    ends = zip(table["group"], table["lower_95"], table["upper_95"], strict=True)
    assert [(row["group"], row["half_width"]) for row in rows] == [
        (group, (upper - lower) / 2) for group, lower, upper in ends
    ]


def test_a_run_counts_the_limits_of_both(institutions):
    people(institutions, range(30), range(8, 38))
    institutions.allow("south", minimum_intersection=4)
    alone = institutions.north.estimate(job_text(institutions.file(JOBS["keys"])), rows=0, rtt_ms=0, mbit=0)
    facts = institutions.run(JOBS["keys"]).results["north"]["facts"]
    assert facts["estimate"]["sent"] == facts["sent"] > alone["sent"]


def test_what_the_policy_refuses_is_estimated_without_limits_and_says_so(institutions):
    people(institutions, range(30), range(8, 38))
    institutions.allow("north", analyses=["comparison"], minimum_intersection=4)
    assert (
        institutions.north.estimate(job_text(institutions.file(JOBS["keys"])), rows=0, rtt_ms=0, mbit=0)[
            "limits"
        ]
        is None
    )
