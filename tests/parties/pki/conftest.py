"""Homes made with the commands' own code, once for all tests of this folder; each test changes copies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parties.config import Config, load
from parties.pki import home
from tests.parties.pki.homes import HERE


@pytest.fixture(scope="package")
def made(tmp_path_factory) -> Path:
    """A folder with north and south, who have not paired."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("north", "south"):
        home.make(name, folder / name, HERE, HERE, 2048)
    return folder


@pytest.fixture(scope="package")
def paired(made, tmp_path_factory) -> Path:
    """A folder with north and south, who have."""
    folder = tmp_path_factory.mktemp("paired")
    shutil.copytree(made, folder, dirs_exist_ok=True)
    for name, peer in (("north", "south"), ("south", "north")):
        home.add_peer(load(folder / name), home.own_pairing(load(folder / peer)))
    return folder


@pytest.fixture
def party(made, tmp_path) -> Config:
    """North without a peer."""
    shutil.copytree(made / "north", tmp_path / "north")
    return load(tmp_path / "north")


@pytest.fixture
def homes(paired, tmp_path) -> dict[str, Path]:
    """Two homes that have paired."""
    shutil.copytree(paired, tmp_path, dirs_exist_ok=True)
    return {name: tmp_path / name for name in ("north", "south")}
