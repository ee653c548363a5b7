"""Exports for auditors: whole, sealed, countersigned, and checked without the party."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from commons.logs.lines import GENESIS
from parties.cli.ledger import ledger as commands
from parties.config import Address
from parties.errors import DataError
from parties.ledger.accounting import Account, Budget, RunLimits
from parties.ledger.book import Ledger
from parties.ledger.entries import APPROVED, COUNTERSIGNED, DENIED, check_chain, parse_line
from parties.ledger.export import check_countersignatures, read_export, write_csv, write_export
from parties.ledger.heads import Heads, open_heads
from parties.pki import pairing
from parties.pki.home import _write_keys
from parties.pki.signing import key_text
from scripts.processes import COMMAND
from smc.analyses.studies.loss import Loss
from smc.forms import Role
from tests.parties.ledger.test_commit import KEYS, run_gates, spending
from tests.parties.rpc.harness import NORTH, SOUTH

DATA = Path(__file__).parent / "data"
TIME = "2026-01-01T00:00:00Z"
OLD_KEYS = {
    "north": Ed25519PrivateKey.from_private_bytes(bytes(range(32))),
    "south": Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64))),
}


def of_file(name):
    return [parse_line(line) for line in (DATA / name).read_bytes().splitlines()]


@pytest.fixture
def entries(tmp_path):
    for number in range(3):
        ledgers, caught = run_gates(tmp_path, *(spending(role, bytes([number]) * 32, "1/8") for role in Role))
        assert not caught
    book = ledgers[Role.ALICE]
    book.spend("ab" * 32, Account.of("d"), "d", "bob", Loss(rho=Fraction(1, 9)), Budget(Fraction(20)))
    return book.entries()


@pytest.fixture
def data(entries):
    return write_export("alice", KEYS[Role.ALICE], entries, {"bob": [KEYS[Role.BOB].public_key()]}, TIME)


def test_an_export_holds_the_ledger_and_what_the_peer_signed(entries, data):
    found = read_export(data)
    assert (found.party, found.time, found.entries) == ("alice", TIME, entries)
    assert key_text(found.key) == key_text(KEYS[Role.ALICE].public_key())
    signed = check_countersignatures(found.entries, found.peers)
    assert (signed.valid, signed.invalid, signed.missing) == ((1, 3, 5), (), (6,))
    stranger = {"bob": [Ed25519PrivateKey.generate().public_key()]}
    # What was announced is signed as well as what was written.
    assert check_countersignatures(entries, stranger).invalid == tuple(range(6))
    assert check_countersignatures(entries, {}).invalid == tuple(range(6))
    both = {"bob": [*stranger["bob"], KEYS[Role.BOB].public_key()]}
    assert check_countersignatures(entries, both).valid == (1, 3, 5)


def test_a_party_cannot_leave_out_a_loss_and_chain_the_others_anew(entries):
    """The hashes fit, and each signature is the peer's; but the peer has seen an entry that is not there."""
    keys = {"bob": [KEYS[Role.BOB].public_key()]}
    assert check_countersignatures(entries, keys).invalid == ()
    forged, renamed = [], {}
    for entry in entries[2:]:
        previous = forged[-1].hash if forged else GENESIS
        subject = renamed.get(entry.subject, entry.subject)
        made = replace(entry, sequence=len(forged), previous=previous, subject=subject).seal()
        renamed[entry.hash] = made.hash
        forged.append(made)
    check_chain(forged)
    assert check_countersignatures(forged, keys).invalid[:2] == (0, 1)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("name", "peer"), [("north", "south"), ("south", "north")])
def test_countersignatures_of_old_formats_are_checked(number, name, peer):
    entries = of_file(f"format-{number}-{name}.jsonl")
    signed = check_countersignatures(entries, {peer: [OLD_KEYS[peer].public_key()]})
    assert signed.invalid == ()
    assert len(signed.valid) == 3
    assert len(signed.missing) == (name == "north")
    assert check_countersignatures(entries, {peer: [OLD_KEYS[name].public_key()]}).valid == ()


def test_a_countersignature_for_another_job_does_not_count(entries):
    swapped = [
        replace(entry, subject=entries[0].hash).seal() if entry.sequence == 3 else entry for entry in entries
    ]
    assert check_countersignatures(swapped, {"bob": [KEYS[Role.BOB].public_key()]}).invalid == (3,)


