"""No circle of folders: what imports a folder, on whatever way, is not imported by it.

The table of floors in `test_imports.py` says which room may know which; this test needs no table. It counts
every import, also those inside functions and those for types only.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.architecture.source import Module, imports, modules, within

COVERED = ("smc", "parties", "anonymizer", "commons")
"""The houses without circles; one house is one folder at the root."""

Arrows = dict[str, dict[str, list[str]]]
"""Of each folder the folders that it imports, and the imports that say so."""


def target_module(target: str, names: frozenset[str]) -> str | None:
    """The module of `names` that an import reaches: `a.b.C` is a name in `a.b`."""
    while target and target not in names:
        target = target.rpartition(".")[0]
    return target or None


def folder_of(name: str, folders: frozenset[str]) -> str:
    """The folder in which a module lies; a package in itself, a file at the root as well."""
    folder = name.rpartition(".")[0]
    return name if name in folders or "." not in folder else folder


def child_of(name: str, folder: str) -> str | None:
    """The file or folder directly in `folder` that holds a module; None for the folder and for others."""
    if name == folder or not within(name, folder):
        return None
    return ".".join(name.split(".")[: folder.count(".") + 2])


def folders_in(found: Iterable[Module]) -> frozenset[str]:
    """All packages among modules."""
    return frozenset(m.name for m in found if m.path.name == "__init__.py")


def arrows_of_folders(found: tuple[Module, ...]) -> Arrows:
    """Which folder imports which, each folder without those inside of it."""
    folders = folders_in(found)
    return _arrows(found, lambda name: folder_of(name, folders))


def arrows_inside(found: tuple[Module, ...], folder: str) -> Arrows:
    """Which file or folder directly in `folder` imports which other one there."""
    return _arrows(found, lambda name: child_of(name, folder))


@cache
def reached(found: tuple[Module, ...]) -> tuple[tuple[str, int, str], ...]:
    """Every import of one of these modules by another: who imports, in which line, and what."""
    names = frozenset(m.name for m in found)
    return tuple(
        (m.name, line, target)
        for m in found
        for line, imported in imports(m.tree)
        if (target := target_module(imported, names)) is not None
    )


def _arrows(found: tuple[Module, ...], place: Callable[[str], str | None]) -> Arrows:
    arrows: Arrows = defaultdict(lambda: defaultdict(list))
    for name, line, target in reached(found):
        start, end = place(name), place(target)
        if start is not None and end is not None and start != end:
            arrows[start][end].append(f"{name}:{line} imports {target}")
    return arrows


def circle(arrows: Arrows) -> list[str]:
    """The imports of one circle; empty if there is none."""
    try:
        TopologicalSorter({start: set(ends) for start, ends in arrows.items()}).prepare()
    except CycleError as problem:
        # graphlib gives the circle from what is imported to what imports it
        way = problem.args[1][::-1]
        return [arrows[start][end][0] for start, end in pairwise(way)]
    return []


@pytest.mark.parametrize("house", COVERED)
def test_folders_make_no_circle(house: str) -> None:
    found = circle(arrows_of_folders(modules(house)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("house", COVERED)
def test_nothing_inside_of_a_folder_makes_a_circle(house: str) -> None:
    for folder in sorted(folders_in(modules(house))):
        found = circle(arrows_inside(modules(house), folder))
        assert not found, "\n".join(found)


def _house(**codes: str) -> tuple[Module, ...]:
    """Modules `h.<room>.<file>` from codes by `room_file`, each room a package."""
    files = {f"h/{name.replace('_', '/')}.py": code for name, code in codes.items()}
    inits = {f"{Path(path).parent.as_posix()}/__init__.py": "" for path in files}
    return tuple(
        Module(
            ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__"), Path(path), ast.parse(code)
        )
        for path, code in (files | inits).items()
    )


@pytest.mark.parametrize(
    "back",
    [
        "from h.high.top import X",
        "def late():\n    import h.high.top",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from h.high import top",
    ],
)
def test_a_circle_is_found(back: str) -> None:
    found = _house(low_ground="", low_stairs=back, high_top="from h.low import ground")
    assert len(circle(arrows_of_folders(found))) == 2
    assert len(circle(arrows_inside(found, "h"))) == 2


def test_a_circle_over_three_folders_is_found() -> None:
    found = _house(a_x="import h.b.x", b_x="import h.c.x", b_y="", c_x="import h.a.y", a_y="")
    assert len(circle(arrows_of_folders(found))) == 3


def test_arrows_that_point_down_are_no_circle() -> None:
    found = _house(a_x="import h.b.x\nimport h.c.x", b_x="import h.c.x", c_x="import numpy")
    assert not circle(arrows_of_folders(found))
    assert not circle(arrows_inside(found, "h"))
