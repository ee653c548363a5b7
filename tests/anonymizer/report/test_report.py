"""The reports: self-contained, escaped, with figures that agree with the measures."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from anonymizer.gate.finding import Finding, sentences
from anonymizer.hierarchies.hierarchy import ValueHierarchy
from anonymizer.measures.risk import simulator
from anonymizer.measures.risk.simulator import AttackSimulator
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.synthesis.synthesizers import SynthHistogram
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.report.assessment import Question, assess, worst_records
from anonymizer.report.cautions import cautions
from anonymizer.report.page import ReleaseStory, release_page
from anonymizer.report.searching import SearchStory, search_page
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Column, Schema
from anonymizer.search.search import SearchResult, SearchTrial
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.propensity import propensity

EVIL = '<script>alert("x")</script>$\\frac{&amp;'
VOID = {"meta", "br", "path", "use", "rect", "circle", "stop"}


class Checked(HTMLParser):
    """Well-formed nesting, and nothing that runs or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.images = 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
        for name, value in given.items():
            assert not name.startswith("on"), name
            if name in {"href", "src", "xlink:href"}:
                assert value.startswith("#"), value
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "svg":
            self.images += 1
            assert given["role"] == "img"
            assert given["aria-label"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(page: str) -> Checked:
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page.lower()
    assert "@import" not in page
    assert not re.search(r"url\(\s*['\"]?(?!#)", page)
    found = Checked()
    found.feed(page)
    assert found.open == []
    return found


def people(rows: int = 60) -> Table:
    number = np.arange(rows)
    frame = pd.DataFrame(
        {
            "age": 20 + (number * 7) % 50,
            EVIL: [("Ulm", EVIL, "Köln", "東京")[i % 4] for i in number],
            "illness": [("flu", "cold")[i % 2] for i in number],
        }
    )
    rows_ = [[city, "*"] for city in ("Ulm", EVIL, "Köln", "東京")]
    roles = Roles(quasi_identifiers=("age", EVIL), sensitive=("illness",))
    return Table.of(frame, roles, {EVIL: ValueHierarchy(rows_)})


def story(cautioned=(), steps=()) -> ReleaseStory:
    return ReleaseStory(EVIL, EVIL, EVIL, [(EVIL, EVIL)], steps, cautioned)


def made(*steps) -> tuple[Table, Table, Pipeline]:
    table = people()
    pipeline = Pipeline(steps=[(str(n), step) for n, step in enumerate(steps)])
    return table, pipeline.fit_transform_table(table), pipeline


def test_a_page_is_self_contained_and_escaped():
    table, release, pipeline = made(Noise(epsilon=0.5, columns=("age",), random_state=1), Sampling(rate=0.8))
    found = assess(table, release, pipeline, Question(attacks=True, fraction=0.5, population=None, seed=1))
    words = cautions(table, release, found, pipeline, 1)
    page = release_page(story(words, [{"method": "noise", "columns": [EVIL], "epsilon": 0.5}]), found)
    seen = checked(page)
    assert seen.images == 1 + 3
    assert len(seen.ids) > 10
    assert "&lt;script&gt;" in page
    for part in ("Risk", "Warnings", "What was done", "Utility and information loss", "Attacks", "seed"):
        assert part in page


def test_a_page_of_a_release_of_unknown_making():
    table, release, _ = made(Generalization(levels={EVIL: 1}))
    found = assess(table, release)
    assert found.of(AttackSimulator) is None
    assert found.skipped["simulator"].why == "it is not known how the release was made"
    page = release_page(story(), found)
    checked(page)
    assert "<h3>The attack simulator</h3>" not in page
    assert "it is not known how the release was made" in page
    assert "eleased rows by the number of candidates" in page


def test_a_page_without_quasi_identifiers():
    table = Table.of(people().native)
    found = assess(table, table)
    assert worst_records(found) == {}
    page = release_page(story(cautions(table, table, found)), found)
    checked(page)
    assert "Nothing can be said of re-identification" in page


def test_figures_are_those_of_the_measures():
    table, release, pipeline = made(Generalization(levels={EVIL: 1}))
    found = assess(table, release, pipeline)
    simulated = simulate_attack(table, release, pipeline)
    assert found.values["risk"]["simulator"]["risk"] == simulated.risk
    parts = worst_records(found)
    assert sum(parts.values()) == pytest.approx(1)
    sizes = release.native.groupby("age")["age"].transform("size")
    assert parts["2"] == pytest.approx((sizes == 2).mean())
    assert parts["1"] == pytest.approx((sizes == 1).mean())


def test_a_part_of_the_records_is_attacked_where_all_take_too_long(monkeypatch):
    table, release, pipeline = made(Generalization(levels={EVIL: 1}))
    monkeypatch.setattr(simulator, "PAIRS", 1)
    monkeypatch.setattr(simulator, "MIN_RECORDS", 20)
    found = assess(table, release, pipeline, Question(seed=4))
    looked = found.of(AttackSimulator)
    assert looked.records == len(looked.simulation.found) == 20
    assert any("20 of 60 records" in one for one in found.cautions)


def test_some_records_have_the_risks_that_they_have_among_all():
    table, release, pipeline = made(Generalization(levels={EVIL: 1}), Sampling(rate=0.7, random_state=3))
    everyone = simulate_attack(table, release, pipeline, rate=0.7)
    some = np.array([3, 7, 8, 21, 59])
    part = simulate_attack(table, release, pipeline, rate=0.7, records=some)
    np.testing.assert_array_equal(part.candidates, everyone.candidates[some])
    np.testing.assert_array_equal(part.found, everyone.found[some])
    np.testing.assert_array_equal(part.kinds["illness"], everyone.kinds["illness"][some])
    np.testing.assert_array_equal(part.shares["illness"], everyone.shares["illness"][some])


def test_missing_cells_are_told():
    frame = people().native.copy()
    frame.loc[3, EVIL] = None
    table = Table.of(frame, people().roles)
    pipeline = Pipeline(steps=[("noise", Noise(epsilon=1.0, columns=("age",)))])
    release = pipeline.fit_transform_table(table)
    found = assess(table, release, pipeline)
    told = " ".join(cautions(table, release, found, pipeline))
    assert "1 missing cells" in told
    assert found.values["risk"]["simulator"]["found"] == 1


def test_a_wide_table_is_told_of_in_few_sentences():
    numbers = np.random.default_rng(5).normal(size=(40, 400))
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(400)])
    frame = frame.assign(**{f"q{i}": [None, *["a"] * 39] for i in range(100)}, age=range(40))
    roles = Roles(quasi_identifiers=("age", *(f"q{i}" for i in range(100))))
    table = Table.of(frame, roles)
    told = cautions(table, table)
    assert len(told) == 5
    text = " ".join(told)
    assert "no role, and so left out of the risk figures: 400 columns (x0, x1, x2, x3, x4 and so on)" in text
    assert "value of its own in 400 columns (x0," in text
    assert "The 400 columns of no role single out 40 of 40 rows together" in text
    assert "100 missing cells in 100 columns (q0, q1," in text
    few = Table.of(frame[["x0", "x1", "age"]], Roles(quasi_identifiers=("age",)))
    assert "left out of the risk figures: x0, x1. " in " ".join(cautions(few, few))


