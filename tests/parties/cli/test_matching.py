"""`duetto matching suggest`: of a file or a data set, with a job file that `duetto job check` accepts."""

from __future__ import annotations

import csv
import json
from xml.etree.ElementTree import fromstring

import pytest

import duetto
from commons.settings.toml import parse
from parties.bench.people import people
from parties.errors import DataError, StorageError
from parties.results.quality_chart import quality_chart
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from tests.parties.served import parsed
from tests.smc.analyses.matching.suggestion.splink_models import splink_model

COLUMNS = ("given_name", "surname", "born", "postcode")

CATALOG = """
[datasets.people]
source = "people.csv"
[datasets.people.columns.given_name]
type = "text"
[datasets.people.columns.surname]
type = "text"
[datasets.people.columns.day]
type = "date"
date_format = "%Y%m%d"
lower = 1900-01-01
upper = 2020-12-31
[datasets.people.columns.postcode]
type = "text"
"""


@pytest.fixture
def home(served):
    folder = served.folder / "north"
    random = Randomness.from_seed(b"north", "tests of suggestions")
    table = people(random, 1500, 0, family=3)[Role.ALICE]
    names = {"given_name": "given_name", "surname": "surname", "day": "born", "postcode": "postcode"}
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(table[name].texts for name in names.values()), strict=True))
    with (folder / "catalog.toml").open("a") as catalog:
        catalog.write(CATALOG)
    policy = folder / "policy.toml"
    text = policy.read_text().replace('"addition"', '"matching"').replace('"numbers"', '"people"')
    listed = text.replace('"value"', '"given_name", "surname", "day", "postcode"')
    policy.write_text(listed + "row_results = true\nruns_total = 9\n")
    return folder


def test_the_job_file_is_accepted(home, command):
    path = home / "suggested.toml"
    words = ("matching", "suggest", "people", "--role", "born=day", "--peer", "south", "--output", path)
    report = parsed(command(*words, "--json"))
    assert report["roles"]["born"] == "day"
    assert report["expected"]["f"] > 0.95
    assert report["rests_on"]["rows"] == 1500
    assert parse(path.read_text(), "x", UsageError)["parameters"] == report["parameters"]
    checked = parsed(command("job", "check", path, "--json"))
    assert checked["verdict"]["allowed"]
    assert checked["preview"]["refusal"] is None
    before = path.read_text()
    assert "exists" in command(*words, code=2).stderr
    unknown = ("--peer", "west", "--output", home / "another.toml")
    assert "No peer 'west' is paired yet" in command(*words[:-4], *unknown).stderr
    assert path.read_text() == before


def test_from_python_it_is_the_same(home, command):
    words = ("--role", "born=day", "--overlap", "0.4", "--errors", "2", "--least-score", "4", "--seed", "3")
    report = parsed(command("matching", "suggest", "people", *words, "--json"))
    del report["success"]
    path = home / "from-python.toml"
    with duetto.Party(home) as party:
        given = {"overlap": 0.4, "errors": 2, "least_score": 4, "seed": 3, "peer": "south"}
        found = party.suggest("people", {"born": "day"}, output=path, **given)
        assert found == report | {"written": str(path)}
        assert party.policy_test(path)["verdict"]["allowed"]
        assert party.suggest(str(home / "people.csv"), {"born": "day"}, **given) == report
        with pytest.raises(UsageError, match="exists"):
            party.suggest("people", {"born": "day"}, output=path, peer="south")
        with pytest.raises(UsageError, match="born"):
            party.suggest("people")
        with pytest.raises(UsageError, match="menu"):
            party.suggest("people", {"born": "day"}, kind="best")
        with pytest.raises(DataError):
            party.suggest("peopel", {"born": "day"})


def test_a_recipe_of_this_file_is_a_job_and_is_drawn(home, command):
    path, chart = home / "own.toml", home / "own.svg"
    words = ("matching", "suggest", "people", "--role", "born=day", "--peer", "south", "--output", path)
    report = parsed(command(*words, "--recipe", "own", "--passes", "5", "--chart", chart, "--json"))
    assert len(report["parameters"]["blocking"]) == 5
    assert parse(path.read_text(), "x", UsageError)["parameters"] == report["parameters"]
    assert parsed(command("job", "check", path, "--json"))["verdict"]["allowed"]
    drawn = chart.read_text()
    assert drawn == quality_chart(report)
    assert fromstring(drawn).attrib["role"] == "img"
    with duetto.Party(home) as party:
        with pytest.raises(StorageError, match="cannot be written"):
            party.suggest("people", {"born": "day"}, chart=chart)
        found = party.suggest("people", {"born": "day"}, kind="own", passes=5, chart=home / "again.svg")
        assert found["parameters"] == report["parameters"]
    assert (home / "again.svg").read_text() == drawn


