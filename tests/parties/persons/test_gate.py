"""Where persons are in force, nothing is decided without their signatures, whatever else somebody holds."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from parties.certificates.document import signed_text
from parties.certificates.verification import CertificateError, read_certificate
from parties.config import Address, Peer
from parties.contracts.state import State
from parties.daemon.daemon import Daemon
from parties.errors import ConfigError, JobError, PolicyError
from parties.kept_pools import KeptPools
from parties.ledger.book import open_ledger
from parties.ledger.entries import SIGNED, LedgerError, parse_document
from parties.persons.declaration import FILE
from parties.persons.gate import Admitted, Gate, text_digest
from parties.persons.keys import PrivateKey
from parties.persons.pending import pools_digest
from parties.persons.register import Register
from parties.persons.roles import Act
from parties.persons.statement import PersonStatement, SignedAct, read_moment
from parties.pki import certificate
from tests.parties.jobs.joined import ANN, job_file, wait_final, wait_state
from tests.parties.persons.made import (
    KEYS,
    STRANGER,
    begin,
    key,
    persons_toml,
    put_in_force,
    signed,
)

TWO = '{ role = "steward", count = 2 }'


def allow(pair, approval='"person"', who="weber", days=30):
    """A policy of south, signed by somebody unless `who` is empty."""
    pair.allow("south")
    path = pair.folder / "south" / "policy.toml"
    text = path.read_text().replace('"auto"', f"{approval}\napproval_days = {days}")
    path.write_text(text)
    if who:
        put_in_force(pair.south.gate, Act.POLICY, path.read_bytes(), who)


@pytest.fixture
def south(pair):
    """A pair of which south has persons, and a rule that asks for one steward."""
    allow(pair, who="")
    begin(pair.south.gate, pair.folder / "south", pair.network.identities["north"])
    return pair


def submitted(pair):
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    return job_id


def digest(pair, job_id):
    return pair.south.store.digest(job_id).hex()


def approval(pair, job_id, who, **changed):
    return signed(pair.south.gate, Act.APPROVE, digest(pair, job_id), who, "north", **changed)


def approve(pair, job_id, who, presented=None, **changed):
    presented = presented or approval(pair, job_id, who, **changed)
    return pair.south.approve(job_id, ANN, digest(pair, job_id), presented)


def is_refused(pair, job_id, presented, what):
    """Whether an approval is refused for a reason, and changes nothing."""
    before = pair.south.ledger.entries()
    with pytest.raises(PolicyError) as caught:
        pair.south.approve(job_id, ANN, digest(pair, job_id), presented)
    assert (caught.value.stable_code, what in str(caught.value)) == ("person", True), caught.value
    assert caught.value.hint
    assert pair.south.ledger.entries() == before
    return pair.south.store.get(job_id).state is State.WAITING_OWN


def test_a_signed_approval_stands_in_the_ledger_before_the_decision(south):
    job_id = submitted(south)
    approve(south, job_id, "weber")
    assert wait_final(south.south, job_id).state is State.FINISHED
    of_job = south.south.ledger.of_job(digest(south, job_id))
    assert [entry.event for entry in of_job][:3] == ["signed", "approved", "run"]
    first, second = of_job[:2]
    assert (first.person, first.actor, first.key) == ("weber", "Dr Weber", KEYS["weber"].public.text)
    assert (second.actor, second.uid) == ("Dr Weber", ANN.uid)


def test_the_socket_alone_decides_nothing(south):
    """Whoever calls the daemon without a key gets as far as reading."""
    job_id = submitted(south)
    assert is_refused(south, job_id, None, "no signature was given")
    with pytest.raises(PolicyError, match="sign this"):
        south.south.deny(job_id, ANN)
    with pytest.raises(PolicyError, match="sign this"):
        south.south.cancel(job_id, ANN)
    with pytest.raises(PolicyError, match="sign this"):
        south.south.submit(job_file())
    with pytest.raises(PolicyError, match="sign this"):
        south.south.prune(1)
    with pytest.raises(PolicyError, match="sign this"):
        south.south.forget(job_id)


def test_a_signature_holds_for_what_was_signed_and_nothing_else(south):
    job_id, other = submitted(south), submitted(south)
    gate, shown = south.south.gate, digest(south, job_id)
    assert is_refused(south, job_id, approval(south, other, "weber"), "not valid")
    assert is_refused(south, job_id, approval(south, job_id, "weber", party="north"), "not valid")
    for act in (Act.DENY, Act.CANCEL, Act.FORGET):
        assert is_refused(south, job_id, signed(gate, act, shown, "weber", "north"), "not valid")
    assert is_refused(south, job_id, signed(gate, Act.APPROVE, shown, "weber", "east"), "not valid")
    good = approval(south, job_id, "weber")
    for changed in (
        {"moment": approval(south, job_id, "weber").moment},
        {"signature": bytes(64)},
        {"signature": good.signature[:-1]},
        {"behalf": "klein"},
        {"person": "klein"},
        {"person": "nobody"},
        {"key": KEYS["klein"].public.text},
        {"key": "ed25519:AAAA"},
        {"key": "rsa:" + good.key[8:]},
    ):
        assert is_refused(south, job_id, replace(good, **changed), "")
    approve(south, job_id, "", good)
    assert south.south.store.get(job_id).state is not State.WAITING_OWN


def test_a_strangers_key_and_another_roles_key_approve_nothing(south):
    job_id = submitted(south)
    assert is_refused(south, job_id, approval(south, job_id, "weber", by=STRANGER), "gives to nobody")
    for who, why in (
        ("adler", "may not"),
        ("vogt", "may not"),
        ("auer", "may not"),
        ("otto", "is no steward"),
    ):
        assert is_refused(south, job_id, approval(south, job_id, who), why)


def test_the_keys_of_the_home_sign_for_nobody(south):
    """Whoever holds the key for TLS, or the signing key of the party, is no person by that."""
    job_id = submitted(south)
    good = approval(south, job_id, "weber")
    said = PersonStatement(
        Act.APPROVE, "south", "north", digest(south, job_id), "weber", "", good.moment
    ).text
    tls = load_pem_private_key(certificate.make("south")[1], None)
    signing = PrivateKey(south._identities["south"].signing)
    for signature in (tls.sign(said, ec.ECDSA(hashes.SHA256())), signing.sign(said)):
        assert is_refused(south, job_id, replace(good, signature=signature), "not valid")
    assert is_refused(south, job_id, approval(south, job_id, "weber", by=signing), "gives to nobody")
    approve(south, job_id, "", good)  # nothing else was wrong with it


def test_an_old_signature_is_not_taken(south):
    job_id = submitted(south)
    late = read_moment(approval(south, job_id, "weber").moment) - dt.timedelta(minutes=11)
    moment = late.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert is_refused(south, job_id, approval(south, job_id, "weber", moment=moment), "ten minutes")
    assert is_refused(south, job_id, approval(south, job_id, "weber", moment="today"), "ten minutes")


def test_a_signature_is_used_once(south):
    """A job that a rule lets run is not submitted again with the signature of the first."""
    allow(south, '"auto"')
    text = job_file()
    given = signed(south.south.gate, Act.SUBMIT, text_digest(text), "adler")
    south.south.submit(text, given)
    with pytest.raises(PolicyError, match="used before"):
        south.south.submit(text, given)
    south.stop("south")
    south.start("south")
    with pytest.raises(PolicyError, match="used before"):
        south.south.submit(text, given)


# Two persons


def test_two_different_stewards_approve(south):
    allow(south, TWO)
    job_id = submitted(south)
    job = approve(south, job_id, "weber")
    assert job.state is State.WAITING_OWN
    said = "1 of 2 approvals: Dr Weber; one more steward is needed"
    assert south.south.waits_for(job) == said
    assert is_refused(south, job_id, approval(south, job_id, "weber"), "approved this job before")
    approve(south, job_id, "klein")
    assert wait_final(south.south, job_id).state is State.FINISHED
    decided = [entry for entry in south.south.ledger.entries() if entry.event == "approved"]
    assert [entry.actor for entry in decided] == ["Dr Weber, Prof Klein"]


def test_a_second_key_of_the_same_person_does_not_count_twice(south):
    second = key(50)
    text = persons_toml().replace(
        f'key = "{KEYS["weber"].public.text}"',
        f'key = ["{KEYS["weber"].public.text}", "{second.public.text}"]',
    )
    home = south.folder / "south"
    (home / FILE).write_text(text)
    put_in_force(south.south.gate, Act.PERSONS, text.encode(), "otto")
    allow(south, TWO)
    job_id = submitted(south)
    approve(south, job_id, "weber")
    assert is_refused(south, job_id, approval(south, job_id, "weber", by=second), "approved this job before")


def test_two_who_change_their_words_do_not_let_one_key_count_twice(south):
    allow(south, TWO)
    job_id = submitted(south)
    approve(south, job_id, "weber")
    mine, other = (KEYS[word].public.text for word in ("weber", "klein"))
    text = persons_toml().replace(mine, "-").replace(other, mine).replace('-"', f'{other}"', 1)
    (south.folder / "south" / FILE).write_text(text)
    for who in ("weber", "klein"):
        put_in_force(south.south.gate, Act.PERSONS, text.encode(), who)
    approve(south, job_id, "klein", by=KEYS["weber"])
    assert south.south.store.get(job_id).state is State.WAITING_OWN


def test_an_approval_by_a_key_that_was_replaced_counts_no_more(south):
    allow(south, TWO)
    job_id = submitted(south)
    approve(south, job_id, "weber")
    text = persons_toml().replace(KEYS["weber"].public.text, key(50).public.text)
    (south.folder / "south" / FILE).write_text(text)
    for who in ("weber", "klein"):
        put_in_force(south.south.gate, Act.PERSONS, text.encode(), who)
    approve(south, job_id, "klein")
    job = south.south.store.summary(job_id)
    assert south.south.waits_for(job) == "1 of 2 approvals: Prof Klein; one more steward is needed"
    approve(south, job_id, "weber", by=key(50))
    assert wait_final(south.south, job_id).state is State.FINISHED


def test_an_approval_that_was_signed_and_not_decided_is_given_once_more(south, monkeypatch):
    """The disk was full, or the daemon ended, between the two entries."""
    job_id = submitted(south)
    with monkeypatch.context() as broken:
        broken.setattr(south.south.ledger, "decide", full)
        with pytest.raises(LedgerError):
            approve(south, job_id, "weber")
    assert south.south.store.get(job_id).state is State.WAITING_OWN
    approve(south, job_id, "weber")
    assert wait_final(south.south, job_id).state is State.FINISHED


def full(*_, **__):
    raise LedgerError("The ledger cannot be written.")


def absent():
    today = dt.datetime.now(dt.UTC).date()
    return (
        f'[[persons.klein.absences]]\nfrom = {today}\nuntil = {today + dt.timedelta(2)}\ndelegate = "weber"\n'
    )


def test_a_delegate_signs_for_the_absent_and_counts_once(south):
    text = persons_toml(klein=absent())
    (south.folder / "south" / FILE).write_text(text)
    put_in_force(south.south.gate, Act.PERSONS, text.encode(), "weber")
    allow(south, TWO)
    job_id = submitted(south)
    assert is_refused(south, job_id, approval(south, job_id, "klein"), "absent")
    assert is_refused(south, job_id, approval(south, job_id, "weber", behalf="otto"), "does not sign for")
    approve(south, job_id, "weber", behalf="klein")
    assert is_refused(south, job_id, approval(south, job_id, "weber"), "approved this job before")
    assert south.south.waits_for(south.south.store.summary(job_id)).startswith("1 of 2")


def test_one_denial_ends_it_whoever_has_approved(south):
    allow(south, TWO)
    job_id = submitted(south)
    approve(south, job_id, "weber")
    given = signed(south.south.gate, Act.DENY, digest(south, job_id), "klein", "north")
    south.south.deny(job_id, ANN, "no", given)
    assert wait_final(south.north, job_id).state is State.DENIED


def test_a_count_without_persons_is_refused_and_not_guessed(pair):
    allow(pair, TWO, who="")
    job_id = submitted(pair)
    with pytest.raises(PolicyError, match="there is no persons"):
        pair.south.approve(job_id, ANN, digest(pair, job_id))


# Files and ledgers that somebody else has changed


def test_a_changed_policy_runs_nothing_until_it_is_signed(south):
    path = south.folder / "south" / "policy.toml"
    path.write_text(path.read_text().replace('"10"', '"1000"'))
    with pytest.raises(Exception, match="policy"):
        south.north.submit(job_file())
    with pytest.raises(PolicyError, match="was changed since it was signed") as caught:
        south.south.check(job_file())
    assert "duetto person sign" in caught.value.hint


def test_an_older_policy_and_its_signature_do_not_come_back(south):
    """The entry that once put it into force follows another one."""
    path = south.folder / "south" / "policy.toml"
    old = path.read_bytes()
    allow(south, '"auto"')
    allow(south, TWO)
    path.write_bytes(old)
    entry = next(
        entry for entry in south.south.ledger.entries() if entry.event == SIGNED and entry.act == "policy"
    )
    content = {
        name: getattr(entry, name)
        for name in (*("job", "peer", "act", "actor", "person", "behalf", "key", "moment"), "signature")
    }
    with pytest.raises(PolicyError, match="changed since"):
        south.south.check(job_file())
    south.south.ledger.sign({**content, "subject": entry.subject, "text": ""}, lambda entries: None)
    with pytest.raises(LedgerError, match="not validly signed"):
        south.south.check(job_file())


def test_whoever_edits_the_file_of_persons_gains_nothing(south):
    home = south.folder / "south"
    own = f'\n[persons.eve]\nname = "Eve"\nroles = ["steward"]\nkey = "{STRANGER.public.text}"\n'
    (home / FILE).write_text(persons_toml() + own)
    with pytest.raises(ConfigError, match="was changed since"):
        south.south.gate.persons()
    with pytest.raises(PolicyError, match="gives to nobody"):
        put_in_force(south.south.gate, Act.PERSONS, (home / FILE).read_bytes(), "eve", by=STRANGER)
    with pytest.raises(PolicyError, match="may not"):
        put_in_force(south.south.gate, Act.PERSONS, (home / FILE).read_bytes(), "adler")


def test_an_older_file_of_persons_is_not_the_one_in_force(south):
    home = south.folder / "south"
    old = (home / FILE).read_bytes()
    new = persons_toml("klein")
    (home / FILE).write_text(new)
    put_in_force(south.south.gate, Act.PERSONS, new.encode(), "otto")
    (home / FILE).write_bytes(old)
    with pytest.raises(ConfigError, match="was changed since"):
        south.south.gate.persons()


def test_without_the_file_a_party_that_had_one_does_nothing(south):
    job_id = submitted(south)
    (south.folder / "south" / FILE).unlink()
    with pytest.raises(ConfigError, match="is missing"):
        south.south.approve(job_id, ANN, digest(south, job_id))


def test_an_approval_written_into_the_ledger_by_hand_runs_nothing(south):
    job_id = submitted(south)
    record = south.south.store.get(job_id)
    south.south.ledger.decide("approved", digest(south, job_id), "north", actor="Dr Weber", uid=0)
    with pytest.raises(JobError, match="lacks signatures"):
        south.south._negotiation._sign(record)
    south.south.ledger.decide("approved", digest(south, job_id), "north", rule="additions")
    with pytest.raises(JobError, match="lacks signatures"):
        south.south._negotiation._sign(record)


def test_an_edited_signature_breaks_the_ledger(south):
    job_id = submitted(south)
    approve(south, job_id, "weber")
    wait_final(south.south, job_id)
    entries = south.south.ledger.entries()
    number = next(entry.sequence for entry in entries if entry.act == "approve")
    forged = [*entries]
    for changed in ({"person": "klein", "actor": "Prof Klein"}, {"actor": "Eve"}, {"job": "00" * 32}):
        forged[number] = replace(entries[number], **changed)
        with pytest.raises(LedgerError, match=f"Entry {number}"):
            Register("south", forged)
    with pytest.raises(LedgerError):
        Register("north", entries)
    assert Register("south", entries).persons is not None


def test_a_person_who_left_has_signed_validly_and_decides_no_more(south):
    allow(south, TWO)
    job_id, done = submitted(south), submitted(south)
    for who in ("weber", "klein"):
        approve(south, done, who)
    wait_final(south.south, done)
    approve(south, job_id, "klein")
    new = persons_toml("klein").replace('roles = ["operator"]', 'roles = ["operator", "steward"]')
    (south.folder / "south" / FILE).write_text(new)
    for who in ("weber", "klein"):
        put_in_force(south.south.gate, Act.PERSONS, new.encode(), who)
    assert Register("south", open_ledger(south.folder / "south").entries()).decisions(digest(south, done))
    assert is_refused(south, job_id, approval(south, job_id, "klein"), "gives to nobody")
    approve(south, job_id, "weber")
    assert south.south.waits_for(south.south.store.summary(job_id)).startswith("1 of 2 approvals: Dr Weber")


def test_the_keys_of_a_peer_are_signed(south):
    """A peer that somebody pins without a person's signature gets no job."""
    home, gate = south.folder / "south", south.south.gate
    stranger = replace(south.network.identities["north"], name="east")
    with pytest.raises(PolicyError, match="east"):
        gate.require_peer(stranger)
    swapped = replace(south.network.identities["north"], signing=south.network.identities["south"].signing)
    with pytest.raises(PolicyError, match="changed since"):
        gate.require_peer(swapped)
    assert (home / FILE).exists()


