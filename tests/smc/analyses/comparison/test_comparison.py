"""The analysis `comparison`: in one process, against its plain twin, and its errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from smc.analyses.comparison.columns import holding_of
from smc.analyses.comparison.question import Router
from smc.analyses.comparison.study import COMPARISON
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.errors import DomainError, DuettoError, UsageError
from smc.forms import ComparisonType, Form, Holding, Role, all_types
from smc.moduli import parse_modulus
from smc.pair import run_pair
from smc.planning.route import plan_comparison
from smc.protocols.exchange.records import counts_cost
from smc.protocols.spec import Parameters
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share
from tests.support.grids import TYPES, crossed, grid
from tests.support.holdings import Keys, deal, decrypt, number, opened
from tests.support.keys import toy

KEYS: Keys = (toy(Role.ALICE), toy(Role.BOB))
INTEGER = Schema("integer", lower=0, upper=255)
X, Y = [0, 1, 5, 200, 255, 7], [0, 2, 5, 100, 255, 8]


def columns(form: Form, name: str, values: list[int], modulus: str = "alice") -> tuple[Data, Data]:
    """Both sides' columns of one value in a form."""
    result: list[dict[str, Column]] = []
    for holding in deal(values, form, KEYS, parse_modulus(modulus)):
        match holding:
            case Plain(own):
                result.append({name: Column(own, INTEGER)})
            case Share(own, _):
                result.append({name: Column(own, Schema("share", modulus=modulus))})
            case Encrypted(own):
                result.append({name: Column([int(v) for v in own.values], Schema("ciphertext"))})
            case KeyHolder() | Nothing():
                result.append({})
    return result[0], result[1]


def recipients_of(form: Form) -> frozenset[Role]:
    return frozenset(r for r in Role if form.holding(r) not in (Holding.NOTHING, Holding.SECRET_KEY))


def run(parameters: Mapping[str, Any], alice: Data, bob: Data) -> tuple[Outcome, Outcome]:
    parsed = COMPARISON.parse(parameters)
    recipients = recipients_of(parsed.parameters.type.delta)
    return run_pair(
        lambda s: run_study(parsed, s, alice, recipients, NO_LIMITS.of_both),
        lambda s: run_study(parsed, s, bob, recipients, NO_LIMITS.of_both),
        keys=KEYS,
    )


def read(form: Form, outcomes: tuple[Outcome, Outcome]) -> list[int]:
    holdings = []
    for role, outcome in zip(Role, outcomes, strict=True):
        if form.holding(role) in (Holding.NOTHING, Holding.SECRET_KEY):
            assert not outcome.tables
            holdings.append(KeyHolder(6) if form.holding(role) is Holding.SECRET_KEY else Nothing(6))
            continue
        table = outcome.tables[0].columns
        assert table["row"] == [1, 2, 3, 4, 5, 6]
        if form.holding(role) is Holding.PLAIN:
            holdings.append(Plain(table["delta"]))
        elif form.holding(role) is Holding.SHARE:
            holdings.append(Share([int(v) for v in table["share"]], 2))
        else:
            key = KEYS[1 if role is Role.ALICE else 0]
            from smc.ciphers.ciphertexts import Ciphertexts

            return decrypt(key, Ciphertexts(key.public, [int(v, 16) for v in table["ciphertext"]]))
    return opened(form, holdings[0], holdings[1], KEYS, 2)


@pytest.mark.parametrize("kind", grid(all_types(), TYPES), ids=str)
def test_columns_in_every_form(kind) -> None:
    (xa, xb), (ya, yb) = columns(kind.x, "x", X), columns(kind.y, "y", Y)
    outcomes = run({"type": str(kind), "bits": 8}, {**xa, **ya}, {**xb, **yb})
    assert read(kind.delta, outcomes) == [int(a >= b) for a, b in zip(X, Y, strict=True)]


@pytest.mark.parametrize("name", ["PN-NP-PP", "PN-PP-SS", "SS-NP-PN", "SS-SS-SS", "PN-PN-NP"])
def test_agrees_with_the_plain_twin(name: str) -> None:
    parsed = COMPARISON.parse({"type": name, "bits": 8})
    kind = parsed.parameters.type
    (xa, xb), (ya, yb) = columns(kind.x, "x", X, "2^64"), columns(kind.y, "y", Y, "2^64")
    alice, bob = {**xa, **ya}, {**xb, **yb}
    joint = read(kind.delta, run({"type": name, "bits": 8}, alice, bob))
    assert joint == read(kind.delta, parsed.reference(alice, bob, recipients_of(kind.delta)))


