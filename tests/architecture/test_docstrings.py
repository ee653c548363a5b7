"""Every public name says what it is; every protocol says what it does, costs and shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from smc.registry import RECORDS
from tests.architecture.source import Module, modules

RECORDED = frozenset(record.module for record in RECORDS)
"""The modules whose text a record of the registry names."""

SECTIONS = ("Inputs", "Outputs", "Learns", "Assumes", "Cost", "Reference")
FIGURE = re.compile(r"^[ \t]+.*\b(Alice|Bob|owner|sender|receiver|chooser)\b", re.MULTILINE)
"""An indented line that names a party, above the sections."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_names(tree: ast.Module) -> Iterator[tuple[str, Documented]]:
    """The module, its public classes and functions, and the public methods of these classes."""
    yield "module", tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and is_public(node):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and is_public(node):
            for inner in node.body:
                if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and is_public(
                    inner
                ):
                    yield f"{node.name}.{inner.name}", inner


def is_public(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether readers meet the name: no underscore, and not one of several signatures of a function."""
    marks = {ast.unparse(mark).split(".")[-1] for mark in node.decorator_list}
    return not node.name.startswith("_") and not marks & {"overload", "override", "setter"}


def undocumented(tree: ast.Module) -> list[str]:
    """The public names without a docstring."""
    return [name for name, node in public_names(tree) if not (ast.get_docstring(node) or "").strip()]


def is_protocol(module: Module) -> bool:
    """Whether a module defines a protocol: a record of it, or the code of a role; in whatever room."""
    if module.name in RECORDED:
        return True
    defined = {node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    for node in module.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    return any(name in {"alice", "bob"} or re.fullmatch(r"(\w+_)?SPECS?(_\w+)?", name) for name in defined)


def missing_sections(docstring: str) -> list[str]:
    """The sections that a docstring lacks; each starts a line with its name and a colon."""
    missing = [
        section
        for section in SECTIONS
        if not re.search(rf"^\s*{section}:[^\S\n]*(\S|\n\s+\S)", docstring, re.MULTILINE)
    ]
    above = re.split(rf"^(?:{'|'.join(SECTIONS)}):", docstring, maxsplit=1, flags=re.MULTILINE)[0]
    return missing if FIGURE.search(above) else ["figure", *missing]


def test_public_names_are_documented() -> None:
    wrong = [f"{m.name}: {name}" for m in modules("smc", "parties") for name in undocumented(m.tree)]
    assert not wrong, "\n".join(wrong)


def test_protocols_have_all_sections() -> None:
    wrong = [
        f"{m.name} lacks {', '.join(missing)}"
        for m in modules("smc")
        if is_protocol(m) and (missing := missing_sections(ast.get_docstring(m.tree) or ""))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_missing_docstring_is_found() -> None:
    code = '"""M."""\nclass A:\n    """A."""\n    def f(self): ...\n    def _g(self): ...\ndef h(): ...'
    assert undocumented(ast.parse(code)) == ["A.f", "h"]


COMPLETE = "Title.\n\n    Alice --- x --> Bob\n\n" + "\n".join(f"{section}: words." for section in SECTIONS)


def test_a_complete_protocol_docstring_passes() -> None:
    assert missing_sections(COMPLETE) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_a_missing_or_empty_section_is_found(section: str) -> None:
    assert missing_sections(COMPLETE.replace(f"{section}: words.", "")) == [section]
    assert missing_sections(COMPLETE.replace(f"{section}: words.", f"{section}:")) == [section]


def test_a_missing_figure_is_found() -> None:
    assert missing_sections(COMPLETE.replace("    Alice", "Alice")) == ["figure"]


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("smc.protocols.comparison.tree", "SPEC = 1", True),
        ("smc.protocols.conversion.shares", "SS_TO_SE_SPEC: Spec = make()", True),
        ("smc.protocols.comparison.local", "SPEC_BOTH = 1", True),
        ("smc.protocols.baselines.product", "def alice(): ...", True),
        ("smc.protocols.comparison.labels", "def label(): ...", False),
        ("smc.secret.comparison.mux", "def label(): ...", True),
        ("smc.protocols.spec", "RECORD = 1", False),
    ],
)
def test_what_counts_as_a_protocol(name: str, code: str, expected: bool) -> None:
    module = modules("smc")[0]
    assert is_protocol(Module(name, module.path, ast.parse(code))) is expected
