from __future__ import annotations

import pytest

from smc.channel.vectors import ExpectedResidues
from smc.errors import DomainError, KeyMaterialError, PeerLost, ProtocolViolation, UsageError
from smc.forms import Form, Role
from smc.holdings import check_holding, check_range, join, part_of
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import Counts, exchange_counts
from smc.protocols.session import Session
from smc.values import KeyHolder, Nothing, Plain, Share, Value


def test_both_results_come_back() -> None:
    assert run_pair(lambda s: s.role, lambda s: s.role) == (Role.ALICE, Role.BOB)
    assert run_pair(lambda s: exchange_counts(s, [1, 2]), lambda s: exchange_counts(s, [3, 0])) == (
        [3, 0],
        [1, 2],
    )


def test_the_error_of_the_side_that_failed_is_raised_and_ends_the_other() -> None:
    def fails(session: Session) -> None:
        raise DomainError("mine")

    for alice, bob in (
        (fails, lambda s: exchange_counts(s, [1])),
        (lambda s: exchange_counts(s, [1]), fails),
    ):
        with pytest.raises(DomainError, match="mine"):
            run_pair(alice, bob, timeout=30)


def test_a_silent_peer_is_lost() -> None:
    def waits(session: Session) -> None:
        session.channel.recv(Counts, ExpectedResidues(2, 1))

    with pytest.raises(PeerLost):
        run_pair(waits, waits, timeout=0.1)
    with pytest.raises(ProtocolViolation):
        run_pair(waits, lambda s: None, timeout=0.1)


def test_keys_are_asked_for_only_where_needed() -> None:
    for use in (lambda s: s.own, lambda s: s.peer):
        with pytest.raises(KeyMaterialError, match="key"):
            run_pair(use, lambda s: None, timeout=0.1)


@pytest.mark.parametrize(
    ("value", "form", "message"),
    [
        (Plain([1]), Form.SS, "not Plain"),
        (Nothing(1), Form.PN, "not Nothing"),
        (Plain([8]), Form.PN, "outside"),
        (Plain([-1]), Form.PN, "outside"),
        (Share([5], 5), Form.SS, "outside"),
        (Share([4], 6), Form.SS, "another number than the plan says"),
        (KeyHolder(1), Form.ES, "not KeyHolder"),
    ],
)
def test_holdings_are_checked(value: Value, form: Form, message: str) -> None:
    def check() -> None:
        check_holding(value, form, Role.ALICE, 5, "x")
        check_range(value, 3, "x")

    with pytest.raises(DomainError, match=message):
        check()


@pytest.mark.parametrize("value", [Plain([1, 2, 3]), Share([1, 2, 3], 7), KeyHolder(3), Nothing(3)], ids=repr)
def test_holdings_are_cut_and_joined(value: Value) -> None:
    parts = [part_of(value, slice(0, 1)), part_of(value, slice(1, 3))]
    assert [len(part) for part in parts] == [1, 2]
    assert join(parts) == value


def test_holdings_do_not_show_their_content() -> None:
    assert "123456789" not in repr(Plain([123456789]))
    assert "123456789" not in repr(Share([123456789], 2**40))


def test_unequal_lengths_are_refused() -> None:
    from smc.forms import ComparisonType
    from smc.planning.route import plan_comparison
    from smc.planning.run import run_plan
    from smc.protocols.spec import Parameters

    plan = plan_comparison(ComparisonType.parse("PN-PN-PN"), Parameters(1, 8, 2048, 2048))
    for x, y in ((2, 1), (0, 0)):
        with pytest.raises(UsageError, match="the same number of values"):
            run_pair(
                lambda s, x=x, y=y: run_plan(plan, s, Plain([1] * x), Plain([1] * y)),
                lambda s, x=x, y=y: run_plan(plan, s, Nothing(x), Nothing(y)),
            )
