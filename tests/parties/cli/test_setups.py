"""Set-ups that break jobs, each made on a real home that has run a job: what doctor and health say of it.

`duetto doctor` and `duetto party health` end with the right status, and name the cause and what to do; the
checks on the dashboard's page Peers say the same.
"""

from __future__ import annotations

import datetime as dt
import html
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from commons.exits import CONFIG, UNAVAILABLE
from parties.config import load
from parties.pki import certificate
from parties.pki.files import PRIVATE
from scripts.processes import COMMAND, free_port
from scripts.soak.two_parties import JOB, TwoParties
from tests.parties.dashboard.browsing import Browser
from tests.support.waiting import freeze

WELL, ILL = 0, 1


@pytest.fixture(scope="module")
def parties(tmp_path_factory):
    """North and south, running, after one job with noise."""
    found = TwoParties(tmp_path_factory.mktemp("p"))
    try:
        for name in found.homes:
            found.start(name)
        with found.party("north") as north:
            north.run(JOB, progress=False, timeout=240)
        yield found
    finally:
        found.close()


@pytest.fixture(scope="module")
def browser(parties):
    """A browser in north's dashboard, which runs whatever is broken meanwhile."""
    with parties.party("north") as north:
        found = Browser(north)
        found.kept_key = found.form_key()  # whatever later hides the page on which it stands
        yield found


def checked_page(browser, peer):
    """The text of the page Peers after a check of this party, or of the way to a peer."""
    page = browser.post("/peers/check", {"peer": peer} if peer else {}, key=browser.kept_key).text
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@contextmanager
def rewritten(path, data, mode=None):
    """The file with other content, or none; as it was afterwards."""
    before, before_mode = path.read_bytes(), path.stat().st_mode
    try:
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        if mode is not None:
            path.chmod(mode)
        yield
    finally:
        path.write_bytes(before)
        path.chmod(before_mode & 0o7777)


@contextmanager
def aside(*paths):
    """These out of the way: the same files come back."""
    moved = [(path, path.with_name(f"{path.name}.aside")) for path in paths if path.exists()]
    for path, place in moved:
        path.rename(place)
    try:
        yield
    finally:
        for path, place in moved:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            place.rename(path)


def replaced(name, old, new):
    """A text in a file of the home replaced."""

    def broken(parties):
        path = parties.homes["north"] / name
        text = path.read_text()
        assert old in text
        return rewritten(path, text.replace(old, new, 1).encode())

    return broken


def without(name, lines=None):
    """A file of the home gone, or so many of its last lines."""

    def broken(parties):
        path = parties.homes["north"] / name
        return rewritten(
            path, None if lines is None else b"".join(path.read_bytes().splitlines(True)[:-lines])
        )

    return broken


def junk(name):
    """A file of the home with something else in it, whether it was there or not."""

    @contextmanager
    def broken(parties):
        path = parties.homes["north"] / name
        with aside(path):
            path.write_bytes(b"junk\n" * 1000)
            path.chmod(PRIVATE)
            yield
            path.unlink()

    return broken


def edited(name):
    """The last line of a file of the home changed."""

    def broken(parties):
        path = next(iter(sorted(parties.homes["north"].glob(name), reverse=True)))
        lines = path.read_text().splitlines(keepends=True)
        changed = lines[-1].replace('"time":"2', '"time":"3')
        assert changed != lines[-1]
        return rewritten(path, "".join([*lines[:-1], changed]).encode())

    return broken


def open_to_others(name, mode):
    @contextmanager
    def broken(parties):
        path = parties.homes["north"] / name
        before = path.stat().st_mode
        path.chmod(mode)
        try:
            yield
        finally:
            path.chmod(before & 0o7777)

    return broken


@contextmanager
def results_are_a_file(parties):
    path = parties.homes["north"] / "results"
    with aside(path):
        path.write_bytes(b"")
        yield


@contextmanager
def database_deleted(parties):
    home = parties.homes["north"]
    with aside(*(home / f"jobs.sqlite{ending}" for ending in ("", "-wal", "-shm"))):
        yield