def test_columns_of_no_role_are_counted_together():
    rows = np.arange(60)
    frame = pd.DataFrame({"age": rows, "a": rows % 10, "b": np.where(rows < 50, rows // 10, 0), "c": 1})
    table = Table.of(frame, Roles(quasi_identifiers=("age",)))
    text = " ".join(cautions(table, table))
    assert "The 3 columns of no role single out 40 of 60 rows together, and leave at most two for 60." in text
    alike = Table.of(frame.assign(a=1, b=2), Roles(quasi_identifiers=("age",)))
    assert "single out" not in " ".join(cautions(alike, alike))


def test_many_findings_of_one_rule_are_gathered():
    found = [Finding("image", f"c{i}", f"Column c{i} is an image.", "Take it out.") for i in range(30)]
    told = sentences([*found, Finding("order", None, "Rows are in order.", "Shuffle them.")])
    assert told[:3] == [f"Column c{i} is an image. Take it out." for i in range(3)]
    assert told[3] == "The same (image) was found of 27 columns (c3, c4, c5, c6, c7 and so on)."
    assert told[4:] == ["Rows are in order. Shuffle them."]


def test_of_a_synthetic_table_nothing_is_said_of_rows_that_are_released():
    frame = pd.DataFrame({"sex": ["F", "M"] * 30, "dx": ["a", "b", "c"] * 20})
    kinds = {"sex": ("F", "M"), "dx": ("a", "b", "c")}
    schema = Schema({name: Column("category", categories=values) for name, values in kinds.items()})
    table = Table.of(frame).declare(Roles((), ("sex",), ("dx",)), None, schema)
    pipeline = Pipeline(steps=[("one", SynthHistogram(epsilon=0.5, columns=("sex", "dx"), random_state=1))])
    release = pipeline.fit_transform_table(table).take(np.arange(20))
    found = assess(table, release, pipeline, Question(measures=("classes",)))
    told = " ".join(cautions(table, release, found, pipeline))
    assert "not released" not in told
    assert "only one value" not in told
    page = release_page(story(), found)
    assert f"<strong>{len(release)}</strong> rows made anew of 60" in page


@pytest.mark.parametrize("is_noisy", [True, False])
def test_no_warning_takes_noise_for_what_somebody_has(is_noisy):
    """Who knows an income finds nobody by a drawn one, nor does a class with one drawn income tell it."""
    frame = pd.DataFrame({"age": np.arange(40), "income": np.arange(40) * 7 + 1000})
    schema = Schema({"income": Column("integer", 0, 5000), "age": Column("integer", 0, 120)})
    table = Table.of(frame).declare(Roles((), ("age",), ("income",)), None, schema)
    column = "income" if is_noisy else "age"
    pipeline = Pipeline(steps=[("one", DpNoise(epsilon=1.0, columns=(column,)))])
    release = pipeline.fit_transform_table(table)
    found = assess(table, release, pipeline, Question(measures=("classes",)))
    told = " ".join(cautions(table, release, found, pipeline))
    assert ("value of its own in income" in told) is not is_noisy
    assert ("Some class has only one value of income" in told) is not is_noisy


def test_what_is_claimed_and_what_not():
    table = people()
    table = table.declare(table.roles, table.hierarchies, Schema({"age": Column("integer", 0, 120)}))
    pipeline = Pipeline(steps=[("noise", DpNoise(epsilon=1.0, columns=("age",)))])
    release = pipeline.release(table)
    told = " ".join(cautions(table, release.table, None, pipeline))
    assert "local-dp of one record in age: epsilon = 1" in " ".join(map(str, release.guarantees))
    assert "No differential privacy" not in told
    table, release, pipeline = made(Noise(epsilon=1.0, columns=("age",), random_state=2))
    told = " ".join(cautions(table, release, None, pipeline))
    assert "No differential privacy is claimed for noise" in told
    assert "seed" in told


def result() -> SearchResult:
    trials = [SearchTrial({"a": n, EVIL: EVIL}, n / 10, n / 5) for n in range(1, 5)]
    return SearchResult(0.25, (*trials, SearchTrial({"a": 9, EVIL: 1}, problem=EVIL)))


def test_the_map_of_a_search():
    told = SearchStory(EVIL, EVIL, [("a", EVIL)], "worst", "kept")
    page = search_page(told, result())
    seen = checked(page)
    assert seen.images == 1
    assert page.count('class="best"') == 1
    none = SearchResult(0.01, result().trials)
    checked(search_page(told, none))
    checked(search_page(told, SearchResult(0.01, result().trials[-1:])))


def test_drawings_do_not_share_names():
    table, release, pipeline = made(Generalization(levels={EVIL: 1}))
    page = release_page(story(), assess(table, release, pipeline))
    clips = re.findall(r'<clipPath id="([^"]+)"', page)
    assert len(clips) == len(set(clips)) > 1


def test_large_tables_are_scored_by_a_part():
    table = people(600)
    release = table.take(np.arange(0, 600, 2))
    part = propensity(table, release, ("age", "illness"), rows=90, random_state=1)
    whole = propensity(table, release, ("age", "illness"))
    assert part.expected == pytest.approx(10 * whole.expected, rel=0.25)
    assert 0 <= part.pmse < 0.1
