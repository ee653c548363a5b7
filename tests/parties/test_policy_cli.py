"""`duetto policy`: what people see of rules and verdicts, without a daemon."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from parties.catalog.columns.persons import identities
from parties.cli.policy import COMMANDS
from parties.disclosure.history import History
from parties.disclosure.participants import ParticipantSet, persons_of
from parties.ledger.accounting import Account
from smc.analyses.statistics.horizontal.study import NoisyStudy
from smc.analyses.studies.facts import ExactFigures, Whom
from tests.parties.served import total

CONFIG = """
[party]
name = "north"
[listen]
address = "127.0.0.1:0"
"""

CATALOG = """
[datasets.numbers]
source = "numbers.csv"
person = "who"
[datasets.numbers.columns.value]
type = "integer"
lower = 0
upper = 1000
"""

POLICY = """
[[rules]]
name = "noisy sums"
analyses = ["statistics"]
peers = ["south"]
datasets = ["numbers"]
columns = ["value"]
recipients = ["both"]
epsilon_per_job = "1"
epsilon_total = "3"
minimum_group = 5
dominance = "0.8"
approval = "auto"
[[rules]]
name = "strict"
analyses = ["statistics"]
peers = ["west"]
datasets = ["numbers"]
columns = []
recipients = ["self"]
minimum_rows = 500
"""


@pytest.fixture
def policy(tmp_path):
    for name, text in {
        "duetto.toml": CONFIG,
        "catalog.toml": CATALOG,
        "policy.toml": POLICY,
        "job.toml": total(recipients=["alice"]),
        "numbers.csv": "who,value\na,1\nb,2\nc,3\n",
    }.items():
        (tmp_path / name).write_text(text)

    def run(*words, code=0):
        done = CliRunner().invoke(COMMANDS[0], [*words, "--config", str(tmp_path / "duetto.toml")])
        assert done.exit_code == code, done.output
        return json.loads(done.stdout) if "--json" in words else done.stdout

    run.folder = tmp_path
    return run


def test_check_names_the_rules_or_the_place_of_the_fault(policy):
    assert policy("check", "--json")["rules"] == ["noisy sums", "strict"]
    assert "policy.toml is valid: 2 rules." in policy("check")
    (policy.folder / "policy.toml").write_text(POLICY.replace("minimum_group = 5", "minimum_group = 5.5"))
    assert "policy.toml, rule 1: minimum_group" in policy("check", "--json", code=78)["error"]["what"]
    (policy.folder / "policy.toml").write_text("")
    assert "allows nothing" in policy("check")


def test_check_warns_of_rules_that_give_columns_away(policy):
    assert policy("check", "--json")["warnings"] == []
    policy("check", "--strict")
    lines = 'row_results = true\nruns_total = 10\ntypes = ["PN-NP-PP"]\nminimum_rows = 2\ncolumns = ["value"]'
    text = POLICY.replace('columns = ["value"]', lines, 1)
    (policy.folder / "policy.toml").write_text(text)
    first, second = policy("check", "--json")["warnings"]
    assert first["what"] == "rule 'noisy sums' lets south find every value of value in 10 jobs"
    assert (second["rule"], second["key"]) == ("noisy sums", "approval")
    said = policy("check", "--strict", code=77)
    assert (
        "warning: rule 'noisy sums' lets south find every value of value in 10 jobs. Lower runs_total" in said
    )
    assert "policy.toml is valid: 2 rules." in said
    assert policy("check", "--strict", "--json", code=77)["warnings"] == [first, second]


def test_show_tells_what_holds_where_nothing_is_written(policy):
    first, second = policy("show", "--json")["rules"]
    assert (first["minimum_group"], first["dominance"], first["approval"]) == (5, "4/5", "auto")
    assert (first["epsilon_total"], first["delta_total"]) == ("3", "1/1073741824")
    assert second["exact_aggregates"] is False
    assert second["runs_total"] is None
    text = policy("show", "noisy sums")
    assert "2^-30" in text
    shown = dict(line.strip("│ ").split("│") for line in text.splitlines() if line.startswith("│"))
    cells = {key.strip(): value.strip() for key, value in shown.items()}
    assert (cells["runs_total"], cells["minimum_rows"]) == ("100", "no limit")
    assert (cells["minimum_group"], cells["dominance"]) == ("5", "4/5")
    assert "strict" not in text
    assert "no rule 'other'" in policy("show", "other")


def test_every_rule_and_condition_is_explained(policy):
    path = str(policy.folder / "job.toml")
    report = policy("test", path, "--json")
    verdict = report["verdict"]
    assert verdict["allowed"]
    assert verdict["rule"] == "noisy sums"
    assert not verdict["needs_person"]
    assert verdict["limits"]["minimum_group"] == 5
    missed = {c["key"] for c in verdict["conditions"] if not c["holds"]}
    assert missed == {"peers", "columns", "minimum_rows", "epsilon_per_job", "epsilon_total"}
    assert all(c["hint"] for c in verdict["conditions"] if not c["holds"])
    text = policy("test", path)
    assert "epsilon 0.5" in text
    assert "minimum_rows: Use more rows." in text
    assert "✓ Allowed by rule 'noisy sums'; nobody has to approve it." in text
    assert "Limits of this party on results: minimum group 5, dominance 4/5, maximum ratio 10." in text


def test_an_exact_job_is_held_against_earlier_ones(policy, monkeypatch):
    facts = NoisyStudy.facts
    exact = ExactFigures(1, Whom.MATCHES)
    monkeypatch.setattr(NoisyStudy, "facts", lambda self, *given: replace(facts(self, *given), exact=exact))
    (policy.folder / "keys").mkdir(mode=0o700)
    history = History(policy.folder)
    hashes = identities(["a", "b", "c", "d"], history.secret())
    job = ParticipantSet("ab" * 8, Account.of("numbers"), "numbers", "south", persons_of(hashes), 5)
    with history.record(job, bool):
        pass
    (policy.folder / "policy.toml").write_text(
        POLICY.replace(
            'columns = ["value"]', 'columns = ["value"]\nexact_aggregates = true\nruns_total = 9', 1
        )
    )
    report = policy("test", str(policy.folder / "job.toml"), "--json", code=77)
    assert report["exact"]
    assert report["verdict"]["allowed"]
    assert report["overlap"]["code"] == "overlap"
    said = policy("test", str(policy.folder / "job.toml"), code=77)
    assert "Refused in view of earlier jobs" in said
    assert "Allowed" not in said
    assert policy("history", "--json")["jobs"][0]["persons"] == 4
    assert "abababab" in policy("history")


def test_what_no_rule_allows_ends_with_77(policy):
    path = str(policy.folder / "job.toml")
    (policy.folder / "job.toml").write_text(total("2", ["alice"]))
    report = policy("test", path, "--json", code=77)
    assert not report["verdict"]["allowed"]
    assert report["verdict"]["limits"] is None
    nearest = report["verdict"]["reasons"][0]
    assert (nearest["rule"], nearest["code"]) == ("noisy sums", "budget")
    assert "✗ No rule allows the job." in policy("test", path, code=77)
