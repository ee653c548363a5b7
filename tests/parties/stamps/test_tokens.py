"""A genuine answer is taken, and none that is old, of others, about something else or changed."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
from collections import Counter

import pytest

from parties.errors import ConfigError, StampError
from parties.stamps.set_order import in_order
from parties.stamps.statement import SALT_BYTES, StampStatement, parse_statement
from parties.stamps.tokens import MAX_ANSWER, check_answer, make_request, read_authorities
from tests.parties.timestamping import NOW, Service, refusal
from tests.support.seeds import seeded

STATED = StampStatement("north", (7, "ab" * 32), (41, "cd" * 32)).data


@pytest.fixture(scope="module")
def service():
    return Service()


@pytest.fixture(scope="module")
def asked():
    return make_request(STATED)


@pytest.mark.parametrize("is_deep", [False, True])
def test_a_genuine_answer_states_its_time(is_deep, asked):
    service = Service(is_deep=is_deep)
    answer = service.answer(asked.data)
    assert check_answer(answer, STATED, [service.root], asked.nonce) == NOW
    assert check_answer(answer, STATED, [Service().root, service.root]) == NOW


def test_certificates_may_come_in_any_order(asked):
    """As OpenSSL sends them: the signer's first, whatever DER asks for."""
    service = Service(is_deep=True)
    one, other = (service.answer(asked.data, in_order=it) for it in (True, False))
    for answer in (one, other):
        assert check_answer(answer, STATED, [service.root], asked.nonce) == NOW
    assert in_order(other) != other
    assert in_order(one) == one
    assert len(in_order(other)) == len(other)


CONFIGURATION = """[made]
serial = serial
signer_cert = signer.pem
signer_key = signer.key
signer_digest = sha256
certs = root.pem
default_policy = 1.2.3.4.1
digests = sha256
"""


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not here")
def test_openssl_is_a_service_that_is_understood(tmp_path, asked):
    service = Service(time=dt.datetime.now(dt.UTC))
    service.write(tmp_path)
    (tmp_path / "made.cnf").write_text(CONFIGURATION)
    (tmp_path / "query").write_bytes(asked.data)
    words = [
        "openssl",
        "ts",
        "-reply",
        "-config",
        "made.cnf",
        "-section",
        "made",
        "-queryfile",
        "query",
        "-out",
        "reply",
    ]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    answer = (tmp_path / "reply").read_bytes()
    time = check_answer(answer, STATED, [service.root], asked.nonce)
    assert abs(time - service.time) < dt.timedelta(minutes=10)
    with pytest.raises(StampError, match="another digest"):
        check_answer(answer, STATED + b" ", [service.root])


def nested(*contents):
    """A sequence, or what else begins with the first byte, of short contents."""
    data = b"".join(contents)
    return b"\x30\x83" + len(data).to_bytes(3, "big") + data


@pytest.mark.parametrize(
    "hostile",
    [
        nested(b"\x05\x00" * 16000),
        nested(b"\x30\x80" * 8000),
        b"\x30\x80" * 16000,
        b"\x1f" + b"\xff" * 32000,
        b"\x30\xff" + b"\xff" * 32000,
        nested(b"\x30\x00", b"\x05\x00"),
        nested(b"\x30\x00", nested(b"\x06\x00", b"\xa0\x02\x30\x00")),
    ],
)
def test_structures_without_end_or_sense_are_refused_at_once(hostile, service):
    with pytest.raises(StampError):
        check_answer(hostile, STATED, [service.root])


def test_an_answer_outlives_the_certificates_that_made_it(asked):
    service = Service(time=NOW - dt.timedelta(days=7300))
    assert check_answer(service.answer(asked.data), STATED, [service.root], asked.nonce) == service.time


def test_an_old_answer_is_refused_by_its_nonce(service, asked):
    old = service.answer(make_request(STATED).data)
    for answer in (old, service.answer(asked.data, nonce=-1)):
        with pytest.raises(StampError, match="another nonce"):
            check_answer(answer, STATED, [service.root], asked.nonce)


