"""Analyses of other programs: loaded only where the configuration names them, and in every certificate."""

from __future__ import annotations

import hashlib
import importlib
import sys
from dataclasses import replace
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from parties.certificates.program import code_digest, program
from parties.errors import ConfigError, JobError
from parties.plugins import load_plugins, with_plugins
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import PERSONS
from smc.errors import DuettoError
from smc.testing import Case, check_analysis
from tests.parties.jobs.institutions import Institutions, job
from tests.support.plugins import installed_example

NAME = "duetto-signs"
NUMBER = {"type": "integer", "lower": 0, "upper": 100}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example, installed as anybody would, without a network."""
    return installed_example("analysis_plugin", tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def reached(installed, monkeypatch):
    """The example in reach of this process for one test."""
    monkeypatch.syspath_prepend(str(installed))
    importlib.invalidate_caches()
    yield installed
    sys.modules.pop("duetto_signs", None)


@pytest.fixture
def plugged(reached, tmp_path, monkeypatch):
    """Two parties whose configurations name the plug-in."""
    config = Institutions.config
    monkeypatch.setattr(
        Institutions, "config", lambda self, name: replace(config(self, name), plugins=(NAME,))
    )
    made = Institutions(tmp_path)
    yield made
    made.close()


def hold(parties, x, y, **changed):
    declared = {**NUMBER, **changed}
    parties.hold("north", {"x": x}, {"x": declared})
    parties.hold("south", {"y": y}, {"y": declared})
    for name in ("north", "south"):
        parties.allow(name, exact_aggregates=True, analyses=["signs"])


def signs(**more):
    return job("signs", {}, {"alice": ["x"], "bob": ["y"]}, **more)


def test_a_job_of_a_plugin_runs_and_its_certificate_says_so(plugged, reached):
    hold(plugged, [1, 25, 30, 44], [10, 20, 30, 40])
    run = plugged.run(signs())
    assert run.tables("north") == {"signs": {"above": [2], "below": [1]}} == run.plain_tables("south")
    certificate = plugged.network.managers["north"].certificate(run.job_id)["certificate"]
    (stated,) = certificate["program"]["plugins"]
    content = hashlib.sha256((reached / "duetto_signs.py").read_bytes()).hexdigest()
    lines = f"{content}  duetto_signs.py\n"
    assert stated == {"name": NAME, "version": "1.0", "code": hashlib.sha256(lines.encode()).hexdigest()}
    assert certificate["program"]["code"] == code_digest(load_plugins([NAME])) != code_digest()


def test_rows_that_would_no_longer_be_paired_are_refused(plugged):
    """With rows left out on either side x would be above y in no row, and right is one."""
    hold(plugged, [41, "", 3, 4], [10, 20, "", 40], missing="drop")
    manager = plugged.network.managers["north"]
    with pytest.raises(DuettoError, match="pairs the rows of both sides by their position"):
        manager.submit(plugged.file(signs()).read_text())


def test_limits_hold_for_plugins(plugged):
    hold(plugged, [1, 2, 3, 4], [10, 20, 30, 40])
    plugged.allow("south", exact_aggregates=True, analyses=["signs"], minimum_group=5)
    with pytest.raises(DuettoError) as caught:
        plugged.submit(signs())
    assert caught.value.stable_code == "disclosure"


def test_the_case_of_the_checks_is_that_of_the_job(plugged):
    hold(plugged, [1, 2, 3, 4], [10, 20, 30, 40])
    sides = [
        {name: column for name, column in plugged.data(party, signs()).items() if name != PERSONS}
        for party in ("north", "south")
    ]
    assert check_analysis(with_plugins(load_plugins([NAME]))["signs"], Case({}, *sides))


def test_what_is_installed_is_not_loaded_by_itself(reached, institutions):
    assert "duetto_signs" not in sys.modules
    hold(institutions, [1, 2], [3, 4])
    with pytest.raises(JobError, match="no analysis 'signs'"):
        institutions.submit(signs())
    assert "duetto_signs" not in sys.modules
    assert set(with_plugins(())) == set(ANALYSES)


@pytest.mark.parametrize(
    ("name", "said"),
    [("duetto-no-such", "not installed"), ("numpy", "offers no analyses"), ("", "not installed")],
)
def test_what_cannot_be_a_plugin_is_named(name, said):
    with pytest.raises(ConfigError, match=said) as caught:
        load_plugins([name])
    assert "[plugins]" in caught.value.hint


ODD = """
class Odd:
    name = "odd"
    always_matches = False
    def parse(self, parameters):
        {parse}