@contextmanager
def database_is_junk(parties):
    with database_deleted(parties), junk("jobs.sqlite")(parties):
        yield


@contextmanager
def pid_file_deleted(parties):
    with aside(parties.homes["north"] / "run" / "daemon.pid"):
        yield


@contextmanager
def socket_lost(parties):
    with aside(parties.homes["north"] / "run" / "control.sock"):
        yield


@contextmanager
def audit_deleted(parties):
    with aside(parties.homes["north"] / "audit"):
        yield


@contextmanager
def stopped(parties):
    """North's daemon does not run meanwhile."""
    parties.kill("north", signal.SIGTERM)
    try:
        yield
    finally:
        parties.start("north")


@contextmanager
def audit_begun_anew(parties):
    """The whole log deleted, and the daemon started again; the new log goes."""
    folder = parties.homes["north"] / "audit"
    with ExitStack() as order:
        order.callback(parties.start, "north")
        order.callback(parties.kill, "north", signal.SIGTERM)
        parties.kill("north", signal.SIGTERM)
        order.enter_context(aside(folder))
        parties.start("north")
        order.callback(parties.kill, "north", signal.SIGTERM)
        yield


@contextmanager
def frozen(parties):
    freeze(parties.processes["north"].pid)
    try:
        yield
    finally:
        parties.processes["north"].send_signal(signal.SIGCONT)


@contextmanager
def certificate_of(parties, days):
    """North's own certificate replaced by one with so many days left."""
    keys = parties.homes["north"] / "keys"
    made = dt.datetime.now(dt.UTC) + dt.timedelta(days=days, hours=1) - dt.timedelta(days=certificate.DAYS)
    pem, key = certificate.make("north", made)
    with rewritten(keys / "tls.crt", pem), rewritten(keys / "tls.key", key):
        yield


def ends_within_the_hour(parties):
    return certificate_of(parties, 0)


def ends_in_ten_days(parties):
    return certificate_of(parties, 10)


def not_known_to_south(parties):
    return certificate_of(parties, certificate.DAYS - 1)


def south_at(address):
    """North looks for south there."""

    def broken(parties):
        path = parties.homes["north"] / "duetto.toml"
        real = str(load(parties.homes["north"]).peer("south").address)
        text = path.read_text()
        assert real in text
        return rewritten(path, text.replace(real, address or f"127.0.0.1:{free_port()}", 1).encode())

    return broken