def test_an_approval_expires(south, monkeypatch):
    allow(south, TWO, days=1)
    job_id = submitted(south)
    approve(south, job_id, "weber")
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    monkeypatch.setattr(south.south.ledger.clock, "_wall", lambda: later)
    assert south.south.waits_for(south.south.store.summary(job_id)).startswith("0 of 2")


def test_only_the_gate_admits_and_only_a_check_makes_a_signed_act(tmp_path):
    with pytest.raises(TypeError):
        Admitted(Act.APPROVE, "00", None, object())
    with pytest.raises(TypeError):
        SignedAct(None, "Eve", KEYS["weber"].public, b"", object())
    gate = Gate("south", tmp_path, open_ledger(tmp_path))
    leave = gate.admit(Act.APPROVE, "00")
    with pytest.raises(ValueError, match="another act"):
        leave.check(Act.APPROVE, "01")
    with pytest.raises(ValueError, match="another act"):
        leave.check(Act.DENY, "00")


# What others can check


@pytest.fixture
def finished(south):
    allow(south, TWO)
    job_id = submitted(south)
    for who in ("weber", "klein"):
        approve(south, job_id, who)
    wait_final(south.south, job_id)
    wait_final(south.north, job_id)
    return job_id


def test_the_certificate_shows_who_has_signed_to_others(south, finished):
    found = read_certificate(json.dumps(south.south.certificate(finished)).encode())
    assert [entry.actor for entry in found.approvals] == ["Dr Weber", "Prof Klein"]
    assert found.body["format"] == 3
    other = read_certificate(json.dumps(south.north.certificate(finished)).encode())
    assert (other.approvals, other.body["format"]) == ((), 2)


