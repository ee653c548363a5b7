"""The section `[stamps]`: off unless it is there, and no service without TLS or without an authority."""

from __future__ import annotations

import pytest

from parties.config import parse
from parties.errors import ConfigError
from parties.stamp_settings import StampSettings

URL = "https://stamps.example/tsr"


def parsed(folder, **stamps):
    document = {"party": {"name": "north"}, "listen": {"address": "127.0.0.1:0"}}
    return parse(document | stamps, folder / "duetto.toml").stamps


def test_it_is_off_unless_it_is_there(tmp_path):
    assert parsed(tmp_path) is None
    assert parsed(tmp_path, stamps={}) == StampSettings(every=24, url="", ca=None, seconds=30)


def test_a_service_and_its_authority(tmp_path):
    found = parsed(tmp_path, stamps={"url": URL, "ca": "ca.pem", "every": 6})
    assert (found.url, found.ca, found.every, found.host) == (URL, tmp_path / "ca.pem", 6, "stamps.example")
    assert parsed(tmp_path, stamps={"url": "http://[::1]:8/x", "ca": "ca.pem"}).host == "::1"


@pytest.mark.parametrize(
    ("stamps", "why"),
    [
        ({"url": URL}, "ca is missing"),
        ({"ca": "ca.pem"}, "url is missing"),
        ({"url": "http://stamps.example/tsr", "ca": "ca.pem"}, "has no TLS"),
        ({"url": "ftp://localhost/", "ca": "ca.pem"}, "url is not valid"),
        ({"url": "https://me:secret@stamps.example/", "ca": "ca.pem"}, "url is not valid"),
        ({"url": "https://stamps.example:x/", "ca": "ca.pem"}, "url is not valid"),
        ({"every": 0}, "every is below 1"),
        ({"every": 8761}, "every is above 8760"),
        ({"seconds": 301}, "seconds is above 300"),
        ({"hours": 3}, "not a known key"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, stamps, why):
    with pytest.raises(ConfigError, match=why) as caught:
        parsed(tmp_path, stamps=stamps)
    assert "duetto.toml, stamps" in str(caught.value)