def test_every_flipped_bit_of_an_export_is_noticed(data):
    for place in range(0, len(data) - 1, 7):
        spoilt = bytearray(data)
        spoilt[place] ^= 1
        with pytest.raises(DataError):
            read_export(bytes(spoilt))


def test_lines_left_out_added_or_exchanged_are_noticed(data):
    lines = data.splitlines(keepends=True)
    for spoilt in (
        lines[:-1],
        lines[1:],
        lines[:3] + lines[4:],
        [*lines, lines[-1]],
        lines[::-1],
        [],
        [b"\n"],
    ):
        with pytest.raises(DataError):
            read_export(b"".join(spoilt))


def test_a_forger_cannot_seal_a_broken_chain(entries):
    cut = [*entries[:2], *entries[4:]]
    with pytest.raises(DataError, match="broken: entry 2"):
        read_export(write_export("alice", KEYS[Role.ALICE], cut, {}, TIME))


def test_the_table_for_spreadsheets_has_every_entry(entries):
    rows = list(csv.DictReader(io.StringIO(write_csv([*of_file("format-1-north.jsonl"), *entries]))))
    assert len(rows) == 7 + len(entries)
    assert (rows[0]["epsilon"], rows[0]["format"], rows[-1]["rho"]) == ("1/2", "", "1/9")


# The commands


@pytest.fixture
def home(tmp_path):
    """North's folder; beside it both pairing files."""
    folder = tmp_path / "north"
    (folder / "keys").mkdir(parents=True, mode=0o700)
    _write_keys(folder / "keys", NORTH, NORTH.signing)
    (folder / "peers").mkdir()
    pairs = {}
    for own in (NORTH, SOUTH):
        pairs[own.name] = pairing.describe(own, Address("localhost", 1))
        (tmp_path / f"{own.name}.pair").write_text(pairs[own.name].text)
    (folder / "duetto.toml").write_text(
        '[party]\nname = "north"\nhome = "."\n[listen]\naddress = "127.0.0.1:0"\n'
        f'[[peers]]\nname = "south"\naddress = "localhost:1"\npairing = "../south.pair"\n'
        f'pin = "{pairs["south"].fingerprint}"\n'
    )
    (folder / "catalog.toml").write_text("")
    return folder


def fill(home, jobs=2, south=SOUTH.signing):
    """Run jobs of north; beside its ledger lies south's, `bob.jsonl`."""
    signing = {Role.ALICE: NORTH.signing, Role.BOB: south}
    for number in range(jobs):
        given = {}
        for role, peer in ((Role.ALICE, SOUTH), (Role.BOB, NORTH)):
            given[role] = replace(
                spending(role, bytes([number]) * 32, "1/8"),
                peer=peer.name,
                signing_key=signing[role],
                peer_key=signing[role.other].public_key(),
            )
        _, caught = run_gates(home, given[Role.ALICE], given[Role.BOB])
        assert not caught
    (home / "alice.jsonl").rename(home / "ledger.jsonl")


def call(*words, code=0):
    done = CliRunner().invoke(commands, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.stdout


def test_of_many_losses_the_newest_are_listed(home, monkeypatch):
    monkeypatch.setattr("parties.cli.contents._NEWEST", 3)
    fill(home, jobs=5)
    shown, every = call("show", "--config", home), call("show", "--config", home, "--all")
    assert "The newest 3 of 5 losses; --all lists every one." in shown
    assert "newest" not in every
    assert len(every.splitlines()) == len(shown.splitlines()) - 1 + 2
    assert len(json.loads(call("show", "--config", home, "--json"))["entries"]) == 5


def test_show_and_verify_at_home(home):
    assert "Nothing" in call("show", "--config", home)
    fill(home)
    shown = call("show", "--config", home)
    assert "(0.25, 2^-30)-differentially private" in shown
    document = json.loads(call("show", "--config", home, "--json"))
    (total,) = document["totals"]
    assert (total["account"], total["peer"], total["guarantee"]["epsilon"]) == ("d", "south", "1/4")
    report = json.loads(call("verify", "--config", home, "--json"))
    assert report["countersignatures"] == {"valid": [1, 3], "invalid": [], "missing": []}
    assert report["head"] == Ledger(home / "ledger.jsonl").head().hash
    assert "valid signature: 2." in call("verify", "--config", home)
    assert call("export", "--config", home, "--format", "csv").count("\n") == 5
    call("verify", "--config", home, "--any-key", code=2)
    path = home / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"1/8"', b'"1/9"'))
    call("verify", "--config", home, code=77)


def wrong(home, *words):
    """What `ledger verify` finds, by its exit status too."""
    report = json.loads(call("verify", "--config", home, "--json", *words, code=77))
    (problem,) = report["problems"]
    assert f"WRONG: {problem}" in call("verify", "--config", home, *words, code=77)
    return problem


def hear_of_south(home, signing=SOUTH.signing):
    """North keeps what south says of both ledgers."""
    south = Heads("south", signing, Ledger(home / "bob.jsonl"), home / "of-south.json")
    open_heads(home, "north", NORTH.signing)._keep("south", south.statement("north"))


def test_verify_ends_with_an_error_if_a_signature_is_not_the_peers(home):
    stranger = Ed25519PrivateKey.generate()
    fill(home, south=stranger)
    assert "Entry 0 is not signed" in wrong(home)
    call("verify", "--config", home, "--peer-key", f"south={key_text(stranger.public_key())}")


@pytest.mark.parametrize("keep", [0, 1, 2, None])
def test_verify_notices_offline_that_the_ledger_went_back(home, keep):
    fill(home)
    hear_of_south(home)
    call("verify", "--config", home)
    path = home / "ledger.jsonl"
    if keep is None:
        path.unlink()
    else:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:keep]))
    assert "entry 2 is missing" in wrong(home)


