"""Result certificates: made by both parties of a job, and refused after any change of anything in them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from commons.exits import BAD_DATA
from parties.certificates.document import commitment, signed_text
from parties.certificates.program import code_digest, program
from parties.certificates.verification import CertificateError, read_certificate
from parties.errors import JobError
from parties.exits import exit_code
from parties.pki.signing import key_text
from smc.forms import Role
from tests.parties.jobs.joined import ANN, Pair, job_file, wait_final


@pytest.fixture(scope="module")
def joined(tmp_path_factory) -> Iterator[Pair]:
    pair = Pair(tmp_path_factory.mktemp("joined"))
    yield pair
    pair.close()


def finish(pair, text):
    job_id = pair.north.submit(text).job_id
    for manager in (pair.north, pair.south):
        assert wait_final(manager, job_id).state.value == "finished"
    return job_id


@pytest.fixture(scope="module")
def job_id(joined) -> str:
    finish(joined, job_file("1/4"))
    return finish(joined, job_file("1/2"))


@pytest.fixture
def document(joined, job_id):
    return joined.north.certificate(job_id)


def secret(pair, name):
    return pair._identities[name].signing


def read(document):
    return read_certificate(json.dumps(document).encode())


def resigned(document, key):
    body = document["certificate"]
    return {**document, "signature": key.sign(signed_text(body)).hex()}


def test_both_parties_certify_the_same_job(joined, job_id):
    certificates = {
        name: read(joined.network.managers[name].certificate(job_id)) for name in ("north", "south")
    }
    north, south = certificates["north"], certificates["south"]
    assert (north.role, south.role) == (Role.ALICE, Role.BOB)
    assert (north.name(Role.ALICE), north.name(Role.BOB)) == ("north", "south")
    for name, role in (("north", Role.ALICE), ("south", Role.BOB)):
        for certificate in certificates.values():
            certificate.confirm(secret(joined, name).public_key(), role)
    assert north.body["digest"] == south.body["digest"]
    # Each holds the other's entry as the other wrote it.
    assert north.entries["countersigned"].peer_hash == south.entries["spent"].hash
    assert south.entries["countersigned"].peer_hash == north.entries["spent"].hash
    assert north.loss.epsilon == south.loss.epsilon == north.entries["spent"].loss.epsilon
    assert set(north.entries) == {"run", "spent", "countersigned"}
    assert "approved" not in north.body["ledger"]
    assert north.body["program"] == program()
    assert "rows" not in json.dumps(north.body)
    # The sum of this test has a message of its own, of which no record says anything.
    assert north.body["run"]["against"] == south.body["run"]["against"] == "semi-honest"


def test_a_certificate_of_a_run_that_does_not_say_what_it_held_is_read(joined, document):
    old = copy.deepcopy(document)
    del old["certificate"]["run"]["against"]
    key = secret(joined, "north")
    old["signature"] = key.sign(signed_text(old["certificate"])).hex()
    assert "against" not in read(old).body["run"]
    old["certificate"]["run"]["further"] = "x"
    old["signature"] = key.sign(signed_text(old["certificate"])).hex()
    with pytest.raises(CertificateError):
        read(old)


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
        if not value:
            yield path
    elif isinstance(value, list):
        yield path
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path


def at(document, path):
    for step in path:
        document = document[step]
    return document


def change(document, path, new):
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = new
    return changed


def others(value):
    """Values that are not this one: near ones, and ones of another kind."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, -value - 1, str(value), 0.5]
    if isinstance(value, str):
        return [value + "0", value[:-1] if value else "x", "", value.upper(), 7, None, [value]]
    return [None, {}, [], "x", {"more": 1}, [*value, 1] if isinstance(value, list) else 3]


def test_every_change_is_refused(document):
    read(document)
    paths = list(leaves(document))
    assert len(paths) > 100
    for path in paths:
        value = at(document, path)
        for new in others(value):
            if new == value and type(new) is type(value):
                continue
            with pytest.raises(CertificateError):
                read(change(document, path, new))


def test_every_name_left_out_or_added_is_refused(document):
    def dictionaries(value, path=()):
        if isinstance(value, dict):
            yield path
            for key, inner in value.items():
                yield from dictionaries(inner, (*path, key))

    for path in dictionaries(document):
        for key in at(document, path):
            changed = copy.deepcopy(document)
            del at(changed, path)[key]
            with pytest.raises(CertificateError):
                read(changed)
        changed = copy.deepcopy(document)
        at(changed, path)["further"] = "x"
        with pytest.raises(CertificateError):
            read(changed)


