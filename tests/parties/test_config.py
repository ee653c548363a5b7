"""The configuration: strict, with every error naming its place and its hint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from commons.exits import CONFIG
from parties.cli.party import init
from parties.config import LANE_INBOX_BYTES, Address, Config, Dask, check_name, load
from parties.errors import ConfigError
from parties.exits import exit_code
from parties.hooks import CommandHook, EventKind
from parties.places import find, new_home
from smc.oblivious.spans import SPAN_BYTES

GOOD = """
[party]
name = "north"
home = "home"
[listen]
address = "0.0.0.0:7443"
[limits]
sessions = 3
[keepalive]
seconds = 30
[jobs]
keep_results_days = 90
[policy]
file = "rules/policy.toml"
[[peers]]
name = "south"
address = "[::1]:7443"
pairing = "/abs/south.pair"
pin = "AAAA"
[[peers]]
name = "east"
address = "east.example:7443"
pairing = "peers/east.pair"
pin = "BBBB"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "duetto.toml"
    path.write_text(text)
    return path


CLUSTER = (
    GOOD
    + """
[compute]
dask = "tls://scheduler.example:8786"
dask_ca = "dask/ca.pem"
dask_certificate = "dask/duetto.pem"
dask_key = "/abs/duetto.key"
"""
)


def test_a_cluster(tmp_path):
    assert load(written(tmp_path, GOOD)).compute.dask is None
    dask = load(written(tmp_path, CLUSTER)).compute.dask
    assert dask == Dask(
        Address("scheduler.example", 8786),
        tmp_path / "dask/ca.pem",
        tmp_path / "dask/duetto.pem",
        Path("/abs/duetto.key"),
    )
    assert (dask.url, dask.seconds) == ("tls://scheduler.example:8786", 60)


def test_lanes(tmp_path):
    assert LANE_INBOX_BYTES == SPAN_BYTES
    assert load(written(tmp_path, GOOD)).compute.lanes == 1
    most = GOOD + "[compute]\nlanes = 16\n"
    assert load(written(tmp_path, most)).compute.lanes == 16
    less = most.replace("sessions = 3", "sessions = 3\ninbox_bytes = 100000000")
    with pytest.raises(ConfigError, match="16 lanes need an inbox of 268435456 bytes") as caught:
        load(written(tmp_path, less))
    fixed = less.replace("inbox_bytes = 100000000", re.findall(r"inbox_bytes = \d+", caught.value.hint)[0])
    assert load(written(tmp_path, fixed)).limits.inbox_bytes == 268435456


@pytest.mark.parametrize("lanes", ["0", "17", "true", '"2"', "1.5"])
def test_impossible_lanes(tmp_path, lanes):
    with pytest.raises(ConfigError, match="lanes"):
        load(written(tmp_path, f"{GOOD}[compute]\nlanes = {lanes}\n"))


def test_the_cluster_of_the_documents(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```toml\n(\[compute\]\ndask .*?)```", page, re.DOTALL)
    dask = load(written(tmp_path, GOOD + block)).compute.dask
    assert dask.key == tmp_path / "dask/duetto.key"
    with pytest.raises(ConfigError, match="dask_seconds is above 3600"):
        load(written(tmp_path, GOOD + block.replace("= 60", "= 3601")))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("tls://", "tcp://", "'tcp://.*' does not begin with tls://.*--protocol tls"),
        ("tls://", "", "does not begin with tls://"),
        ("tls://", "TLS://", "does not begin with tls://"),
        (":8786", "", "is not a valid address"),
        (":8786", ":0", "has port 0"),
        ('dask_ca = "dask/ca.pem"', "", "dask_ca is missing"),
        ("dask_key", "dask_kye", "dask_key is missing.*dask_kye"),
        ("[compute]", "[compute]\ndask_seconds = 0", "dask_seconds is below 1"),
        ('dask = "tls', 'desk = "tls', "not a known key"),
    ],
)
def test_a_wrong_cluster_is_refused_with_its_place(tmp_path, old, new, words):
    with pytest.raises(ConfigError, match=f"compute: .*{words}") as raised:
        load(written(tmp_path, CLUSTER.replace(old, new)))
    assert raised.value.hint


def test_removing_dask_is_enough_to_compute_here(tmp_path):
    assert load(written(tmp_path, re.sub("\ndask = .*", "", CLUSTER))).compute.dask is None


