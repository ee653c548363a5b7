"""The commands of docs/second-year.md run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.cli.main import duetto
from parties.config import load
from parties.errors import ConfigError
from parties.ledger.book import open_ledger
from parties.pki import certificate, home
from parties.pki.lock import only_one
from parties.pki.offers import Renewals

PAGE = Path(__file__).resolve().parents[3] / "docs" / "second-year.md"
LINE = re.compile(r"^(north|south)\$ duetto (.+)$")


def test_the_commands_do_what_the_page_says(homes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    ran = []
    for line in "".join(blocks).splitlines():
        party, words = LINE.match(line).groups()
        if words.startswith("keys accept"):
            # What the daemons do with their greetings.
            Renewals(load(homes["south"])).hear("north", Renewals(load(homes["north"])).own)
        config = [] if "--home" in words else ["--config", str(homes[party])]
        done = CliRunner().invoke(duetto, [*shlex.split(words), *config], input="")
        assert done.exit_code == 0, (line, done.output)
        ran.append(" ".join(shlex.split(words)[:2]))
    assert ran == ["keys renew", "keys accept", "party pack", "party unpack"]
    south = load(homes["south"])
    assert len(certificate.split(home.load_peer(south, south.peer("north")).certificates)) == 2
    moved = load(tmp_path / "new-north")
    assert open_ledger(moved.home).head() is None
    with only_one(moved):
        pass
    with pytest.raises(ConfigError, match="has moved away"), only_one(load(homes["north"])):
        pass
