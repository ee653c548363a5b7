"""What files may be called, how long they may be, and what they must not contain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import FOLDERS, PACKAGES, ROOT, files, is_generated, modules, nodes, top_files

LINES = 600
VAGUE = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})

_HOSTS = "|".join(["py" + r"pi\.org", "python" + r"hosted\.org", "conda" + r"\.anaconda", "/opt/" + "pypi"])
FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.)}\]])/(" + "|".join(["work", "root", "tmp"]) + r")\b(?!-)"
    ),
    "a package registry": re.compile(_HOSTS),
    "an unfinished place": re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b"),
}
"""Written in pieces, so that this file does not contain them."""


def all_files() -> Iterator[Path]:
    """Every file of the repository."""
    yield from files(*FOLDERS)
    yield from top_files()


def forbidden(text: str) -> list[str]:
    """Which forbidden texts occur, with their lines."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group()}"
        for what, pattern in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]


def asserts(tree: ast.AST) -> list[int]:
    """The lines with assert statements."""
    return [node.lineno for node in nodes(tree) if isinstance(node, ast.Assert)]


def test_no_file_is_too_long() -> None:
    sources = [p for p in files(*PACKAGES, "scripts") if p.suffix in {".py", ""} and not is_generated(p)]
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in sources}
    wrong = [f"{path} has {length} lines" for path, length in lengths.items() if length > LINES]
    assert not wrong, "\n".join([*wrong, "a file past 600 lines wants a look: is it one idea?"])


def test_names_say_something() -> None:
    wrong = [str(path) for path in files(*FOLDERS) if VAGUE & {Path(part).stem for part in path.parts}]
    assert not wrong, f"name the matter, not the drawer: {wrong}"


def test_no_assert_outside_tests() -> None:
    wrong = [f"{m.path}:{line}" for m in modules(*PACKAGES, "scripts") for line in asserts(m.tree)]
    assert not wrong, f"raise a DuettoError instead: {wrong}"


def test_no_forbidden_text() -> None:
    wrong = []
    for path in all_files():
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [f"{path}, {finding}" for finding in forbidden(text)]
    assert not wrong, "\n".join(wrong)


def test_scripts_can_be_run() -> None:
    wrong = []
    for path in [*files("scripts"), Path(".ci/run")]:
        is_program = (ROOT / path).read_bytes().startswith(b"#!")
        if is_program and not (ROOT / path).stat().st_mode & 0o111:
            wrong.append(str(path))
    assert not wrong, f"chmod +x {' '.join(wrong)}"


@pytest.mark.parametrize(
    "text",
    [
        "cd /" + "work/main",
        'open("/' + 'tmp/x")',
        "/ro" + "ot/key",
        "https://py" + "pi.org/simple",
        "# TO" + "DO",
    ],
)
def test_a_forbidden_text_is_found(text: str) -> None:
    assert forbidden(text)


@pytest.mark.parametrize(
    "text", ["home/work/x", 'tmp_path / "a"', "$dir/tmp", "a network/work item", "mkdocs"]
)
def test_a_harmless_text_is_not(text: str) -> None:
    assert not forbidden(text)


def test_an_assert_is_found() -> None:
    assert asserts(ast.parse("def f(x):\n    assert x")) == [2]
