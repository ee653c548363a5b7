"""Kinds of messages: what the wire calls them does not hang on how the code is arranged."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.message import KINDS, Message
from smc.channel.vectors import ExpectedResidues, Residues
from smc.errors import ProtocolViolation
from smc.protocols.exchange.row_counts import Counts


@dataclass(frozen=True, slots=True)
class Before(Message, kind="test-renamed"):
    values: Residues


def renamed() -> type[Message]:
    """The same message after its class got another name in another module."""

    class After(Before, kind="test-other"):
        pass

    After._kind = Before.kind()
    return After


def test_a_message_is_known_by_its_kind_and_not_by_its_class() -> None:
    left, right = memory_pair(0.1)
    Channel(left).send(Before(Residues([5], 10)))
    assert Channel(right).recv(renamed(), ExpectedResidues(10, 1)) == [5]


def test_another_kind_of_the_same_shape_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Twin(Message, kind="test-twin"):
        values: Residues

    left, right = memory_pair(0.1)
    Channel(left).send(Before(Residues([5], 10)))
    with pytest.raises(ProtocolViolation, match="test-twin was expected"):
        Channel(right).recv(Twin, ExpectedResidues(10, 1))


@pytest.mark.parametrize("kind", ["", "end", "abort", "With-Capitals", "under_score", "-a", "a-", "a" * 41])
def test_a_message_without_a_good_kind_cannot_be_written(kind: str) -> None:
    with pytest.raises(TypeError, match="needs a kind"):
        type("Nameless", (Message,), {}, kind=kind)


def test_a_subclass_needs_a_kind_of_its_own() -> None:
    with pytest.raises(TypeError, match="needs a kind"):
        type("Child", (Before,), {})


def test_no_two_messages_have_one_kind() -> None:
    with pytest.raises(TypeError, match="has the kind 'row-counts' of"):
        type("Taken", (Message,), {}, kind=Counts.kind())
    assert KINDS["row-counts"] == "smc.protocols.exchange.row_counts.Counts"
