"""One name, one thing: no two public classes of a house are called the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.architecture.source import Module, modules

COVERED = ("anonymizer", "smc", "parties", "commons")
"""The houses in which a class is known by its name alone."""


def shared_names(found: Iterable[Module]) -> dict[str, list[str]]:
    """The public classes at the top of modules that share a name, with the modules that define them."""
    places: dict[str, list[str]] = defaultdict(list)
    for m in found:
        for node in m.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(m.name)
    return {name: where for name, where in places.items() if len(where) > 1}


@pytest.mark.parametrize("house", COVERED)
def test_classes_have_names_of_their_own(house: str) -> None:
    wrong = shared_names(modules(house))
    assert not wrong, "\n".join(f"{name}: {', '.join(where)}" for name, where in wrong.items())


def test_a_shared_name_is_found() -> None:
    first = next(iter(modules("anonymizer")))
    made = [Module(name, first.path, ast.parse("class Rows: ...\nclass _Own: ...")) for name in ("a", "b")]
    assert shared_names(made) == {"Rows": ["a", "b"]}