ODD = Odd()
"""
"""An analysis whose parse is to be filled in."""


def strange(folder: Path, code: str, entry: str, files: tuple[str, ...] = ("strange.py",)) -> None:
    """An installed distribution, without pip."""
    (folder / "strange.py").write_text(code)
    notes = folder / "strange-2.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 2\n")
    (notes / "entry_points.txt").write_text(f"[duetto.analyses]\n{entry}\n")
    (notes / "RECORD").write_text("".join(f"{file},,\n" for file in (*files, "strange-2.dist-info/METADATA")))


@pytest.fixture
def reach(tmp_path, monkeypatch):
    """Makes the distribution `strange`, in reach of this process for one test."""

    def make(code: str, entry: str = "odd = strange:ODD", files: tuple[str, ...] = ("strange.py",)) -> None:
        strange(tmp_path, code, entry, files)
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()

    yield make
    sys.modules.pop("strange", None)


@pytest.mark.parametrize(
    ("code", "entry", "said"),
    [
        ("1 / 0", "odd = strange:ODD", "cannot be loaded: ZeroDivisionError"),
        ("ODD = 3", "odd = strange:ODD", "is not an analysis"),
        ("ODD = 3", "odd = strange:EVEN", "cannot be loaded: AttributeError"),
        (
            "class Odd:\n    name = 'even'\n    always_matches = False\n"
            "    def parse(self, parameters): ...\nODD = Odd()",
            "odd = strange:ODD",
            "is named 'even'",
        ),
        ("import sys; sys.exit(0)", "odd = strange:ODD", "cannot be loaded: SystemExit"),
        (
            "class Odd:\n    always_matches = False\n    name = property(lambda self: 1 / 0)\n"
            "    def parse(self, parameters): ...\nODD = Odd()",
            "odd = strange:ODD",
            "cannot be loaded: ZeroDivisionError",
        ),
        (
            "class Odd:\n    name = 'odd'\n    always_matches = 'no'\n    parse = 3\nODD = Odd()",
            "odd = strange:ODD",
            "is not an analysis",
        ),
    ],
)
def test_what_a_plugin_does_wrong_is_named(reach, code, entry, said):
    reach(code, entry)
    with pytest.raises(ConfigError, match=said):
        load_plugins(["strange"])


def test_one_that_offers_two_of_a_name_is_refused(reach):
    reach(ODD.format(parse="return None"), "odd = strange:ODD\nodd = strange:Odd")
    with pytest.raises(ConfigError, match="offers an analysis 'odd', which strange has already"):
        load_plugins(["strange"])


def test_code_of_another_distribution_is_refused(reach, reached):
    """Its digest would not be in the certificate."""
    reach("from duetto_signs import SIGNS", "signs = strange:SIGNS")
    with pytest.raises(
        ConfigError, match="duetto_signs, is not among the files that strange was installed with"
    ):
        load_plugins(["strange"])


def test_an_editable_installation_is_refused(reach, tmp_path, monkeypatch):
    """It lists a Python file, too: the finder that leads to the code, and no digest would cover the code."""
    reach("import duetto_finder", files=("duetto_finder.py",))
    (tmp_path / "duetto_finder.py").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "strange.py").write_text(ODD.format(parse="return None"))
    monkeypatch.syspath_prepend(str(elsewhere))
    importlib.invalidate_caches()
    with pytest.raises(ConfigError, match="such as in editable form"):
        load_plugins(["strange"])


def test_an_installation_that_lacks_a_file_is_refused(reach):
    reach(ODD.format(parse="return None"), files=("strange.py", "strange_more.py"))
    with pytest.raises(ConfigError, match=r"without its file strange_more\.py"):
        load_plugins(["strange"])


def test_it_is_refused_where_python_does_not_list_what_is_gone(reach, monkeypatch):
    """So do Python 3.12 and `importlib_metadata`, which takes the place of the standard library's finder."""
    reach(ODD.format(parse="return None"), files=("strange.py", "strange_more.py"))
    every = Distribution.files.fget
    there = property(lambda self: [one for one in every(self) or () if one.locate().exists()])
    monkeypatch.setattr(Distribution, "files", there)
    with pytest.raises(ConfigError, match=r"without its file strange_more\.py"):
        load_plugins(["strange"])


@pytest.mark.parametrize(
    ("parse", "said"),
    [("return None", "parse returns a NoneType"), ("return {}['x']", "parse raises KeyError")],
)
def test_a_defect_of_a_plugin_is_called_so(reach, parse, said):
    reach(ODD.format(parse=parse))
    with pytest.raises(JobError, match=f"analysis 'odd' of strange has a defect: {said}"):
        with_plugins(load_plugins(["strange"]))["odd"].parse({})


def test_an_analysis_need_not_be_hashable(reach):
    reach(ODD.format(parse="return None") + "Odd.__hash__ = None\n")
    loaded = load_plugins(["strange"])
    assert program(loaded)["plugins"] == [loaded[0].document()]


def test_a_name_that_somebody_has_is_refused(reach, reached):
    (plugin,) = load_plugins([NAME])
    with pytest.raises(ConfigError, match="offers an analysis 'signs', which duetto-signs has already"):
        with_plugins([plugin, plugin])
    reach(ODD.format(parse="return None").replace('"odd"', '"comparison"'), "comparison = strange:ODD")
    with pytest.raises(
        ConfigError, match="strange offers an analysis 'comparison', which duetto has already"
    ):
        with_plugins(load_plugins(["strange"]))
