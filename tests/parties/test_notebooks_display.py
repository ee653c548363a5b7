"""What notebooks show: bounded, escaped, and with progress where somebody sees it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from parties.client import Party
from parties.client.progress import following, shown_progress
from parties.client.result import Result
from tests.parties.jobs.joined import job_file
from tests.parties.served import SETTINGS

FACTS = {"rounds": 1, "sent": 2, "received": 3, "seconds": 0.5}
EVIL = '<script>alert("x")</script>\x1b[31m'


def result(tables, notes=(), leakage=None):
    return Result("1" * 16, tables, notes, {}, FACTS, leakage or {})


def test_a_large_result_is_shown_in_part():
    rows = 500_000
    got = result({"matches": {"row": list(range(rows)), "card": ["x" * 10_000] * rows}})
    page = got._repr_html_()
    assert len(page) < 40_000
    assert "499960 more rows" in page
    assert repr(got) == "Result('1111111111111111': matches (500000 rows))"


def test_many_tables_and_columns_are_shown_in_part():
    got = result({f"t{i}": {f"c{j}": [i] for j in range(100)} for i in range(3000)})
    assert len(got._repr_html_()) < 100_000
    assert "2980 more tables" in got._repr_html_()
    assert "60 more columns" in got._repr_html_()
    assert len(repr(got)) < 300


def test_what_peers_wrote_stays_text():
    got = result({EVIL: {EVIL: [EVIL], "n": [1]}}, (EVIL,), {"alice": [EVIL], "bob": [], "public": [EVIL]})
    page = got._repr_html_()
    assert "<script" not in page
    assert "\x1b" not in page + repr(got)
    assert "bob learned: nothing" in page


def test_the_leakage_and_the_interval_are_shown():
    got = result(
        {"results": {"value": [5461], "lower_95": [5452], "upper_95": [5470]}},
        leakage={"alice": ["the noisy count"], "bob": ["nothing more"], "public": ["the number of queries"]},
    )
    page = got._repr_html_()
    assert "5461 ± 9" in page
    assert "alice learned: the noisy count" in page


def test_parties_and_jobs_are_shown(party, served, file):
    job = party.submit(file).wait(timeout=20)
    assert "<td>1 finished</td>" in party._repr_html_()
    assert "<td>addition</td>" in job._repr_html_()
    assert "<td>both sums</td>" in job._repr_html_()
    home = served.folder / "west"
    home.mkdir()
    (home / "duetto.toml").write_text(SETTINGS.format(name="west"))
    with Party(home) as away:
        assert "does not answer" in away._repr_html_()


def test_run_is_submit_wait_and_result(party, file, capsys):
    assert party.run(file, timeout=20).tables == {"sum": {"total": [62]}}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(party, terminal):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80)
    with shown_progress(console) as show:
        party.submit(job_file()).wait(show, timeout=20)
    assert ("finished" in stream.getvalue()) is terminal


def test_progress_can_be_switched_off_or_given(party, monkeypatch):
    monkeypatch.setattr("parties.client.progress.Console", None)
    seen = []
    party.submit(job_file()).wait(False, timeout=20)
    party.submit(job_file()).wait(seen.append, timeout=20)
    assert seen
    with following(False) as show:
        show(seen[0])
