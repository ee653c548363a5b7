"""The files that README.md and `docs` show: all are valid, and the jobs of docs/analyses.md run."""

from __future__ import annotations

import csv
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from commons.settings.toml import parse
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from parties.contracts.spec import parse_spec
from parties.errors import ConfigError
from parties.ledger.accounting import Spent
from parties.policy import EXAMPLE
from parties.policy.conditions import JobView, Runs
from parties.policy.risks import risks
from parties.policy.rules import Policy, load_policy, parse_policy
from parties.policy.verdict import evaluate
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair
from tests.support.small_jobs import wire_runs

ROOT = Path(__file__).parents[2]
PAGES = (
    *("README.md", "docs/architecture.md"),
    *("docs/tutorial.md", "docs/analyses.md", "docs/policy.md", "docs/ledger.md", "docs/threat-model.md"),
)
ROWS, COMMON = 60, 25


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```toml\n(.*?)```", text, re.DOTALL)


def found(head: str, *pages: str) -> list:
    return [
        pytest.param(block, id=f"{Path(page).stem}-{number}")
        for page in pages
        for number, block in enumerate(blocks(page))
        if head in block
    ]


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The catalog of docs/analyses.md at both sides, with made-up patients of whom some are common."""
    made = {}
    for place, role in enumerate(Role):
        folder = tmp_path_factory.mktemp(role.value)
        (text,) = [block for block in blocks("docs/analyses.md") if "[datasets." in block]
        (folder / "catalog.toml").write_text(text, encoding="utf-8")
        with (folder / "patients.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                (
                    *("card", "given_name", "surname", "born", "postcode"),
                    *("age", "weight", "height", "smoker", "cost", "followed", "outcome"),
                )
            )
            first = place * (ROWS - COMMON)
            writer.writerows(patient(number) for number in range(first, first + ROWS))
        model = "feature,weight\n(intercept),-3\nage,0.02\nweight,0.01\n"
        (folder / "risk_model.csv").write_text(model, encoding="utf-8")
        trees = wire_runs().COLUMNS["forest"](role).values
        with (folder / "risk_trees.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("number", "model"), *enumerate(trees, 1)])
        made[role] = load_catalog(folder / "catalog.toml")
    return made


def patient(number: int) -> tuple:
    given, surname = (
        ("Alma", "Bero", "Cila", "Dorn", "Enno")[number % 5],
        "FGKLMNPRST"[number // 10] + "older",
    )
    born = date(1940, 1, 1) + timedelta(days=number * 7919 % 25000)
    age = "?" if number == 3 else number * 37 % 90
    weight = "" if number == 4 else f"{40 + number * 29 % 70}.5"
    smoker = ("no", "yes")[number * 7 % 3 == 0]
    postcode = f"{10000 + number * 31 % 500}"
    followed = number * 911 % 3000, ("alive", "died", "moved", "died")[number * 5 % 4]
    rest = (age, weight, 150 + number % 50, smoker, number * 113, *followed)
    return f"{1000 + number * 17}", given, surname, born, postcode, *rest


def examined(text: str):
    spec = parse_spec(text)
    study = ANALYSES[spec.analysis].parse(spec.parameters)
    study.check_recipients(spec.recipients)
    for role in Role:
        assert set(spec.side(role).columns) == set(study.columns[role])
    return spec, study


@pytest.mark.parametrize("text", found("[job]", *PAGES))
def test_jobs_are_valid(text: str) -> None:
    examined(text)


@pytest.mark.parametrize("text", found("[[rules]]", *PAGES))
def test_policies_are_valid(text: str) -> None:
    assert parse_policy(parse(text, "policy.toml", ConfigError), "policy.toml").rules


POLICIES = (
    *found("[[rules]]", *PAGES),
    pytest.param("\n".join(line.removeprefix("#") for line in EXAMPLE.splitlines()[3:]), id="duetto init"),
)


def wanted(policy: Policy) -> dict[str, dict[str, Schema]]:
    """A catalog in which every column that a rule names is a number with few values."""
    age = Schema("integer", lower=0, upper=120)
    found: dict[str, dict[str, Schema]] = {}
    for rule in policy.rules:
        for dataset in rule.datasets:
            found.setdefault(dataset, {}).update(dict.fromkeys(rule.columns, age))
    return found


@pytest.mark.parametrize("text", POLICIES)
def test_policies_give_nothing_away_unawares(text: str) -> None:
    policy = parse_policy(parse(text, "policy.toml", ConfigError), "policy.toml")
    assert policy.rules
    assert not risks(policy, wanted(policy))


@pytest.mark.parametrize("name", ["north", "south"])
def test_the_policies_of_the_demo_give_nothing_away_unawares(name: str) -> None:
    home = ROOT / "scripts" / "demo_files" / name
    datasets = load_catalog(home / "catalog.toml").datasets.values()
    declared = {d.name: {column: c.schema for column, c in d.columns.items()} for d in datasets}
    assert not risks(load_policy(home / "policy.toml"), declared)


def test_the_check_would_find_a_rule_that_gives_ages_away() -> None:
    (param,) = found("[[rules]]", "docs/tutorial.md")
    text = param.values[0].replace("runs_total = 3", "runs_total = 7")
    policy = parse_policy(parse(text, "policy.toml", ConfigError), "policy.toml")
    (risk,) = risks(policy, wanted(policy))
    assert "find every value of age in 7 jobs" in risk.what


@pytest.mark.parametrize("text", found("[job]", "docs/tutorial.md"))
def test_the_jobs_of_the_tutorial_run_under_its_policy(text: str) -> None:
    """At north, and at south, whose policy is the same with the other peer."""
    spec, study = examined(text)
    (param,) = found("[[rules]]", "docs/tutorial.md")
    for role, name in zip(Role, ("north", "south"), strict=True):
        peer = spec.side(role.other).party
        assert (spec.side(role).party, {name, peer}) == (name, {"north", "south"})
        rules = param.values[0].replace('peers = ["south"]', f'peers = ["{peer}"]')
        view = JobView(
            analysis=spec.analysis,
            peer=peer,
            dataset=spec.side(role).dataset,
            columns=frozenset(spec.side(role).columns.values()),
            recipients=frozenset("self" if one is role else "peer" for one in spec.recipients),
            facts=study.facts(spec.recipients),
            rows=1000,
            persons=1000,
            seconds=spec.seconds,
            spent=Spent(),
            runs=lambda rule: Runs(),
            parameters={key: value for key, value in spec.parameters.items() if isinstance(value, str)},
        )
        evaluate(parse_policy(parse(rules, "policy.toml", ConfigError), "policy.toml"), view).require()


@pytest.mark.parametrize("text", found("[datasets.", *PAGES))
def test_catalogs_are_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "catalog.toml").write_text(text, encoding="utf-8")
    assert load_catalog(tmp_path / "catalog.toml").datasets


@pytest.mark.slow
@pytest.mark.parametrize("text", found("[alice]", "docs/analyses.md"))
def test_jobs_run_on_the_data_of_the_page(text: str, catalogs: dict) -> None:
    spec, study = examined(text)
    data, schemas = {}, {}
    for role in Role:
        side = spec.side(role)
        loaded = load(catalogs[role].dataset(side.dataset), side.columns.values())
        data[role] = {name: loaded.columns[column] for name, column in side.columns.items()}
        schemas[role] = {name: column.schema for name, column in data[role].items()}
        data[role][PERSONS] = Column(loaded.persons, Schema("integer", lower=0))
    study.check(schemas[Role.ALICE], schemas[Role.BOB])
    outcomes = run_pair(
        *(
            lambda session, role=role: run_study(
                study, session, data[role], spec.recipients, NO_LIMITS.of_both
            )
            for role in Role
        ),
        timeout=60,
    )
    for role, outcome in zip(Role, outcomes, strict=True):
        assert bool(outcome.tables) is (role in spec.recipients)


def test_all_analyses_and_methods_have_an_example() -> None:
    jobs = [parse_spec(param.values[0]) for param in found("[job]", "docs/analyses.md")]
    assert {job.analysis for job in jobs} == set(ANALYSES)
    methods = {job.parameters.get("method") for job in jobs if job.analysis == "matching"}
    assert methods == {"exact", "tolerant", "vectors"}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert ((ROOT / page).parent / target).exists(), target
