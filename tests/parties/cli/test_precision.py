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
}
ROWS = [
    {**ROW, "epsilon": "1/2"},
    {**ROW, "group": "f", "term": "(intercept)", "half_width": None, "rho": "0.1"},
]


def printed(capsys, rows):
    emit({}, lambda out: print_precision(out, rows), as_json=False)
    return capsys.readouterr().out


def test_each_query_has_its_half_width_and_loss(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, ROWS)
    first, second = (line for line in out.splitlines() if "mean of age" in line)
    assert "1.23 years" in first
    assert "epsilon 1/2" in first
    assert "f: (intercept)" in second
    assert "unknown" in second
    assert "rho 0.1" in second
    assert "nothing was sent" in out


def test_long_lists_say_what_is_left_out(capsys):
    assert "... and 2 more" in printed(capsys, [ROWS[0]] * (MAX_ROWS + 2))
    assert printed(capsys, []) == ""
