"""The keys of an auditor: who may read them, what is not a valid key, and what is sealed to others."""

from __future__ import annotations

import json
import stat

import pytest

from parties.auditors.keys import (
    PRIVATE_NAME,
    PUBLIC_NAME,
    make_keys,
    parse_auditor,
    read_auditor,
    read_keys,
)
from parties.errors import DataError
from smc.errors import UsageError


@pytest.fixture
def office(tmp_path):
    keys = make_keys("office")
    keys.write(tmp_path)
    return keys


def test_they_are_read_back_and_nobody_else_may_read_them(office, tmp_path):
    assert read_keys(tmp_path) == read_keys(tmp_path / PRIVATE_NAME) == office
    assert read_auditor(tmp_path / PUBLIC_NAME) == office.public
    assert stat.S_IMODE((tmp_path / PRIVATE_NAME).stat().st_mode) == 0o600
    assert not any(seed.hex() in repr(office) for seed in office.seeds)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_keys_that_others_may_read_are_not_used(office, tmp_path, mode):
    (tmp_path / PRIVATE_NAME).chmod(mode)
    with pytest.raises(DataError, match="Others than its owner"):
        read_keys(tmp_path)


@pytest.mark.parametrize("name", [PRIVATE_NAME, PUBLIC_NAME])
def test_keys_are_not_written_over_others(office, tmp_path, name):
    kept = (tmp_path / name).read_bytes()
    other = PUBLIC_NAME if name == PRIVATE_NAME else PRIVATE_NAME
    (tmp_path / other).unlink()
    with pytest.raises(DataError, match=r"keys in .* already"):
        make_keys("office").write(tmp_path)
    assert (tmp_path / name).read_bytes() == kept


@pytest.mark.parametrize("name", ["", "two words", "../office", "\x1b[31m"])
def test_a_name_is_a_plain_word(office, name):
    with pytest.raises(DataError, match="plain word"):
        make_keys(name)
    with pytest.raises(DataError, match="malformed"):
        parse_auditor({**office.public.document(), "auditor": name})


def test_each_part_of_a_public_key_is_in_its_fingerprint_and_has_its_length(office):
    document = office.public.document()
    others = make_keys("office").public.document()
    found = {parse_auditor(document | {part: others[part]}).fingerprint for part in document}
    assert len(found) == len(document)  # all but the name, which is the same
    assert office.public.fingerprint in found
    for part in ("signing", "x25519", "mlkem768"):
        for wrong in (document[part][2:], document[part] + "00", "zz", 7, None):
            with pytest.raises(DataError, match="malformed"):
                parse_auditor(document | {part: wrong})
    for wrong in ({**document, "more": ""}, {"auditor": "office"}, [], None):
        with pytest.raises(DataError, match="malformed"):
            parse_auditor(wrong)


def test_what_is_sealed_to_an_auditor_opens_for_no_other_and_not_when_it_was_changed(office):
    sealed = office.public.seal(b"shown")
    assert office.unseal(sealed) == b"shown"
    changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for keys, data in (
        (make_keys("office"), sealed),
        (office, changed),
        (office, sealed[:40]),
        (office, b""),
    ):
        with pytest.raises(DataError, match="not sealed to 'office', or was changed"):
            keys.unseal(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"auditor": "office"}',
        '{"auditor": "office", "seeds": ["00"]}',
        "[" * 9999,
        "x" * (1 << 17),
    ],
)
def test_a_file_that_holds_no_keys_is_an_error_that_says_so(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(DataError, match="holds no keys"):
        read_keys(path)
    with pytest.raises(DataError, match=r"holds no public keys|malformed"):
        read_auditor(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_auditor(tmp_path / "nothing")


def test_seeds_of_other_lengths_are_no_keys(office, tmp_path):
    path = tmp_path / PRIVATE_NAME
    for place in range(3):
        document = json.loads(path.read_text())
        document["seeds"][place] = document["seeds"][place][2:]
        other = tmp_path / f"other-{place}"
        other.write_text(json.dumps(document))
        other.chmod(0o600)
        with pytest.raises(DataError, match="holds no keys"):
            read_keys(other)
