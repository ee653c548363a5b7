"""Every code block of README.md and `docs` is tried: files are parsed, programs run, commands read.

`scripts/check` runs the programs. A block of a kind that no test knows fails here, so that nobody shows what
was never tried.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import click
import pytest

from anonymizer.documents.specification import parse_sanitization
from anonymizer.errors import PluginError
from anonymizer.pipelines import spec as pipelines
from anonymizer.series.specification import parse_series
from commons.settings.toml import parse
from parties.catalog.declarations.declaration import load_catalog
from parties.cli.main import duetto
from parties.config import parse as parse_config
from parties.contracts.spec import parse_spec
from parties.errors import ConfigError
from parties.persons.declaration import parse_persons
from parties.policy.rules import parse_policy
from smc.analyses.registry import ANALYSES
from tests.documents.console import typed
from tests.parties.jobs.institutions import Institutions
from tests.parties.served import control

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    page: str
    number: int
    language: str
    text: str

    @property
    def id(self) -> str:
        return f"{Path(self.page).stem}-{self.number}"


def blocks() -> list[Block]:
    """All code blocks of README.md and `docs`."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        Block(page.relative_to(ROOT).as_posix(), number, language, text)
        for page in pages
        for number, (language, text) in enumerate(
            re.findall(
                r"^ *```(\w*)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
            )
        )
    ]


BLOCKS = blocks()
DRAWINGS = "docs/protocols.md"
"""Its blocks are drawings of messages, generated from records; `scripts/check` compares them."""

SHELL = MappingProxyType(
    {
        "README.md": (2, "tests/parties/test_demo.py, and the rows of docs/anonymizer.md"),
        "docs/anonymizer.md": (11, "tests/anonymizer/test_documentation.py runs them"),
        "docs/catalog.md": (1, "tests/parties/catalog/test_catalog_page.py compares their options"),
        "docs/covert.md": (1, "tests/parties/evidence/test_hostile_daemon.py runs it"),
        "docs/documents-direct.md": (
            2,
            "trains and measures for minutes, on documents that are not in the repository",
        ),
        "docs/documents.md": (2, "tests/anonymizer/documents runs `duetto sanitize` on the same folder"),
        "docs/first-hour.md": (3, "tests/parties/dashboard/test_browser.py runs them between two parties"),
        "docs/linkage.md": (2, "test_linkage_page.py and parties/cli/test_matching.py run them"),
        "docs/operations.md": (
            None,
            "tests/documents/test_tutorial.py runs them after the tutorial, and says which not",
        ),
        "docs/persons.md": (None, "tests/parties/persons/test_persons_page.py runs them at a party"),
        "docs/second-year.md": (
            None,
            "tests/parties/test_second_year_page.py runs them between two homes",
        ),
        "docs/series.md": (1, "tests/anonymizer/series/test_command.py runs it"),
        "docs/tutorial.md": (
            None,
            "tests/documents/test_tutorial.py runs them, and compares what they print",
        ),
    }
)
"""By page: how many blocks of commands there are (None for any number), and where they run, or why not."""

OTHER_COMMANDS = (
    "scripts/",
    "systemd-ask-password",
    "sudo",
    "cd",
    "podman",
    "openssl",
    "dask",
    "nft",
    "rsync",
)


def of(*languages: str) -> list:
    return [pytest.param(block, id=block.id) for block in BLOCKS if block.language in languages]


def test_every_block_has_a_kind():
    for block in BLOCKS:
        assert block.language in {"toml", "python", "", "console", "text", "json"}, block.id
        if block.language == "text":
            assert block.page == DRAWINGS, block.id


@pytest.mark.parametrize("block", of("json"))
def test_lines_are_objects(block):
    assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())


