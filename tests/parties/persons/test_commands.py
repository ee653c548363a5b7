"""`duetto person`: what it writes, refuses and says, for people and as JSON."""

from __future__ import annotations

import json

import pytest

from parties.cli.main import main
from parties.persons.declaration import FILE, parse_persons
from parties.persons.gate import NO_FILE
from scripts.processes import introduced

ADD = ("--name", "Dr Weber", "--role", "steward", "--public-key")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("one") / "north"
    introduced(home)
    return home


@pytest.fixture
def home(made):
    for name in (FILE, f"{FILE}.old", "ledger.jsonl"):
        (made / name).unlink(missing_ok=True)
    return made


@pytest.fixture
def call(home, capsys):
    def run(*words, code=0):
        config = () if words[:2] == ("person", "key") else ("--config", str(home))
        with pytest.raises(SystemExit) as left:
            main([*map(str, words), *config, "--json"])
        out, err = capsys.readouterr()
        assert int(left.value.code or 0) == code, (out, err)
        return json.loads(out or err)

    return run


@pytest.fixture
def key(tmp_path, call):
    def make(name):
        found = call("person", "key", tmp_path / name, "--no-passphrase")
        return tmp_path / name, found["key"]

    return make


def test_from_nothing_to_persons_in_force_and_back(home, call, key):
    assert call("person", "list")["state"] == NO_FILE
    weber, text = key("weber.key")
    other, klein = key("klein.key")
    assert "Nobody has signed" in call("person", "add", "weber", *ADD, text)["state"]
    call("person", "add", "klein", "--name", 'Prof "K"', "--role", "operator", "--public-key", klein, code=78)
    call("person", "add", "klein", "--name", "Prof Klein", "--role", "operator", "--public-key", klein)
    named = {one["what"] for one in call("person", "check", code=77)["not_signed"]}
    assert named == {FILE, "policy.toml"}
    call("person", "sign", "--key", other, code=2)  # a question, which --json cannot ask
    assert call("person", "sign", "--key", weber, "--yes")["person"] == "weber"
    assert call("person", "check")["not_signed"] == []
    assert call("ledger", "verify")["persons"] == 2
    assert call("person", "sign", "--key", weber, "--yes")["signed"] == []
    # An operator may change who there is, and no policy.
    call("person", "remove", "weber")
    assert "was changed since" in call("person", "list")["state"]
    call("person", "sign", "--key", other, "--yes")
    assert set(parse_persons((home / FILE).read_bytes()).persons) == {"klein"}
    with (home / "policy.toml").open("a") as stream:
        stream.write("# changed\n")
    refused = call("person", "sign", "--key", other, "--yes", code=77)
    assert "may not" in json.dumps(refused)
    call("person", "sign", "--key", weber, "--yes", code=78)
    # The version in force comes back, whatever became of the file.
    (home / FILE).unlink()
    assert "is missing" in call("person", "list")["state"]
    call("person", "check", code=78)
    call("person", "restore")
    assert set(parse_persons((home / FILE).read_bytes()).persons) == {"klein"}


def test_somebody_who_is_there_or_is_not(home, call, key):
    _, text = key("a.key")
    call("person", "add", "weber", *ADD, text)
    before = (home / FILE).read_bytes()
    call("person", "add", "weber", *ADD, text, code=2)
    call("person", "add", "other", *ADD, text, code=78)  # the key of two
    call("person", "add", "Weber W", *ADD, text, code=78)
    call("person", "add", "third", *ADD, "ed25519:AAAA", code=78)
    call("person", "remove", "nobody", code=2)
    call("person", "remove", "weber", code=78)  # the last steward
    call("person", "restore", code=2)
    assert (home / FILE).read_bytes() == before
    assert (home / FILE).stat().st_mode & 0o777 == 0o600


