"""An announced renewal is kept only if the paired key has signed it, and pinned only when accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from commons.exits import USAGE
from parties.cli.own_keys import keys as keys_group
from parties.config import load
from parties.errors import PairingError
from parties.pki import certificate, home, pairing
from parties.pki.offers import Renewals, accept, find_offer
from parties.pki.renewal import renew
from parties.ports.terms import Terms
from parties.rpc.greeting import check_greeting, make_greeting
from smc.errors import ProtocolViolation
from tests.parties.pki.dated import DAY, START, certified, ending_in, real_now, renewed
from tests.parties.pki.homes import HERE, pinned
from tests.parties.rpc.harness import SOUTH, dialling, listening


def announced(homes):
    renew(load(homes["north"]))
    return Renewals(load(homes["north"])).own


def test_nothing_is_announced_before_a_renewal_and_the_file_after_it(homes):
    assert Renewals(load(homes["north"])).own == b""
    own = announced(homes)
    assert own == home.own_pairing(load(homes["north"])).text.encode()
    greeting = make_greeting(SOUTH, Terms(), own)
    check_greeting(greeting, "south")


def test_a_person_accepts_what_was_announced(homes):
    config = load(homes["south"])
    heard = Renewals(config)
    heard.hear("north", announced(homes))
    assert heard.due() == ()
    assert len(certificate.split(pinned(homes["south"], "north").certificates)) == 1
    assert find_offer(config, config.peer("north")) is not None
    done = CliRunner().invoke(keys_group, ["accept", "north", "--config", str(homes["south"])])
    assert done.exit_code == 0, done.output
    assert len(certificate.split(pinned(homes["south"], "north").certificates)) == 2
    with pytest.raises(PairingError, match="no renewed certificate"):
        accept(load(homes["south"]), "north")


def test_a_rule_accepts(homes):
    path = homes["south"] / "duetto.toml"
    path.write_text(path.read_text().replace("[party]\n", "[party]\naccept_renewals = true\n"))
    heard = Renewals(load(homes["south"]))
    heard.hear("north", announced(homes))
    assert heard.due() == ("north",)
    assert heard.due() == ()


def test_a_greeting_announces_in_both_directions(homes):
    """Over TLS with the pinned certificates, as two daemons greet each other."""
    configs = {name: load(path) for name, path in homes.items()}
    for name in homes:
        renew(configs[name])
    known = {name: pinned(homes[other], name) for name, other in (("north", "south"), ("south", "north"))}
    own = {name: home.load_identity(config) for name, config in configs.items()}
    kept = {name: Renewals(config) for name, config in configs.items()}
    with (
        listening(own["south"], known["north"], renewals=kept["south"]) as south,
        dialling(own["north"], known["south"], south.server.address, renewals=kept["north"]) as way,
    ):
        assert all(
            find_offer(configs[name], configs[name].peer(other)) is None
            for name, other in (("north", "south"), ("south", "north"))
        )
        way.greet("south")
    for name, other in (("north", "south"), ("south", "north")):
        found = find_offer(configs[name], configs[name].peer(other))
        assert found is not None
        assert found.text == home.own_pairing(configs[other]).text
        assert accept(configs[name], other).pin == found.fingerprint


def test_what_is_no_renewal_is_not_kept(homes, caplog):
    config, identity = load(homes["south"]), home.load_identity(load(homes["north"]))
    for number, data in enumerate(
        (
            b"\xff" * 100,
            b"{}",
            pairing.describe(replace(renewed(identity), signing=SOUTH.signing), HERE).text.encode(),
            pairing.describe(certified(replace(identity, name="west"), real_now()), HERE).text.encode(),
            pairing.describe(renewed(identity), HERE, START - 9000 * DAY).text.encode(),
            pairing.describe(replace(renewed(identity), paillier=SOUTH.paillier), HERE).text.encode(),
        ),
        1,
    ):
        heard = Renewals(config)
        heard.hear("north", data)
        heard.hear("north", data)
        assert find_offer(config, config.peer("north")) is None
        assert caplog.text.count("is not taken") == number
    with pytest.raises(ProtocolViolation):
        check_greeting(make_greeting(SOUTH, Terms(), bytes(20000)), "south")


def test_an_earlier_end_is_for_a_person_to_accept(homes):
    """Or a certificate that is given up would be in nobody's reach before it ends by itself."""
    config, identity = load(homes["south"]), home.load_identity(load(homes["north"]))
    heard = Renewals(replace(config, accept_renewals=True))
    heard.hear("north", pairing.describe(ending_in(identity, 100 * DAY), HERE).text.encode())
    assert heard.due() == ()

    def accepted(*words, **given):
        return CliRunner().invoke(
            keys_group, ["accept", "north", "--config", str(homes["south"]), *words], **given
        )

    done = accepted(input="n\n")
    assert done.exit_code != 0
    assert "end earlier than those that are paired" in " ".join(done.stderr.split())
    assert accepted("--json").exit_code == USAGE
    assert accepted(input="y\n").exit_code == 0
    assert certificate.days_left(pinned(homes["south"], "north").certificates) < 101


def test_junk_that_differs_each_time_is_looked_at_once_a_minute(homes, caplog, monkeypatch):
    """Before, each of 1,023 junk renewals was a line of the log, and a proof to check if it was signed."""
    now, looked = [0.0], []
    heard = Renewals(load(homes["south"]), clock=lambda: now[0])
    parse = pairing.parse
    monkeypatch.setattr(pairing, "parse", lambda text: (looked.append(text), parse(text))[1])
    for number in range(1000):
        now[0] += 0.25
        heard.hear("north", b"{}" + b" " * number)
        heard.hear("north", b"{}")
    assert len(looked) == len(caplog.messages) == 5
    now[0] += 60
    heard.hear("north", announced(homes))
    assert find_offer(load(homes["south"]), load(homes["south"]).peer("north")) is not None