def test_verify_notices_that_the_ledger_is_the_peers(home):
    fill(home)
    (home / "ledger.jsonl").write_bytes((home / "bob.jsonl").read_bytes())
    assert "somebody else" in json.loads(call("verify", "--config", home, "--json", code=77))["problems"][0]


def test_verify_does_not_believe_a_word_that_is_not_signed(home):
    fill(home)
    hear_of_south(home, Ed25519PrivateKey.generate())
    assert "not signed with its key" in wrong(home)
    (home / "heads.json").write_text("{}")
    call("verify", "--config", home)
    (home / "heads.json").write_text("[]")
    call("verify", "--config", home, code=77)


def test_a_release_without_the_peers_signature_is_listed(home):
    fill(home)
    book = Ledger(home / "ledger.jsonl")
    book.release("ab" * 32, Account.of("d"), "d", "south", "cd" * 32)
    assert json.loads(call("show", "--config", home, "--json"))["unsigned"] == [4]
    assert "Entry 4 (exact" in call("show", "--config", home)
    report = json.loads(call("verify", "--config", home, "--json"))
    assert (report["countersignatures"]["missing"], report["problems"]) == ([4], [])


def test_runs_exact_releases_and_decisions_are_shown_exported_and_verified(home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    fill(home, 1)
    book = Ledger(home / "ledger.jsonl")
    people = Account("people", frozenset({"d"}))
    book.decide(APPROVED, "ab" * 32, "south", actor="Ann", uid=7)
    book.begin("ab" * 32, people, "d", "south", RunLimits("tables"))
    book.release("ab" * 32, people, "d", "south", "cd" * 32)
    book.decide(DENIED, "ef" * 32, "south", rule="sums")
    shown = json.loads(call("show", "--config", home, "--json"))
    assert shown["runs"] == [{"account": "people", "peer": "south", "rule": "tables", "began": 1}]
    assert shown["exact"] == [{"account": "people", "peer": "south", "jobs": 1}]
    text = call("show", "--config", home)
    assert "Released without noise" in text
    assert "tables" in text
    monkeypatch.setenv("COLUMNS", "80")
    shown = call("show", "--config", home, "--all") + call("log", "--config", home)
    assert "│" not in shown  # no boxes, no cut times, times of this machine
    assert not re.search(r"\d{2}Z", shown)
    assert "abababab  south" in shown
    log = call("log", "--config", home)
    for said in ("Ann (account 7)", "rule 'sums'", "people: rule 'tables'", "entry 0 of the peer", "exact"):
        assert said in log
    listed = json.loads(call("log", "--config", home, "--json"))["entries"]
    assert [entry["event"] for entry in listed] == [
        *("spent", "countersigned", "approved", "run", "exact", "denied")
    ]
    export = home / "all.export"
    call("export", "--config", home, "--output", export)
    report = json.loads(call("verify", "--export", export, "--any-key", "--json"))
    assert (report["entries"], report["countersignatures"]["missing"]) == (6, [4])
    rows = list(csv.DictReader(io.StringIO(call("export", "--config", home, "--format", "csv"))))
    assert [(row["event"], row["actor"], row["rule"]) for row in rows[2:4]] == [
        ("approved", "Ann", ""),
        ("run", "", "tables"),
    ]


def test_losses_with_odd_denominators_are_shown(home):
    book = Ledger(home / "ledger.jsonl")
    for i in range(170):
        loss = Loss(Fraction(10**20 + 2 * i + 1, 10**29 + 9 + 2 * i), Fraction(1, 2**40))
        book.spend(f"{i:064x}", Account.of("d"), "d", "south", loss, Budget(Fraction(2)))
    assert "room for 854 more jobs" in call("show", "--config", home)
    (total,) = json.loads(call("show", "--config", home, "--json"))["totals"]
    assert total["jobs_left"] == 854
    assert Fraction(total["guarantee"]["epsilon"]) < Fraction(1, 10**6)


def test_totals_of_several_peers_and_populations(home):
    book = Ledger(home / "ledger.jsonl")
    catalog = (
        'population = "people"\nsource = "x.csv"\ncolumns.v = { type = "integer", lower = 0, upper = 1 }\n'
    )
    (home / "catalog.toml").write_text(f"[datasets.visits]\n{catalog}[datasets.patients]\n{catalog}")
    for number, (dataset, peer) in enumerate(
        [("visits", "south"), ("patients", "south"), ("visits", "west"), ("staff", "south")]
    ):
        account, loss = Account.of(dataset), Loss(Fraction(1, 4))
        book.spend(f"{number:064x}", account, dataset, peer, loss, Budget(Fraction(2)))
    totals = json.loads(call("show", "--config", home, "--json"))["totals"]
    assert [(t["account"], t["peer"], t["epsilon"]) for t in totals] == [
        ("people", "south", "1/2"),
        ("people", "west", "1/4"),
        ("people", None, "3/4"),
        ("staff", "south", "1/4"),
    ]
    shown = call("show", "--config", home)
    assert "all peers together" in shown
    assert "different people" in shown


def test_an_export_is_verified_without_configuration(home, tmp_path):
    fill(home)
    export = tmp_path / "ledger.export"
    call("export", "--config", home, "--output", export)
    assert call("export", "--config", home).splitlines()[1:5] == export.read_text().splitlines()[1:5]
    call("export", "--config", home, "--json", code=2)
    alone = {name: value for name, value in os.environ.items() if "DUETTO" not in name}
    empty = tmp_path / "empty"
    empty.mkdir()

    def offline(*words):
        done = subprocess.run(
            [*COMMAND, "ledger", "verify", "--export", str(export), *map(str, words)],
            cwd=empty,
            env={**alone, "HOME": str(empty), "PYTHONPATH": str(Path(__file__).parents[3])},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, said = offline("--pair", tmp_path / "north.pair", "--pair", tmp_path / "south.pair")
    assert (code, "valid signature: 2." in said) == (0, True), said
    assert offline("--key", key_text(NORTH.signing.public_key()))[0] == 0
    pem = tmp_path / "north.pem"
    pem.write_bytes(
        NORTH.signing.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    assert offline("--key", pem)[0] == 0


def test_an_export_of_somebody_else_is_refused(home, tmp_path):
    fill(home)
    book = Ledger(home / "ledger.jsonl").entries()
    export = tmp_path / "e"
    peers = {"south": [SOUTH.signing.public_key()]}
    export.write_bytes(write_export("north", NORTH.signing, book, peers, TIME))
    wrong = key_text(SOUTH.signing.public_key())
    call("verify", "--export", export, code=2)
    call("verify", "--export", export, "--any-key")
    call("verify", "--export", export, "--key", wrong, code=65)
    call("verify", "--export", export, "--key", "nonsense", code=65)
    forged = Ed25519PrivateKey.generate()
    export.write_bytes(write_export("north", forged, book, peers, TIME))
    call("verify", "--export", export, "--pair", tmp_path / "north.pair", code=65)
    # A peer with another key than it signed with, and with its earlier key given.
    later = {"south": [forged.public_key()]}
    export.write_bytes(write_export("north", NORTH.signing, book, later, TIME))
    own = ("--pair", tmp_path / "north.pair")
    call("verify", "--export", export, *own, code=65)
    call("verify", "--export", export, *own, "--peer-key", f"south={wrong}")
    call("verify", "--export", export, *own, "--peer-key", wrong, code=2)
    assert any(entry.event == COUNTERSIGNED for entry in book)
