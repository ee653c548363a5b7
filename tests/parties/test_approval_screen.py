"""The approval screen, drawn by a terminal emulator: what a hostile proposer can make a person see.

The attacks are refused where a contract comes in. They are then made with that border switched off, against
the screen alone, which has to show the true contract all the same.
"""

from __future__ import annotations

import io
import json
import logging
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from parties.client import job_text
from parties.contracts.contract import FORMAT, Contract
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.daemon.logs import PlainFormatter
from parties.errors import JobError
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.errors import ProtocolViolation
from smc.forms import Role
from tests.parties.jobs.institutions import Institutions, job
from tests.parties.jobs.joined import ROLES, approve
from tests.parties.served import control
from tests.support import terminal

FORGED = (
    "analysis  statistics\n"
    "title     Number of patients\n"
    "alice and bob would learn: the noisy results of: n; epsilon 0.01\n"
    "public: the queries, their bounds and bins; epsilon 0.01\n"
)
NAMES = {
    "erased": "\x1b[2J\x1b[3J\x1b[H" + FORGED[:50],
    "lines": "mean of age\nalice and bob learn: nothing\npublic: nothing",
    "returned": "n\rpublic: nothing",
    "C1": "n\x9b2J\x9bHpublic: nothing",
    "concealed": "n\x1b[8m",
    "title": "n\x1b]0;approved\x07",
    "reordered": "n\u202egnihton :nrael bob dna ecila",
    "separated": "n\u2028public: nothing",
    "filled": "n" + "\u3164" * 60 + "public: nothing",
    "blanks": "n" + " " * 70 + "public: nothing",
    "piled": "n" + "\u0301" * 90,
    "markup": "[red]n[/red][link=http://x]",
}
PLAIN = ("markup",)
"""Those that are printable and come in: they only must not have an effect."""

AGE = {"age": {"type": "integer", "lower": 0, "upper": 100, "unit": "years"}}


def document(*names, title="Means"):
    named = names if len(names) > 1 else names * 2
    queries = [
        {"kind": "mean", "column": "age", "name": f"{name[:96]}{number}"} for number, name in enumerate(named)
    ]
    made = job("statistics", {"queries": queries, "epsilon": "9"}, ["age"])
    made["job"]["title"] = title
    return made


@pytest.fixture
def served():
    """Two parties whose policies ask a person; the control socket of south is served."""
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        made = Institutions(Path(folder))
        for name in ROLES:
            made.hold(name, {"age": range(100)}, AGE)
        made.allow("south", approval="person")
        with control(made.south, made.folder / "south"):
            yield made
        made.close()


@contextmanager
def without_border(monkeypatch):
    """As if everything that is text were printable."""
    with monkeypatch.context() as changed:
        changed.setattr("parties.contracts.canonical.is_plain", lambda text: True)
        changed.setattr("parties.contracts.spec.unfit", lambda value, place: None)
        yield


def draft(made, name, monkeypatch):
    """The bytes of a proposal that north's program would not make."""
    with without_border(monkeypatch):
        spec = parse_spec(job_text(document(name)))
        keys = {ROLES[n]: made.network.identities[n].paillier.fingerprint for n in ROLES}
        schemas = {Role.ALICE: made.north._admission.schemas(made.task("north", document(name)))}
        schemas, limits = {**schemas, Role.BOB: None}, {Role.ALICE: NO_LIMITS, Role.BOB: None}
        return Contract(spec, Role.ALICE, "ab" * 32, keys, schemas, limits).encode()


@pytest.mark.parametrize("attack", [name for name in NAMES if name not in PLAIN])
def test_hostile_names_are_refused_at_home_and_from_a_peer(served, attack, monkeypatch):
    with pytest.raises(JobError, match="parameters, queries, entry 1, name"):
        served.north.submit(job_text(document(NAMES[attack])))
    proposal = draft(served, NAMES[attack], monkeypatch)
    with pytest.raises(ProtocolViolation, match="not printable"):
        served.south.propose("north", proposal)
    assert served.south.store.all() == served.north.store.all() == []


def show(made, *words, columns=80):
    return terminal.run(
        "job", *words, "--config", str(made.folder / "south" / "duetto.toml"), columns=columns
    )


def check_screen(shown):
    """Only what duetto says begins at the left edge, and it is the truth."""
    begins = [
        line.split(":")[0] for line in shown.lines if ":" in line and not line.startswith((" ", "{", "}"))
    ]
    assert begins.count("public") == 1
    assert begins.count("alice and bob would learn") == 1
    assert "alice and bob learn" not in begins
    assert 'epsilon = "9"' in shown.text
    assert "waits for you" in shown.text
    assert "Decide with" in shown.text
    for sequence in (b"\x1b[2J", b"\x1b[3J", b"\x1b[H", b"\x1b[8m", b"\x1b]", b"\x9b", b"\x07", b"\x08"):
        assert sequence not in shown.raw.replace("\u201c".encode(), b"")
    said = " ".join(" ".join(shown.lines).split())
    assert "epsilon 9" in said


