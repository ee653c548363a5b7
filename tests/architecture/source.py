"""The source tree as the architecture tests read it: files, modules, imports. Nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("smc", "parties", "anonymizer", "commons", "duetto")
FOLDERS = (*PACKAGES, "proto", "tests", "scripts", "docs", ".ci")
GENERATED = Path("parties/rpc/pb")
NOT_OURS = frozenset({".coverage", ".git"})
"""Files that tools leave at the root; `.git` is one in a linked worktree."""


@dataclass(frozen=True)
class Module:
    """One Python file, parsed."""

    name: str
    path: Path
    tree: ast.Module


def files(*folders: str) -> Iterator[Path]:
    """The files below `folders`, relative to the root, without what tools leave behind."""
    return (path for folder in folders for path in _files_below(folder))


@cache
def _files_below(folder: str) -> tuple[Path, ...]:
    return tuple(
        path.relative_to(ROOT)
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix != ".pyc" and "__pycache__" not in path.parts and path.is_file()
    )


def top_files() -> Iterator[Path]:
    """The documents and settings at the root."""
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and path.suffix in {"", ".md", ".toml", ".txt"} and path.name not in NOT_OURS:
            yield path.relative_to(ROOT)


def is_generated(path: Path) -> bool:
    """Whether the protobuf compiler wrote the file."""
    return path.is_relative_to(GENERATED)


def module_name(path: Path) -> str:
    """The dotted name of a Python file; a package is named by its folder."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def module(path: Path) -> Module:
    """A Python file, parsed once."""
    tree = ast.parse(_text(path), str(path))
    return Module(module_name(path), path, tree)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree, walked once: most tests look at every node of every module."""
    return tuple(ast.walk(tree))


def python_files(*packages: str) -> Iterator[Path]:
    """The Python files of `packages`, without generated code."""
    return (path for path in files(*packages) if path.suffix == ".py" and not is_generated(path))


@cache
def modules(*packages: str) -> tuple[Module, ...]:
    """The same, parsed; not to be called where tests are collected, which every worker does."""
    return tuple(module(path) for path in python_files(*packages))


def modules_saying(words: Iterable[str], *packages: str) -> Iterator[Module]:
    """Of these modules those whose text has one of the words: only they are parsed."""
    one = re.compile("|".join(map(re.escape, words)))
    return (module(path) for path in python_files(*packages) if one.search(_text(path)))


@cache
def _text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def imports(tree: ast.AST) -> tuple[tuple[int, str], ...]:
    """Line and dotted name of everything a module imports, also inside functions.

    `from a import b` counts as `a.b`, since b may be a module; a relative import starts with a dot.
    """
    return tuple(_imports(tree))


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def called(call: ast.Call) -> str:
    """The last name of what is called; empty if it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def within(name: str, package: str) -> bool:
    """Whether the dotted `name` is `package` or lies in it."""
    return name == package or name.startswith(package + ".")