STATED = [
    ("digest",),
    ("party",),
    ("role",),
    ("peer",),
    ("keys", "alice"),
    ("keys", "bob"),
    ("contract", "spec", "parameters", "epsilon"),
    ("contract", "nonce"),
    ("contract", "schemas", "alice", "v", "upper"),
    ("signatures", "alice"),
    ("signatures", "bob"),
    ("loss", "epsilon"),
    ("loss", "delta"),
    ("loss", "rho"),
    ("ledger", "spent", "epsilon"),
    ("ledger", "spent", "time"),
    ("ledger", "spent", "hash"),
    ("ledger", "run", "dataset"),
    ("ledger", "run", "hash"),
    ("ledger", "countersigned", "signature"),
    ("ledger", "countersigned", "peer_hash"),
    ("ledger", "countersigned", "subject"),
    ("result", "received"),
    ("format",),
]


@pytest.mark.parametrize("path", STATED, ids=".".join)
def test_its_own_party_cannot_change_what_others_have_signed(joined, document, path):
    """Signed anew by the party that made it, so that only the statements themselves can give it away."""
    path = ("certificate", *path)
    value = at(document, path)
    for new in others(value):
        if new == value and type(new) is type(value):
            continue
        changed = change(document, path, new)
        try:
            forged = resigned(changed, secret(joined, "north"))
        except TypeError:
            continue
        with pytest.raises(CertificateError):
            read(forged)


def test_its_own_party_cannot_leave_out_or_exchange_the_ledger(joined, document, job_id):
    key = secret(joined, "north")
    with pytest.raises(CertificateError, match="lacks entries"):
        read(resigned(change(document, ("certificate", "ledger"), {}), key))
    whole = document["certificate"]["ledger"]
    for event in whole:
        left = {name: entry for name, entry in whole.items() if name != event}
        with pytest.raises(CertificateError):
            read(resigned(change(document, ("certificate", "ledger"), left), key))
    none = {"epsilon": "0", "delta": "0", "rho": "0"}
    with pytest.raises(CertificateError, match="differs from the one in the certificate"):
        read(resigned(change(document, ("certificate", "loss"), none), key))
    earlier = next(r.job_id for r in joined.north.store.all() if r.job_id != job_id)
    other = joined.north.certificate(earlier)["certificate"]["ledger"]
    with pytest.raises(CertificateError, match="not those of this job"):
        read(resigned(change(document, ("certificate", "ledger"), other), key))
    theirs = joined.south.certificate(job_id)["certificate"]["ledger"]
    with pytest.raises(CertificateError):
        read(resigned(change(document, ("certificate", "ledger"), theirs), key))
    event = ("certificate", "ledger", "countersigned")
    with pytest.raises(CertificateError):
        read(resigned(change(document, event, None), key))


def test_a_stranger_cannot_certify(joined, document):
    stranger = Ed25519PrivateKey.generate()
    with pytest.raises(CertificateError, match="signature under the certificate"):
        read(resigned(document, stranger))
    own = change(document, ("certificate", "keys", "alice"), key_text(stranger.public_key()))
    with pytest.raises(CertificateError, match="alice under the contract"):
        read(resigned(own, stranger))
    with pytest.raises(CertificateError, match="another signing key"):
        read(document).confirm(stranger.public_key(), Role.ALICE)
    with pytest.raises(CertificateError, match="another signing key"):
        read(document).confirm(secret(joined, "north").public_key(), Role.BOB)


def result_of(manager, job_id):
    document = json.loads(manager.result(job_id))
    outcome = document["outcome"]
    tables = {table["name"]: table["columns"] for table in outcome["tables"]}
    return {**outcome, "tables": tables, "salt": document["salt"]}


