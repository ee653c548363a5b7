"""Result tables for people, files and data frames."""

from __future__ import annotations

import numpy as np
import pytest

from parties.client.result import Result
from parties.results.frames import columns_of
from parties.results.tables import ResultTable, figures_by_group, show_table
from smc.analyses.comparison.columns import plain_tables
from smc.analyses.studies.columns import DAYS
from smc.analyses.studies.outcome import DATE, DAY_NUMBER, NUMBER
from smc.values import Plain, Share

KINDS = dict.fromkeys(("value", "lower_95", "upper_95", "epsilon"), NUMBER)
STATISTICS = ResultTable(
    "results",
    {
        "query": ["patients", "weight", "born", "association", "fit"],
        "kind": ["count", "median", "mean", "crosstab", "regression"],
        "value": [5461, "73.0", 5000.3, None, None],
        "lower_95": [5452, "71.5", 4990.3, None, None],
        "upper_95": [5470, "76.0", 5010.3, None, None],
        "p_value": [None, None, None, 0.0001, None],
        "r_squared": [None, None, None, None, 0.75],
        "epsilon": ["2/7"] * 5,
        "noise_scale": [3.0, 7.0, 360.0, 3.0, 9.0],
        "unit": ["rows", "kg", DAYS, "", ""],
    },
    KINDS,
)
SUMS = ResultTable(
    "intersection",
    {
        "side": ["alice"],
        "count": [6],
        "count_lower_95": [-3],
        "count_upper_95": [15],
        "sum": ["12.50"],
        "sum_lower_95": ["2.50"],
        "sum_upper_95": ["22.50"],
    },
    {"sum": NUMBER, "sum_lower_95": NUMBER, "sum_upper_95": NUMBER},
)
MATCHES = ResultTable("matches", {"row": [1, 2], "born": ["1990-12-31", "1601-01-01"]}, {"born": DATE})


def test_a_value_and_its_interval_are_one_column():
    one = show_table(STATISTICS, most=40)
    assert [head.text for head in one.heads] == ["figure", "value", "p", "R2", "unit"]
    assert [head.is_number for head in one.heads] == [False, True, True, True, False]
    assert [row[1] for row in one.rows] == ["5461 ± 9", "73.0 [71.5, 76.0]", "1983-09-10 ± 10 days", "-", "-"]
    assert (one.rows[3][2], one.rows[4][3], one.rows[2][4]) == ("0.0001", "0.75", "date")
    sums = show_table(SUMS, most=40, plus_minus="+-")
    assert (sums.rows, sums.left) == ((("alice", "6 +- 9", "12 +- 10"),), 0)


def test_people_read_words_where_the_program_names_a_column():
    def heads(name, *columns, details=False):
        shown = show_table(ResultTable(name, {one: [1] for one in columns}, {}), most=1, details=details)
        return [head.text for head in shown.heads]

    assert heads("death", "term", "hazard_ratio", "standard_error") == [
        "term",
        "hazard ratio",
        "standard error",
    ]
    assert heads("matches", "row", "delta", "query") == [
        "row",
        "delta",
        "query",
    ]  # columns of somebody's data
    bits, shares = (plain_tables(held)[0] for held in (Plain([1]), Share([1], 2)))
    assert heads(bits.name, *bits.columns) == ["row", "x >= y"]
    assert heads(shares.name, *shares.columns) == ["row", "share of x >= y"]
    assert heads(bits.name, *bits.columns, details=True) == ["row", "delta"]


def test_details_show_all_columns():
    one = show_table(STATISTICS, most=2, details=True)
    assert [head.text for head in one.heads] == list(STATISTICS.columns)
    assert one.rows[1][2:5] == ("73.0 [71.5, 76.0]", "71.5", "76.0")
    assert one.rows[0][7] == "2/7"
    assert one.left == 3


