"""docs/catalog.md: its example is valid, and its tables name exactly the keys that the parser knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commons.settings.table import StrictTable
from parties.catalog.columns.columns import TYPES
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.declarations.tables import FILES, KINDS
from parties.catalog.sources.databases import DRIVERS
from parties.cli.drafts import add
from parties.errors import ConfigError

PAGE = Path(__file__).parents[3] / "docs" / "catalog.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(head: str) -> str:
    return TEXT.split(f"\n## {head}\n")[1].split("\n## ")[0]


def named(head: str) -> set[str]:
    """The keys in the first column of the table of a section."""
    cells = re.findall(r"^\| (`[^|]*) \|", section(head), re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The keys that the parser asks of data sets and of columns, over all kinds and types."""
    found: dict[str, set[str]] = {"dataset": set(), "column": set()}
    close = StrictTable.close

    def noted(table):
        kind = "column" if ", column " in table.place else "dataset" if ", data set " in table.place else ""
        if kind:
            found[kind] |= table._asked
        close(table)

    monkeypatch.setattr(StrictTable, "close", noted)
    secret = tmp_path / "url"
    secret.write_text("sqlite:///a.db")
    secret.chmod(0o600)
    sources = {
        **dict.fromkeys(("csv", "excel", "parquet"), 'source = "a"'),
        "sql": 'url_file = "url"\nquery = "select 1"',
        "value": "values = { c = 1 }",
    }
    fields = {
        **dict.fromkeys(("integer", "date"), "lower = 2000-01-01\nupper = 2001-01-01"),
        "decimal": "scale = 1\nlower = 0\nupper = 1",
        "category": 'values = ["a"]',
        "share": 'modulus = "2"',
    }
    fields["integer"] = "lower = 0\nupper = 1"
    for kind in KINDS:
        for type_ in TYPES:
            column = f'[datasets.d.columns.c]\ntype = "{type_}"\n{fields.get(type_, "")}\n'
            (tmp_path / "catalog.toml").write_text(
                f'[datasets.d]\nkind = "{kind}"\n{sources[kind]}\n{column}'
            )
            load_catalog(tmp_path / "catalog.toml")
    return found


def test_the_tables_name_the_keys_that_the_parser_knows(asked):
    assert named("Keys of a data set") == asked["dataset"]
    assert named("Keys of a column") == asked["column"]


def test_kinds_types_endings_and_drivers_are_complete():
    sets, columns = section("Keys of a data set"), section("Keys of a column")
    assert all(f"`{one}`" in sets for one in (*KINDS, *FILES, *DRIVERS))
    assert all(f"`{one}`" in columns for one in TYPES)


def test_options_of_data_add_are_complete():
    known = {option for parameter in add.params for option in parameter.opts if option.startswith("--")}
    shown = set(re.findall(r"--[a-z][a-z-]+", section("From a file to an entry")))
    assert known - {"--config", "--json"} == shown


def test_the_example_is_valid(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "catalog.toml").write_text(block)
    catalog = load_catalog(tmp_path / "catalog.toml")
    assert [*catalog.datasets] == ["patients", "visits", "limit"]
    for word in ("delimiter", "decimal", "date_format"):
        (tmp_path / "catalog.toml").write_text(block.replace(word, word + "s", 1))
        with pytest.raises(ConfigError, match=f"'{word}s' is not a known key"):
            load_catalog(tmp_path / "catalog.toml")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (PAGE.parent / target).exists()