def test_a_result_is_known_by_its_salt_only(joined, job_id, document):
    result = result_of(joined.north, job_id)
    read(document).check_result(result)
    attached = read({**document, "result": result})
    assert attached.result == result
    for spoil in (
        {"tables": {"sum": {"total": [63]}}},
        {"tables": {"sum": {"total": ["62"]}}},
        {"notes": []},
        {"details": {}},
        {"salt": "00" * 32},
        {"salt": ""},
        {"salt": "zz"},
        {"salt": 1},
    ):
        with pytest.raises(CertificateError):
            read(document).check_result({**result, **spoil})
        with pytest.raises(CertificateError):
            read({**document, "result": {**result, **spoil}})
    for junk in ({}, [], None, "x", {"tables": 1, "notes": 2, "details": 3, "salt": "00" * 32}):
        with pytest.raises(CertificateError):
            read(document).check_result(junk)
    # Neither value nor salt, nor a digest that could be tried out, stands in the certificate.
    text = json.dumps(document)
    assert result["salt"] not in text
    assert '"total"' not in text
    plain = json.dumps({key: result[key] for key in ("tables", "notes", "details")}, sort_keys=True)
    assert hashlib.sha256(plain.encode()).hexdigest() not in text
    south = result_of(joined.south, job_id)
    assert south["tables"] == result["tables"]
    assert south["salt"] != result["salt"]


def test_a_party_without_result_says_so(joined):
    job_id = finish(joined, job_file().replace('["alice", "bob"]', '["bob"]'))
    north = read(joined.north.certificate(job_id))
    assert not north.received
    assert (set(north.entries), bool(north.loss)) == ({"run", "countersigned"}, False)
    assert north.body["result"] == {"received": False, "commitment": ""}
    with pytest.raises(CertificateError, match="received no result"):
        north.check_result(result_of(joined.south, job_id))
    assert read(joined.south.certificate(job_id)).received
    document = joined.north.certificate(job_id)
    for lie in ({"received": True, "commitment": "00" * 32}, {"received": False, "commitment": "00" * 32}):
        with pytest.raises(CertificateError, match="recipients"):
            read(resigned(change(document, ("certificate", "result"), lie), secret(joined, "north")))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"certificate": 1, "signature": 1}',
        b'{"certificate": {"format": 1}, "signature": ""}',
        b"[" * 100_000,
        b"1" * 10_000,
    ],
)
def test_what_is_no_certificate_is_refused(data):
    with pytest.raises(CertificateError) as caught:
        read_certificate(data)
    assert exit_code(caught.value) == BAD_DATA


def test_a_name_that_stands_twice_is_refused(document):
    text = json.dumps(document)
    twice = text.replace('"party": "north"', '"party": "west", "party": "north"')
    assert json.loads(twice) == document
    with pytest.raises(CertificateError, match="twice"):
        read_certificate(twice.encode())


def test_a_job_that_has_not_finished_has_no_certificate(joined):
    joined.network.down = True
    try:
        job_id = joined.north.submit(job_file()).job_id
        joined.north.cancel(job_id, ANN)
    finally:
        joined.network.down = False
    with pytest.raises(JobError) as caught:
        joined.north.certificate(job_id)
    assert caught.value.stable_code == "no-certificate"


def test_the_commitment_hides_and_binds_floats_and_order():
    outcome = {"tables": {"t": {"a": [0.1, None, "x"], "b": [1, 2, 3]}}, "notes": [], "details": {}}
    listed = {**outcome, "tables": [{"name": "t", "columns": outcome["tables"]["t"]}]}
    salt = bytes(32)
    assert commitment(outcome, salt) == commitment(listed, salt)
    assert commitment(json.loads(json.dumps(outcome)), salt) == commitment(outcome, salt)
    assert commitment(outcome, salt) != commitment(outcome, bytes(31) + b"\1")
    swapped = {**outcome, "tables": {"t": {"a": [None, 0.1, "x"], "b": [1, 2, 3]}}}
    assert commitment(swapped, salt) != commitment(outcome, salt)


def test_the_digest_of_the_code_is_that_of_the_files(tmp_path, monkeypatch):
    assert code_digest() == code_digest() == program()["code"]
    for package in ("parties", "smc"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    fakes = {
        name: type("M", (), {"__file__": str(tmp_path / name / "__init__.py")}) for name in ("parties", "smc")
    }
    monkeypatch.setattr("parties.certificates.program._PACKAGES", fakes)
    digests = {code_digest()}
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("a.txt", "ignored")):
        (tmp_path / "smc" / name).write_text(text)
        digests.add(code_digest())
    assert len(digests) == 4