def test_files_have_dates_as_dates_and_all_else_as_it_is():
    assert STATISTICS.cells_of("value") == [5461, "73.0", "1983-09-10", None, None]
    assert STATISTICS.cells_of("upper_95")[2] == "1983-09-20"
    assert MATCHES.cells_of("born") == ["1990-12-31", "1601-01-01"]


def test_frames_have_floats_and_dates():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns_of(STATISTICS))
    for name in ("value", "lower_95", "upper_95", "p_value", "epsilon"):
        assert frame[name].dtype == np.float64
    assert frame["value"].mean() == pytest.approx((5461 + 73 + 5000.3) / 3)
    assert frame["epsilon"][0] == pytest.approx(2 / 7)
    assert str(frame["date"][2].date()) == "1983-09-10"
    assert frame["date"].isna().tolist() == [True, True, False, True, True]
    matches = pd.DataFrame(columns_of(MATCHES))
    assert [str(one.date()) for one in matches["born"]] == ["1990-12-31", "1601-01-01"]
    assert matches["born"].dt.year.tolist() == [1990, 1601]


def test_a_result_knows_the_kinds_of_its_columns_and_old_ones_none():
    tables = {"matches": {"born": ["1990-12-31"], "row": [1]}}
    new = Result("1", tables, (), {"kinds": {"matches": {"born": DATE}}}, {}, {})
    assert new.table().kinds == {"born": DATE}
    assert Result("1", tables, (), {}, {}, {}).table("matches").kinds == {}


def test_numbers_of_days_are_dates_for_people_and_in_files():
    kinds = dict.fromkeys(("born", "born_lower_95", "born_upper_95"), DAY_NUMBER)
    columns = {
        "size": [3, 4],
        "born": [0.4, None],
        "born_lower_95": [-2.0, None],
        "born_upper_95": [2.8, None],
    }
    table = ResultTable("centres", columns, kinds)
    assert table.cells_of("born") == ["1970-01-01", None]
    (first, second) = show_table(table, most=9).rows
    assert first[0] == "3"
    assert "1970-01-01" in first[1]
    assert second[1] == "-"
    exact = ResultTable("centres", {"born": [365.0]}, {"born": DAY_NUMBER})
    assert show_table(exact, most=9).rows == (("1971-01-01",),)
    assert str(columns_of(table)["born"][0])[:10] == "1970-01-01"


def test_a_query_with_a_table_of_its_own_has_no_row_without_a_figure():
    results = {
        "query": ["mean of age", "ages", "age by sex", "withheld"],
        "column": ["c_age"] * 4,
        "value": [52.4, None, None, None],
        "p_value": [None, None, 0.02, None],
        "unit": ["years", "rows", "rows", "rows"],
    }
    ages = {"age": ["[0, 20)"], "count": [7]}
    found = Result("1", {"results": results, "ages": ages, "age by sex": ages}, (), {}, {}, {})
    shown = show_table(found.table("results"), most=9)
    assert [row[0] for row in shown.rows] == ["mean of age", "age by sex", "withheld"]
    assert "column" not in [head.text for head in shown.heads]
    whole = show_table(found.table("results", whole=True), most=9, details=True)
    assert [row[:2] for row in whole.rows] == [(query, "c_age") for query in results["query"]]
    assert found.tables["results"]["query"] == results["query"]


def test_expected_figures_stand_in_the_shape_of_their_result():
    def figure(query, group=None, term=None, unit=""):
        return {"query": query, "group": group, "term": term, "unit": unit}

    ages = [figure("age", group, "mean", "years") for group in ("ex", "no")]
    groups, lines = figures_by_group([figure("patients"), *ages])
    assert groups == ["", "ex", "no"]
    by_group = dict(zip(("ex", "no"), ages, strict=True))
    assert lines == {"patients": {"": figure("patients")}, "age, mean (years)": by_group}
    (line,) = figures_by_group([figure("mean of Poids (kg)") | {"unit": "kg"}])[1]
    assert line == "mean of Poids (kg)"