def test_a_single_value_meets_a_column() -> None:
    outcomes = run({"type": "PN-NP-PP", "bits": 8}, {"x": Column(X, INTEGER)}, {"y": Column([100], INTEGER)})
    assert outcomes[0].tables[0].columns["delta"] == [0, 0, 0, 1, 1, 0]
    outcomes = run(
        {"type": "ES-NP-PP", "bits": 8}, columns(Form.ES, "x", [100])[0], {"y": Column(Y, INTEGER)}
    )
    assert outcomes[0].tables[0].columns["delta"] == [1, 1, 1, 1, 0, 1]


def test_a_public_number_meets_a_secret_column() -> None:
    alice, bob = columns(Form.SS, "y", Y)
    outcomes = run({"type": "PP-SS-PP", "bits": 8, "x": 100}, alice, bob)
    assert outcomes[0].tables[0].columns["delta"] == [1, 1, 1, 1, 0, 1]


def test_negative_numbers_by_offset() -> None:
    schema = Schema("integer", lower=-100, upper=50)
    outcomes = run(
        {"type": "PN-NP-NP", "bits": 8, "offset": -100},
        {"x": Column([-100, -5, 50], schema)},
        {"y": Column([-99, -5, -60], schema)},
    )
    assert outcomes[1].tables[0].columns["delta"] == [0, 1, 1]
    assert not outcomes[0].tables


def test_type_8_takes_encrypted_bits() -> None:
    bits = deal([5, 3], Form.SE, KEYS, bits=4)[1]
    assert isinstance(bits, Encrypted)
    x = Column([int(v) for v in bits.ciphertexts.values], Schema("ciphertext"))
    y = columns(Form.SE, "y", [4, 4])[1]
    outcomes = run({"type": "type 8", "bits": 4}, {}, {"x": x, **y})
    key = KEYS[0]
    from smc.ciphers.ciphertexts import Ciphertexts

    texts = outcomes[1].tables[0].columns["ciphertext"]
    assert decrypt(key, Ciphertexts(key.public, [int(t, 16) for t in texts])) == [1, 0]


def test_result_shares_modulo_another_number() -> None:
    outcomes = run(
        {"type": "PN-NP-SS", "bits": 8, "delta_modulus": "2^64"},
        {"x": Column(X, INTEGER)},
        {"y": Column(Y, INTEGER)},
    )
    shares = [[int(v) for v in outcome.tables[0].columns["share"]] for outcome in outcomes]
    assert [(a + b) % 2**64 for a, b in zip(*shares, strict=True)] == [1, 0, 1, 1, 1, 0]