def test_a_good_file(tmp_path):
    config = load(written(tmp_path, GOOD))
    assert isinstance(config, Config)
    assert config.name == "north"
    assert config.home == tmp_path / "home"
    assert config.listen == Address("0.0.0.0", 7443)
    assert (config.limits.sessions, config.limits.job_seconds) == (3, 86400)
    assert config.keepalive.seconds == 30
    assert config.keep_results_days == 90
    assert config.policy == tmp_path / "rules/policy.toml"
    assert config.catalog == tmp_path / "catalog.toml"
    assert config.peer("south").pairing == Path("/abs/south.pair")
    assert config.peer("east").pairing == tmp_path / "peers/east.pair"
    assert str(config.peer("south").address) == "[::1]:7443"
    with pytest.raises(ConfigError, match="east"):
        config.peer("west")


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("home =", "hom =", ["party", "'hom'", "'home'"]),
        ("[limits]", "[limit]", ["'limit'", "'limits'"]),
        ("sessions = 3", "session = 3", ["limits", "'session'", "'sessions'"]),
        ("sessions = 3", "sessions = 0", ["limits", "sessions", "below 1"]),
        ("sessions = 3", "sessions = 65", ["limits", "sessions", "above 64"]),
        ("sessions = 3", "sessions = true", ["sessions", "integer"]),
        ("sessions = 3", 'sessions = "3"', ["sessions", "integer"]),
        ("seconds = 30", "seconds = 1", ["keepalive", "below 2"]),
        ("keep_results_days = 90", "keep_results_days = -1", ["jobs", "below 0"]),
        ("keep_results_days = 90", 'keep_results_days = "90d"', ["jobs", "integer"]),
        ("keep_results_days = 90", "keep_result_days = 90", ["jobs", "'keep_results_days'"]),
        ('name = "north"', 'name = "North"', ["party", "'North'"]),
        ('name = "north"', "", ["party", "name is missing"]),
        ("0.0.0.0:7443", "0.0.0.0", ["listen", "address"]),
        ("0.0.0.0:7443", "0.0.0.0:70000", ["listen", "address"]),
        ("[::1]:7443", "::1:7443", ["peer 1", "address"]),
        ("[::1]:7443", "[::1]:0", ["peer 1", "port 0"]),
        ("[::1]:7443", "a b:1", ["peer 1", "address"]),
        ('name = "east"', 'name = "south"', ["'south' twice"]),
        ('name = "east"', 'name = "north"', ["this party's name"]),
        ('pin = "BBBB"', "", ["peer 2", "pin is missing"]),
        ('pin = "BBBB"', 'pin = "BBBB"\ntls = false', ["peer 2", "'tls'"]),
        ("[listen]", "[listen]\ntls = false", ["listen", "'tls'"]),
        ("[policy]", "[policy", ["TOML"]),
    ],
)
def test_mistakes_are_named(tmp_path, before, after, named):
    assert before in GOOD
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, GOOD.replace(before, after)))
    for text in named:
        assert text in str(caught.value)
    assert "duetto.toml" in str(caught.value)
    assert caught.value.hint
    assert exit_code(caught.value) == CONFIG


def test_peers_have_to_be_a_list(tmp_path):
    with pytest.raises(ConfigError, match="peers has to be a list"):
        load(written(tmp_path, GOOD.split("[[peers]]", maxsplit=1)[0] + "[peers.x]\nname = 'x'\n"))


def test_where_it_is_looked_for(tmp_path, monkeypatch):
    named, usual = tmp_path / "named", tmp_path / "xdg" / "duetto"
    named.mkdir()
    usual.mkdir(parents=True)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(ConfigError, match="No configuration"):
        find(None, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    paths = {}
    for folder in (named, usual, here):
        paths[folder] = written(folder, GOOD).resolve()
    environment = {"DUETTO_CONFIG": str(named), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert find(usual / "duetto.toml", environment) == paths[usual]
    assert find(None, environment) == paths[named]
    del environment["DUETTO_CONFIG"]
    assert find(None, environment) == paths[here]
    paths[here].unlink()
    assert find(None, environment) == paths[usual]
    with pytest.raises(ConfigError, match="nowhere"):
        find(tmp_path / "nowhere", environment)


@pytest.mark.parametrize("name", ["", "-a", "1a", "a_b", "a.b", "a/b", "é", "a" * 33, "a\n"])
def test_bad_names(name):
    with pytest.raises(ConfigError):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "north-2", "a" * 32])
def test_good_names(name):
    assert check_name(name) == name


POOLS = """
[[pools]]
peer = "south"
x_at = "north"
bits = 12
comparisons = 65
ready = 16
"""


