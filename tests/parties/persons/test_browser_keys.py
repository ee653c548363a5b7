"""A key in a browser, with a name as long as authenticators may make it, approves over the control socket."""

from __future__ import annotations

from dataclasses import asdict

import pytest

pytest.importorskip("fido2", reason="fido2 is not installed")

from parties.audit.files import read_log
from parties.audit.lines import SIGNED
from parties.client import Party
from parties.contracts.state import State
from parties.persons.keys import WEBAUTHN, PersonKey
from parties.persons.roles import Act
from parties.persons.statement import PersonStatement, Presented, now
from parties.persons.webauthn import Credential
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from tests.parties.jobs.joined import job_file, wait_state
from tests.parties.persons.made import KEYS, begin, persons_toml
from tests.parties.persons.test_webauthn import HOST, Authenticator
from tests.parties.served import control

LONGEST_ID = 1023
"""Bytes, by the standard."""


@pytest.mark.parametrize("length", [16, LONGEST_ID])
def test_it_approves_and_its_signature_stands_whole_in_the_audit_log(pair, length):
    device = Authenticator()
    key = PersonKey(WEBAUTHN, Credential(HOST, bytes(length), dict(device.public)).encode())
    home = pair.folder / "south"
    pair.allow("south", approval="person")
    text = persons_toml().replace(KEYS["weber"].public.text, key.text)
    begin(pair.south.gate, home, pair.network.identities["north"], text, who="klein")
    job_id = pair.north.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    shown = pair.south.store.digest(job_id).hex()
    said = PersonStatement(Act.APPROVE, "south", "north", shown, "weber", "", now())
    answer = device.answer(said.text, other_keys_can_be_added_here="do not compare with a template" * 3)
    act = pb.Act(**asdict(Presented("weber", "", said.moment, key.text, answer)))
    with control(pair.south, home) as opened, Party(opened) as party:
        asked = pb.Decision(job_id=job_id, actor="Ann", uid=1, shown=shown, act=act)
        party.call("Approve", asked, 60)
    (line,) = [one for one in read_log(home).lines if one.event == SIGNED and one.about["act"] == "approve"]
    assert (line.about["key"], line.about["signature"]) == (key.text, answer.hex())