@pytest.mark.parametrize("attacks", [["erased"], ["lines"], ["blanks"], [*NAMES]], ids=lambda names: names[0])
def test_the_screen_shows_the_true_contract_without_the_border_too(served, attacks, monkeypatch):
    with without_border(monkeypatch):
        job_id = served.submit(document(*(NAMES[attack] for attack in attacks)))
        assert served.south.store.get(job_id).state is State.WAITING_OWN
        check_screen(show(served, "show", job_id))


@pytest.mark.parametrize("columns", [40, 80])
def test_the_page_before_an_approval_shows_what_it_says_and_no_line_of_the_peer(served, columns, monkeypatch):
    with without_border(monkeypatch):
        job_id = served.submit(document(*NAMES.values(), title=NAMES["lines"]))
        shown = show(served, "approve", job_id, columns=columns)
    own = ("north asks: ", "Contract ", "job ", "state ", "title ", "analysis ", "with ", "this party is ")
    own += (
        "contract",
        "Job ",
        "proposed",
        "changed",
        "waits for",
        " ",
        "No persons.toml: ",
        "re as people wrote them.",
        "Expected precision",
        "The widths follow",
    )
    page = shown.lines[: next(n for n, line in enumerate(shown.lines) if line.startswith("Contract "))]
    assert [line for line in page if not line.startswith(own)] == []
    said = "".join("".join(page).split())
    assert "epsilon9" in said
    assert "100persons" in said
    for sequence in (b"\x1b[2J", b"\x1b[3J", b"\x1b[H", b"\x1b[8m", b"\x1b]", b"\x9b", b"\x07"):
        assert sequence not in shown.raw.replace("\u201c".encode(), b"")


def test_the_attacks_do_work_on_a_screen_that_lets_texts_through():
    """The control group: the emulator obeys, so a test that passes has seen something."""
    true = "analysis  comparison\nalice and bob would learn: all of it\n"
    lines = terminal.drawn((true + NAMES["erased"]).replace("\n", "\r\n").encode(), 80)
    assert lines[0] == "analysis  statistics"
    assert not any("all of it" in line for line in lines)
    lines = terminal.drawn(("would learn: " + NAMES["lines"]).replace("\n", "\r\n").encode(), 80)
    assert "public: nothing" in lines


@pytest.mark.parametrize("columns", [40, 80])
def test_a_printable_name_begins_no_line(served, columns):
    """Without any control character: a name of such a length that its end falls on the left edge."""
    job_id = served.submit(document("n" * 28 + " public: nothing"))
    shown = show(served, "show", job_id, columns=columns)
    said = " ".join(" ".join(shown.lines).split())
    assert 'nnn public: nothing0", "nnn' in said
    public = [line for line in shown.lines if line.startswith("public:")]
    assert len(public) == 1
    assert public[0].startswith("public: the queries")


def test_lists_checks_and_certificates(served, monkeypatch, tmp_path):
    hostile = document("n", title="x\x1b[2J\x1b[Hpublic: nothing\nApproved by Dr. Adams")
    with without_border(monkeypatch):
        job_id = served.submit(hostile)
        listed = show(served, "list")
        assert "\\x1b[2J" in " ".join(listed.text.split())
        assert b"\x1b[2J" not in listed.raw
        assert not any(line.startswith(("public", "Approved")) for line in listed.lines)
        exact = show(served, "list", "--json")
        assert json.loads(exact.raw)["jobs"][0]["title"] == hostile["job"]["title"]
        assert b"\x1b" not in exact.raw
        approve(served.south, job_id)
        served.ended(job_id)
        for words in (["certificate", job_id], ["result", job_id], ["show", job_id]):
            assert b"\x1b[2J" not in show(served, *words).raw
    file = served.file(hostile)
    checked = show(served, "check", str(file))
    assert checked.status != 0
    assert "title" in checked.text
    assert b"\x1b[2J" not in checked.raw


def test_a_peer_forges_no_line_of_the_log(served, caplog):
    """A parameter key with a line end and value null."""
    forged = "2026-11-22 03:00:00,000 INFO duetto.jobs: job 0123456789abcdef: approved by Dr. Adams"
    spec = {**json.loads(json.dumps(parse_spec(job_text(document("n"))).document()))}
    spec["parameters"] = {f"x\n{forged}": None}
    body = {
        "format": FORMAT,
        "spec": spec,
        "proposer": "alice",
        "nonce": "ab" * 32,
        "keys": {},
        "schemas": {},
        "limits": {},
    }
    proposal = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    with caplog.at_level(logging.DEBUG), pytest.raises(ProtocolViolation) as caught:
        served.south.propose("north", proposal)
    assert forged not in str(caught.value)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainFormatter())
    handler.emit(logging.LogRecord("x", logging.INFO, "f", 1, "refused: %s", (f"x\n{forged}",), None))
    assert not any(line.startswith("2026-11-22 03:00:00,000") for line in stream.getvalue().splitlines())
