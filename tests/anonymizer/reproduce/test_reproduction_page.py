"""The page that the scripts of reproductions write their sections to."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[3] / "scripts" / "reproduce"


@pytest.fixture(scope="module")
def page():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("page")
    sys.path.remove(str(FOLDER))


def test_a_section_replaces_its_older_one_where_it_stands(page, tmp_path):
    (tmp_path / "reproduction.md").write_text(
        "# Reproduction\n\n## One\n\nold\n\n### Deep\n\n## Two\n\nkept\n"
    )
    for _ in range(2):
        page.write(tmp_path, "## One", "## One\n\nnew\n", {})
        page.write(tmp_path, "## Three", "## Three\n\nlast", {})
    text = (tmp_path / "reproduction.md").read_text()
    assert text == "# Reproduction\n\n## One\n\nnew\n\n## Two\n\nkept\n\n## Three\n\nlast\n"


def test_a_page_is_made_where_there_is_none(page, tmp_path):
    page.write(tmp_path / "new", "## One", "## One\n\ntext", {})
    assert (tmp_path / "new" / "reproduction.md").read_text() == "# Reproduction\n\n## One\n\ntext\n"


def test_the_same_figures_give_the_same_files(page, tmp_path):
    found = []
    for _ in range(2):
        figure = Figure()
        figure.subplots().plot([1, 2], [3, 4], label="a line")
        page.write(tmp_path, "## One", "## One", {"drawing": figure})
        found.append((tmp_path / "reproduction" / "drawing.svg").read_bytes())
    assert found[0] == found[1]
