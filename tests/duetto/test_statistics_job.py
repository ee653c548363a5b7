"""Jobs of statistics that are put together in Python."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import duetto
from parties.client import job_text
from parties.contracts.spec import parse_spec
from smc.analyses.statistics.queries.query import KINDS

PEOPLE = {"age": [30 + row % 40 for row in range(200)], "smoker": ["yes", "no"] * 100}


def test_a_job_runs_as_the_same_file_would() -> None:
    pandas = pytest.importorskip("pandas")
    asked = duetto.Statistics(epsilon=20).count("age").mean("age", by="smoker")
    asked = asked.histogram("age", name="ages", edges=[0, 50, 100])
    job = asked.job("north", "south", "people", title="Ages")
    spec = parse_spec(job_text(job))
    assert (spec.title, spec.analysis, [*spec.parameters["queries"][1]]) == (
        "Ages",
        "statistics",
        ["kind", "by", "column"],
    )
    frame = pandas.DataFrame(PEOPLE)
    result = duetto.rehearse(job, frame, frame)
    assert [*result.tables] == ["results", "ages"]
    assert [*result["results"]["query"]] == ["count of age", *["mean of age by smoker"] * 2]
    assert abs(result["results"]["value"][0] - 400) < 30


def test_each_call_leaves_what_was_before() -> None:
    first = duetto.Statistics(epsilon=Fraction(1, 2)).count("age")
    second, third = first.mean("age"), first.median("age", step=0.5)
    kinds = [
        [query["kind"] for query in one.job("a", "b", "people")["parameters"]["queries"]]
        for one in (first, second, third)
    ]
    assert kinds == [["count"], ["count", "mean"], ["count", "median"]]
    parameters = third.job("a", "b", "people")["parameters"]
    assert (parameters["epsilon"], parameters["queries"][1]["step"]) == ("1/2", "0.5")
    assert repr(third) == "Statistics(epsilon='1/2').count(...).median(...)"


def test_columns_can_be_called_otherwise() -> None:
    asked = duetto.Statistics(epsilon=1).correlation("age", "weight")
    job = asked.job(
        *("north", "south", "patients"),
        bob_dataset="Personen",
        columns={"age": "Alter [J.]"},
        bob_columns={"weight": "Gew. (kg)"},
    )
    assert job["alice"] == {"dataset": "patients", "columns": {"age": "Alter [J.]", "weight": "weight"}}
    assert job["bob"] == {"dataset": "Personen", "columns": {"age": "age", "weight": "Gew. (kg)"}}


def test_every_kind_is_a_method() -> None:
    asked = duetto.Statistics(epsilon=1)
    for kind in KINDS:
        assert kind.replace("-", "_") in dir(asked)
        assert callable(getattr(asked, kind.replace("-", "_")))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.job("a", "b", "people"), "No figure was asked for"),
        (lambda s: s.mean("age", "weight").job("a", "b", "people"), "takes one column"),
        (lambda s: s.regression("age", on=["weight"]), "by keys"),
        (lambda s: s.mean("age", where=3).job("a", "b", "people"), "where"),
        (lambda s: s.mean("age", colour="red").job("a", "b", "people"), "colour"),
        (lambda s: s.mean("age").job("a", "b", "people", columns={"sex": "Geschl."}), "No figure uses"),
        (lambda s: s.ask("mode", "age"), "'mode' is not a kind of figure"),
        (lambda s: duetto.Statistics(epsilon=float("nan")).mean("age").job("a", "b", "p"), "epsilon"),
    ],
)
def test_what_is_wrong_is_said_where_it_is_written(
    ask: Callable[[duetto.Statistics], object], words: str
) -> None:
    with pytest.raises(duetto.UsageError) as refused:
        ask(duetto.Statistics(epsilon=1))
    assert words in f"{refused.value.what} {refused.value.hint}"


def test_a_figure_that_does_not_exist_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="there are count, sum, mean"):
        duetto.Statistics(epsilon=1).mode("age")
