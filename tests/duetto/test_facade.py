"""`import duetto`: every name is there, nothing heavy comes before it is used, and the examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import json
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import duetto
from smc.errors import DomainError, UsageError

HEAVY = {
    *("numpy", "scipy", "pandas", "polars", "pyarrow", "narwhals", "sklearn", "matplotlib", "opendp"),
    *("grpc", "google", "gmpy2", "cryptography", "coincurve", "rich", "phe", "sqlite3"),
}


def imported(code: str) -> tuple[set[str], dict[str, str]]:
    """The modules that a new process has after `code`, by their first names, and its variables of gRPC."""
    look = "import json, os, sys; print(json.dumps([sorted({m.partition('.')[0] for m in sys.modules}), "
    look += "{k: v for k, v in os.environ.items() if k.startswith('GRPC_')}]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{look}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PYTHONPATH": str(Path(duetto.__file__).parents[1])},
    )
    modules, variables = json.loads(done.stdout.splitlines()[-1])
    return set(modules), variables


def test_the_examples_of_the_package_run():
    found = doctest.testmod(duetto)
    assert found.attempted >= 9
    assert found.failed == 0


def test_importing_it_imports_nothing_heavy():
    modules, variables = imported("import duetto")
    assert modules & (HEAVY | {"smc", "parties", "anonymizer", "commons"}) == set()
    assert variables == {}


@pytest.mark.parametrize("code", ["import duetto; duetto.Party", "import parties.client"])
def test_the_client_leaves_the_settings_of_grpc_alone(code):
    modules, variables = imported(code)
    assert "grpc" in modules
    assert variables == {}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["anonymize", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(words):
    code = (
        f"from parties.cli.main import main\n"
        f"try:\n    main({words})\n"
        f"except SystemExit as end:\n    status = end.code\n"
        f"assert status == 0"
    )
    modules, _ = imported(code)
    assert "click" in modules
    assert modules & HEAVY == set()


def test_the_names_of_type_checkers_are_those_of_a_run():
    tree = ast.parse(Path(duetto.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        node.module: tuple(alias.name for alias in node.names)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    }
    assert declared == duetto._MODULES
    assert sorted(name for names in declared.values() for name in names) == sorted(duetto.__all__)
    for module, names in declared.items():
        for name in names:
            assert getattr(duetto, name) is getattr(importlib.import_module(module), name)
    assert dir(duetto) == sorted(duetto.__all__)  # nothing that the module imports for itself


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Partie'"):
        duetto.Partie  # noqa: B018


def test_without_the_libraries_of_the_anonymizer_it_says_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.delitem(duetto.__dict__, "Pipeline", raising=False)
    with pytest.raises(ImportError, match=r"needs sklearn.*'duetto\[anonymizer\]'"):
        duetto.Pipeline  # noqa: B018
    monkeypatch.delitem(duetto.__dict__, "Party", raising=False)
    with pytest.raises(ModuleNotFoundError):
        duetto.Party  # noqa: B018


def test_help_works_without_the_extras(monkeypatch):
    """It asks for every name that `dir` has."""

    def missing(name, *rest):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for name in ("Pipeline", "Table"):
        monkeypatch.delitem(duetto.__dict__, name, raising=False)
    found = importlib.import_module
    monkeypatch.setattr(
        importlib,
        "import_module",
        lambda name: missing("sklearn") if duetto.__dict__["_HOMES"]["Pipeline"] == name else found(name),
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    members = dict(inspect.getmembers(duetto))
    assert "Party" in members
    assert not {"Pipeline", "Table"} & set(members)
    assert "SecretInts" in pydoc.render_doc(duetto)


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_both_inputs_at_once(shape):
    values = {
        role: np.arange(np.prod(shape)).reshape(shape) * (3 if role is duetto.Role.ALICE else -2)
        for role in duetto.Role
    }

    def total(session):
        x, y = duetto.SecretInts.from_both(session, values[session.role], duetto.Bounds(-10, 20), 1)
        assert (x.owner, y.owner) == tuple(duetto.Role)
        assert (x.scale, y.scale) == (1, 1)
        return (x + y).reveal()

    for result in duetto.run_pair(total):
        assert (result == np.arange(np.prod(shape)).reshape(shape)).all()


@pytest.mark.parametrize(
    ("values", "kind"), [([21], DomainError), ([0.5], UsageError), ([[[1]]], UsageError), (7, UsageError)]
)
def test_inputs_that_do_not_fit_are_refused(values, kind):
    with pytest.raises(kind):
        duetto.run_pair(lambda s: duetto.SecretInts.from_both(s, values, duetto.Bounds(0, 20)))


@pytest.mark.parametrize("others", [[1, 2], [1, 2, 3, 4], [], [[1, 2, 3]], [[1], [2], [3]]])
def test_inputs_of_two_shapes_are_found_by_both(others):
    """Packed bits of 3 and of 2 comparisons have the same size, so nothing else would find it."""

    def differ(session):
        own = [1, 2, 3] if session.role is duetto.Role.ALICE else others
        with pytest.raises(DomainError, match="as many values"):
            duetto.SecretInts.from_both(session, own, duetto.Bounds(0, 20))
        return True

    assert duetto.run_pair(differ) == (True, True)
