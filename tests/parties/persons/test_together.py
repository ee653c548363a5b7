"""Where a rule asks for several persons, as many stewards put the next persons and policy into force."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from parties.errors import ConfigError, PolicyError
from parties.ledger.entries import LedgerError
from parties.persons.declaration import FILE, digest_of
from parties.persons.keys import PrivateKey
from parties.persons.register import Register
from parties.persons.roles import Act
from parties.persons.shared import greatest_count, policy_digest, read_count
from parties.persons.statement import now, read_moment
from parties.policy import rules
from tests.parties.jobs.joined import POLICY
from tests.parties.persons.made import begin, key, persons_toml, put_in_force, signed
from tests.parties.persons.test_gate import approve, submitted

THREE = 'name = "Dr Drei"\nroles = ["steward"]\nkey = "{key}"\n'


def policy(count, role="steward"):
    text = POLICY.format(total="10", approval="person")
    return text.replace('"person"', f'{{ role = "{role}", count = {count} }}').encode()


@pytest.fixture
def south(pair):
    """South, a rule of which asks for two stewards; Weber signed it when one was enough."""
    home = pair.folder / "south"
    (home / "policy.toml").write_bytes(policy(2))
    begin(pair.south.gate, home, pair.network.identities["north"])
    return pair


def change_persons(pair, text):
    (pair.folder / "south" / FILE).write_bytes(text.encode())
    return text.encode()


def change_policy(pair, data):
    (pair.folder / "south" / "policy.toml").write_bytes(data)
    return data


def put(pair, act, data, who, **more):
    put_in_force(pair.south.gate, act, data, who, **more)


def in_force(pair, act):
    return pair.south.gate.register().in_force(act)


def is_refused(pair, act, data, who, what, **more):
    before = pair.south.ledger.entries()
    with pytest.raises(PolicyError, match=what) as caught:
        put(pair, act, data, who, **more)
    assert (caught.value.stable_code, bool(caught.value.hint)) == ("person", True)
    return pair.south.ledger.entries() == before


def test_one_steward_alone_does_not_come_by_two_names(south):
    """The hole: Weber puts a person of his own into force, and approves in both names."""
    weber = key(50)
    text = persons_toml().replace(key(2).public.text, weber.public.text)
    data = change_persons(south, text)
    put(south, Act.PERSONS, data, "weber")
    assert in_force(south, Act.PERSONS) != digest_of(data).hex()
    with pytest.raises(ConfigError, match="1 of 2 stewards until now: Dr Weber"):
        south.south.gate.persons()
    assert is_refused(south, Act.PERSONS, data, "weber", "has signed this already")
    assert is_refused(south, Act.PERSONS, data, "klein", "gives to nobody", by=weber)
    put(south, Act.PERSONS, data, "klein")
    assert in_force(south, Act.PERSONS) == digest_of(data).hex()
    assert south.south.gate.persons() is not None


def test_an_operator_alone_changes_nothing(south):
    data = change_persons(south, persons_toml("klein"))
    assert is_refused(south, Act.PERSONS, data, "otto", "is no steward")
    data = change_persons(south, persons_toml(extra="# changed\n"))
    assert is_refused(south, Act.PERSONS, data, "otto", "is no steward")


def test_a_policy_that_asks_for_fewer_takes_two(south):
    data = change_policy(south, policy(1))
    put(south, Act.POLICY, data, "weber")
    with pytest.raises(PolicyError, match="1 of 2 stewards until now: Dr Weber"):
        south.south.gate.require_policy(data)
    put(south, Act.POLICY, data, "klein")
    south.south.gate.require_policy(data)
    change_policy(south, policy(2))
    put(south, Act.POLICY, policy(2), "weber")  # from now on one is enough, until this is in force
    south.south.gate.require_policy(policy(2))


def test_the_greatest_count_of_all_rules_holds_whatever_its_role(south):
    two = policy(1) + policy(2, "operator")
    assert greatest_count(two) == 2
    put(south, Act.POLICY, change_policy(south, two), "weber")
    put(south, Act.POLICY, two, "klein")
    data = change_persons(south, persons_toml(extra="# changed\n"))
    assert is_refused(south, Act.PERSONS, data, "otto", "is no steward")


def test_nobody_is_locked_out(south):
    assert is_refused(south, Act.PERSONS, change_persons(south, persons_toml("klein")), "weber", "would be 1")
    assert is_refused(south, Act.POLICY, change_policy(south, policy(3)), "weber", "would be 2")


def test_signatures_of_persons_who_were_replaced_meanwhile_do_not_count(south):
    loose = change_policy(south, policy(1))
    put(south, Act.POLICY, loose, "weber")
    other = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes([77]) * 32))
    text = persons_toml(extra=f"\n[persons.drei]\n{THREE.format(key=other.public.text)}")
    for who in ("weber", "klein"):
        put(south, Act.PERSONS, change_persons(south, text), who)
    put(south, Act.POLICY, loose, "klein")
    assert in_force(south, Act.POLICY) == policy_digest(policy(2))
    put(south, Act.POLICY, loose, "drei", by=other)
    assert in_force(south, Act.POLICY) == policy_digest(loose)


def test_two_versions_are_not_added_up(south):
    put(south, Act.POLICY, change_policy(south, policy(1)), "weber")
    put(south, Act.POLICY, change_policy(south, policy(1) + b"# other\n"), "klein")
    assert in_force(south, Act.POLICY) == policy_digest(policy(2))


def test_signatures_lie_thirty_days_apart_at_most(south):
    data = change_policy(south, policy(1))
    gate = south.south.gate
    old = read_moment(now()) - dt.timedelta(days=31)
    presented = signed(
        gate, Act.POLICY, policy_digest(data), "weber", moment=old.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    )
    gate.write(gate.register().admit(Act.POLICY, "", policy_digest(data), presented))
    put(south, Act.POLICY, data, "klein")
    assert in_force(south, Act.POLICY) == policy_digest(policy(2))


def test_jobs_go_on_with_two_approvals(south):
    job_id = submitted(south)
    approve(south, job_id, "weber")
    approve(south, job_id, "klein")


def test_the_count_in_the_ledger_is_signed(south):
    """Whoever writes into the ledger cannot lower it."""
    entries = south.south.ledger.entries()
    place = next(n for n, one in enumerate(entries) if one.act == Act.POLICY.value)
    plain = entries[place].job[:64]
    for forged in (plain, f"{plain}03"):
        changed = [*entries]
        changed[place] = replace(entries[place], job=forged)
        with pytest.raises(LedgerError, match="not validly signed"):
            Register("south", changed)


def test_a_policy_whose_count_was_not_signed_is_not_in_force(pair):
    """As an earlier release signed it: by the digest of the file alone."""
    home = pair.folder / "south"
    begin(pair.south.gate, home, pair.network.identities["north"])
    (home / "policy.toml").write_bytes(policy(2))
    put_in_force(pair.south.gate, Act.POLICY, b"", "weber", digest=digest_of(policy(2)).hex())
    with pytest.raises(PolicyError, match="was changed since"):
        pair.south.gate.require_policy(policy(2))


@given(st.lists(st.integers(1, 20), max_size=4), st.sampled_from(["", "\ufeff"]))
def test_the_count_is_that_of_the_rules(counts, mark):
    rule = [policy(count).decode().replace("additions", f"rule {n}") for n, count in enumerate(counts)]
    text = (mark + "".join(rule)).encode()
    found = rules.load_text(text.decode(), "policy.toml").rules
    assert greatest_count(text) == max((one.needed.count for one in found), default=1)
    assert read_count(policy_digest(text)) == greatest_count(text)


@pytest.mark.parametrize(
    "text", [b"\xff", b"rules = 3", b"[[rules]]\napproval = 'auto'", b"rules = [1]", b"[rules", b""]
)
def test_a_text_that_is_no_policy_needs_one(text):
    assert greatest_count(text) == 1
    assert policy_digest(text) == digest_of(text).hex()


@pytest.mark.parametrize(
    "digest", ["", "0" * 63, "0" * 65, "0" * 64 + "00", "0" * 64 + "01", "0" * 64 + "15"]
)
def test_other_digests_are_refused(digest):
    with pytest.raises(ValueError, match="not a"):
        read_count(digest)
