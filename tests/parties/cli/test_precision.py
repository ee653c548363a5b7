"""The precision to expect of a job, as it is printed: whole at 80 columns, and said to stay at home."""

from __future__ import annotations

from parties.cli.output import emit
from parties.cli.precision import MAX_ROWS, print_precision

ROW = {
    "query": "mean of age",
    "kind": "mean",
    "group": None,
    "term": None,
    "half_width": 1.2345,
    "unit": "years",
    "epsilon": "1/2",
}


def printed(capsys, rows, vague=(), advice=()):
    emit({}, lambda out: print_precision(out, rows, vague, advice), as_json=False)
    return capsys.readouterr().out


def test_each_query_has_its_half_width(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [ROW, {**ROW, "term": "(intercept)", "half_width": None, "unit": ""}]
    out = printed(capsys, rows, [False, False], ["Ask for less."])
    first, second = (line for line in out.splitlines() if "mean of age" in line)
    assert first.split() == ["mean", "of", "age", "(years)", "±", "1.23"]
    assert "mean of age, (intercept)" in second
    assert "unknown" in second
    assert "nothing was sent" in out
    assert "Ask for less." in out
    assert "almost nothing" not in out
    assert not set("┏│└") & set(out)


def test_groups_stand_beside_each_other_and_vague_figures_are_marked(capsys):
    rows = [
        {**ROW, "query": query, "group": group, "half_width": width}
        for query, group, width in (("a", "yes", 1.0), ("a", "no", 60.0), ("b", "yes", 2.0), ("b", "no", 3.0))
    ]
    lines = printed(capsys, rows, [False, True, False, False]).splitlines()
    assert lines[1].split() == ["yes", "no"]
    assert lines[2].split() == ["a", "(years)", "±", "1", "±", "60", "!"]
    assert lines[3].split() == ["b", "(years)", "±", "2", "±", "3"]
    assert any(line.startswith("! says almost nothing") for line in lines)


def test_long_lists_say_what_is_left_out(capsys):
    rows = [{**ROW, "query": f"q{number}"} for number in range(MAX_ROWS + 2)]
    assert "... and 2 more" in printed(capsys, rows)
    assert printed(capsys, []) == ""
