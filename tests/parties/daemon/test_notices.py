"""docs/operations.md: its sections `[[on_event]]` work, and a daemon tells of a job that waits."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from parties.client import Party
from parties.notices.queues import read_queues
from scripts.processes import duetto, ended, introduced, paired, started, tried
from tests.parties.daemon.test_operations import CATALOG, POLICY
from tests.parties.notices.test_sending import mail_server
from tests.parties.talking import answering, listening

PAGE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
SECTIONS = {
    tomllib.loads(text)["on_event"][0]["name"]: text
    for text in re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    if "[[on_event]]" in text
}
JOB = {
    "job": {
        "analysis": "statistics",
        "title": "a rare disease",
        "alice": "north",
        "bob": "south",
        "recipients": ["alice", "bob"],
    },
    "parameters": {"epsilon": "1/2", "queries": [{"kind": "count", "name": "n", "column": "age"}]},
    "alice": {"dataset": "people", "columns": {"age": "age"}},
    "bob": {"dataset": "people", "columns": {"age": "age"}},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("n") / "north"
    introduced(folder)
    return folder


def opened(pipe):
    """A pipe that has a reader from now on, and does not wait for somebody who writes."""
    return os.fdopen(os.open(pipe, os.O_RDWR), "r")


def write(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


def configured(home, *sections):
    base = (home / "duetto.toml").read_text().partition("\n[[on_event]]")[0]
    (home / "duetto.toml").write_text(base + "\n" + "\n".join(sections))


def test_the_mail_of_the_page(home):
    write(home / "keys" / "mail.login", "ann\nsecret\n")
    seen = []
    with listening(mail_server(seen, login=b"250-AUTH PLAIN\r\n")) as port:
        changes = (("587 ", f"{port} "), ('"mail.hospital.example"', '"localhost"'), ('"starttls"', '"off"'))
        configured(home, changed(SECTIONS["steward"], *changes))
        said = duetto("notice", "test", "steward", "--config", home)
    assert "took the mail for steward@hospital.example" in said
    assert b"Subject: duetto north: waiting" in seen


def changed(text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_the_webhook_of_the_page_and_its_check(home):
    secret = "0123456789abcdef"
    write(home / "keys" / "chat.secret", secret)
    seen = []
    with listening(answering(b"HTTP/1.1 200 OK\r\n\r\n", seen)) as port:
        configured(
            home, changed(SECTIONS["chat"], ("https://chat.hospital.example", f"http://localhost:{port}"))
        )
        done = json.loads(duetto("notice", "test", "chat", "--config", home, "--json"))
    head, body = seen[0]
    assert json.loads(body) == done["notice"]
    checks = {}
    (code,) = [text for text in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "is_from_duetto" in text]
    exec(code, checks)
    header = re.search(r"Duetto-Signature: (\S+)", head)[1]
    assert checks["is_from_duetto"](secret.encode(), header, body)
    assert not checks["is_from_duetto"](b"another secret!!", header, body)
    assert not checks["is_from_duetto"](secret.encode(), header, body + b" ")


def test_a_webhook_that_fails_says_why(home):
    with listening(answering(b"HTTP/1.1 403 No\r\n\r\n")) as port:
        configured(
            home, changed(SECTIONS["chat"], ("https://chat.hospital.example", f"http://localhost:{port}"))
        )
        done = tried("notice", "test", "chat", "--config", home)
    assert done.returncode == 69
    assert "localhost answered with status 403." in done.stderr
    unknown = tried("notice", "test", "chart", "--config", home)
    assert unknown.returncode == 78
    assert "there are: chat" in unknown.stderr


def test_a_daemon_tells_of_a_job_that_waits_and_of_its_decision(tmp_path):
    homes = paired(tmp_path)
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    program = write(
        tmp_path / "page",
        f"#!{sys.executable}\nimport sys\nopen({str(pipe)!r}, 'a').write(sys.stdin.read())\n",
        0o700,
    )
    for home in homes.values():
        (home / "catalog.toml").write_text(CATALOG)
        (home / "people.csv").write_text("age\n" + "44\n" * 50)
        (home / "policy.toml").write_text(POLICY)
    configured(homes["north"], changed(SECTIONS["pager"], ("/usr/local/bin/page", str(program))))
    daemons = [started(home) for home in homes.values()]
    try:
        with Party(homes["north"]) as north, opened(pipe) as told:
            submitted = north.submit(JOB)
            first = json.loads(told.readline())
            assert (first["event"], first["job"], first["peer"]) == ("waiting", submitted.id, "south")
            duetto("job", "deny", submitted.id, "--config", homes["north"])
            second = json.loads(told.readline())
            assert (second["event"], second["state"]) == ("decided", "denied")
        assert "rare" not in json.dumps([first, second])
    finally:
        for daemon in daemons:
            ended(daemon)
    assert read_queues(homes["north"]) is not None
    assert "hook 'pager' is in order" in tried("doctor", "--json", "--config", homes["north"]).stdout
