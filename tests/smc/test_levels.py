"""What protocols and runs hold against a peer that deviates: the weakest step decides; none is left out."""

from __future__ import annotations

import importlib
import pkgutil
from itertools import product

import pytest

import smc
from smc import levels
from smc.channel.message import KINDS
from smc.forms import Form, Role, all_types
from smc.levels import level_of, level_of_run, records_of
from smc.network import LAN, Network
from smc.planning.plan import Plan
from smc.planning.route import plan_comparison
from smc.protocols.against import Against, weakest
from smc.protocols.spec import Cost, Parameters, Procedure, Setup
from smc.registry import RECORDS


@pytest.fixture(scope="module")
def senders():
    """All modules of smc that have kinds of messages."""
    for module in pkgutil.walk_packages(smc.__path__, "smc."):
        importlib.import_module(module.name)
    found = {path.rpartition(".")[0] for path in KINDS.values()}
    return {module for module in found if module.startswith("smc.")}


def record(against, *setups):
    made = tuple(Setup(str(place), print, Cost(), each) for place, each in enumerate(setups))
    return Procedure(name="any", module=__name__, cost=Cost, setups=made, against=against)


def test_the_weakest_decides():
    order = list(Against)
    for first, second in product(order, order):
        least = order[min(order.index(first), order.index(second))]
        assert weakest([first, second]) is least
        assert record(first, second).level is least
        assert record(second, first, Against.ACTIVE).level is least
    assert weakest([]) is Against.ACTIVE


def test_a_record_that_says_nothing_promises_nothing():
    assert Procedure(name="any", module=__name__, cost=Cost).level is Against.SEMI_HONEST
    assert Setup("any", print, Cost()).against is Against.SEMI_HONEST
    assert level_of("some.plugin") is Against.SEMI_HONEST
    assert level_of_run(["smc.protocols.coins", "some.plugin"]) is Against.SEMI_HONEST
    assert level_of_run(["smc.protocols.coins"]) is Against.ACTIVE
    assert level_of_run(["smc.protocols.coins", "smc.secret.lattice.matrices"]) is Against.PRIVATE


def test_every_kind_of_message_belongs_to_protocols_that_say_what_they_hold(senders):
    assert len(senders) > 40
    assert {module for module in senders if not records_of(module)} == set()


def test_helpers_send_and_have_no_records(senders):
    records = {each.module for each in RECORDS}
    names = {each.name for each in RECORDS}
    assert not levels._HELPERS.keys() & records
    assert levels._HELPERS.keys() <= senders
    assert set(levels._HELPERS.values()) <= names


ONE = Parameters(1, 32, 2048, 2048)
"""A single comparison, for which public keys take the least time."""
WITH_CIPHERTEXTS = [kind for kind in all_types() if {Form.ES, Form.SE} & {kind.x, kind.y, kind.delta}]
WITHOUT = [kind for kind in all_types() if kind not in WITH_CIPHERTEXTS]


@pytest.mark.parametrize("engine", ["paillier", "elgamal", "dgk"])
def test_public_key_routes_promise_nothing(engine):
    for kind in all_types():
        if not kind.is_trivial:
            assert plan_comparison(kind, ONE, engine=engine).against is Against.SEMI_HONEST
    assert level_of("smc.protocols.comparison.tree") is Against.SEMI_HONEST


@pytest.mark.parametrize(
    ("engine", "network", "modulus"),
    [
        ("auto", LAN, Role.ALICE),
        ("auto", Network(500, 0.01), Role.ALICE),
        ("auto", Network(500, 0.01), 1 << 32),
        ("oblivious", Network(500, 1), Role.ALICE),
    ],
    ids=str,
)
def test_routes_between_plain_and_shared_numbers_are_private_on_any_link(engine, network, modulus):
    """On slow links conversions by way of ciphertexts, and whole routes by them, would take less time."""
    moduli = {"x_modulus": modulus, "y_modulus": modulus, "delta_modulus": Role.BOB}
    for kind in WITHOUT:
        plan = plan_comparison(kind, ONE, engine=engine, network=network, **moduli)
        assert plan.against is not Against.SEMI_HONEST, plan.route


def test_routes_with_ciphertexts_promise_nothing_and_compare_by_transfers_inside():
    for kind in WITH_CIPHERTEXTS[::4]:
        plan = plan_comparison(kind, ONE, engine="auto", network=Network(500, 1))
        assert plan.against is Against.SEMI_HONEST
        assert plan.engine in {"none", "oblivious", "silent"}


def test_a_plan_holds_what_its_weakest_step_does():
    given = Parameters(1, 32, 2048, 2048)
    kinds = [kind for kind in all_types() if not kind.is_trivial]
    for kind in kinds[:: len(kinds) // 20]:
        plan = plan_comparison(kind, given)
        assert isinstance(plan, Plan)
        assert plan.against is weakest(step.spec.level for step in plan.steps())
        assert plan.against is weakest([plan.against, *(setup.against for setup in plan.setups)])


def test_sentences_name_the_level():
    for level in Against:
        assert f"({level})" in level.means
        assert level.means.startswith("Against a peer that deviates from the protocol: ")
        assert level.means.endswith(".")
