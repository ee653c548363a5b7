"""Rules that are added by a command: they hold, and nothing else changes."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pytest
from click.testing import CliRunner

from commons.exits import REFUSED
from parties.cli.policy import COMMANDS
from parties.errors import ConfigError, PolicyError
from parties.policy import EXAMPLE
from parties.policy.drafting import NoisyRule, add_rule
from parties.policy.rules import load_policy

RULE = NoisyRule("noisy", "statistics", "south", "patients", ("age", "smoker"), "1/2", "3")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(EXAMPLE)
    return file


def test_the_rule_holds_and_the_file_stays(path):
    found = add_rule(path, RULE)
    assert found == load_policy(path)
    rule = found.rules[0]
    assert (rule.name, rule.needs_person, str(rule.per_job.epsilon), str(rule.budget.epsilon)) == (
        *("noisy", True, "1/2", "3"),
    )
    assert rule.columns == {"age", "smoker"}
    assert (rule.runs_total, rule.has_runs) == (100, True)
    assert rule.recipients == {"self", "peer"}
    assert not rule.exact_aggregates
    assert not rule.row_results
    assert path.read_text().startswith(EXAMPLE.rstrip("\n"))
    add_rule(
        path, NoisyRule("other", "clustering", "south", "patients", ("age",), "1", "1", needs_person=False)
    )
    assert [one.name for one in load_policy(path).rules] == ["noisy", "other"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"name": "noisy"}, PolicyError),
        ({"epsilon_total": "much"}, ConfigError),
        ({"epsilon_per_job": "-1"}, ConfigError),
        ({"recipients": "all"}, ConfigError),
        ({"name": " "}, ConfigError),
    ],
)
def test_a_wrong_rule_changes_nothing(path, change, error):
    add_rule(path, RULE)
    before = path.read_bytes()
    with pytest.raises(error):
        add_rule(path, replace(RULE, **{"name": "second", **change}))
    assert path.read_bytes() == before


def test_a_policy_that_is_wrong_stays_as_it_is(path):
    path.write_text("[[rules]]\nnonsense = 1\n")
    with pytest.raises(ConfigError):
        add_rule(path, RULE)
    assert path.read_text() == "[[rules]]\nnonsense = 1\n"


def test_texts_cannot_leave_their_line(path):
    add_rule(path, replace(RULE, name='x"\n[[rules]]\nname = "y'))
    assert len(tomllib.loads(path.read_text())["rules"]) == 1


@pytest.fixture
def home(tmp_path, path):
    (tmp_path / "duetto.toml").write_text(
        '[party]\nname = "north"\n[listen]\naddress = "127.0.0.1:0"\n'
        '[[peers]]\nname = "south"\naddress = "127.0.0.1:7443"\npairing = "south.pair"\npin = "x"\n'
    )
    (tmp_path / "catalog.toml").write_text(
        '[datasets.patients]\nsource = "p.csv"\n'
        '[datasets.patients.columns.age]\ntype = "integer"\nlower = 0\nupper = 9\n'
    )
    return tmp_path


def allow(home, *words):
    return CliRunner().invoke(COMMANDS[0], ["allow", *words, "--config", str(home / "duetto.toml")])


def test_the_command(home):
    words = ("statistics", "--peer", "south", "--dataset", "patients", "--epsilon-total", "3")
    done = allow(home, *words, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rule"] == "noisy statistics with south"
    assert load_policy(home / "policy.toml").rules[0].columns == {"age"}
    again = allow(home, *words)
    assert again.exit_code == REFUSED
    assert "already" in again.output
    catalog = (home / "catalog.toml").read_text()
    (home / "catalog.toml").write_text(
        catalog + catalog.replace("patients", "stays").replace("p.csv", "s.csv")
    )
    other = [word.replace("patients", "stays") for word in words]
    assert json.loads(allow(home, *other, "--json").stdout)["rule"] == "noisy statistics with south on stays"
    assert allow(home, *other).exit_code == REFUSED


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("statistic", "--peer", "south", "--dataset", "patients"), "no analysis 'statistic'"),
        (("statistics", "--peer", "west", "--dataset", "patients"), "No peer 'west'"),
        (("statistics", "--peer", "south", "--dataset", "people"), "no data set 'people'"),
        (("statistics", "--peer", "south", "--dataset", "patients", "--column", "agge"), "no column 'agge'"),
    ],
)
def test_what_there_is_not_is_said(home, words, what):
    before = (home / "policy.toml").read_bytes()
    done = allow(home, *words, "--epsilon-total", "3")
    assert what in done.output
    assert (home / "policy.toml").read_bytes() == before
