"""Tests name messages by their classes: with a name in quotes, a renamed message would go unseen by a test
that nothing of its kind was sent."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import modules, modules_saying, nodes


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """The classes of a module."""
    return (node for node in nodes(tree) if isinstance(node, ast.ClassDef))


def quoted(tree: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """The texts of a module that are among the names, but for classes of its own."""
    own = {node.name for node in classes(tree)}
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and node.value in names - own:
            yield f"{node.lineno}: {node.value}"


def test_no_message_is_named_in_quotes() -> None:
    names = frozenset(
        node.name
        for m in modules("smc")
        for node in classes(m.tree)
        if any(ast.unparse(base).rpartition(".")[2] == "Message" for base in node.bases)
    )
    assert len(names) > 30
    suspects = modules_saying((quote + name for name in names for quote in "'\""), "tests")
    wrong = [f"{m.path}:{text}" for m in suspects for text in quoted(m.tree, names)]
    assert not wrong, f"compare with the class: {wrong}"


@pytest.mark.parametrize(
    ("code", "found"), [("x == 'Hello'", 1), ("Hello.__name__", 0), ("class Hello: 'Hello'", 0)]
)
def test_a_name_in_quotes_is_found(code: str, found: int) -> None:
    assert len(list(quoted(ast.parse(code), frozenset({"Hello"})))) == found
