"""Job files, canonical JSON, contracts and signatures."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from parties.contracts import canonical
from parties.contracts.contract import Contract, check_signature, parse_contract, sign
from parties.contracts.spec import COVERT_LINK, parse_spec, read_spec, spec_from_document
from parties.errors import JobError
from parties.jobs.agreement.messages import (
    Answer,
    JobStatus,
    PeerState,
    parse_answer,
    parse_status,
)
from parties.texts import is_plain
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.columns import Schema
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.network import Network
from tests.parties.jobs.joined import job_file

TEXT = st.text(st.characters(codec="utf-8"), max_size=8).filter(is_plain)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
PARAMETERS = st.dictionaries(
    TEXT,
    st.recursive(
        st.booleans() | st.integers(-(2**80), 2**80) | TEXT, lambda i: st.lists(i, max_size=3), max_leaves=5
    ),
    max_size=4,
)


@given(VALUES)
def test_canonical_json_is_read_back_and_has_one_form(value):
    data = canonical.encode(value)
    assert canonical.decode(data, 1 << 20) == value
    assert canonical.encode(canonical.decode(data, 1 << 20)) == data


@given(st.dictionaries(TEXT, st.integers(), min_size=2, max_size=6))
def test_the_order_of_keys_does_not_matter(value):
    assert canonical.encode(dict(reversed(value.items()))) == canonical.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b"1.0", b"1e3", b"NaN", b"Infinity", b"-0",
        b' {"a":1}', b'{"a": 1}', b'{"b":1,"a":2}', b'{"a":1,"a":1}', b'"\xc3\xa4"',
        b'"\\ud800"', b'"\\u0041"',
        b"[" * 14 + b"]" * 14, b"[" * 50000, b"", b"{", b"9" * 5000,
    ],
)  # fmt: skip
def test_everything_else_is_refused(data):
    with pytest.raises(ProtocolViolation):
        canonical.decode(data, 1 << 20)


def test_floats_and_long_messages_are_refused():
    with pytest.raises(TypeError):
        canonical.encode({"a": 0.5})
    with pytest.raises(ProtocolViolation, match="11 bytes"):
        canonical.decode(b'"' + b"a" * 9 + b'"', 10)


def test_a_job_file():
    spec = parse_spec(job_file("1/2"))
    assert (spec.analysis, spec.alice.party, spec.bob.dataset) == ("addition", "north", "numbers")
    assert spec.role_of("south") is Role.BOB
    assert spec.recipients == frozenset(Role)
    assert spec.seconds == 60
    with pytest.raises(JobError, match="'west'"):
        spec.role_of("west")


@given(PARAMETERS)
def test_a_spec_comes_back_from_its_document(parameters):
    spec = replace(parse_spec(job_file()), parameters=parameters)
    again = spec_from_document(spec.document(), "x")
    assert again == spec
    assert canonical.encode(again.document()) == canonical.encode(spec.document())


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ('title = "both sums"', 'titel = "both sums"', "'title'"),
        ('title = "both sums"', 'title = "a\\u0000b"', "title"),
        ('title = "both sums"', f'title = "{"x" * 201}"', "title"),
        ('title = "both sums"', f'asked_by = "{"x" * 81}"', "asked_by"),
        ('title = "both sums"', f'purpose = "{"x" * 501}"', "purpose"),
        ('title = "both sums"', 'purpose = "a\\u0000b"', "purpose"),
        ("[limits]", "[limit]", "'limits'"),
        ("seconds = 60", "seconds = 0", "below 1"),
        ("seconds = 60", 'seconds = "60"', "integer"),
        ('bob = "south"', 'bob = "north"', "same party"),
        ('bob = "south"', 'bob = "so uth"', "plain word"),
        ('bob = "south"', "", "bob is missing"),
        ('"alice", "bob"]', '"alice", "carol"]', "recipients"),
        ('"alice", "bob"]', '"alice", "alice"]', "twice"),
        ('dataset = "numbers"', 'dataset = "../numbers"', "plain word"),
        ('dataset = "numbers"', "", "come together"),
        ('{ v = "value" }', '{ v = "" }', "'v'"),
        ('{ v = "value" }', "{ v = 1 }", "'v'"),
        ('{ v = "value" }', '["value"]', "columns is not a table"),
        ('epsilon = "0"', "epsilon = 0.5", '"1/2"'),
        ('epsilon = "0"', "epsilon = [[1, [0.5]]]", "entry 1, entry 2, entry 1"),
        ('epsilon = "0"', "epsilon = 2.0", "Write 2 for a whole number."),
        ('epsilon = "0"', "epsilon = 1e300", "number with a point"),
        ('epsilon = "0"', "epsilon = nan", "number with a point"),
        ('epsilon = "0"', "epsilon = inf", "number with a point"),
        ('epsilon = "0"', "epsilon = 2024-01-01", "date"),
        ('epsilon = "0"', "epsilon = " + "[" * 12 + "]" * 12, "nested"),
        ('epsilon = "0"', "epsilon = " + "[" * 5000, "job file"),
        ("[job]", "[job", "not valid TOML"),
        ('epsilon = "0"', "epsilon = " + "1" * 5000, "thousands of digits"),
    ],
)
def test_a_wrong_job_file_names_its_place(before, after, part):
    text = job_file()
    assert before in text
    with pytest.raises(JobError) as caught:
        parse_spec(text.replace(before, after, 1))
    assert part in str(caught.value)
    assert caught.value.hint


def test_a_long_job_file_is_refused():
    with pytest.raises(JobError, match="longer"):
        parse_spec(job_file() + "#" * 70000)


def contract(**changes):
    schema = Schema("integer", lower=0, upper=5)
    usual = {
        "spec": parse_spec(job_file()),
        "proposer": Role.ALICE,
        "nonce": "ab" * 32,
        "keys": {Role.ALICE: "1" * 64, Role.BOB: "2" * 64},
        "schemas": {role: {"v": schema} for role in Role},
        "limits": {Role.ALICE: Limits(3), Role.BOB: Limits(5, Fraction(4, 5))},
    }
    return Contract(**(usual | changes))


VARIANTS = [
    contract(spec=replace(parse_spec(job_file()), recipients=frozenset({Role.BOB}))),
    contract(spec=replace(parse_spec(job_file()), seconds=61)),
    contract(spec=parse_spec(job_file("1/3"))),
    contract(nonce="cd" * 32),
    contract(keys={Role.ALICE: "2" * 64, Role.BOB: "1" * 64}),
    contract(proposer=Role.BOB),
    contract(limits={Role.ALICE: Limits(3), Role.BOB: Limits(4, Fraction(4, 5))}),
    contract(limits={Role.ALICE: Limits(3), Role.BOB: Limits(5, Fraction(3, 4))}),
    contract(limits={Role.ALICE: Limits(3), Role.BOB: Limits(5, Fraction(4, 5), 1)}),
    contract(limits={Role.ALICE: Limits(3), Role.BOB: Limits(5, Fraction(4, 5), 0, Fraction(7, 2))}),
    contract(limits={Role.ALICE: Limits(3, minimum_intersection=9), Role.BOB: Limits(5, Fraction(4, 5))}),
    *(
        contract(
            schemas={role: {"v": replace(Schema("integer", lower=0, upper=5), **change)} for role in Role}
        )
        for change in ({"upper": 6}, {"unit": "g"}, {"kind": "decimal"}, {"scale": 1}, {"lower": 1})
    ),
]


def test_every_part_of_a_contract_is_in_its_digest_and_signature():
    key = Ed25519PrivateKey.generate()
    good = contract()
    signature = sign(good, Role.ALICE, key)
    check_signature(good, Role.ALICE, key.public_key(), signature)
    assert len({one.digest for one in [good, *VARIANTS]}) == len(VARIANTS) + 1
    for other in VARIANTS:
        with pytest.raises(ProtocolViolation):
            check_signature(other, Role.ALICE, key.public_key(), signature)
    with pytest.raises(ProtocolViolation):
        check_signature(good, Role.BOB, key.public_key(), signature)
    with pytest.raises(ProtocolViolation):
        check_signature(good, Role.ALICE, Ed25519PrivateKey.generate().public_key(), signature)
    with pytest.raises(ProtocolViolation):
        check_signature(good, Role.ALICE, key.public_key(), bytes([signature[0] ^ 1]) + signature[1:])


def test_the_name_is_that_of_the_draft_and_drafts_are_not_signed():
    good = contract()
    assert good.draft.job_id == good.job_id
    assert good.draft.digest != good.digest
    assert good.draft.complete(good.schemas[Role.BOB], good.limits[Role.BOB]) == good
    with pytest.raises(JobError):
        sign(good.draft, Role.ALICE, Ed25519PrivateKey.generate())


@pytest.mark.parametrize("one", [contract(), contract().draft, *VARIANTS])
def test_contracts_come_back_from_their_text(one):
    assert parse_contract(one.encode()) == one


def paths(value, prefix=()):
    yield prefix
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in children:
        yield from paths(inner, (*prefix, key))


def test_a_contract_with_any_part_of_another_type_or_missing_is_refused_or_keeps_its_form():
    document = canonical.decode(contract().encode(), 1 << 20)
    tried = 0
    for path in list(paths(document))[1:]:
        for wrong in (None, 7, "x", [], {}, True, "DELETE"):
            copy = canonical.decode(contract().encode(), 1 << 20)
            place = copy
            for key in path[:-1]:
                place = place[key]
            if wrong == "DELETE":
                del place[path[-1]]
            else:
                place[path[-1]] = wrong
            data = canonical.encode(copy)
            tried += 1
            try:
                assert parse_contract(data).encode() == data
            except ProtocolViolation:
                continue
    assert tried > 200


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("minimum_group", -1),
        ("minimum_group", 1_000_001),
        ("minimum_set", "5"),
        ("dominance", "0"),
        ("dominance", "5/4"),
        ("dominance", "8/10"),
        ("dominance", "0.8"),
        ("dominance", "1/0"),
        ("dominance", "1/1000001"),
        ("dominance", "1e9999999999999"),
        ("dominance", "-1"),
        ("maximum_ratio", "1/2"),
        ("maximum_ratio", "1" * 3000),
        ("minimum_intersection", True),
    ],
)
def test_impossible_limits_are_refused(name, wrong):
    document = canonical.decode(contract().encode(), 1 << 20)
    document["limits"]["alice"][name] = wrong
    with pytest.raises(ProtocolViolation):
        parse_contract(canonical.encode(document))


def test_the_stricter_limits_of_both_are_agreed():
    one, other = Limits(3, Fraction(1, 2), 100, Fraction(0), 7), Limits(5, Fraction(4, 5), 50, Fraction(4), 9)
    agreed = contract(limits={Role.ALICE: one, Role.BOB: other}).agreed
    assert agreed == Limits(5, Fraction(1, 2), 100, Fraction(4), 9)
    assert agreed == contract(limits={Role.ALICE: other, Role.BOB: one}).agreed
    assert contract(limits={Role.ALICE: one, Role.BOB: None}).agreed == one


@given(st.binary(max_size=300) | TEXT.map(lambda text: canonical.encode({"word": text, "job_id": text})))
def test_no_bytes_raise_anything_but_a_violation(data):
    for parse in (parse_contract, parse_answer, parse_status):
        with pytest.raises(ProtocolViolation):
            parse(data)


def test_messages_come_back():
    answer = Answer(PeerState.APPROVED, contract(), bytes(range(64)))
    assert parse_answer(answer.encode()) == answer
    standing = JobStatus("0" * 16, PeerState.FAILED, "data")
    assert parse_status(standing.encode()) == standing
    for wrong in (
        Answer(PeerState.APPROVED, contract()),
        Answer(PeerState.PENDING, contract(), bytes(64)),
        Answer(PeerState.DENIED, contract()),
    ):
        with pytest.raises(ProtocolViolation):
            parse_answer(wrong.encode())
    for wrong in (
        JobStatus("0" * 16, PeerState.APPROVED),
        JobStatus("0" * 16, PeerState.DENIED, "", bytes(64)),
        JobStatus("0" * 16, PeerState.APPROVED, "", bytes(63)),
        JobStatus("0" * 15, PeerState.DENIED),
        JobStatus("0" * 16, PeerState.UNFIT),
    ):
        with pytest.raises(ProtocolViolation):
            parse_status(wrong.encode())
    assert "signature" not in repr(answer)


def test_the_schema_travels_whole():
    assert {field.name for field in fields(Schema)} == set(
        canonical.decode(contract().encode(), 1 << 20)["schemas"]["bob"]["v"]
    )


def test_a_job_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path):
    with pytest.raises(JobError, match="No such file"):
        read_spec(tmp_path / "job.toml")
    with pytest.raises(JobError, match="directory"):
        read_spec(tmp_path)
    (tmp_path / "job.toml").write_bytes(b"# \xff")
    with pytest.raises(JobError, match="not UTF-8"):
        read_spec(tmp_path / "job.toml")


@pytest.mark.parametrize(
    "schema",
    [
        Schema("integer", lower=6, upper=5),
        Schema("decimal", scale=1, lower=1, upper=0),
        Schema("integer", lower=None, upper=5),
        Schema("integer", lower=0, upper=None),
        Schema("category", lower=0, upper=2, categories=("a", "b")),
        Schema("category", lower=1, upper=1, categories=("a", "b")),
        Schema("category", lower=0, upper=1, categories=("a", "a")),
    ],
)
def test_a_peers_impossible_declaration_is_refused(schema):
    sent = contract(schemas={Role.ALICE: {"v": Schema("integer", lower=0, upper=5)}, Role.BOB: {"v": schema}})
    with pytest.raises(ProtocolViolation, match="malformed"):
        parse_contract(sent.encode())


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "g\u202e"},
        {"kind": "category", "upper": 1, "categories": ("a", "b\n")},
    ],
)
def test_a_peers_unprintable_declaration_is_refused(change, monkeypatch):
    hostile = replace(Schema("integer", lower=0, upper=5), **change)
    made = contract(schemas={role: {"v": hostile} for role in Role})
    with monkeypatch.context() as without_border:
        without_border.setattr("parties.contracts.canonical.is_plain", lambda text: True)
        sent = made.encode()
    with pytest.raises(ProtocolViolation, match="not printable"):
        parse_contract(sent)


NETWORK = "\n[network]\nrtt_ms = 20\nmbit = 100\n"


def test_a_network_is_part_of_the_contract_and_a_job_without_one_keeps_its_digest():
    plain, planned = parse_spec(job_file()), parse_spec(job_file() + NETWORK)
    assert plain.network is None
    assert "network" not in plain.document()
    assert planned.network == Network(20, 100)
    assert spec_from_document(planned.document(), "contract") == planned
    other = replace(planned, network=Network(1, 100))
    digests = {replace(contract(), spec=spec).digest for spec in (plain, planned, other)}
    assert len(digests) == 3


def test_lanes_are_part_of_the_contract_and_a_job_of_one_keeps_its_digest():
    plain, one, two = (parse_spec(job_file() + more) for more in ("", LANES.format(1), LANES.format(2)))
    assert plain == one
    assert "compute" not in one.document()
    assert two.lanes == 2
    assert spec_from_document(two.document(), "contract") == two
    digests = {replace(contract(), spec=spec).digest for spec in (plain, one, two, replace(two, lanes=3))}
    assert len(digests) == 3


LANES = "\n[compute]\nlanes = {}\n"


@pytest.mark.parametrize("broken", ["0", "-1", "17", "1.0", "true", '"2"', "2\ndask = 1", "2\nlane = 1"])
def test_impossible_lanes_are_refused_with_their_place(broken):
    with pytest.raises(JobError, match="compute") as caught:
        parse_spec(job_file() + LANES.format(broken))
    assert caught.value.hint


@pytest.mark.parametrize(
    "broken",
    [
        *("rtt_ms = 20", "mbit = 100", "rtt_ms = -1\nmbit = 100", "rtt_ms = 20\nmbit = 0"),
        *("rtt_ms = 1.5\nmbit = 100", "rtt_ms = true\nmbit = 100", 'rtt_ms = "20"\nmbit = 100'),
        *("rtt_ms = nan\nmbit = 100", "rtt_ms = 20\nmbit = 1000001", "rtt_ms = 10001\nmbit = 1"),
        "rtt_ms = 20\nmbit = 100\nloss = 1",
    ],
)
def test_impossible_networks_are_refused_with_their_place(broken):
    with pytest.raises(JobError, match="network") as caught:
        parse_spec(job_file() + "\n[network]\n" + broken)
    assert caught.value.hint


def test_a_covert_job_is_planned_for_its_link_or_one_on_which_bytes_are_dear():
    document = parse_spec(job_file()).document()
    document["job"]["security"] = "covert"
    document["audit"] = {"auditor": "office", "key": "ab" * 32, "rate": "1"}
    spec = spec_from_document(document, "the job")
    assert spec.network == COVERT_LINK
    assert spec_from_document(spec.document(), "the job") == spec
    document["network"] = {"rtt_ms": 0, "mbit": 1_000_000}
    assert spec_from_document(document, "the job").network == Network(0, 1_000_000)
