"""Results have one way out: nothing but `smc.analyses.disclosure` opens what is shared."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import imports, modules, nodes, within

OPENERS = frozenset({"open_words", "open_bits", "reveal"})
"""What turns shares into values; `smc.secret.opening.cost` and `cost_bits` do not."""

GATE = "smc.analyses.disclosure"
INSIDE_SECRET = frozenset({"smc.secret.opening", "smc.secret.shares", "smc.secret.bits"})
"""The modules of `smc.secret` that define opening; no other one opens anything, not even what is masked."""


def openings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every use of an opener: by call, as a value, or by import of its name."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in OPENERS:
            yield node.lineno, node.attr
        if isinstance(node, ast.Name) and node.id in OPENERS:
            yield node.lineno, node.id
    for line, target in imports(tree):
        if target.rpartition(".")[2] in OPENERS:
            yield line, target


def test_analyses_open_through_the_release_only() -> None:
    wrong = [
        f"{m.name}:{line} uses {name}; open it with the Release of the run"
        for m in modules("smc")
        if within(m.name, "smc.analyses") and not within(m.name, GATE)
        for line, name in openings(m.tree)
    ]
    assert not wrong, "\n".join(wrong)


def test_programs_over_secrets_open_nothing_on_the_way() -> None:
    wrong = [
        f"{m.name}:{line} uses {name}"
        for m in modules("smc")
        if within(m.name, "smc.secret") and m.name not in INSIDE_SECRET
        for line, name in openings(m.tree)
    ]
    assert not wrong, "\n".join(wrong)


def test_analyses_send_nothing_themselves() -> None:
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("smc")
        if within(m.name, "smc.analyses") and not within(m.name, GATE)
        for line, target in imports(m.tree)
        if within(target, "smc.channel.message")
    ]
    assert not wrong, "\n".join(wrong)


def test_in_the_room_of_the_release_only_the_release_opens() -> None:
    inside = {m.name for m in modules("smc") if within(m.name, GATE) and list(openings(m.tree))}
    assert inside == {"smc.analyses.disclosure.release"}


@pytest.mark.parametrize(
    "code",
    [
        "total.reveal(BOTH)",
        "opener = total.reveal",
        "from smc.secret.opening import open_words as peek",
        "from smc.secret import opening\nopening.open_bits(session, shares, BOTH)",
        "def f():\n    return (a * b).sum().reveal()",
    ],
)
def test_an_opening_is_found(code: str) -> None:
    assert list(openings(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ["release.ints(total, BOTH)", "opening.cost(3, BOTH)", "opening.cost_bits(1, BOTH)"]
)
def test_the_release_and_costs_are_allowed(code: str) -> None:
    assert not list(openings(ast.parse(code)))
