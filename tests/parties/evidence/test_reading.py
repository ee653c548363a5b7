"""What an auditor reads may come from anybody: lengths and bounds of frames, cases, columns and bundles."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from parties.auditors import bundles
from parties.auditors.bundles import Exhibit, open_bundle, seal_bundle
from parties.auditors.keys import make_keys
from parties.cli.filing import read_shown
from parties.errors import DataError
from parties.evidence.frames import decode_frames, encode_frame
from parties.evidence.run_case import Inputs, RunCase, decode_case, decode_inputs
from parties.evidence.seeds import COMMITMENT_BYTES, PART_BYTES
from parties.evidence.statements import ChainHeads, Start
from parties.pki.signing import key_text
from smc.analyses.studies.columns import Column, Schema
from smc.channel.message import FRAME_BYTES, MAX_LANES, Frame
from smc.evidence.record import Chain
from smc.forms import Role

FRAMES = (Frame(0, "some-kind", 1, 3, b"abc"), Frame(0, "other", 2, 0, b"", 2), Frame(1, "end", 2, 0, b""))
HEAD = struct.Struct(">HQQQBI")
HEADS = ChainHeads(bytes(32), bytes(32))


def both(value):
    return dict.fromkeys(Role, value)


@pytest.fixture(scope="module")
def office():
    return make_keys("office")


@pytest.fixture
def case(office):
    sent = Chain()
    for frame in FRAMES:
        sent.add(frame)
    return RunCase(
        job_id="0" * 16,
        contract="{}",
        role=Role.BOB,
        keys=both(key_text(office.signing.public_key())),
        signatures=both(bytes(64)),
        paillier=both(7),
        start=Start(both(bytes(COMMITMENT_BYTES)), both(bytes(PART_BYTES))),
        seed=bytes(32),
        papers=[b"paper"],
        sent=sent.lanes(),
        received=sent.lanes(),
        gate=HEADS,
        gate_counts=({0: 1}, {0: 2, 2: 1}),
        gate_signatures=both(bytes(64)),
    )


def test_frames_are_read_back_as_they_were():
    assert tuple(decode_frames(b"".join(map(encode_frame, FRAMES)))) == FRAMES
    assert encode_frame(FRAMES[0])[: HEAD.size] == HEAD.pack(0, 0, 1, 3, 9, 3)


def test_frames_that_no_run_has_are_malformed():
    whole = b"".join(map(encode_frame, FRAMES))
    for length in (1, HEAD.size - 1, HEAD.size, len(whole) - 1):
        with pytest.raises(DataError, match="malformed"):
            tuple(decode_frames(whole[:length]))
    long = HEAD.pack(0, 0, 1, 3, 4, FRAME_BYTES + 1) + b"kind" + bytes(FRAME_BYTES + 1)
    for wrong in (
        HEAD.pack(MAX_LANES + 1, 0, 1, 0, 4, 0) + b"kind",
        HEAD.pack(0, 1 << 62, 1, 0, 4, 0) + b"kind",
        HEAD.pack(0, 0, 1 << 62, 0, 4, 0) + b"kind",
        HEAD.pack(0, 0, 1, 1 << 62, 4, 0) + b"kind",
        HEAD.pack(0, 0, 1, 0, 4, 0) + b"\xff\xff\xff\xff",
        HEAD.pack(0, 0, 1, 9, 4, 9) + b"kind",
        long,
    ):
        with pytest.raises(DataError, match="malformed"):
            tuple(decode_frames(wrong))
    last = HEAD.pack(MAX_LANES, (1 << 62) - 1, 1, 3, 4, FRAME_BYTES) + b"kind" + bytes(FRAME_BYTES)
    assert len(tuple(decode_frames(last))) == 1


WRONG = {
    "lane": lambda d: d["sent"].update({str(MAX_LANES + 1): [["end", "00" * 32]]}),
    "lane below 0": lambda d: d["received"].update({"-1": [["end", "00" * 32]]}),
    "digest": lambda d: d["sent"].update({"1": [["end", "00" * 31]]}),
    "kind": lambda d: d["sent"].update({"1": [["No Kind", "00" * 32]]}),
    "long kind": lambda d: d["sent"].update({"1": [["a" * 41, "00" * 32]]}),
    "count below 0": lambda d: d.update(gate_counts=[{"0": -1}, {}]),
    "count": lambda d: d.update(gate_counts=[{"0": 1.5}, {}]),
    "one count": lambda d: d.update(gate_counts=[{}]),
    "role": lambda d: d.update(role="carol"),
    "one key": lambda d: d["keys"].pop("bob"),
    "one signature": lambda d: d["signatures"].pop("bob"),
    "one modulus": lambda d: d["paillier"].pop("alice"),
    "one commitment": lambda d: d["commitments"].pop("alice"),
    "one gift": lambda d: d["given"].pop("alice"),
    "contract": lambda d: d.update(contract=7),
    "format": lambda d: d.update(format=2),
    "long number": lambda d: d["paillier"].update(bob="9" * 5000),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_case_that_no_party_keeps_is_malformed(case, wrong):
    assert decode_case(case.encode()) == case
    document = json.loads(case.encode())
    WRONG[wrong](document)
    with pytest.raises(DataError, match="malformed"):
        decode_case(json.dumps(document).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[" * 9999, b"\xff"])
def test_what_is_no_case_and_no_columns_is_malformed(data):
    for decode in (decode_case, decode_inputs):
        with pytest.raises(DataError, match="malformed"):
            decode(data)


def test_columns_have_the_lengths_that_are_said_of_them():
    column = Column(np.arange(5), Schema("integer", lower=0, upper=9))
    inputs = Inputs({"age": column, "cost": column}, {"age": b"salt", "cost": b"salt"})
    whole = inputs.encode()
    found = decode_inputs(whole)
    assert [(name, [*each.values]) for name, each in found.data.items()] == [
        (name, [*range(5)]) for name in ("age", "cost")
    ]
    line, _, rest = whole.partition(b"\n")
    head = json.loads(line)

    def others(sizes):
        columns = [[name, size] for (name, _), size in zip(head["columns"], sizes, strict=True)]
        return json.dumps({**head, "columns": columns}).encode() + b"\n" + rest

    first, second = (size for _, size in head["columns"])
    assert decode_inputs(others((first, second))).salts == found.salts
    for sizes in ((first, second - 1), (first, second + 1), (first - 1, second + 1), (-1, second), (1.0, 2)):
        with pytest.raises(DataError, match="malformed"):
            decode_inputs(others(sizes))
    for wrong in (whole + b"x", whole[:-1], whole.replace(b'"count":5', b'"count":6')):
        with pytest.raises(DataError, match="malformed"):
            decode_inputs(wrong)


def sealed(office, content):
    """A bundle with any content, signed by the party that the office happens to be as well."""
    signature = office.signing.sign(bundles._shown_text(office.public, content))
    head = json.dumps({"format": bundles.FORMAT}).encode() + b"\n"
    return head + office.public.seal(signature + content)


def test_a_bundle_is_opened_by_its_lengths(office, case):
    shown = Exhibit(case, Inputs(), FRAMES)
    bundle = seal_bundle(shown, "south", office.public, office.signing)
    assert open_bundle(bundle, office) == shown
    for wrong in (b"", b"{}\n", bundle[1:], b"[" * 9999):
        with pytest.raises(DataError, match="not a bundle"):
            open_bundle(wrong, office)
    parts = case.encode(), Inputs().encode()
    for lengths in (
        (len(parts[0]) - 1, len(parts[1])),
        (1 << 63, 1 << 63),
        (len(parts[0]), len(parts[1]) - 1),
    ):
        with pytest.raises(DataError, match="malformed"):
            open_bundle(sealed(office, struct.pack(">QQ", *lengths) + b"".join(parts)), office)
    with pytest.raises(DataError, match="malformed"):
        open_bundle(sealed(office, b"short"), office)


def test_a_bundle_is_opened_for_the_auditor_to_whom_its_party_has_shown_it(office, case):
    """An auditor who seals it anew to another one shows what the party has not shown to that one."""
    other = make_keys("other")
    bundle = seal_bundle(Exhibit(case, Inputs(), ()), "south", office.public, office.signing)
    line, _, rest = bundle.partition(b"\n")
    passed_on = line + b"\n" + other.public.seal(office.unseal(rest))
    with pytest.raises(DataError, match="not signed by the party"):
        open_bundle(passed_on, other)
    stranger = replace(case, keys=both(key_text(other.signing.public_key())))
    with pytest.raises(DataError, match="another key"):
        seal_bundle(Exhibit(stranger, Inputs(), ()), "south", office.public, office.signing)


def test_a_record_that_no_bundle_can_hold_is_audited_at_home(office, case, monkeypatch):
    """A cipher takes two GiB at once; the auditor reads no more than that either."""
    monkeypatch.setattr(bundles, "BUNDLE_BYTES", 2000)
    with pytest.raises(DataError, match="longer than a bundle") as found:
        seal_bundle(Exhibit(case, Inputs(), FRAMES), "south", office.public, office.signing)
    assert "duetto evidence verdict" in found.value.hint


def test_files_are_read_up_to_their_bound(tmp_path):
    path = tmp_path / "shown"
    path.write_bytes(bytes(9))
    assert read_shown(path, 9) == bytes(9)
    with pytest.raises(DataError, match="too long"):
        read_shown(path, 8)