def test_a_certificate_with_another_signature_of_a_person_is_refused(south, finished):
    """Also where the party itself signs it anew: it cannot make a person's signature."""
    own = south._identities["south"].signing
    for change in (
        {"actor": "Eve", "person": "eve"},
        {"key": STRANGER.public.text},
        {"job": "00" * 32},
        {"peer": "east"},
        {"act": "deny"},
        {"moment": "2026-01-01T00:00:00.000000Z"},
    ):
        body = south.south.certificate(finished)["certificate"]
        entry = replace(parse_document(body["approvals"][0]), **change).seal()
        body["approvals"][0] = entry.document()
        document = {"certificate": body, "signature": own.sign(signed_text(body)).hex()}
        with pytest.raises(CertificateError, match="person who approved"):
            read_certificate(json.dumps(document).encode())


def test_the_proposers_approval_of_the_draft_is_in_its_certificate(pair):
    pair.allow("north", approval="person")
    begin(pair.north.gate, pair.folder / "north", pair.network.identities["south"])
    text = job_file()
    job_id = pair.north.submit(text, signed(pair.north.gate, Act.SUBMIT, text_digest(text), "adler")).job_id
    shown = pair.north.store.digest(job_id).hex()
    given = signed(pair.north.gate, Act.APPROVE, shown, "weber", "south")
    pair.north.approve(job_id, ANN, shown, given)
    assert wait_final(pair.north, job_id).state is State.FINISHED
    found = read_certificate(json.dumps(pair.north.certificate(job_id)).encode())
    assert [entry.actor for entry in found.approvals] == ["Dr Weber"]