def test_the_gate_stands_before_the_comparison() -> None:
    parsed = COMPARISON.parse({"type": "PN-NP-PP", "bits": 8})
    sent: list[int] = []

    def closed(channel) -> None:
        sent.append(channel.traffic.sent)
        raise UsageError("no budget")

    with pytest.raises(UsageError, match="no budget"):
        run_pair(
            lambda s: run_study(
                parsed, s, {"x": Column(X, INTEGER)}, frozenset(Role), NO_LIMITS.of_both, closed
            ),
            lambda s: run_study(parsed, s, {"y": Column(Y, INTEGER)}, frozenset(Role), NO_LIMITS.of_both),
            keys=KEYS,
        )
    given = Parameters(6, 8, 512, 512)
    setup = plan_comparison(parsed.parameters.type, given, engine=parsed.parameters.engine).setup
    assert sent == [counts_cost(2).alice_bytes + setup.alice_bytes]  # nothing of the values


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "lacks the key 'type'"),
        ({"type": "PN-NP"}, "is not a comparison type"),
        ({"type": 5}, "expected a text"),
        ({"type": "type 5", "bits": 0}, "out of range"),
        ({"type": "type 5", "bits": 129}, "out of range"),
        ({"type": "type 5", "bits": True}, "expected a whole number"),
        ({"type": "type 5", "bist": 8}, "Did you mean 'bits'"),
        ({"type": "type 5", "engine": "steam"}, "is unknown"),
        ({"type": "type 1", "offset": -5}, "only be taken off plain"),
        ({"type": "type 5", "x": 5}, "its form is PN"),
        ({"type": "PP-PP-PP", "x": 5, "y": 6}, "both x and y are public"),
        ({"type": "PP-SS-PP", "x": 300, "bits": 8}, "does not fit"),
        ({"type": "PN-NP-SS", "delta_modulus": "1"}, "not a share modulus"),
        ({"type": "PN-NP-SS", "delta_modulus": "9" * 400}, "not a share modulus"),
        ({"type": "PN-NP-SS", "delta_modulus": "2^999"}, "not a share modulus"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        COMPARISON.parse(parameters)


@pytest.mark.parametrize(
    ("name", "alice", "bob", "message"),
    [
        ("PN-NP-PP", Schema("category"), INTEGER, "alice's column x is declared as category"),
        ("PN-NP-PP", Schema("integer"), INTEGER, "no declared bounds"),
        ("PN-NP-PP", Schema("integer", lower=0, upper=256), INTEGER, "do not fit into 8 bits"),
        ("PN-NP-PP", Schema("integer", lower=-1, upper=2), INTEGER, "do not fit into 8 bits"),
        ("PN-NP-PP", Schema("decimal", scale=1, lower=0, upper=25), INTEGER, "different numbers of digits"),
        ("PN-NP-PP", Schema("integer", lower=0, upper=25, unit="mm"), INTEGER, "different units"),
        ("ES-NP-PP", INTEGER, INTEGER, "the type needs ciphertext"),
    ],
)
def test_columns_that_do_not_fit(name: str, alice: Schema, bob: Schema, message: str) -> None:
    parsed = COMPARISON.parse({"type": name, "bits": 8})
    with pytest.raises(UsageError, match=message):
        parsed.check({"x": alice}, {"y": bob})


def test_share_columns_of_different_moduli_do_not_fit() -> None:
    parsed = COMPARISON.parse({"type": "SS-NP-PP", "bits": 8})
    with pytest.raises(UsageError, match="shared modulo"):
        parsed.check(
            {"x": Schema("share", modulus="2^64")},
            {"x": Schema("share", modulus="2^32"), "y": INTEGER},
        )
    small = Schema("share", modulus="2^7")
    with pytest.raises(UsageError, match="no route"):
        parsed.check({"x": small}, {"x": small, "y": INTEGER})


@pytest.mark.parametrize("recipients", [set(), {Role.ALICE}, set(Role)])
def test_recipients_follow_the_type(recipients: set[Role]) -> None:
    parsed = COMPARISON.parse({"type": "type 5"})
    with pytest.raises(UsageError, match='goes to "bob"'):
        parsed.check_recipients(frozenset(recipients))
    parsed.check_recipients(frozenset({Role.BOB}))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [(X, Y[:3], "x has 6 rows and y has 3"), (X, [], "x has 6 rows and y has 0"), ([], [], "at least one")],
)
def test_lengths_that_do_not_fit(x: list[int], y: list[int], message: str) -> None:
    with pytest.raises(DuettoError, match=message):
        run({"type": "PN-NP-PP", "bits": 8}, {"x": Column(x, INTEGER)}, {"y": Column(y, INTEGER)})


def test_shares_of_different_lengths_do_not_fit() -> None:
    (xa, xb), y = columns(Form.SS, "x", X), {"y": Column(Y, INTEGER)}
    shorter = {"x": Column(xb["x"].values[:5], xb["x"].schema)}
    with pytest.raises(DomainError, match="hold a part of every row"):
        run({"type": "SS-NP-PN", "bits": 8}, xa, {**shorter, **y})


def test_what_is_no_ciphertext_is_refused() -> None:
    bad = {"x": Column([0, 5], Schema("ciphertext"))}
    with pytest.raises(DomainError, match="not a valid ciphertext"):
        run({"type": "ES-NP-PN", "bits": 8}, bad, {"y": Column(Y[:2], INTEGER)})


def test_values_outside_the_bits_are_refused() -> None:
    with pytest.raises(DomainError, match="outside") as caught:
        run({"type": "PN-NP-PP", "bits": 8}, {"x": Column([777], INTEGER)}, {"y": Column([5], INTEGER)})
    assert "777" not in str(caught.value)


DELTAS = {True: ["2", "2^64", "bob"], False: ["2"]}
"""Moduli of the result, where it is shared and where it is not."""
ROUTES = ["PN-NP-PP", "PN-NP-SS", "SS-SS-SS", "SE-SE-SE", "PP-SS-ES", "PN-SE-SS", "SS-NP-PN", "ES-SE-SE"]


