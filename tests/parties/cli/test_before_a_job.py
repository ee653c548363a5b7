"""What commands say of jobs and data before anything is proposed, without a daemon."""

from __future__ import annotations

import json

import pytest

from parties.client import job_text
from smc.analyses.registry import ANALYSES
from smc.errors import DisclosureRefused, DomainError, OutOfMemory, UsageError
from tests.parties.jobs.institutions import job
from tests.parties.served import TOTAL, parsed


def test_check_and_policy_need_no_daemon(served, command):
    path = served.folder / "statistics.toml"
    path.write_text(TOTAL)
    policy = served.folder / "north" / "policy.toml"
    refused = parsed(command("job", "check", path, "--json", code=77))
    assert "'statistics' is not among analyses" in refused["verdict"]["reasons"][0]["what"]
    assert "analyses: Add 'statistics' to analyses." in command("policy", "test", path, code=77).stdout
    policy.write_text(policy.read_text().replace('"addition"', '"statistics"'))
    report = parsed(command("job", "check", path, "--json"))
    assert report["paired"] is False
    assert (report["epsilon"], report["rows"], report["verdict"]["rule"]) == ("1/2", 2, "additions")
    assert "Allowed by rule 'additions'" in command("job", "check", path).stdout
    assert parsed(command("policy", "test", path, "--json"))["verdict"]["allowed"]


PEOPLE = """
[datasets.people]
source = "people.csv"
[datasets.people.columns.name]
type = "text"
"""


TOLERANT = job_text(
    job(
        "matching",
        {
            "method": "tolerant",
            "threshold": "0.8",
            "fields": [{"column": "name"}],
            "blocking": [["name:prefix1"]],
        },
        ["name"],
    )
)


def test_check_and_estimate_print_what_becomes_of_the_own_rows(served, command):
    home = served.folder / "north"
    (home / "people.csv").write_text("\n".join(["name", *(f"a{number}" for number in range(40))]))
    with (home / "catalog.toml").open("a") as catalog:
        catalog.write(PEOPLE)
    policy = home / "policy.toml"
    text = policy.read_text().replace('"addition"', '"matching"').replace('"numbers"', '"people"')
    policy.write_text(text.replace('"value"', '"name"') + "row_results = true\nruns_total = 9\n")
    path = served.folder / "tolerant.toml"
    path.write_text(TOLERANT)
    report = parsed(command("job", "check", path, "--json", code=65))
    assert report["preview"]["details"]["passes"] == [{"key": "name:prefix1", "full": 24, "keyless": 0}]
    for verb, code in (("check", 65), ("estimate", 0)):
        printed = command("job", verb, path, code=code).stdout
        assert (
            "Pass 1 (name:prefix1): 60 % of this side's rows find their bucket full, 0 % have no key."
            in printed
        )
        assert 'overflow = "accept"' in printed
    path.write_text(TOLERANT.replace('threshold = "0.8"', 'threshold = "0.8"\noverflow = "accept"'))
    printed = command("job", "check", path).stdout
    assert "60 % of this side's rows" in printed
    assert "would refuse" not in printed


@pytest.mark.parametrize(
    "asked",
    [
        ("--peer-rows", "1000000000000"),
        ("--peer-rows", "0"),
        ("--rows", "0"),
        ("--rows", 1 << 28),
        ("--rtt-ms", "nan"),
        ("--mbit", "inf"),
    ],
)
def test_estimates_are_of_numbers_that_a_run_can_have(served, command, asked):
    path = served.folder / "statistics.toml"
    path.write_text(TOTAL)
    said = command("job", "estimate", path, *asked, "--json", code=2).stderr
    assert asked[0] in said


@pytest.mark.parametrize("asked", [("--rtt-ms", "1.7e308"), ("--mbit", "1e-320")])
def test_a_link_is_fast_enough_to_have_seconds(served, command, asked):
    path = served.folder / "statistics.toml"
    path.write_text(TOTAL)
    link = ("--rtt-ms", "10000", "--mbit", "1", *asked)
    said = command("job", "estimate", path, *link, code=2).stderr
    assert "at most 10000 ms" in said
    command("job", "estimate", path, *link[:4], "--json")


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (UsageError("It does not fit."), 2),
        (DomainError("Too many rows.", code="overflow"), 65),
        (DisclosureRefused("Too few."), 77),
        (OutOfMemory("Too large."), 77),
    ],
)
def test_check_ends_as_submit_would(served, command, file, refusal, status):
    """The status of either command, of one fault of the local rows."""
    served.analysis["north"].refusal = refusal
    submitted = command("job", "submit", file, code=status)
    assert refusal.what in submitted.stderr
    checked = served.north.check(file.read_text())["preview"]["refusal"]
    assert checked["status"] == status


