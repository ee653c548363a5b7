"""`duetto sanitize` by a server on loopback: asked by name alone, and nothing leaves where it fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from anonymizer.cli.sanitize import sanitize
from tests.anonymizer.documents.engines.server import SearchServer

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
KEY = "a-very-secret-key"


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("reports", "news"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    shutil.copy(EXAMPLES / "names.csv", tmp_path)
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o600)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(home, web, *arguments, kind="searxng"):
    where = {"searxng": "", "elasticsearch": "index = 'news'\nfield = 'body'\n"}[kind]
    (home / "settings").mkdir(exist_ok=True)
    (home / "settings" / "web.toml").write_text(
        "[direct]\nrecognizers = []\n[attack]\nwords = 6\n[generalize]\nmethods = ['dates', 'numbers']\n"
        f"[web]\nkind = '{kind}'\nurl = '{web.url}'\nper_second = 1000\nattempts = 1\n"
        f"key_file = '../key'\ncache = 'answers'\n{where}"
    )
    done = CliRunner().invoke(
        sanitize,
        [
            *("reports", "--spec", "settings/web.toml", "--names", "names.csv", "-o", "out", "--json"),
            *("--ask", kind, *arguments),
        ],
    )
    return done, json.loads(done.stdout)


def news(home):
    return {one.name: one.read_text() for one in sorted((home / "news").iterdir())}


@pytest.mark.parametrize("kind", ["searxng", "elasticsearch"])
def test_a_server_that_is_named_is_asked_and_its_answers_stay_at_home(home, kind):
    with SearchServer(news(home)) as web:
        done, said = run(home, web, kind=kind)
        assert done.exit_code == 0, done.output
        assert web.asked
    assert said["leaks"] is True
    assert any("words" in one for one in said["warnings"])
    assert [one["found_after"] for one in said["documents"]] == [0] * len(said["documents"])
    assert any(one["found_before"] for one in said["documents"])
    kept = home / "settings" / "answers"
    assert kept.stat().st_mode & 0o077 == 0
    assert list(kept.iterdir())
    assert KEY not in done.output + "".join(
        one.read_text() for one in (home / "out").iterdir() if one.is_file()
    )


@pytest.mark.parametrize("fault", [503, 429, 401, 302, b"<html>", b"{}", "truncated", "close"], ids=str)
def test_nothing_is_released_by_a_server_that_fails(home, fault):
    with SearchServer(news(home), [None, None, fault]) as web:
        done, said = run(home, web)
    assert done.exit_code not in {0, 1}
    assert said["error"]["code"] == "engine"
    assert said["error"]["hint"]
    assert KEY not in done.output
    assert not (home / "out").exists()