def test_an_answer_about_something_else_is_refused(service, asked):
    with pytest.raises(StampError, match="another digest"):
        check_answer(service.answer(asked.data, digest=bytes(32)), STATED, [service.root], asked.nonce)
    with pytest.raises(StampError, match="another digest"):
        check_answer(service.answer(asked.data), STATED + b" ", [service.root])


def test_an_answer_of_another_signer_is_refused(service, asked):
    with pytest.raises(StampError, match="not signed under the pinned authority"):
        check_answer(Service().answer(asked.data), STATED, [service.root], asked.nonce)


def test_an_answer_by_a_certificate_for_something_else_is_refused(asked):
    service = Service(stamps=False)  # as the certificate of any web server below the same authority
    with pytest.raises(StampError, match="not for time stamps"):
        check_answer(service.answer(asked.data), STATED, [service.root], asked.nonce)


@pytest.mark.parametrize(("days", "why"), [(3650, "had ended"), (-3650, "not yet valid")])
def test_an_answer_outside_of_its_certificates_dates_is_refused(days, why, asked):
    service = Service()
    service.time += dt.timedelta(days=days)
    with pytest.raises(StampError, match=why):
        check_answer(service.answer(asked.data), STATED, [service.root], asked.nonce)


def test_changed_content_is_refused(service, asked):
    answer = service.answer(asked.data, spoil=lambda data: data.replace(b"20261129", b"20251129"))
    with pytest.raises(StampError, match="signature"):
        check_answer(answer, STATED, [service.root], asked.nonce)


@pytest.mark.parametrize("answer", [b"", b"\0", b"<html></html>", refusal(), bytes(MAX_ANSWER + 1)])
def test_what_is_no_stamp_is_refused(answer, service):
    with pytest.raises(StampError):
        check_answer(answer, STATED, [service.root])


def test_an_answer_with_changed_bytes_is_refused_or_says_the_same(service, asked):
    good = service.answer(asked.data)
    changes = seeded().below(255, len(good))
    outcome = Counter()
    for place, change in enumerate(changes):
        changed = bytearray(good)
        changed[place] ^= change + 1
        try:
            assert check_answer(bytes(changed), STATED, [service.root], asked.nonce) == NOW
            outcome["same"] += 1
        except StampError:
            outcome["refused"] += 1
    assert outcome["refused"] > 9 * outcome["same"]


def test_the_request_holds_one_digest_and_nothing_of_what_is_stamped():
    requests = [make_request(StampStatement(name, (3, "ab" * 32), None).data) for name in ("north", "n" * 32)]
    assert {len(one.data) for one in requests} <= {69, 70, 71}  # a nonce may be a byte longer or shorter
    assert not any(b"north" in one.data or bytes.fromhex("ab" * 32) in one.data for one in requests)
    assert requests[0].nonce != requests[1].nonce


def test_the_same_heads_have_another_digest_each_time():
    one, two = (StampStatement("north", (3, "ab" * 32), None) for _ in range(2))
    assert one.data != two.data
    assert len(bytes.fromhex(one.salt)) == SALT_BYTES


def test_a_statement_is_read_as_it_was_written():
    for made in (
        StampStatement("north", None, None),
        StampStatement("north", (0, "0" * 64), (1 << 40, "f" * 64)),
    ):
        assert parse_statement(made.document()) == made


@pytest.mark.parametrize(
    "changed",
    [
        {"duetto_stamp": 2},
        {"party": 3},
        {"ledger": {"number": -1, "hash": "0" * 64}},
        {"ledger": {"number": True, "hash": "0" * 64}},
        {"log": {"number": 1, "hash": "0" * 63}},
        {"log": {"number": 1, "hash": "0" * 64, "more": 1}},
        {"log": []},
        {"salt": ""},
        {"more": 1},
    ],
)
def test_what_is_no_statement_is_not_read(changed):
    document = StampStatement("north", (1, "0" * 64), None).document()
    with pytest.raises(ValueError):
        parse_statement(document | changed)


def test_authorities_are_read_from_a_file(tmp_path, service):
    path = tmp_path / "ca.pem"
    path.write_bytes(Service().authority + service.authority)
    assert read_authorities(path)[1] == service.root
    path.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="no certificates"):
        read_authorities(path)
