"""What refusals say about rules, followed to the letter in the file: the job is allowed then."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.cli.policy import COMMANDS
from parties.errors import ConfigError, PolicyError
from parties.ledger.accounting import Runs, Spent
from parties.policy.conditions import JobView
from parties.policy.rules import Policy, load_policy
from parties.policy.verdict import evaluate
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.forms import ComparisonType

FIRST = """
[[rules]]
analyses = ["preparation"]
peers = ["south"]
datasets = []
columns = []
recipients = ["both"]
"""
SECOND = """
[[rules]]
analyses = ["matching", "comparison"]
peers = ["south"]
datasets = ["patients"]
columns = ["age"]
recipients = ["both"]
"""
NAMED = SECOND + 'name = "with south"\n'
EXACT = ExactFigures(1, Whom.CELLS)

FACTS = Facts(
    pairs_by_position=False,
    matches=False,
    lpn=False,
    row_results=False,
    comparison_type=None,
    exact=None,
    sorts_by=frozenset(),
    keeps_missing=frozenset(),
    loss=Loss(),
    bounds=RowBounds(),
    asked=Asked(),
)
FEATURES = {
    "keys": replace(FACTS, matches=True, row_results=True),
    "own sum": replace(FACTS, matches=True, row_results=True, exact=EXACT),
    "sum": replace(FACTS, matches=True, exact=EXACT),
    "shares": replace(FACTS, matches=True),
    "comparison": replace(FACTS, row_results=True, comparison_type=ComparisonType.parse("PN-NP-PN")),
}
_SETTING = re.compile(r"in (rule \d+|rule '[^']*') of the policy set (.*?)\.(?: |$)")


def view(facts: Facts, runs: Runs = Runs()) -> JobView:  # noqa: B008
    return JobView(
        analysis="matching" if facts.matches else "comparison",
        peer="south",
        dataset="patients",
        columns=frozenset({"age"}),
        recipients=frozenset({"self", "peer"}),
        facts=facts,
        rows=100,
        persons=100,
        seconds=60,
        spent=Spent(),
        runs=lambda rule: runs,
    )


def followed(text: str, hint: str) -> str:
    """A policy file after its reader has done what a hint says."""
    settings = _SETTING.findall(hint)
    assert settings, hint
    head, *rules = text.split("[[rules]]\n")
    for which, entries in settings:
        number = re.fullmatch(r"rule (\d+)", which)
        found = (
            [int(number[1]) - 1]
            if number
            else [place for place, rule in enumerate(rules) if f'name = "{which[6:-1]}"' in rule]
        )
        (place,) = found
        for entry in re.split(r", (?=\w+ = )", entries):
            key = entry.partition(" = ")[0]
            lines = [line for line in rules[place].splitlines() if not line.startswith(f"{key} = ")]
            rules[place] = "\n".join([entry, *lines, ""])
    return "[[rules]]\n".join([head, *rules])


def policy_of(folder: Path, text: str) -> Policy:
    (folder / "policy.toml").write_text(text)
    return load_policy(folder / "policy.toml")


@pytest.mark.parametrize("runs", [Runs(), Runs(2, 7)])
@pytest.mark.parametrize("rules", [FIRST + SECOND, FIRST + NAMED, NAMED, SECOND])
@pytest.mark.parametrize("name", FEATURES)
def test_what_a_refusal_says_is_enough(name: str, rules: str, runs: Runs, tmp_path: Path) -> None:
    asked = view(FEATURES[name], runs)
    with pytest.raises(PolicyError) as caught:
        evaluate(policy_of(tmp_path, rules), asked).require()
    evaluate(policy_of(tmp_path, followed(rules, caught.value.hint)), asked).require()


@pytest.mark.parametrize(
    "more",
    [
        "row_results = false\nexact_aggregates = false",
        'name = "mine"\nruns_total = 3',
        'name = "mine"\nruns_total = 3\nrow_results = true\ntypes = []',
        'types = ["PN-NP-*"]',
        'name = "mine"\nruns_per_day = 2',
    ],
)
@pytest.mark.parametrize("name", FEATURES)
def test_what_a_rule_has_is_left_or_replaced(name: str, more: str, tmp_path: Path) -> None:
    """A file in which a key stands twice is none."""
    rules, asked = f"{SECOND}{more}\n", view(FEATURES[name])
    verdict = evaluate(policy_of(tmp_path, rules), asked)
    for reason in verdict.reasons:
        if reason.key == "types":
            rules = rules.replace("types = []", 'types = ["PN-NP-PN"]')
        else:
            rules = followed(rules, reason.hint)
    evaluate(policy_of(tmp_path, rules), asked).require()


def test_a_bound_leaves_room_beside_the_runs_so_far(tmp_path: Path) -> None:
    (reason,) = evaluate(policy_of(tmp_path, NAMED), view(FEATURES["shares"], Runs(0, 7))).reasons
    assert reason.hint == "Bound the runs: in rule 'with south' of the policy set runs_total = 10."


@pytest.mark.parametrize("entry", ["row_results = true", "runs_total = 5", "runs_per_day = 5"])
def test_a_file_that_is_refused_for_lack_of_a_name_or_a_bound(entry: str, tmp_path: Path) -> None:
    """The refusal names the place, and what to add there."""
    with pytest.raises(ConfigError, match="rule 2") as caught:
        policy_of(tmp_path, f"{FIRST}{SECOND}{entry}\n")
    added = re.findall(r'Add (\w+ = (?:"[^"]*"|\d+))', caught.value.hint)
    assert added
    policy_of(tmp_path, "\n".join((f"{FIRST}{SECOND}{entry}", *added, "")))


def test_an_empty_name_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rule 1: name is empty"):
        policy_of(tmp_path, SECOND + 'name = " "\n')


def test_the_mend_that_the_command_prints(tmp_path: Path) -> None:
    """Of an unnamed rule, from `duetto policy test` into the file, and the command again."""
    for name, text in {
        "duetto.toml": '[party]\nname = "north"\n[listen]\naddress = "127.0.0.1:0"\n',
        "catalog.toml": '[datasets.patients]\nsource = "p.csv"\n[datasets.patients.columns.age]\n'
        'type = "integer"\nlower = 0\nupper = 120\n',
        "p.csv": "age\n1\n2\n",
        "policy.toml": FIRST + SECOND,
        "job.toml": '[job]\nanalysis = "matching"\nalice = "north"\nbob = "south"\nrecipients = ["alice"]\n'
        '[alice]\ndataset = "patients"\ncolumns = { age = "age" }\n'
        '[bob]\ndataset = "patients"\ncolumns = { age = "age" }\n'
        '[parameters]\nmethod = "exact"\nkeys = ["age"]\n',
    }.items():
        (tmp_path / name).write_text(text)

    def said(code: int) -> str:
        words = ["test", str(tmp_path / "job.toml"), "--config", str(tmp_path / "duetto.toml")]
        done = CliRunner().invoke(COMMANDS[0], words)
        assert done.exit_code == code, done.output
        return " ".join(done.stdout.split())

    (tmp_path / "policy.toml").write_text(followed(FIRST + SECOND, said(77)))
    assert "Allowed by rule 'rule 2'" in said(0)