@pytest.mark.parametrize("block", of("toml"))
def test_files_are_read_by_their_parsers(block, tmp_path):
    document = tomllib.loads(block.text)
    match block:
        case Block() if "job" in document:
            spec = parse_spec(block.text)
            ANALYSES[spec.analysis].parse(spec.parameters)
        case Block() if "rules" in document:
            assert parse_policy(parse(block.text, "policy.toml", ConfigError), "policy.toml").rules
        case Block() if "persons" in document:
            assert parse_persons(block.text.encode()).persons
        case Block() if "datasets" in document:
            (tmp_path / "catalog.toml").write_text(block.text, encoding="utf-8")
            assert load_catalog(tmp_path / "catalog.toml").datasets
        case Block(page="docs/series.md"):
            parse_series(document)
        case Block(page="docs/documents.md"):
            whole = tomllib.loads((EXAMPLES / "sanitize.toml").read_text(encoding="utf-8"))
            parse_sanitization(whole | document if "title" not in document else document, EXAMPLES)
        case Block(page="docs/anonymizer.md") if "plugins" in document:
            with pytest.raises(PluginError, match="duetto-rounding"):  # nobody has installed it here
                pipelines.parse(document, EXAMPLES)
        case Block(page="docs/anonymizer.md"):
            release = tomllib.loads((EXAMPLES / "release.toml").read_text(encoding="utf-8"))
            pipelines.parse(release | document, EXAMPLES)
        case Block() if set(document) <= {
            "compute",
            "metrics",
            "limits",
            "jobs",
            "pools",
            "on_event",
            "dashboard",
            "sockets",
            "stamps",
        }:
            south = {"name": "south", "address": "127.0.0.1:7444", "pairing": "south.pair", "pin": "A"}
            party = {"party": {"name": "north"}, "listen": {"address": "127.0.0.1:7443"}, "peers": [south]}
            parse_config(party | document, tmp_path / "duetto.toml")
        case _:
            pytest.fail("no parser is known for this file")


@pytest.fixture
def two(tmp_path, monkeypatch):
    """North and south with the data of the tutorial, in a folder with its job and the examples."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    made = Institutions(tmp_path)
    ages = {"card": [f"{n:05}" for n in range(80)], "age": [20 + n % 60 for n in range(80)]}
    declared = {
        "card": {"type": "text"},
        "age": {"type": "integer", "lower": 0, "upper": 120, "unit": "years"},
    }
    for name in ("north", "south"):
        made.hold(name, ages, declared, dataset="patients", person="card")
    (job,) = [
        b.text for b in BLOCKS if b.page == "docs/tutorial.md" and b.text.startswith("# statistics.toml")
    ]
    (tmp_path / "statistics.toml").write_text(job, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUETTO_CONFIG", str(tmp_path / "north"))
    with ExitStack() as sockets:
        for name, manager in [*made.network.managers.items()]:
            sockets.enter_context(control(manager, tmp_path / name))
        yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({block.page for block in BLOCKS if block.language == "python"}))
def test_programs_run(page, two):
    """Those of one page one after the other, as a reader would type them."""
    names: dict[str, object] = {}
    for block in BLOCKS:
        if block.page == page and block.language == "python":
            exec(compile(block.text, block.id, "exec"), names)
    assert len(names) > 2


def test_pages_with_commands_are_known():
    counts: dict[str, int] = {}
    for block in BLOCKS:
        if block.language in ("", "console") and not block.text.startswith("["):
            counts[block.page] = counts.get(block.page, 0) + 1
    assert not set(counts) - set(SHELL)
    for page, (count, _) in SHELL.items():
        assert count is None or counts.get(page) == count, page


@pytest.mark.parametrize("block", of("", "console"))
def test_commands_are_those_of_the_program(block, tmp_path, monkeypatch):
    """Every word of them is read as the program reads it, but nothing is run."""
    monkeypatch.chdir(tmp_path)
    if block.text.startswith("["):
        assert tomllib.loads(block.text)  # parts of pyproject.toml and duetto.toml
        return
    for command_line in typed(block.text):
        line = command_line.line
        words = shlex.split(line, comments=True)
        words = [word for word in words if word != "&"]
        if not words or words[0].startswith(OTHER_COMMANDS):
            continue
        assert words.pop(0) == "duetto", line
        command: click.Command = duetto
        while isinstance(command, click.Group) and not (words[:1] == ["init"] and "data.csv" in words):
            found = command.get_command(click.Context(command), words[0])
            if found is None:
                break
            command = found
            words.pop(0)
        for word in words:
            if re.search(r"\.\w+$", word) and not Path(word).exists():
                Path(word).touch()
            elif re.fullmatch(r"[a-z]+", word):
                Path(word).mkdir(exist_ok=True)
        command.make_context(command.name, list(words))
