"""Measures as a registry: each runs where it applies, says why where it does not, and is told in one form."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, SpecError, TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.measures.contract import measure as contract
from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, Tile, plain
from anonymizer.measures.registry import MEASURES
from anonymizer.measures.risk.classes import Classes
from anonymizer.measures.risk.population import IndividualRisk
from anonymizer.measures.risk.simulator import AttackSimulator, looked_for
from anonymizer.measures.utility.loss import InformationLoss
from anonymizer.methods.contract.method import Method
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressMissing
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.report import assessment as assessing
from anonymizer.report import page as paging
from anonymizer.report.assessment import Question, assess
from anonymizer.report.cautions import cautions
from anonymizer.report.page import ReleaseStory, release_page
from anonymizer.risk.covering import ReleasedRows
from anonymizer.schema.columns import Column, Schema
from anonymizer.search.measure import ReleaseMeasure
from anonymizer.search.space import SearchSpace
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.objectives import Learning, fidelity

ROLES = Roles(identifiers=("name",), quasi_identifiers=("age", "town"), sensitive=("ill", "drug"))
HIERARCHIES = {
    "age": IntervalHierarchy.of_widths(0, 120, [10, 40]),
    "town": ValueHierarchy([[t, "north" if t < "c" else "south", ANY] for t in "abcd"]),
}


def people(count: int = 240, seed: int = 1) -> Table:
    r = Randomness(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {n}" for n in range(count)],
            "age": r.integers(100, count),
            "town": np.array(list("abcd"), dtype=object)[r.integers(4, count)],
            "ill": np.array(["flu", "gout", "none"], dtype=object)[r.integers(3, count)],
            "drug": np.array(["p", "q"], dtype=object)[r.integers(2, count)],
            "note": [f"note on Mrs {n}" for n in range(count)],
            "weight": 1.0 + r.integers(9, count),
            "home": r.integers(count // 3, count),
        }
    )
    return Table.of(frame, ROLES, HIERARCHIES)


def made(*steps: Method, table: Table | None = None) -> tuple[Table, Table, Pipeline]:
    original = table or people()
    pipeline = Pipeline(steps=[(str(n), step) for n, step in enumerate(steps)])
    return original, pipeline.fit_transform_table(original), pipeline


def whole() -> tuple[Case, Question, tuple[Table, Table, Pipeline]]:
    original, release, pipeline = made(Generalization(levels={"age": 1, "town": 1}))
    question = Question(
        population=people(),
        fraction=0.5,
        attacks=True,
        control=people(100, 2),
        utility=Learning(original, target="ill", random_state=1),
        weights="weight",
        households="home",
        others=(ReleasedRows.of("another", people().without(("home",)), ROLES),),
        scale="original",
        seed=1,
    )
    return assessing._case(original, release, pipeline, question), question, (original, release, pipeline)


@pytest.mark.parametrize("word", MEASURES)
def test_every_measure_keeps_the_contract(word):
    one = MEASURES[word]
    case, question, tables = whole()
    assert one.name == word
    assert one.kind in ("risk", "attack", "utility")
    assert one.lacks(case) == ""
    assert 0 < one.cost(100, 3) <= one.cost(1000, 3)
    assert set(one.columns(case)) <= set(case.release.names)
    story = one.describe(one.measure(case))
    told = json.dumps(plain(story.values), allow_nan=False)
    for grid in story.grids:
        assert {len(row) for row in grid.rows} == {len(grid.heads)}
        assert all(isinstance(cell, str) for row in grid.rows for cell in row)
    text = told + repr(story)
    assert "Mrs" not in text
    assert "person 1" not in text
    found = assess(*tables, Question(**{**_fields(question), "measures": (word,)}))
    assert list(found.stories) == [word]
    assert plain(found.stories[word].values) == plain(story.values)


def _fields(question: Question) -> dict:
    return {name: getattr(question, name) for name in Question.__dataclass_fields__}


def test_progress_is_told():
    heard = []
    assess(people(), people(), None, Question(measures=("classes", "suda")), lambda *one: heard.append(one))
    assert heard == [(0, 2, "Classes of rows alike"), (1, 2, "Special uniques (SUDA)")]


def test_titles_and_words_are_different():
    assert len({one.title for one in MEASURES.values()}) == len(MEASURES)
    assert set(contract._NEEDS) == set(Need)


def test_what_does_not_apply_is_said_with_its_reason():
    found = assess(people(), people())
    why = {word: one.why for word, one in found.skipped.items()}
    assert why["journalist"] == "no population is given"
    assert why["uniqueness"] == "it is not given what part was sampled"
    assert why["individual-risk"] == "neither sampling weights nor the part that was sampled are given"
    assert "linkability" not in why
    bare = Table.of(people().native[["age"]])
    why = {word: one.why for word, one in assess(bare, bare, None, Question(attacks=True)).skipped.items()}
    assert why["classes"] == "no quasi-identifiers are declared"
    assert why["joint-diversity"] == "there are fewer than two sensitive columns"
    assert why["inference"] == "no sensitive column is declared"
    assert why["linkability"] == "original and release share fewer than two columns"
    with pytest.raises(SpecError, match="'simulator'"):
        Question(measures=("simulater",))


class Rarity(Measure[float]):
    """A measure that a later paper brings."""

    name = "rarity"
    title = "A new thing"
    kind = "risk"
    needs = (Need.NUMERIC, Need.QUASI_IDENTIFIERS)

    def cost(self, rows, columns):
        return 1e12

    def measure(self, case):
        return float(case.randomness("rarity").uniform(1)[0])

    def describe(self, found):
        return Presentation(
            {"value": found},
            lines=[("rarity", f"{found:.2f}")],
            cautions=["Look out."],
            cards=[Tile("x", "y")],
            text="It is new.",
            facts=[("Fact", "told")],
            grids=[Grid("Caption", ("A", "B"), [("one", "1")])],
        )


@pytest.fixture
def enlarged(monkeypatch):
    more = dict(MEASURES) | {"rarity": Rarity()}
    for module in (assessing, paging):
        monkeypatch.setattr(module, "MEASURES", more)


def test_a_new_measure_is_told_everywhere(enlarged):
    found = assess(people(), people(), None, Question(measures=("rarity", "classes"), seed=3))
    assert set(found.stories) == {"rarity", "classes"}
    assert 0 < found.values["risk"]["rarity"]["value"] < 1
    assert ("rarity", f"{found.of(Rarity):.2f}") in found.lines
    assert "Look out." in found.cautions
    page = release_page(ReleaseStory("t", "o", "r", [], [], found.cautions), found)
    for part in ("A new thing", "It is new.", "Caption", "Fact"):
        assert part in page


def test_what_costs_too_much_runs_only_if_it_is_named(enlarged):
    found = assess(people(), people())
    assert "rarity" not in found.stories
    assert found.skipped["rarity"].why.startswith("it would take 167 minutes or so")
    assert any("rarity was left out" in one for one in found.cautions)
    assert "rarity" in assess(people(), people(), None, Question(budget=1e13)).stories
    assert "rarity" not in assess(people(), people(), None, Question(without=("rarity",))).skipped


def test_special_uniques_of_many_columns_cost_too_much():
    suda = MEASURES["suda"]
    assert suda.cost(30_000, 8) < assessing.BUDGET < suda.cost(30_000, 20)


class Unknown(Method):
    """A method of somebody else, without a simulator."""

    name = "unknown"

    def provenance(self, table):
        return table.provenance

    def _fit(self, table):
        pass

    def _transform(self, table):
        return table


class Drawn(Generalization):
    """Rows of nobody."""

    name = "drawn"

    def _transform(self, table):
        return Table.of(table.native, table.roles, table.hierarchies)


@pytest.mark.parametrize("method", [Unknown(), Drawn(levels={"age": 1})])
def test_a_release_without_a_simulator_has_no_risk_of_nought(method):
    original, release, pipeline = made(method)
    found = assess(original, release, pipeline)
    assert found.of(AttackSimulator) is None
    assert "simulator" not in found.values["risk"]
    assert any("The attack simulator was not measured" in one for one in found.cautions)
    assert any(name == "no simulator" for name, _ in found.lines)
    page = release_page(ReleaseStory("t", "o", "r", [], [], found.cautions), found)
    assert "The attack simulator was not measured" in page


def test_records_with_gaps_are_looked_for_too():
    frame = people().native.copy()
    frame.loc[::10, "town"] = None
    table = Table.of(frame, ROLES, HIERARCHIES)
    original, release, pipeline = made(
        SuppressMissing(), Generalization(levels={"age": 1, "town": 1}), table=table
    )
    found = assess(original, release, pipeline)
    looked = found.of(AttackSimulator)
    assert (looked.records, looked.total) == (240, 240)
    there = ~original.missing("town")
    assert looked.simulation.found.tolist() == there.tolist()
    complete = original.take(np.flatnonzero(there))
    alone = Pipeline(steps=[("g", Generalization(levels={"age": 1, "town": 1}))])
    expected = looked_for(complete, alone.fit_transform_table(complete), alone).simulation
    assert looked.simulation.candidates[there].tolist() == expected.candidates.tolist()


def test_records_are_drawn_apart_from_the_released_ones(monkeypatch):
    from anonymizer.measures.risk import simulator

    monkeypatch.setattr(simulator, "PAIRS", 1)
    monkeypatch.setattr(simulator, "MIN_RECORDS", 120)
    original, release, pipeline = made(Sampling(rate=0.5, random_state=7), table=people(240))
    released = looked_for(original, release, pipeline, 7).simulation.released
    assert 0.3 < released.mean() < 0.7


def test_every_stream_of_a_measure_has_a_purpose_of_its_own():
    folder = Path(anonymizer.__file__).parent
    purposes = []
    for room in ("risk", "utility", "measures", "report", "search"):
        for path in sorted((folder / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Randomness":
                    assert len(node.args) == 2, f"{path.name}:{node.lineno} names no purpose"
                    purposes.append(ast.unparse(node.args[1]))
    assert len(purposes) > 6
    assert len(set(purposes)) == len(purposes)


def test_no_rare_label_and_none_without_a_role_is_in_a_report():
    frame = people().native.copy()
    frame.loc[5, "ill"] = "Rarissima"
    frame.loc[5, "age"] = 119
    table = Table.of(frame, ROLES, HIERARCHIES)
    original, release, pipeline = made(Generalization(levels={"town": 1}), table=table)
    found = assess(original, release, pipeline, Question(attacks=True, seed=1))
    told = cautions(original, release, found, pipeline)
    page = release_page(ReleaseStory("t", "o", "r", [], [], told), found)
    assert page.count("<svg") == 1 + 4
    page = " ".join(re.findall(r'>[^<]*<|aria-label="[^"]*"', page))
    for cell in ("Rarissima", "Mrs", "119", "person 5"):
        assert cell not in page
    for label in ("flu", "rarer than 5", ">from "):
        assert label in page
    assert ">note<" in page


def test_an_error_does_not_bring_cells_into_a_report():
    hierarchies = {"town": ValueHierarchy([["a", ANY], ["b", ANY], ["c", ANY]])}
    table = Table.of(people().native.replace({"d": "Sonderstadt"}), ROLES, hierarchies)
    found = assess(table, table)
    assert "Sonderstadt" in found.skipped["information-loss"].detail
    assert any("Sonderstadt" in text for _, text in found.lines)
    page = release_page(ReleaseStory("t", "o", "r", [], [], cautions(table, table, found)), found)
    assert "Information loss was not measured" in page
    assert "Sonderstadt" not in page.replace(_marginal_of("town", page), "")


def _marginal_of(column: str, page: str) -> str:
    start = page.index(f'aria-label="Distribution of {column} ')
    return page[start : page.index("</svg>", start)]


def test_weights_and_households_come_from_where_they_are():
    original, release, pipeline = made(
        Generalization(levels={"age": 2, "town": 2}), Sampling(rate=0.5, random_state=1)
    )
    question = Question(weights="weight", households="home", seed=1)
    found = assess(original, release, pipeline, question).of(IndividualRisk)
    assert len(found.rows) == len(found.households) == 120
    assert (found.households >= found.rows).all()
    hidden = release.without(("weight", "home"))
    again = assess(original, hidden, pipeline, question).of(IndividualRisk)
    assert again.rows.tolist() == found.rows.tolist()
    with pytest.raises(TableError, match="not known where its rows came from"):
        assess(original, hidden, None, question)
    with pytest.raises(TableError, match="no column 'weigth'"):
        assess(original, release, pipeline, Question(weights="weigth"))


def test_closeness_by_a_declared_order_is_told():
    frame = pd.DataFrame({"zip": list("aabb"), "pain": ["low", "low", "medium", "high"]})
    schema = Schema({"pain": Column(kind="category", categories=("low", "medium", "high"), ordered=True)})
    table = Table.of(frame, Roles(quasi_identifiers=("zip",), sensitive=("pain",)), None, schema)
    found = assess(table, table)
    assert found.of(Classes).sensitive["pain"].t["ordered"].release == pytest.approx((0.5 + 0.25) / 2)
    assert any("ordered t = 0.375 (0.375 against the table)" in text for _, text in found.lines)
    values = found.values["risk"]["classes"]["sensitive"]["pain"]
    assert values["t"]["ordered"]["table"] == pytest.approx(0.375)


def test_information_loss_of_a_sample():
    original, release, pipeline = made(Generalization(levels={"town": 1}), Sampling(rate=0.5, random_state=1))
    found = assess(original, release, pipeline).of(InformationLoss)
    assert found.rows == 0.5
    assert found.ncp["town"] == pytest.approx(0.5 / 3 + 0.5)
    assert found.mean_ncp == pytest.approx(np.mean(list(found.ncp.values())))


SPACE = """
[roles]
quasi_identifiers = ["age"]
[[steps]]
method = "sampling"
rate = { choices = [0.5, 1.0] }
"""


def test_a_search_takes_no_more_records_than_a_report(monkeypatch):
    import tomllib

    from anonymizer.measures.risk import simulator

    seen = []

    def counted(*tables, records=None, **rest):
        seen.append(len(records))
        return simulate_attack(*tables, records=records, **rest)

    simulate_attack = simulator.simulate_attack
    monkeypatch.setattr(simulator, "PAIRS", 1)
    monkeypatch.setattr(simulator, "MIN_RECORDS", 50)
    monkeypatch.setattr(simulator, "simulate_attack", counted)
    space = SearchSpace.of(tomllib.loads(SPACE), Path(), "s.toml")
    measure = ReleaseMeasure(space, Table.of(people().native[["age"]]), fidelity, random_state=1)
    assert measure({"sampling.rate": 1.0})[0] > 0
    assert seen == [50]


def test_a_search_refuses_a_risk_that_says_nothing(monkeypatch):
    import tomllib
    from dataclasses import replace

    from anonymizer.measures.risk import simulator

    simulate_attack = simulator.simulate_attack

    def blind(*tables, **rest):
        found = simulate_attack(*tables, **rest)
        return replace(found, found=np.zeros_like(found.found), candidates=np.zeros_like(found.candidates))

    monkeypatch.setattr(simulator, "simulate_attack", blind)
    space = SearchSpace.of(tomllib.loads(SPACE), Path(), "s.toml")
    measure = ReleaseMeasure(space, Table.of(people().native[["age"]]), fidelity, random_state=1)
    with pytest.raises(AnonymizerError, match="says nothing"):
        measure({"sampling.rate": 1.0})