@pytest.mark.parametrize(
    ("word", "other", "status"),
    [('kind = "sum"', 'kind = "som"', 2), ('"1/2"', '"90"', 77), ('v = "value"', 'w = "value"', 65)],
)
def test_check_and_submit_end_alike(served, command, word, other, status):
    path = served.folder / "statistics.toml"
    policy = served.folder / "north" / "policy.toml"
    policy.write_text(policy.read_text().replace('"addition"', '"statistics"'))
    path.write_text(TOTAL)
    command("job", "check", path)
    path.write_text(TOTAL.replace(word, other, 1))
    command("job", "check", path, code=status)
    served.north._admission._analyses = ANALYSES
    command("job", "submit", path, code=status)


def test_data_commands(served, command):
    assert parsed(command("data", "list", "--json"))["datasets"][0]["name"] == "numbers"
    described = parsed(command("data", "describe", "numbers", "--json"))["columns"][0]
    assert (described["name"], described["upper"], described["unit"]) == ("value", 1000, "years")
    assert parsed(command("data", "check", "--json"))["rows"] == {"numbers": 2}
    assert "numbers" in command("data", "list").stdout
    assert "1000" in command("data", "describe", "numbers").stdout
    (served.folder / "north" / "numbers.csv").write_text("value\n1\nx\n")
    assert "row 2 (line 3)" in command("data", "check", "numbers", code=65).stderr
    catalog = served.folder / "north" / "catalog.toml"
    declared = catalog.read_text()
    alike = '[datasets.more]\npopulation = "numbers"'
    more = declared.replace("[datasets.numbers]", alike).replace("datasets.numbers.", "datasets.more.")
    catalog.write_text(declared + more)
    checked = command("data", "check", code=65)
    assert "'numbers': numbers.csv, row 2 (line 3)" in checked.stderr
    assert "'more': numbers.csv, row 2 (line 3)" in checked.stderr
    refused = json.loads(command("data", "check", "--json", code=65).stdout)
    assert "2 data sets" in refused["error"]["what"]
    (served.folder / "north" / "good.csv").write_text("value\n1\n")
    catalog.write_text(declared + declared.replace("numbers", "good"))
    checked = command("data", "check", code=65)
    assert ("good" in checked.stdout, "row 2 (line 3)" in checked.stderr) == (True, True)
    command("data", "describe", "nubmers", code=65)


def test_check_and_estimate_warn_of_a_plan_that_is_far_too_dear(served, command):
    policy = served.folder / "north" / "policy.toml"
    text = policy.read_text().replace('"addition"', '"comparison"')
    policy.write_text(text + 'row_results = true\nruns_total = 9\ntypes = ["*-*-*"]\n')
    home = served.folder / "north"
    (home / "numbers.csv").write_text("\n".join(["value", *(str(number % 90) for number in range(2000))]))
    path = served.folder / "comparison.toml"
    for engine, warned in (({}, False), ({"engine": "auto"}, False), ({"engine": "paillier"}, True)):
        parameters = {"type": "PN-NP-PN", "bits": 32, **engine}
        columns = {"alice": {"x": "value"}, "bob": {"y": "value"}}
        path.write_text(
            job_text(job("comparison", parameters, columns, recipients=["alice"], dataset="numbers"))
        )
        for verb in ("check", "estimate"):
            said = " ".join(command("job", verb, path).stdout.split())
            assert ('with engine = "auto" below [parameters] it takes about' in said) is warned
        report = parsed(command("job", "check", path, "--json"))["estimate"]
        assert (report["cheaper"] is not None) is warned
        if warned:
            assert report["seconds"] > 100 * report["cheaper"]["seconds"]
            assert report["cheaper"]["engine"] in said


def test_check_and_estimate_say_how_long_a_run_can_become(served, command):
    home = served.folder / "north"
    (home / "catalog.toml").write_text(
        "[datasets.numbers]\nsource = 'numbers.csv'\n"
        + "".join(
            f"[datasets.numbers.columns.{name}]\ntype = 'integer'\nlower = 0\nupper = 99\n" for name in "xy"
        )
    )
    rows = (f"{row * 37 % 90},{row * 53 % 70}" for row in range(60))
    (home / "numbers.csv").write_text("\n".join(["x,y", *rows]))
    policy = (home / "policy.toml").read_text().replace('"addition"', '"models"')
    (home / "policy.toml").write_text(policy + "exact_aggregates = true\n")
    path = served.folder / "models.toml"
    given = {"kind": "linear", "outcome": "y", "on": ["x"]}
    columns = {side: {"x": "x", "y": "y"} for side in ("alice", "bob")}
    path.write_text(job_text(job("models", {"models": [given]}, columns, dataset="numbers")))
    for verb in ("check", "estimate"):
        done = command("job", verb, path, code=None)
        said = " ".join(done.stdout.split())
        assert "The data decide how many steps a run takes." in said, done.stderr
