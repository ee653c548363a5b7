"""`duetto init`, `duetto pair` and `duetto keys`: homes are made and introduced to each other."""

from __future__ import annotations

import io
import json

from commons.exits import BAD_DATA, CONFIG, USAGE
from parties.config import load


def test_pair_asks_and_heeds_no(homes, monkeypatch, called):
    file, path = homes["south"] / "south.pair", homes["north"] / "duetto.toml"
    paired, pin = path.read_bytes(), load(homes["north"]).peer("south").pin
    alone = paired[: paired.index(b"[[peers]]")]
    path.write_bytes(alone)
    try:
        unasked = called("pair", file, "--config", homes["north"], "--json")
        assert unasked[0] == USAGE
        assert json.loads(unasked[1])["error"]["code"] == "usage"
        for answer, status, after in (("n\n", BAD_DATA, alone), ("y\n", 0, paired)):
            monkeypatch.setattr("sys.stdin", io.StringIO(answer))
            done = called("pair", file, "--config", homes["north"])
            assert done[0] == status
            assert pin in done[2]
            assert path.read_bytes() == after
    finally:
        path.write_bytes(paired)
    again = called("pair", file, "--config", homes["north"], "--json")
    assert again[0] == 0  # the signing key was compared before
    assert path.read_bytes() == paired
    wrong = called("pair", file, "--config", homes["north"], "--fingerprint", "AAAA-BBBB")
    assert wrong[0] == BAD_DATA


def test_keys_show_what_the_peer_was_given(homes, called):
    done = called("keys", "show", "--config", homes["north"], "--json")
    shown = json.loads(done[1])
    assert shown["fingerprint"] == load(homes["south"]).peer("north").pin
    assert shown["paillier_bits"] == 2048
    text = called("keys", "show", "--config", homes["north"])[1]
    assert shown["fingerprint"] in text


def test_init_refuses(homes, tmp_path, called):
    done = called("init", "north", "--address", "h:1", "--home", homes["north"])
    assert done[0] == CONFIG
    assert "nothing was changed" in done[2]
    for words in (["--key", "1024"], ["--key", "paper-1024"], ["--key", "2048", "--listen", "x"]):
        done = called("init", "north", "--address", "h:1", "--home", tmp_path / "new", *words)
        assert done[0] == CONFIG
        assert not (tmp_path / "new").exists()