@pytest.mark.parametrize(
    ("route", "engine"),
    crossed(
        [
            (name, delta)
            for name in ROUTES
            for delta in (["2", "2^64", "bob"] if name[-2:] == "SS" else ["2"])
        ],
        ["paillier", "oblivious", "silent", "elgamal", "auto"],
    ),
)
def test_estimate_says_what_a_run_costs(route: tuple[str, str], engine: str) -> None:
    """The whole job: row counts, plans, set-ups and the comparison, in exactly so many rounds."""
    name, delta = route
    kind = ComparisonType.parse(name)
    given = {"type": name, "bits": 8, "engine": engine, "delta_modulus": delta}
    if kind.x is Form.PP:
        given["x"] = 100
    parsed = COMPARISON.parse(given)
    (xa, xb), (ya, yb) = columns(kind.x, "x", X, "2^64"), columns(kind.y, "y", Y, "2^64")
    if kind.x is Form.PP:
        xa, xb = {}, {}
    schemas = {name: column.schema for name, column in {**xa, **xb, **ya, **yb}.items()}
    recipients = recipients_of(kind.delta)
    estimate = parsed.cost(schemas, recipients, RunSetting((6, 6), key_bits=KEYS[0].public.bits))

    def party(data: Data):
        def go(session):
            run_study(parsed, session, data, recipients, NO_LIMITS.of_both)
            return session.channel.traffic

        return go

    alice, bob = run_pair(party({**xa, **ya}), party({**xb, **yb}), keys=KEYS)
    assert (alice.sent, bob.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(alice.rounds, bob.rounds) == estimate.rounds


def test_leakage_follows_the_type() -> None:
    parsed = COMPARISON.parse({"type": "type 5"})
    leakage = parsed.leakage(frozenset({Role.BOB}))
    assert not leakage.alice
    assert "x >= y" in leakage.bob[0]
    assert number(Role.ALICE, KEYS) not in leakage.public


@pytest.mark.parametrize(
    ("values", "lower", "upper", "is_array"),
    [
        (np.array([-(2**63), 0, 2**63 - 1]), -(2**63), 2**63 - 1, True),
        (np.array([-5, 0, 7]), -5, 7, True),
        (np.array([3]), -5, 7, True),
        ([0, 2**64 - 1, 5], 0, 2**64 - 1, True),
        ([-(2**70), 0, 2**70], -(2**70), 2**70, False),
        (np.array([-6, 0, 7]), -5, 7, False),
    ],
)
def test_columns_become_arrays_of_words_where_they_fit_and_stay_exact_where_not(
    values, lower, upper, is_array, monkeypatch
):
    """Arrays are never made Python integers, which ten million of would take 1.4 GiB."""
    column = Column(values, Schema("integer", lower=lower, upper=upper))
    bits = (upper - lower).bit_length()
    parameters = COMPARISON.parse({"type": "PN-NP-SS", "bits": bits}).parameters
    parameters = replace(parameters, offset=lower)
    wanted = [int(value) - lower for value in values] * (3 if len(values) == 1 else 1)
    if is_array and isinstance(values, np.ndarray) and len(values) > 1:
        monkeypatch.setattr(Column, "integers", property(lambda _: pytest.fail("made Python integers")))
    found = holding_of(Role.ALICE, parameters.question, cast(Router, None), "x", column, len(wanted))
    assert isinstance(found, Plain)
    assert isinstance(found.values, np.ndarray) is is_array
    assert [int(value) for value in found.values] == wanted


@pytest.mark.parametrize("name", ["PN-NP-SS", "PN-NP-PP", "SS-SS-SS"])
def test_arrays_and_lists_have_the_same_result(name):
    kind = ComparisonType.parse(name)
    for made in (list, np.array):
        alice: dict[str, Column] = {}
        bob: dict[str, Column] = {}
        for form, column, values in ((kind.x, "x", X), (kind.y, "y", Y)):
            for own, side in zip(columns(form, column, values, "2^62"), (alice, bob), strict=True):
                side |= {key: Column(made(one.values), one.schema) for key, one in own.items()}
        cells = [o.tables[0].columns for o in run({"type": name, "bits": 8}, alice, bob) if o.tables]
        json.dumps(cells)
        found = (
            cells[0]["delta"] if "delta" in cells[0] else np.bitwise_xor(cells[0]["share"], cells[1]["share"])
        )
        assert list(found) == [int(x >= y) for x, y in zip(X, Y, strict=True)]
