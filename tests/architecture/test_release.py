"""The version stands in one place, the change log knows it, and the pins cover the requirements."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.architecture.source import PACKAGES, ROOT, modules, nodes


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The `[project]` table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_the_change_log_has_the_version(project: dict[str, Any]) -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = re.search(
        rf"^## \[{re.escape(project['version'])}\].*?(?=^## |\Z)", log, re.MULTILINE | re.DOTALL
    )
    assert entry, f"CHANGELOG.md has no entry for {project['version']}"
    assert re.search(r"^Wire changed: (yes|no)\b", entry.group(), re.MULTILINE)


def test_every_fragment_of_news_has_a_kind() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in settings["type"]}
    names = {path.name for path in (ROOT / settings["directory"]).iterdir()} - set(settings["ignore"])
    wrong = {name for name in names if not re.fullmatch(rf"[\w+-]+\.({'|'.join(kinds)})\.md", name)}
    assert not wrong, f"name these as {settings['directory']}/README.md says: {wrong}"


def test_the_version_is_not_repeated(project: dict[str, Any]) -> None:
    wrong = [
        f"{m.path}:{node.lineno}"
        for m in modules(*PACKAGES)
        for node in nodes(m.tree)
        if isinstance(node, ast.Constant) and node.value == project["version"]
    ]
    assert not wrong, f"ask importlib.metadata for the version: {wrong}"


def test_every_requirement_is_pinned(project: dict[str, Any]) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    exact = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    assert all(re.fullmatch(r"==[0-9][\w.]*", str(pin.specifier)) and pin.url is None for pin in pins)
    extras = project["optional-dependencies"].values()
    for text in [*project["dependencies"], *(line for extra in extras for line in extra)]:
        needed = Requirement(text)
        if needed.name != project["name"]:
            version = exact.get(canonicalize_name(needed.name))
            assert version is not None, f"constraints.txt does not pin {needed.name}"
            assert needed.specifier.contains(version), f"{needed} does not allow the pinned {version}"


def test_every_pinned_version_runs_on_the_oldest_python(project: dict[str, Any]) -> None:
    """A pin that wants a later patch release of Python keeps those with the one of their system out."""
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    wrong = {
        found.name: wanted
        for found in importlib.metadata.distributions()
        if (wanted := found.metadata.get("Requires-Python")) and not SpecifierSet(wanted).contains(oldest)
    }
    assert not wrong, f"pin earlier versions in constraints.txt: {wrong}"
