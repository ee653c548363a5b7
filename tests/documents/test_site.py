"""The site: all pages are in its menu, the reference has all names, and nothing is loaded from elsewhere."""

from __future__ import annotations

import logging
import pydoc
import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from mkdocs.config import load_config

import duetto

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md")}


@pytest.fixture(scope="module")
def config():
    return load_config(str(ROOT / "mkdocs.yml"))


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    loader = SourceFileLoader("site_pages", str(ROOT / "scripts" / "site_pages.py"))
    module = module_from_spec(spec_from_loader("site_pages", loader))
    loader.exec_module(module)
    return module


def pages(entry) -> list[str]:
    """The pages of a part of the menu."""
    if isinstance(entry, str):
        return [entry]
    return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in pages(one)]


def test_every_page_is_in_the_menu_once(config, hooks):
    there = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "examples" not in path.parts]
    assert sorted(pages(config["nav"])) == sorted([*there, *hooks.PAGES.values()])


def test_every_page_outside_docs_exists(hooks):
    assert all((ROOT / name).is_file() for name in hooks.PAGES)
    assert all((DOCS / folder).is_dir() for folder in hooks.FOLDERS)


def test_no_page_links_to_another_folder(hooks):
    """A site cannot show folders, so the hook has to know each."""
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    linked = {target for target in re.findall(r"\]\(([^)#:]+)", text) if (DOCS / target).is_dir()}
    assert linked == set(hooks.FOLDERS)


def test_the_reference_has_every_name_of_the_package():
    shown = {
        line.split(".")[-1]
        for text in REFERENCE.values()
        for line in re.findall(r"^::: (\S+)", text, re.MULTILINE)
    }
    errors = {name for name in duetto.__all__ if name.endswith("Error")}
    assert set(duetto.__all__) - shown <= {"AnonymizerError"} < errors | {"AnonymizerError"}
    assert "::: anonymizer.errors" in REFERENCE["anonymizer"]


@pytest.mark.parametrize(
    "name",
    sorted({name for text in REFERENCE.values() for name in re.findall(r"^::: (\S+)", text, re.MULTILINE)}),
)
def test_what_the_reference_names_exists(name):
    assert pydoc.locate(name) is not None


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://unpkg.com/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "<img alt='a' src='http://counter.example/1.png'>",
    ],
)
def test_a_page_that_loads_from_elsewhere_is_noticed(hooks, caplog, page):
    with caplog.at_level(logging.WARNING):
        hooks.on_post_page(page, SimpleNamespace(file=SimpleNamespace(src_uri="a.md")))
    assert "a.md loads something from elsewhere" in caplog.text


def test_a_page_with_links_is_fine(hooks, caplog):
    page = (
        '<a href="https://semver.org">versions</a> <img src="pictures/demo.svg"> <link href="assets/a.css">'
    )
    assert hooks.on_post_page(page, SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))) == page
    assert not caplog.text


def test_letters_are_the_readers_own(config):
    assert config["theme"]["font"] is False