def test_a_person_gets_a_second_key_and_signs_with_it_once_another_has_signed(home, call, key):
    (first, text), (second, further) = key("c.key"), key("d.key")
    call("person", "add", "weber", *ADD, text)
    call("person", "sign", "--key", first, "--yes")
    (home / FILE).write_text((home / FILE).read_text() + "until = 2999-01-01  # [a remark]\n")
    before = (home / FILE).read_text()
    found = call("person", "add-key", "weber", "--public-key", further)
    assert len(found["keys"]) == 2
    assert "was changed since" in found["state"]
    assert (home / FILE).read_text().endswith("until = 2999-01-01  # [a remark]\n")
    assert (home / FILE).stat().st_mode & 0o777 == 0o600
    call("person", "sign", "--key", second, "--yes", code=78)  # nobody has signed it yet
    call("person", "sign", "--key", first, "--yes")
    (home / "policy.toml").write_text((home / "policy.toml").read_text() + "# more\n")
    assert call("person", "sign", "--key", second, "--yes")["person"] == "weber"
    assert call("person", "list")["persons"][0]["keys"] == found["keys"]
    call("person", "remove-key", "weber", found["keys"][1])
    assert (home / FILE).read_text() == before
    call("person", "remove-key", "weber", found["keys"][0], code=2)  # the only one
    call("person", "remove-key", "weber", found["keys"][1], code=2)  # gone already


def test_a_second_key_changes_nothing_else(home, call, key):
    texts = [key(name)[1] for name in ("e.key", "f.key", "g.key", "h.key", "i.key")]
    call("person", "add-key", "weber", "--public-key", texts[0], code=2)  # no file
    call("person", "add", "weber", *ADD, texts[0])
    call("person", "add", "klein", "--name", "Prof Klein", "--role", "operator", "--public-key", texts[1])
    for line in (f'key = ["{texts[0]}"]', f"key = '{texts[0]}'", f'key = [ # old\n  "{texts[0]}",\n]'):
        text = (home / FILE).read_text().replace(f'key = "{texts[0]}"', line)
        (home / FILE).write_text(text)
        call("person", "add-key", "weber", "--public-key", texts[2])
        found = parse_persons((home / FILE).read_bytes()).persons
        assert [one.text for one in found["weber"].key] == [texts[0], texts[2]]
        assert [one.text for one in found["klein"].key] == [texts[1]]
        call("person", "remove-key", "weber", found["weber"].key[1].fingerprint)
    before = (home / FILE).read_bytes()
    for word, text, code in (
        ("weber", texts[0], 2),  # which that person has
        ("weber", texts[1], 78),  # somebody else's
        ("weber", "ed25519:AAAA", 78),
        ("nobody", texts[2], 2),
    ):
        call("person", "add-key", word, "--public-key", text, code=code)
    (home / FILE).write_bytes(before.replace(b"[persons.weber]", b'["persons".weber]'))
    assert "in another way" in json.dumps(
        call("person", "add-key", "weber", "--public-key", texts[2], code=78)
    )
    (home / FILE).write_bytes(before)
    for text in texts[2:]:
        call("person", "add-key", "weber", "--public-key", text)
    stranger = key("k.key")[1]
    assert "4 keys already" in json.dumps(
        call("person", "add-key", "weber", "--public-key", stranger, code=2)
    )


def test_one_digest_is_signed_and_no_other(call, key):
    path, text = key("a.key")
    call("person", "add", "weber", *ADD, text)
    first = call("person", "check", code=77)["not_signed"][0]
    call("person", "sign", "--key", path, "--digest", "00" * 32, code=2)
    assert [
        one["what"] for one in call("person", "sign", "--key", path, "--digest", first["digest"])["signed"]
    ] == [FILE]
    assert [one["what"] for one in call("person", "check", code=77)["not_signed"]] == ["policy.toml"]


def test_what_is_signed_is_shown_before_the_question(home, call, key, monkeypatch, capsys):
    """Whoever can write policy.toml does not get a rule signed along with something else, unseen."""
    path, text = key("b.key")
    call("person", "add", "weber", *ADD, text)
    policy = home / "policy.toml"
    before = policy.read_text()
    policy.write_text(f"{before}\n# budget of 1000 \u202e for all\n")
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    with pytest.raises(SystemExit):
        main(["person", "sign", "--key", str(path), "--config", str(home)])
    said = capsys.readouterr().err
    policy.write_text(before)
    assert text in said
    assert "Dr Weber (weber) gets the key " in said
    assert "# budget of 1000 \\u202e for all" in said
    assert "Nothing was signed" in said
