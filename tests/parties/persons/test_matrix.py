"""Every verb of the control service by every role: what is allowed works, all else is refused with a hint."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from parties import closed_peers
from parties.client import Party
from parties.closed_peers import Closure
from parties.contracts.state import State
from parties.errors import PolicyError
from parties.person_roles import PersonRole
from parties.persons.declaration import digest_of
from parties.persons.gate import prune_digest, text_digest
from parties.persons.roles import ALLOWED, MEANING, VERBS, Act
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from smc.errors import DuettoError
from tests.parties.jobs.joined import job_file, wait_final, wait_state
from tests.parties.persons.made import OF_ROLE, STRANGER, begin, signed
from tests.parties.served import control

SERVICE = pb.DESCRIPTOR.services_by_name["Control"]
CALLERS = (*PersonRole, None)
CLOSURE = Closure("north", "0123456789abcdef", "inconsistent-transfers", "2026-11-28T12:00:00Z")


@pytest.fixture
def south(pair):
    """South with persons, its control socket open, and a job of north that waits there."""
    pair.allow("south", approval="person")
    begin(pair.south.gate, pair.folder / "south", pair.network.identities["north"])
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    with control(pair.south, pair.folder / "south") as home, Party(home) as party:
        yield pair, party, job_id


def request(verb, pair, job_id, role):
    """A request of a verb, signed by somebody of a role, and to whom it is streamed back."""
    act = VERBS[verb]
    shown, text = pair.south.store.digest(job_id).hex(), job_file()
    about = {
        Act.SUBMIT: (text_digest(text), ""),
        Act.PRUNE: (prune_digest(1), ""),
        Act.OPEN: (CLOSURE.digest, "north"),
    }.get(act, (shown, "north"))
    sign = None
    if act is not None and role is not None:
        presented = signed(pair.south.gate, act, about[0], OF_ROLE[role], about[1])
        sign = pb.Act(**asdict(presented))
    kind = SERVICE.methods_by_name[verb].input_type.name
    decision = {"job_id": job_id, "actor": "Ann", "uid": 1, "shown": shown, "act": sign}
    fields = {
        "JobText": {"toml": text, "act": sign},
        "EstimateRequest": {"toml": text},
        "JobName": {"job_id": job_id, "act": sign},
        "Decision": decision,
        "PruneRequest": {"older_than_days": 1, "act": sign},
        "PeerDecision": {"peer": "north", "actor": "Ann", "uid": 1, "act": sign},
    }
    return getattr(pb, kind)(**fields.get(kind, {}))


def outcome(party, verb, asked):
    """The error of a call; None if it was answered."""
    is_stream = SERVICE.methods_by_name[verb].server_streaming
    try:
        if is_stream:
            next(iter(party.stream(verb, asked, 60)), None)
        else:
            party.call(verb, asked, 60)
    except DuettoError as error:
        return error
    return None


def test_every_verb_of_the_service_has_its_line():
    assert set(VERBS) == {method.name for method in SERVICE.methods}
    assert set(MEANING) == set(ALLOWED) == set(Act)
    assert set(OF_ROLE) == set(PersonRole)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_by_every_role_and_by_nobody(south, verb):
    pair, party, job_id = south
    act = VERBS[verb]
    may = ALLOWED[act] if act is not None else frozenset(CALLERS)
    if act is Act.OPEN:
        (pair.folder / "south" / closed_peers.FILE).write_text(json.dumps({"north": asdict(CLOSURE)}))
    # Those who may not come first: who may changes the job.
    for role in sorted(CALLERS, key=lambda role: (role in may, role is PersonRole.STEWARD)):
        before = len(pair.south.ledger.entries())
        error = outcome(party, verb, request(verb, pair, job_id, role))
        code = getattr(error, "stable_code", "")
        if role in may:
            # What is allowed passes the gate; whether the job is in a state for it is another matter.
            is_by_rule = act is Act.APPROVE and role is PersonRole.OPERATOR
            assert (code == "person") is is_by_rule, (verb, role, error)
        else:
            assert type(error) is PolicyError, (verb, role, error)
            assert (code, bool(error.hint)) == ("person", True), (verb, role, error)
            assert len(pair.south.ledger.entries()) == before


DONE = {
    Act.SUBMIT: lambda pair, party, _: len(party.jobs()) == 2,
    Act.APPROVE: lambda pair, _, job_id: wait_final(pair.south, job_id).state is State.FINISHED,
    Act.DENY: lambda pair, _, job_id: pair.south.store.get(job_id).state is State.DENIED,
    Act.CANCEL: lambda pair, _, job_id: pair.south.store.get(job_id).state is State.CANCELLED,
    Act.FORGET: lambda _, party, job_id: bool(party.job(job_id).describe()["result_deleted"]),
    Act.PRUNE: lambda *_: True,  # no result is old enough; it was answered
    Act.OPEN: lambda pair, *_: closed_peers.read_closed(pair.folder / "south") == {},
}
"""What has changed once an act is done."""


@pytest.mark.parametrize(
    ("verb", "role"),
    [
        (verb, role)
        for verb, act in sorted(VERBS.items())
        if act is not None
        for role in PersonRole
        if role in ALLOWED[act]
    ],
    ids=str,
)
def test_what_a_role_may_do_is_done(pair, verb, role):
    """Each by itself, on a job that is in the state for it."""
    act, home = VERBS[verb], pair.folder / "south"
    pair.allow("south", approval="person")
    if (act, role) == (Act.APPROVE, PersonRole.OPERATOR):
        policy = home / "policy.toml"
        policy.write_text(policy.read_text().replace('"person"', '{ role = "operator" }'))
    begin(pair.south.gate, home, pair.network.identities["north"])
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    with control(pair.south, home), Party(home) as party:
        if act is Act.OPEN:
            (home / closed_peers.FILE).write_text(json.dumps({"north": asdict(CLOSURE)}))
        elif act is Act.FORGET:
            assert outcome(party, "Approve", request("Approve", pair, job_id, PersonRole.STEWARD)) is None
            wait_final(pair.south, job_id)
        assert act in (Act.PRUNE, Act.APPROVE) or not DONE[act](pair, party, job_id)
        assert outcome(party, verb, request(verb, pair, job_id, role)) is None
        assert DONE[act](pair, party, job_id)


@pytest.mark.parametrize("role", CALLERS, ids=str)
@pytest.mark.parametrize("act", [Act.POLICY, Act.PIN, Act.POOLS, Act.PERSONS], ids=str)
def test_what_is_put_into_force_by_every_role(pair, act, role):
    home, gate = pair.folder / "south", pair.south.gate
    begin(gate, home, pair.network.identities["north"])
    text = (home / "persons.toml").read_bytes() + b"# changed\n"
    digest, about = digest_of(text).hex(), "north" if act is Act.PIN else ""
    document = text if act is Act.PERSONS else b""
    who = OF_ROLE[role] if role is not None else "nobody"
    by = None if role is not None else STRANGER
    presented = signed(gate, act, digest, who, about, by=by)
    if role is not None and role in ALLOWED[act]:
        gate.write(gate.register().admit(act, about, digest, presented, document=document), document)
        assert gate.register().in_force(act, about) == digest
    else:
        with pytest.raises(PolicyError) as caught:
            gate.register().admit(act, about, digest, presented, document=document)
        assert (caught.value.stable_code, bool(caught.value.hint)) == ("person", True)
