"""The files for containers: what they name is there, and their commands are commands of duetto.

They are not built here: that needs a builder and a registry.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from parties.cli.main import duetto

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "containers"
_CONTAINERFILE = (FOLDER / "Containerfile").read_text()
_COMPOSE = (FOLDER / "compose.yaml").read_text()
COMMANDS = re.compile(r'\[("duetto"[^\]]*)\]')


def commands():
    for file in (FOLDER / "Containerfile", FOLDER / "compose.yaml"):
        for found in COMMANDS.findall(file.read_text()):
            yield json.loads(f"[{found}]")


def test_each_file_has_a_command():
    assert [words[-1] for words in commands()] == ["health", "start", "start"]
    assert _COMPOSE.count("*party") == 1  # the second party has the command of the first


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_commands_parse(words):
    command: click.Command = duetto
    context = click.Context(duetto, info_name="duetto")
    for word in words[1:]:
        assert isinstance(command, click.Group)
        command = command.get_command(context, word)
        assert command is not None, word
    command.make_context(words[-1], [])


def test_what_is_installed_and_copied_exists():
    text = (FOLDER / "Containerfile").read_text()
    (extras,) = re.findall(r"'\.\[([a-z,]+)\]'", text)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras.split(",")} <= known.keys()
    assert (ROOT / "constraints.txt").is_file()
    assert re.search(r"^USER duetto$", text, re.MULTILINE)
    assert (FOLDER / "../..").resolve() == ROOT
    compose = (FOLDER / "compose.yaml").read_text()
    assert "context: ../.." in compose
    assert "dockerfile: docs/containers/Containerfile" in compose
    assert "DUETTO_CONFIG=/home/party" in text
    assert compose.count(":/home/party:Z") == 2


def stages():
    """The instructions of each stage of the Containerfile."""
    return [part.splitlines() for part in re.split(r"^FROM ", _CONTAINERFILE, flags=re.MULTILINE)[1:]]


def test_the_base_is_one_version_and_the_same_in_both_stages():
    (base,) = re.findall(r"^ARG PYTHON=(\S+)$", _CONTAINERFILE, re.MULTILINE)
    assert re.fullmatch(r"docker\.io/library/python:3\.1[123]\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?", base)
    assert [stage[0].split()[0] for stage in stages()] == ["${PYTHON}"] * 2


def kernel_check():
    (line,) = re.findall(r"^RUN DUETTO_KERNELS=native /duetto/bin/python -c '(.*)'$", _CONTAINERFILE, re.M)
    return line


@pytest.mark.parametrize("there", [True, False])
def test_an_image_without_compiled_kernels_is_not_made(there):
    """The compiler comes before the installation, and what looks for the kernels fails without them."""
    built, made = ("\n".join(stage) for stage in stages())
    assert built.index("apt-get install") < built.index("pip install") < built.index("DUETTO_KERNELS")
    assert " gcc " in built
    assert "gcc" not in made
    # Not in /source, whose own packages would be found instead of the installed ones.
    assert "WORKDIR /\n" in built[built.index("pip install") :]
    hide = "" if there else "import smc.oblivious.native_kernels as n; n.library = lambda: None; "
    hide += "" if there else "import smc.oblivious.kernels as k; k.library = lambda: None; "
    environment = {**os.environ, "DUETTO_KERNELS": "native", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", hide + kernel_check()],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if there and "no compiled" in done.stderr:
        pytest.skip("there are no compiled kernels here")
    assert (done.returncode == 0) is there, done.stderr


def test_an_image_has_nothing_under_a_licence_that_holds_for_the_whole():
    built = "\n".join(stages()[0])
    assert built.index("pip install") < built.index("pip uninstall -y phe")


def is_sent(path):
    """Whether a builder gets a file, by the rules of `.containerignore`: the last one that fits decides."""
    sent = True
    for rule in (ROOT / ".containerignore").read_text().splitlines():
        if not rule or rule.startswith("#"):
            continue
        pattern = rule.lstrip("!")
        parts = path.split("/")
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        if pattern.startswith("**/"):
            fits = any(fnmatch.fnmatchcase(part, pattern[3:]) for part in parts)
        else:
            fits = any(fnmatch.fnmatchcase(place, pattern) and "/" not in place for place in above)
        sent = rule.startswith("!") if fits else sent
    return sent


def test_a_builder_gets_what_it_needs_and_no_keys():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = [name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]]
    needed = ["pyproject.toml", "constraints.txt", "README.md", "LICENSE"]
    assert all(is_sent(path) for path in [*needed, *(f"{name}/__init__.py" for name in packages)])
    assert is_sent("smc/oblivious/kernels.c")
    for path in (
        *(
            "docs/containers/north/keys/paillier.json",
            ".git/config",
            ".venv/bin/python",
            "north/ledger.jsonl",
        ),
        *(
            "smc/oblivious/_kernels.abi3.so",
            "parties/__pycache__/config.cpython-312.pyc",
            "tests/conftest.py",
        ),
    ):
        assert not is_sent(path), path
    assert (ROOT / ".dockerignore").read_text() == (ROOT / ".containerignore").read_text()


@pytest.mark.parametrize(
    "line", ["read_only: true", "pids_limit: ", "mem_limit: ", "tmpfs: ", 'cap_drop: ["ALL"]']
)
def test_a_container_is_bounded(line):
    assert line in _COMPOSE
    assert "<<: *party" in _COMPOSE