@contextmanager
def web_server(parties):
    class Page(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with south_at(f"127.0.0.1:{server.server_address[1]}")(parties):
                yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def new_certificate(parties):
    """What answers as south has another certificate, as after it has made new keys."""
    pem, key = certificate.make("south")
    folder = parties.homes["south"]
    (folder / "new.crt").write_bytes(pem)
    (folder / "new.key").write_bytes(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "new.crt", folder / "new.key")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            while True:
                try:
                    line, _ = listener.accept()
                except OSError:
                    return
                try:
                    context.wrap_socket(line, server_side=True).close()
                except OSError:
                    line.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with south_at(f"127.0.0.1:{listener.getsockname()[1]}")(parties):
                yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def pin_changed(parties):
    path = parties.homes["north"] / "duetto.toml"
    pin = load(parties.homes["north"]).peer("south").pin
    return rewritten(path, path.read_text().replace(pin, pin[::-1], 1).encode())


@dataclass(frozen=True)
class Setup:
    """One set-up, and what has to be said of it.

    Attributes:
        broken: makes it.
        doctor: exit status of `duetto doctor`.
        health: exit status of `duetto party health`, and that it says the same unless None is given.
        subject: what the finding is of.
        check: what was looked at.
        verdict: how it came out.
        words: what stands in cause and fix.
    """

    broken: object
    doctor: int
    health: int
    check: str
    verdict: str
    words: tuple[str, ...]
    subject: str = "self"


def own(broken, check, *words):
    """A fault of this party for which jobs fail."""
    return Setup(broken, CONFIG, ILL, check, "fail", words)


def warned(broken, check, *words):
    """A fault for which the next job need not fail."""
    return Setup(broken, WELL, WELL, check, "warn", words)


def theirs(broken, check, *words, status=UNAVAILABLE, health=WELL):
    """A fault at the peer, or on the way there."""
    return Setup(broken, status, health, check, "fail", words, "south")


RULE_OF_OTHERS = ('peers = [\n    "*",\n]', 'peers = ["sauth"]')

SETUPS = {
    # Those that were called well.
    "file of a data set deleted": own(without("people.csv"), "data", "'people'", "does not exist", "Put it"),
    "policy names a peer": warned(replaced("policy.toml", *RULE_OF_OTHERS), "policy", "peer 'sauth'", "pair"),
    "policy names a data set": warned(
        replaced("policy.toml", '"people"', '"poeple"'), "policy", "data set 'poeple'", "Correct the name"
    ),
    "ledger deleted": own(without("ledger.jsonl"), "audit log", "has 0 entries, and had", "bring back"),
    "ledger cut": own(without("ledger.jsonl", 2), "jobs", "lacks entry", "bring back the newest copy"),
    "exact-jobs.log is junk": own(junk("exact-jobs.log"), "exact jobs", "damaged", "Restore it"),
    "results is a file": own(results_are_a_file, "results", "Not a directory", "Make it a folder"),
    "jobs.sqlite is junk": own(database_is_junk, "jobs", "not a database", "restore it"),
    "jobs.sqlite deleted": own(
        database_deleted, "database", "no longer in the home", "bring jobs.sqlite back"
    ),
    "daemon.pid deleted": Setup(pid_file_deleted, WELL, WELL, "daemon", "ok", ("runs as process", "answers")),
    "listen changed": warned(
        replaced("duetto.toml", '[listen]\naddress = "127.0.0.1:', '[listen]\naddress = "127.0.0.2:'),
        *("listening", "listens on 127.0.0.1:", "says 127.0.0.2:", "Start it again"),
    ),
    "certificate ends within the hour": own(ends_within_the_hour, "certificate", "0 days", "keys renew"),
    "audit begun anew": warned(
        audit_begun_anew, "audit log", "begins when the ledger had", "Keep the earlier"
    ),
    # Those that were told right.
    "peer down": theirs(south_at(""), "reachability", "Nothing answers", "Start the daemon"),
    "web server at its port": theirs(web_server, "tls", "does not speak TLS 1.3", "Correct the address"),
    "unknown name": theirs(south_at("nowhere.invalid:7443"), "name", "has no address", "Correct the peer's"),
    "pin": theirs(pin_changed, "pairing", "is not the fingerprint", "Compare the fingerprint"),
    "trust": Setup(
        not_known_to_south, UNAVAILABLE, WELL, "trust", "fail", ("does not know", "pair the two"), "south"
    ),
    "new certificate": theirs(new_certificate, "pin", "does not have the certificate", "`duetto pair` with"),
    "broken TOML": Setup(
        junk("policy.toml"), CONFIG, ILL, "configuration", "fail", ("policy.toml", "line 1")
    ),
    "open keys": own(open_to_others("keys/signing.key", 0o644), "keys", "open to other users", "chmod 600"),
    "lost results key": own(without("keys/results.key"), "keys", "results.key", "Restore"),
    "edited ledger": own(edited("ledger.jsonl"), "ledger", "broken: entry", "Compare it with a backup"),
    "edited heads": own(junk("heads.json"), "ledger", "heads.json", "Restore the file"),
    "edited audit log": own(edited("audit/*.jsonl"), "audit log", "broken: line", "keep it as evidence"),
    "deleted audit log": own(audit_deleted, "audit log", "log is empty", "duetto log record-gap"),
    "frozen daemon": own(frozen, "daemon", "does not answer", "stop it with `duetto party stop"),
    "lost socket": own(socket_lost, "daemon", "does not answer", "stop it with `duetto party stop"),
    "unknown key": Setup(
        replaced("duetto.toml", "[party]", "[party]\nnmae = 1"), CONFIG, CONFIG, "", "", ("nmae",)
    ),
    "peer file": theirs(junk("peers/south.pair"), "pairing", "south.pair", "", status=UNAVAILABLE),
    "open home": own(open_to_others(".", 0o777), "configuration", "Every user of this machine", "chmod o-w"),
    # And what is in order, or in time.
    "nothing": Setup(lambda _: ExitStack(), WELL, WELL, "daemon", "ok", ("answers",)),
    "daemon stopped": Setup(stopped, WELL, ILL, "daemon", "warn", ("does not run", "duetto party start")),
    "certificate ends in ten days": Setup(
        ends_in_ten_days, UNAVAILABLE, WELL, "certificate", "warn", ("10 days", "duetto keys renew")
    ),
}


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_what_is_said_of_a_set_up(parties, browser, called, monkeypatch, setup):
    monkeypatch.setattr("parties.client.asking.ASK_SECONDS", 2.0 if setup.broken is frozen else 60.0)
    where = ("--config", parties.homes["north"], "--json")
    with setup.broken(parties):
        doctor, health = called("doctor", *where), called("party", "health", *where)
        page = checked_page(browser, "" if setup.subject == "self" else setup.subject)
    for done, status in ((doctor, setup.doctor), (health, setup.health)):
        assert done[0] == status, done[1]
        document = json.loads(done[1])
        if not setup.check:
            said = document["error"]
        elif setup.subject != "self" and done is health:
            continue
        else:
            found = [
                one
                for one in document["checks"]
                if (one["subject"], one["check"], one["verdict"])
                == (setup.subject, setup.check, setup.verdict)
            ]
            assert found, document["checks"]
            said = found[0]
        assert all(word in f"{said['what']} {said['hint']}" for word in setup.words), said
    assert [word for word in setup.words if word not in page] == [], page


def test_status_says_where_the_daemon_really_listens(parties, called):
    home = parties.homes["north"]
    real = str(load(home).listen)
    with SETUPS["listen changed"].broken(parties):
        done = called("party", "status", "--config", home)
        assert json.loads(called("party", "status", "--config", home, "--json")[1])["listen"] == real
    assert f"listening on {real}." in done[1]


def test_a_ledger_that_lost_what_was_decided_is_noticed_by_the_log(parties, called):
    """Also where no certificate of a finished job is left to say so."""
    home = parties.homes["north"]
    with rewritten(home / "ledger.jsonl", b""):
        status, out, _ = called("log", "verify", "--config", home, "--json")
    assert status == 77
    assert any("had" in problem and "by line" in problem for problem in json.loads(out)["problems"]), out
    assert called("log", "verify", "--config", home)[0] == 0


def test_nothing_of_a_check_stays_in_a_home(parties, called):
    home = parties.homes["north"]

    def listed():
        return {path for path in Path(home).rglob("*") if not path.name.endswith(("-wal", "-shm"))}

    before = listed()
    called("doctor", "--config", home)
    assert listed() == before
    assert os.path.lexists(home / "run" / "control.sock")


@pytest.mark.attack
@pytest.mark.parametrize(
    "words", [("ledger", "show"), ("ledger", "log"), ("log", "show"), ("ledger", "verify")]
)
def test_what_was_spent_is_shown_where_nothing_may_be_written(parties, words):
    """As on a view of the home for auditors; with the names of the jobs."""
    home = parties.homes["north"]
    steps = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    inside = ["sh", "-c", steps, "sh", home, *COMMAND, *words, "--config", home, "--json"]
    mounted = [str(word) for word in ("unshare", "--mount", "--map-root-user", *inside)]
    done = subprocess.run(mounted, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mounts of one's own here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    if words[0] == "ledger" and words[1] != "verify":
        with parties.party("north") as north:
            assert json.loads(done.stdout)["entries"][-1]["job_id"] == north.jobs()[0].id
