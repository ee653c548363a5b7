"""What a peer says of its size goes through one gate."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import imports, modules, nodes

GATE = "smc.protocols.exchange.row_counts"
NAME, TYPE = "peer_count", "RowCount"


def unchecked(tree: ast.AST) -> Iterator[str]:
    """Functions that take the peer's number of rows as something else than a checked count."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef):
            for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if each.arg == NAME and (each.annotation is None or ast.unparse(each.annotation) != TYPE):
                    yield f"{node.name}:{each.lineno}"


def test_whoever_makes_room_for_the_peers_rows_asks_for_a_checked_count() -> None:
    found = {module.name: list(unchecked(module.tree)) for module in modules("smc")}
    assert not {name: places for name, places in found.items() if places}


def test_row_counts_are_received_in_one_place() -> None:
    users = {
        module.name
        for module in modules("smc")
        if any(name == f"{GATE}.Counts" for _, name in imports(module.tree))
    }
    assert not users


@pytest.mark.parametrize(
    ("code", "count"), [("peer_count: int", 1), ("peer_count", 1), ("peer_count: RowCount", 0), ("n: int", 0)]
)
def test_an_unchecked_count_is_found(code: str, count: int) -> None:
    assert len(list(unchecked(ast.parse(f"def f({code}): ...")))) == count