def test_weights_of_a_model_of_splink_are_taken(home, command):
    model = home / "model.json"
    model.write_text(json.dumps(splink_model(COLUMNS)))
    words = ("matching", "suggest", "people", "--role", "born=day", "--splink", model)
    report = parsed(command(*words, "--json"))
    assert report["expected"]["f"] > 0.9
    with duetto.Party(home) as party:
        assert party.suggest("people", {"born": "day"}, splink=model)["parameters"] == report["parameters"]
    model.write_text("{}")
    assert "comparisons" in command(*words, code=2).stderr
    assert "cannot be read" in command(*words[:-1], home / "nowhere.json", code=65).stderr


def test_the_least_score_can_be_left_to_the_run(home, command):
    path = home / "suggested.toml"
    words = ("matching", "suggest", "people", "--role", "born=day", "--peer", "south", "--output", path)
    done = command(*words, "--histogram", "1/2")
    assert "by a histogram with noise, for epsilon 1/2" in done.stdout
    parameters = parse(path.read_text(), "x", UsageError)["parameters"]
    assert parameters["histogram"] == {"epsilon": "1/2"}
    assert not any("rarity" in each for each in parameters["fields"])
    checked = parsed(command("job", "check", path, "--json"))
    assert checked["verdict"]["allowed"]
    assert "epsilon 0.5" in str(checked["verdict"]["conditions"])
    with duetto.Party(home) as party:
        found = party.suggest("people", {"born": "day"}, histogram="1/2")
        stated = party.suggest("people", {"born": "day"})
        assert found["parameters"] == parameters
        assert found["bytes"] > stated["bytes"]
        with pytest.raises(UsageError, match="epsilon"):
            party.suggest("people", {"born": "day"}, histogram="0")


def test_a_column_that_cannot_be_read_is_to_be_corrected(home, command):
    path = home / "people.csv"
    lines = path.read_text().splitlines()
    lines[1] = "an\tna" + lines[1]
    odd = home / "odd.csv"
    odd.write_text("\n".join(lines) + "\n")
    for asked in ((), ("--role", "given_name=given_name")):
        said = command("matching", "suggest", odd, "--role", "born=day", *asked, code=2).stderr
        assert "has a control character" in said
        assert "Correct what is left out in the file" in " ".join(said.split())


def test_what_cannot_be_written_is_said_before_rows_are_linked(home, command):
    words = ("matching", "suggest", "people", "--role", "born=day")
    nowhere = home / "nowhere" / "suggested.toml"
    refused = command(*words, "--peer", "south", "--output", nowhere, code=2)
    assert f"There is no folder {nowhere.parent}" in refused.stderr
    assert "Linking" not in refused.stderr


@pytest.mark.parametrize(
    "asked", [("--peer-rows", 10**14), ("--peer-rows", 0), ("--seed", 10**40), ("--errors", "nan")]
)
def test_numbers_out_of_range_are_refused(home, command, asked):
    assert asked[0] in command("matching", "suggest", "people", *asked, code=2).stderr


def test_people_read_what_it_rests_on(home, command):
    printed = command(
        "matching", "suggest", home / "people.csv", "--role", "born=day", "--overlap", "0.3"
    ).stdout
    for said in (
        "Expected: precision",
        "the second with errors by the model",
        "Pass 8",
        "MB in both directions",
    ):
        assert said in printed


def test_a_column_that_cannot_be_read_is_not_called_missing(home, command):
    path = home / "twice.csv"
    path.write_text("given_name,surname,born,given_name\n" + "anna,meier,1980-02-03,x\n" * 9)
    refused = command("matching", "suggest", path, code=2).stderr
    assert "Column 'given_name' is left out: its name is empty, comes twice or cannot be printed." in refused


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("people",), 2, "--role born=COLUMN"),
        (("people", "--role", "born"), 2, "--role surname=COLUMN"),
        (("people", "--role", "born=day", "--role", "born=town"), 2, "one column for each role"),
        (("peopel", "--role", "born=day"), None, "people"),
        (("FILE", "--role", "born=day", "--output", "x.toml"), 2, "duetto data add"),
        (("nowhere.csv",), 65, "nowhere.csv does not exist as a file"),
    ],
)
def test_errors_have_hints(home, command, words, code, said):
    words = [str(home / "people.csv") if word == "FILE" else word for word in words]
    done = command("matching", "suggest", *words, code=code)
    assert done.exit_code != 0
    assert said in done.stderr
