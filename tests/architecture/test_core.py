"""The trusted core is small, closed under imports, sorted for reading, and walled."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture import core
from tests.architecture.source import ROOT, Module, modules

KEPT_OUT = (
    *("smc.planning", "smc.tracing", "smc.ciphers", "smc.registry", "smc.protocols.spec"),
    *("smc.protocols.transfer_costs", "smc.oblivious.cost", "smc.oblivious.silent_transfers"),
    *("smc.secret.division", "smc.secret.products", "commons.settings.reader", "commons.settings.table"),
    *("parties.daemon", "parties.jobs", "parties.rpc"),
)
"""Planning, prices, ciphers, division, parsing and the daemon need not be read."""


def test_the_core_can_be_read() -> None:
    assert core.size() <= core.MOST_LINES


def test_every_file_is_in_one_chapter_and_every_chapter_has_files() -> None:
    assert [module.name for module in core.core() if core.chapter_of(module.name) is None] == []
    listed = [each.name for chapter in core.CHAPTERS for each in core.files_of(chapter)]
    assert sorted(listed) == [module.name for module in core.core()]
    assert all(list(core.files_of(chapter)) for chapter in core.CHAPTERS)


def test_the_core_is_closed_under_imports() -> None:
    known = {module.name: module for module in core.core()}
    everything = {m.name: m for m in modules("smc", "parties", "commons", "anonymizer", "duetto")}
    missing = {name for module in known.values() for name in core.needed(module, everything)} - {*known}
    assert not missing


@pytest.mark.parametrize("outside", KEPT_OUT)
def test_what_need_not_be_read_is_outside(outside: str) -> None:
    assert not [m.name for m in core.core() if m.name == outside or m.name.startswith(outside + ".")]


def test_what_a_file_uses_comes_before_it() -> None:
    everything = {m.name: m for m in core.core()}
    for chapter in core.CHAPTERS:
        seen: set[str] = set()
        names = {each.name for each in core.files_of(chapter)}
        for each in core.files_of(chapter):
            late = {*core.needed(each, everything)} & names - seen
            assert not late, f"{each.name} uses {late}"
            seen.add(each.name)


def test_every_wall_is_tested() -> None:
    assert [test for wall in core.WALLS for test in wall.tests if not core.has_test(test)] == []
    assert all(wall.tests for wall in core.WALLS)


@pytest.mark.parametrize(
    "test", ["architecture/test_core.py::test_nothing", "architecture/test_no.py::test_it"]
)
def test_a_lost_test_is_found(test: str) -> None:
    assert not core.has_test(test)


def test_the_page_names_every_file_and_its_length() -> None:
    page = (ROOT / "docs" / "core.md").read_text(encoding="utf-8")
    assert [m.name for m in core.core() if f"| `{m.path}` | {core.lines(m)} |" not in page] == []
    assert f"{core.size():,} lines" in page


def test_imports_inside_functions_count_and_those_for_annotations_do_not() -> None:
    code = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from smc.errors import UsageError\n"
        "def f():\n    from smc.forms import Role\n"
    )
    known = {m.name: m for m in modules("smc")}
    assert core.needed(Module("smc.some", Path("smc/some.py"), ast.parse(code)), known) == ["smc.forms"]