def test_pools_that_nobody_has_signed_are_not_filled(south):
    kept = KeptPools("north", "south", 32, 64, 2)
    peer = Peer("north", Address("127.0.0.1", 7443), south.folder / "north.pair", "A")
    config = replace(south.config("south"), peers=(peer,), pools=(kept,))
    daemon = SimpleNamespace(_manager=south.south)
    assert Daemon._with_signed_pools(daemon, config).pools == ()
    put_in_force(south.south.gate, Act.POOLS, b"", "otto", digest=pools_digest((kept,)))
    assert Daemon._with_signed_pools(daemon, config).pools == (kept,)
    more = replace(config, pools=(replace(kept, ready=9),))
    assert Daemon._with_signed_pools(daemon, more).pools == ()
    assert Daemon._with_signed_pools(SimpleNamespace(_manager=south.north), more).pools == more.pools


def test_a_job_with_a_peer_whose_keys_nobody_has_signed_is_refused(south):
    """Somebody who holds the files pins another key under the name of the peer."""
    job_id = submitted(south)
    swapped = replace(south.network.identities["north"], signing=south.network.identities["south"].signing)
    south.network.identities["north"] = swapped
    with pytest.raises(PolicyError, match="key of the peer 'north' was changed"):
        approve(south, job_id, "weber")
    assert south.south.store.get(job_id).state is State.WAITING_OWN
