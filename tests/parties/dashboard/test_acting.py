"""Every act that pages take, by every role with a key in the browser: done if sockets take it, or refused."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import asdict

import pytest

pytest.importorskip("fido2", reason="fido2 is not installed")

from parties import closed_peers
from parties.closed_peers import Closure
from parties.contracts.state import State
from parties.dashboard.pages.persons import HERE
from parties.person_roles import PersonRole
from parties.persons.declaration import FILE, digest_of
from parties.persons.gate import text_digest
from parties.persons.keys import WEBAUTHN, PersonKey
from parties.persons.roles import ALLOWED, Act
from parties.persons.shared import policy_digest
from parties.persons.statement import PersonStatement
from parties.persons.webauthn import Credential
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from tests.parties.dashboard.browsing import NAME, Browser
from tests.parties.dashboard.test_roles import signed_in
from tests.parties.jobs.joined import job_file, wait_final, wait_state
from tests.parties.persons.made import KEYS, OF_ROLE, STRANGER, begin, persons_toml, signed
from tests.parties.persons.test_webauthn import Authenticator

CLOSURE = Closure("south", "0123456789abcdef", "inconsistent-transfers", "2026-11-28T12:00:00Z")
DEVICES = {word: Authenticator(number=100 + place) for place, word in enumerate(OF_ROLE.values())}
"""Of one person of each role; Prof Klein, who begins, has a key in a file."""


def credential(word):
    return Credential(NAME, word.encode(), dict(DEVICES[word].public))


@pytest.fixture
def north(party, served):
    """North, where these persons are in force, and a person approves each job."""
    text = persons_toml()
    for word in DEVICES:
        key = PersonKey(WEBAUTHN, credential(word).encode())
        text = text.replace(KEYS[word].public.text, key.text)
    served.allow("north", approval="person")
    begin(served.north.gate, served.folder / "north", served.network.identities["south"], text, who="klein")
    return party


def test_these_are_all_acts_that_pages_take():
    """But keys of peers and pools, of which the homes here have none; test_signing.py has a peer."""
    assert set(HERE.values()) == {*FORMS, *CHANGED, Act.PIN, Act.POOLS}


def waiting_job(served, north):
    job_id = served.south.submit(job_file()).job_id
    wait_state(served.north, job_id, State.WAITING_OWN)
    return job_id


def finished_job(served, north):
    job_id = waiting_job(served, north)
    shown = north.job(job_id).shown
    presented = signed(served.north.gate, Act.APPROVE, shown, "klein", "south")
    act = pb.Act(**asdict(presented))
    north.call("Approve", pb.Decision(job_id=job_id, actor="Klein", uid=1, shown=shown, act=act), 60)
    assert wait_final(served.north, job_id).state is State.FINISHED
    return job_id


def closed_peer(served, north):
    (served.folder / "north" / closed_peers.FILE).write_text(json.dumps({"south": asdict(CLOSURE)}))
    return ""


FORMS = {
    Act.SUBMIT: (lambda *_: "", "/new/submit", {"text": job_file()}),
    Act.APPROVE: (waiting_job, "/decide/{}", {"decision": "approve"}),
    Act.DENY: (waiting_job, "/decide/{}", {"decision": "deny"}),
    Act.CANCEL: (waiting_job, "/jobs/{}/cancel", {}),
    Act.FORGET: (finished_job, "/jobs/{}/forget", {}),
    Act.OPEN: (closed_peer, "/peers/open", {"peer": "south"}),
}
"""Of each act what there has to be before, where its form goes, and its fields beside the signature."""


CHANGED = {Act.POLICY: "policy.toml", Act.PERSONS: FILE}
"""Files of which a new version is put into force."""


def state(act, served, north, job_id):
    """What an act changes."""
    if act in CHANGED:
        return served.north.gate.register().in_force(act)
    if act is Act.SUBMIT:
        return len(north.jobs())
    if act is Act.OPEN:
        return bool(closed_peers.read_closed(served.folder / "north"))
    described = north.job(job_id).describe()
    return described["result_deleted"] if act is Act.FORGET else described["state"]


def answered(browser, act, digest, peer, word, after=""):
    """The fields of a signature, as the script of the pages fills them in."""
    asked = {"act": act.value, "digest": digest, "peer": peer, "person": word}
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    said = browser.get(f"/persons/statement?{query}").json()
    statement = PersonStatement(act, "north", peer, digest, word, "", said["moment"], after)
    answer = DEVICES[word].answer(statement.text)
    first, second, _ = struct.unpack_from(">HHH", answer)
    parts = answer[6 : 6 + first], answer[6 + first : 6 + first + second], answer[6 + first + second :]
    packed = zip(("credential", "authenticator", "client", "signature"), (word.encode(), *parts), strict=True)
    return {
        "person": word,
        "behalf": "",
        "moment": said["moment"],
        **{name: base64.b64encode(data).decode() for name, data in packed},
    }


@pytest.mark.parametrize("comes_by", ["account", "link"])
@pytest.mark.parametrize("act", CHANGED, ids=lambda act: act.value)
def test_a_version_is_put_into_force_on_the_page_by_every_role(served, north, act, comes_by):
    path = served.folder / "north" / CHANGED[act]
    for role, word in OF_ROLE.items():
        path.write_text(f"{path.read_text()}# looked at by nobody but {word}\n")
        data = path.read_bytes()
        digest = policy_digest(data) if act is Act.POLICY else digest_of(data).hex()
        browser = signed_in(north, word) if comes_by == "account" else Browser(north)
        before, shown = state(act, served, north, ""), {"act": act.value, "about": "", "shown": digest}
        if comes_by == "link":
            page = browser.get("/persons").text
            assert digest in page
            assert f"+# looked at by nobody but {word}" in page or act is Act.POLICY
            assert CHANGED[act] in browser.get("/policy").text.split("Not signed:")[1]
        assert browser.post("/persons/sign", shown).status_code == 409, role
        assert state(act, served, north, "") == before
        after = served.north.gate.register().before(act)
        sent = answered(browser, act, digest, "", word, after)
        answer = browser.post("/persons/sign", {**shown, **sent, "shown": digest[::-1]})
        assert answer.status_code == 409
        assert state(act, served, north, "") == before
        answer = browser.post("/persons/sign", shown | sent)
        assert answer.status_code == (303 if role in ALLOWED[act] else 409), (role, answer.text)
        assert (state(act, served, north, "") == digest) is (role in ALLOWED[act]), role


@pytest.mark.parametrize("comes_by", ["account", "link"])
@pytest.mark.parametrize("act", FORMS, ids=lambda act: act.value)
def test_an_act_on_pages_by_every_role(served, north, act, comes_by):
    prepare, path, fields = FORMS[act]
    for role, word in OF_ROLE.items():
        job_id = prepare(served, north)
        shown = north.job(job_id).shown if job_id else ""
        digest = {Act.SUBMIT: text_digest(f"{job_file()}\n"), Act.OPEN: CLOSURE.digest}.get(act, shown)
        peer = "" if act is Act.SUBMIT else "south"
        browser = signed_in(north, word) if comes_by == "account" else Browser(north)
        before, sent = state(act, served, north, job_id), {**fields, "shown": shown}
        assert browser.post(path.format(job_id), sent).status_code == 409, role  # without a signature
        assert state(act, served, north, job_id) == before, role
        answer = browser.post(path.format(job_id), sent | answered(browser, act, digest, peer, word))
        # By this policy a steward approves; where a rule asks for an operator, test_matrix looks.
        may = role in ALLOWED[act] and (act, role) != (Act.APPROVE, PersonRole.OPERATOR)
        assert answer.status_code == (303 if may else 409), (role, answer.text)
        assert (state(act, served, north, job_id) != before) is may, role


def test_a_further_key_is_given_on_the_page_and_counts_once_a_key_in_force_has_signed_it(served, north):
    steward, path = OF_ROLE[PersonRole.STEWARD], served.folder / "north" / FILE
    browser, before = Browser(north), path.read_text()
    further = KEYS["klein"].public.text  # somebody else's
    page = browser.post("/persons/add-key", {"person": steward, "key": further})
    assert page.status_code == 409
    assert "No key was added." in page.text
    assert f'value="{further}"' in page.text  # nothing typed is lost
    assert path.read_text() == before
    for word in (OF_ROLE[role] for role in PersonRole if role not in ALLOWED[Act.PERSONS]):
        assert 'action="/persons/add-key"' not in signed_in(north, word).get("/persons").text
    further = STRANGER.public
    assert browser.post("/persons/add-key", {"person": steward, "key": further.text}).status_code == 303
    page = browser.get("/persons").text
    assert f"+    &#34;{further.text}" in page
    assert f"({steward}) gets the key {further.fingerprint}" in page
    assert page.count(" the key ") == 1
    assert further.text not in served.north.gate.text_in_force()
    assert browser.post("/persons/take-back").status_code == 303
    assert path.read_text() == before
    browser.post("/persons/add-key", {"person": steward, "key": f" {further.text} "})
    digest = digest_of(path.read_bytes()).hex()
    shown = {"act": "persons", "about": "", "shown": digest}
    after = served.north.gate.register().before(Act.PERSONS)
    sent = answered(browser, Act.PERSONS, digest, "", steward, after)
    assert browser.post("/persons/sign", shown | sent).status_code == 303
    found = served.north.gate.persons().persons[steward]
    assert further in found.key
    assert 'action="/persons/take-back"' not in browser.get("/persons").text
