"""What `scripts/list_messages` finds, read once for all tests of a run that look at messages."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.architecture import source


@cache
def script() -> ModuleType:
    """The script, as a module that shares the parsed files of the other tests."""
    loader = SourceFileLoader("list_messages", str(source.ROOT / "scripts" / "list_messages"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up there
    loader.exec_module(module)
    module.tree = tree  # type: ignore[attr-defined]
    return module


def tree(path: Path) -> ast.Module:
    """A file, parsed once if it is one of the repository."""
    ours = path.is_relative_to(source.ROOT)
    return source.module(path.relative_to(source.ROOT)).tree if ours else ast.parse(path.read_text("utf-8"))


@cache
def house_errors() -> Any:
    """The classes of errors of the packages."""
    return script().house_errors()


@cache
def messages_of(package: str) -> tuple[Any, ...]:
    """All messages of a package."""
    paths = script().python_files([package])
    return tuple(one for path in paths for one in script().messages_of(path, house_errors()))
