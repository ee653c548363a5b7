"""A table one between two daemons: rows with missing cells stay, and are counted."""

from __future__ import annotations

from tests.parties.jobs.institutions import job


def test_a_table_one_counts_missing_cells_and_keeps_their_rows(institutions):
    """Other jobs leave such rows out; persons without a name are left out by both."""
    declared = {
        "id": {"type": "text", "missing": "drop"},
        "age": {"type": "integer", "lower": 0, "upper": 100, "missing": "drop"},
        "sex": {"type": "category", "values": ["f", "m"], "missing": "drop", "missing_tokens": ["?"]},
    }
    for name in ("north", "south"):
        cells = {
            "id": [f"{name} {place}" if place else "" for place in range(60)],
            "age": ["" if place % 5 == 1 else str(20 + place) for place in range(60)],
            "sex": ["?" if place % 3 == 0 else "fm"[place % 2] for place in range(60)],
        }
        institutions.hold(name, cells, declared, person="id")
    query = {"kind": "table-one", "name": "all", "numbers": ["age"], "categories": ["sex"], "points": 8}
    document = job("statistics", {"epsilon": "16", "queries": [query]}, ["age", "sex"])
    found = institutions.run(document)
    for tables in (found.tables("north"), found.tables("south")):
        table = tables["all"]
        keys = zip(*(table[name] for name in ("variable", "quantity", "unit")), strict=True)
        rows = dict(zip(keys, table["total"], strict=True))
        assert abs(rows["", "n", "rows"] - 118) <= 12
        assert abs(rows["age", "missing", "rows"] - 24) <= 12
        assert abs(rows["sex", "missing", "rows"] - 38) <= 12
        assert abs(rows["age", "mean", ""] - 50) < 15
    plain = job("statistics", {"noise": "none", "queries": [{"kind": "count", "column": "age"}]}, ["age"])
    assert institutions.run(plain).tables("north")["results"]["value"] == [94]