def test_pools(tmp_path):
    assert load(written(tmp_path, GOOD)).pools == ()
    other = POOLS.replace("65", "64").replace('x_at = "north"', 'x_at = "south"')
    first, second = load(written(tmp_path, GOOD + POOLS + other)).pools
    assert (first.peer, first.bits, first.comparisons, first.ready, first.holds_x) == (
        *("south", 12, 128, 16, True),
    )
    assert (second.comparisons, second.holds_x) == (64, False)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('"south"', '"west"', "pools 1: peer 'west' is not paired; there are: east, south"),
        ('x_at = "north"', 'x_at = "east"', "pools 1: x_at is 'east'"),
        ("bits = 12", "bits = 131", "bits is above 130"),
        ("bits = 12", "bits = 0", "bits is below 1"),
        ("bits = 12\n", "", "bits"),
        ("comparisons = 65", "comparisons = 131073", "comparisons is above 131072"),
        ("comparisons = 65", 'comparisons = "many"', "has to be an integer"),
        ("ready = 16", "ready = 65", "ready is above 64"),
        ("ready = 16", "ready = 16\nfast = true", "'fast' is not a known key"),
        ("[[pools]]", "[pools]", "has to be a list of tables"),
        ("ready = 16\n", "ready = 16\n" + POOLS, "one kind twice, with 'south'"),
        (
            "ready = 16\n",
            "ready = 33\n" + POOLS.replace("= 12", "= 13").replace("16", "32"),
            "65 pools with 'south'",
        ),
    ],
)
def test_pools_that_cannot_be_kept(tmp_path, before, after, what):
    assert before in POOLS
    with pytest.raises(ConfigError, match=re.escape(what)):
        load(written(tmp_path, GOOD + POOLS.replace(before, after)))


HOOKS = (
    GOOD
    + """
[[on_event]]
name = "desk"
command = ["/usr/local/bin/tell", "desk"]
[[on_event]]
name = "mail"
events = ["waiting", "failed"]
server = "mail.hospital.example"
from = "duetto@hospital.example"
to = ["steward@hospital.example"]
login = "keys/mail.login"
[[on_event]]
name = "chat"
url = "https://chat.hospital.example/hooks/7"
secret = "keys/chat.secret"
"""
)


def test_hooks_are_read(tmp_path):
    command, mail, chat = load(written(tmp_path, HOOKS)).on_event
    assert command == CommandHook(name="desk", command=("/usr/local/bin/tell", "desk"))
    assert set(command.events) == set(EventKind)
    assert mail.events == (EventKind.WAITING, EventKind.FAILED)
    assert (mail.tls, mail.port, mail.login) == ("starttls", 587, tmp_path / "keys/mail.login")
    assert chat.secret == tmp_path / "keys/chat.secret"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"/usr/local/bin/tell"', '"tell"', ["on_event 1", "full path"]),
        ('name = "mail"', 'name = "desk"', ["'desk' twice"]),
        ('"failed"]', '"failing"]', ["on_event 2", "'failing'"]),
        ('login = "keys/mail.login"', 'password = "x"', ["on_event 2", "password"]),
        ('login = "keys/mail.login"', 'tls = "off"', ["on_event 2", "another machine"]),
        ('"steward@hospital.example"', '"steward\\nBcc: x@y.example"', ["on_event 2", "mail address"]),
        ("https://chat", "http://chat", ["on_event 3", "no TLS"]),
        ("https://chat", "https://ann:pw@chat", ["on_event 3", "url is not valid"]),
        ("https://chat", "ftp://chat", ["on_event 3", "url is not valid"]),
        ('secret = "keys/chat.secret"\n', "", ["on_event 3", "secret"]),
        ('secret = "keys/chat.secret"\n', 'command = ["/bin/true"]\n', ["on_event 3", "exactly one"]),
        ('url = "https://chat.hospital.example/hooks/7"\n', "", ["on_event 3", "exactly one"]),
    ],
)
def test_wrong_hooks_are_refused(tmp_path, old, new, said):
    assert old in HOOKS
    with pytest.raises(ConfigError) as refused:
        load(written(tmp_path, HOOKS.replace(old, new)))
    assert all(word in str(refused.value) for word in said), str(refused.value)


def test_a_party_is_made_where_it_is_looked_for(tmp_path):
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    for named in (tmp_path / "north", tmp_path / "south" / "duetto.toml", None):
        home = new_home(named, variables)
        home.mkdir(parents=True)
        (home / "duetto.toml").touch()
        assert find(named, variables) == home / "duetto.toml"


def test_a_command_makes_a_party_where_the_variable_says(tmp_path, monkeypatch):
    monkeypatch.setenv("DUETTO_CONFIG", str(tmp_path / "north"))
    words = ["north", "--address", "localhost:7443", "--key", "2048", "--json"]
    done = CliRunner().invoke(init, words, catch_exceptions=False)
    assert json.loads(done.stdout)["home"] == str(tmp_path / "north")
    assert find(None) == tmp_path / "north" / "duetto.toml"
