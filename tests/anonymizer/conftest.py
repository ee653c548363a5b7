"""What tests of the anonymizer's commands share."""

from __future__ import annotations

import shlex

import pytest

from parties.cli.main import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A command in the test's folder: its two outputs, after a look at its exit status."""
    monkeypatch.chdir(tmp_path)

    def called(words: str, status: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(words))
        told = capsys.readouterr()
        assert ended.value.code == status, told
        return told.out, told.err

    return called
