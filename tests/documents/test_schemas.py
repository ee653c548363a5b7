"""The JSON Schemas of `duetto schema` take every file of the documents, and refuse what readers refuse."""

from __future__ import annotations

import copy
import json
import tomllib
from datetime import date, datetime, time
from functools import cache

import jsonschema
import pytest
from click.testing import CliRunner

from parties.cli.main import duetto
from parties.cli.schema import SCHEMAS
from parties.policy import EXAMPLE
from tests.documents.test_blocks import BLOCKS, EXAMPLES, ROOT

OF_PARTS = {"docs/series.md": "series", "docs/documents.md": "sanitize", "docs/anonymizer.md": "anonymize"}
"""What the blocks of a page are parts of, where their keys do not say it."""


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    schema = SCHEMAS[kind]()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def plain(value):
    """A parsed TOML document as editors have it: dates are texts."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date | datetime | time) else value


def kind_of(document, page: str = "") -> str:
    for key, kind in (("job", "job"), ("rules", "policy"), ("persons", "persons"), ("datasets", "catalog")):
        if key in document and (key != "job" or "analysis" in document["job"]):
            return kind
    return OF_PARTS.get(page, "duetto")


def problems(kind: str, document, *, is_part: bool = False) -> list[str]:
    """What a schema has against a document; a part of one may lack what others have."""
    found = validator(kind).iter_errors(plain(document))
    return [one.message for one in found if not (is_part and one.validator == "required" and not one.path)]


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language == "toml"], ids=lambda one: one.id
)
def test_every_file_of_the_documents_fits_its_schema(block):
    document = tomllib.loads(block.text)
    kind = kind_of(document, block.page)
    assert not problems(kind, document, is_part=kind in ("duetto", "anonymize", "series", "sanitize"))


FILES = sorted(
    path
    for folder in (EXAMPLES, ROOT / "scripts" / "demo_files")
    for path in folder.rglob("*.toml")
    if path.name != "pyproject.toml"
)


@pytest.mark.parametrize("path", FILES, ids=lambda one: one.relative_to(ROOT).as_posix())
def test_every_example_fits_its_schema(path):
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    special = {"sanitize.toml": "sanitize", "purchases.toml": "series", "search.toml": "search"}
    kind = special.get(path.name) or ("anonymize" if "steps" in document else kind_of(document))
    assert not problems(kind, document)


def test_the_commented_rule_of_a_new_policy_fits():
    lines = "\n".join(line.removeprefix("#").strip() for line in EXAMPLE.splitlines()[3:])
    assert not problems("policy", tomllib.loads(lines))


RULE = {
    "name": "r", "analyses": ["statistics"], "peers": ["south"], "datasets": ["patients"],
    "columns": ["age"], "recipients": ["both"],
}  # fmt: skip
CONFIG = {"party": {"name": "north"}, "listen": {"address": "127.0.0.1:7443"}}
COLUMN = {"type": "integer", "lower": 0, "upper": 9}
JOB = {
    "job": {"analysis": "comparison", "alice": "north", "bob": "south", "recipients": ["alice"]},
    "parameters": {"type": "type 5", "bits": 8},
}
GOOD = {
    "policy": {"rules": [RULE]},
    "duetto": CONFIG,
    "catalog": {"datasets": {"d": {"source": "d.csv", "columns": {"x": COLUMN}}}},
    "job": JOB,
    "persons": {"persons": {"a": {"name": "A", "roles": ["steward"], "key": f"ed25519:{'A' * 43}="}}},
    "anonymize": {"roles": {"quasi_identifiers": ["age"]}, "steps": [{"method": "sampling", "rate": 0.5}]},
    "search": {"steps": [{"method": "sampling", "rate": {"from": 0.5, "to": 0.9, "points": 3}}]},
    "series": {
        "log": {"user": "u", "time": "t", "item": "i"},
        "windows": [{"start": date(2025, 1, 1), "end": date(2025, 2, 1)}],
        "steps": [{"method": "mdav", "k": 5}],
    },
    "sanitize": {"language": "en", "attack": {"keywords": 3}},
}


def changed(document, path: tuple, value):
    found = copy.deepcopy(document)
    holder = found
    for key in path[:-1]:
        holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
    if value is None:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return found


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_good_file_fits(kind):
    assert not problems(kind, GOOD[kind])


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("policy", ("rule",), []),
        ("policy", ("rules", 0, "colums"), ["age"]),
        ("policy", ("rules", 0, "peers"), None),
        ("policy", ("rules", 0, "recipients"), ["nobody"]),
        ("policy", ("rules", 0, "recipients"), []),
        ("policy", ("rules", 0, "minimum_rows"), -1),
        ("policy", ("rules", 0, "approval"), "somebody"),
        ("policy", ("rules", 0, "zeros"), "hidden"),
        ("policy", ("rules", 0, "may_state"), ["wher"]),
        ("policy", ("rules", 0, "epsilon_total"), True),
        ("policy", ("rules", 0, "has_name"), True),
        ("duetto", ("party",), None),
        ("duetto", ("limits", "sessions"), 65),
        ("duetto", ("limits", "sessions"), "4"),
        ("duetto", ("limits", "session"), 4),
        ("duetto", ("log", "level"), "loud"),
        ("duetto", ("peers",), [{"name": "south"}]),
        ("duetto", ("compute", "lanes"), 17),
        ("catalog", ("datasets", "d", "columns", "x", "type"), "interger"),
        ("catalog", ("datasets", "d", "columns", "x", "lower"), None),
        ("catalog", ("datasets", "d", "columns", "x", "scale"), 3),
        ("catalog", ("datasets", "d", "columns"), None),
        ("catalog", ("datasets", "d", "sorce"), "x"),
        ("catalog", ("datasets", "d", "maximum_rows"), 0),
        ("job", ("job", "bob"), None),
        ("job", ("job", "recipients"), ["carol"]),
        ("job", ("job", "titel"), "x"),
        ("job", ("limits", "seconds"), 0),
        ("job", ("network", "mbit"), 5),
        ("job", ("parameters", "bits"), 129),
        ("job", ("parameters", "bist"), 8),
        ("job", ("parameters", "engine"), "steam"),
        ("anonymize", ("steps", 0, "rte"), 0.5),
        ("anonymize", ("steps", 0, "rate"), "half"),
        ("anonymize", ("stepps",), []),
        ("anonymize", ("roles", "quasi"), ["age"]),
        ("anonymize", ("columns", "age"), {"type": "intger"}),
        ("anonymize", ("hierarchies", "age"), {"width": [5]}),
        ("search", ("steps", 0, "rte"), {"choices": [0.5]}),
        ("series", ("log", "user"), None),
        ("series", ("matrix", "cells"), "ternary"),
        ("sanitize", ("attack", "keywords"), 6),
        ("sanitize", ("language",), "nl"),
        ("sanitize", ("keep",), [{"document": "a.txt"}]),
    ],
)
def test_what_the_readers_refuse_does_not_fit(kind, path, value):
    assert problems(kind, changed(GOOD[kind], path, value))


@pytest.mark.parametrize(
    ("analysis", "parameters", "fits"),
    [
        ("statistics", {"epsilon": "1", "queries": [{"kind": "mean", "column": "age"}]}, True),
        ("statistics", {"epsilon": "1", "queries": [{"kind": "mean", "colum": "age"}]}, False),
        ("statistics", {"epsilon": "1", "queries": [{"kind": "mode", "column": "age"}]}, False),
        ("matching", {"method": "exact", "keys": ["id"]}, True),
        ("matching", {"method": "exact", "keys": []}, False),
        ("matching", {"method": "exact", "keys": ["id"], "output": "size", "epsilon": "1/2"}, True),
        ("matching", {"method": "exact", "keys": ["id"], "output": "sizes"}, False),
        ("clustering", {"clusters": 3, "columns": ["x"]}, True),
        ("clustering", {"clusters": 1, "columns": ["x"]}, False),
        ("clustering", {"clusters": 3, "columns": ["x"], "layout": "vertical"}, False),
        ("somebodys", {"anything": 3}, True),
    ],
)
def test_parameters_go_by_the_analysis(analysis, parameters, fits):
    document = changed(changed(JOB, ("job", "analysis"), analysis), ("parameters",), parameters)
    assert bool(problems("job", document)) is not fits


def test_the_command_prints_and_writes_it(tmp_path):
    printed = CliRunner().invoke(duetto, ["schema", "policy"])
    assert json.loads(printed.output) == SCHEMAS["policy"]()
    path = tmp_path / "policy.schema.json"
    told = CliRunner().invoke(duetto, ["schema", "policy", "-o", str(path), "--json"])
    assert json.loads(told.output) == {"success": True, "written": str(path)}
    assert json.loads(path.read_text(encoding="utf-8")) == SCHEMAS["policy"]()


def test_keys_are_explained():
    sessions = SCHEMAS["duetto"]()["properties"]["limits"]["properties"]["sessions"]
    assert sessions == {
        "type": "integer", "minimum": 1, "maximum": 64, "default": 4, "description": "sessions at once.",
    }  # fmt: skip
