"""Methods of other programs: loaded only if a specification names them, recorded in what they make."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from anonymizer.errors import PluginError, SpecError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.plugins import GROUP, load_methods
from anonymizer.pipelines import spec
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.foreign import code_of, code_of_distribution
from anonymizer.releases.manifest import FORMAT, Manifest
from anonymizer.report.cautions import cautions
from anonymizer.testing import check_method
from anonymizer.testing.people import everyone
from commons.plugins import digest_of, installed_files
from parties.cli.main import main
from tests.anonymizer.testing.test_conformance import Sound
from tests.support.plugins import EXAMPLES, installed_example


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example, installed as anybody would, without a network."""
    return installed_example("method_plugin", tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def reachable(monkeypatch):
    """Puts a folder of installed packages in reach of this process for one test."""
    before = set(sys.modules)

    def reach(folder: Path) -> None:
        monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()

    yield reach
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and name.startswith(("duetto_rounding", "strange")):
            del sys.modules[name]


def ran(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


def test_a_release_says_which_foreign_code_made_it(installed, reachable, tmp_path, capsys):
    reachable(installed)
    out, page = tmp_path / "out.csv", tmp_path / "report.html"
    rules = EXAMPLES / "method_plugin" / "release.toml"
    data = shutil.copy(EXAMPLES / "patients.csv", tmp_path)  # what is released is recorded beside the table
    command = ("anonymize", data, "--spec", rules, "-o", out, "--report", page, "--json")
    assert ran(*command) == 0
    said = json.loads(capsys.readouterr().out)
    assert any("duetto-rounding 1.0" in warning for warning in said["warnings"])
    assert "duetto-rounding 1.0" in page.read_text()
    assert "Rounds numbers to the nearest multiple" in page.read_text()
    manifest = Manifest.from_json(Path(said["manifest"]).read_text())
    (code,) = manifest.code
    assert (code.name, code.version) == ("duetto-rounding", "1.0")
    # the same by hand, as a reader of the manifest would check it
    lines = [
        f"{hashlib.sha256((installed / name).read_bytes()).hexdigest()}  {name}\n"
        for name in installed_files(distribution("duetto-rounding"))
    ]
    assert code.sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert any(line.endswith("  duetto_rounding.py\n") for line in lines)
    ages = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
    assert {int(age) % 10 for age in ages} == {0}


def test_the_example_does_what_every_method_has_to_do(installed, reachable):
    reachable(installed)
    methods = load_methods(("duetto-rounding",), {"rounding"})
    assert check_method(methods["rounding"])
    with pytest.raises(SpecError, match="to is -1"):
        spec.make_method({"method": "rounding", "to": -1.0}, "here", methods)


def test_nothing_is_loaded_because_it_is_installed(installed, reachable):
    reachable(installed)
    document = {"roles": {"quasi_identifiers": ["age"]}, "steps": [{"method": "rounding"}]}
    with pytest.raises(SpecError, match="there is no method 'rounding'"):
        spec.parse(document, Path())
    spec.parse({**document, "steps": [{"method": "generalization"}]}, Path())
    assert "duetto_rounding" not in sys.modules
    with pytest.raises(PluginError, match="No step asks"):
        spec.parse(
            {
                **document,
                "steps": [{"method": "generalization"}],
                "plugins": {"methods": ["duetto-rounding"]},
            },
            Path(),
        )
    assert "duetto_rounding" not in sys.modules
    found = spec.parse({**document, "plugins": {"methods": ["duetto-rounding"]}}, Path())
    assert "duetto_rounding" in sys.modules
    assert found.digest != spec.parse({**document, "steps": [{"method": "mdav"}]}, Path()).digest


def test_the_digest_is_of_the_code(installed, reachable, tmp_path):
    shutil.copytree(installed, tmp_path / "copy")
    reachable(tmp_path / "copy")
    before = digest_of(installed_files(distribution("duetto-rounding")))
    shutil.rmtree(tmp_path / "copy" / "__pycache__", ignore_errors=True)
    load_methods(("duetto-rounding",), {"rounding"})
    assert digest_of(installed_files(distribution("duetto-rounding"))) == before
    code = tmp_path / "copy" / "duetto_rounding.py"
    code.write_text(code.read_text() + "\n")
    assert digest_of(installed_files(distribution("duetto-rounding"))) != before


def made_up(folder: Path, code: str, *points: str, module: str = "strange") -> None:
    """A distribution as an installer leaves it."""
    info = folder / "strange-2.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n" + "\n".join(points) + "\n")
    (info / "RECORD").write_text(f"{module}.py,,\nstrange-2.0.dist-info/METADATA,,\n")


SOUND = (
    "from tests.anonymizer.testing.test_conformance import Sound\nclass Own(Sound):\n    name = {name!r}\n"
)


@pytest.mark.parametrize(
    ("code", "points", "words"),
    [
        ("import nothing_of_this_name", ["x = strange:Own"], "cannot be loaded: ModuleNotFoundError"),
        ("Own = 1", ["x = strange:Own"], "not a method of the anonymizer"),
        ("class Own: pass", ["x = strange:Own"], "not a method of the anonymizer"),
        (SOUND.format(name="y"), ["x = strange:Own"], "'y'"),
        (SOUND.format(name="noise"), ["noise = strange:Own"], "which duetto has already"),
        (
            "from tests.anonymizer.testing.test_conformance import Silent\n"
            "class Own(Silent):\n    name = 'x'\n",
            ["x = strange:Own"],
            "does not state random, keeps_rows",
        ),
        (
            "from tests.anonymizer.testing.test_conformance import Sound as Own\nOwn.name = 'tens'",
            ["tens = strange:Own"],
            "not among the files",
        ),
        ("from x import (", ["x = strange:Own"], "SyntaxError"),
        ("import sys; sys.exit(0)", ["x = strange:Own"], "cannot be loaded: SystemExit"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_refused_in_words(tmp_path, reachable, code, points, words):
    made_up(tmp_path, code, *points)
    reachable(tmp_path)
    with pytest.raises(PluginError, match=words.replace("(", r"\(")) as found:
        load_methods(("strange",), {one.partition(" ")[0] for one in points})
    assert found.value.hint


def test_an_installation_that_lacks_a_file_is_refused(tmp_path, reachable):
    """Its digest would be that of another program."""
    made_up(tmp_path, SOUND.format(name="x"), "x = strange:Own")
    record = tmp_path / "strange-2.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + "strange_more.py,,\n")
    reachable(tmp_path)
    with pytest.raises(PluginError, match=r"without its file strange_more\.py"):
        load_methods(("strange",), {"x"})


def test_a_sound_one_that_was_made_up_is_loaded(tmp_path, reachable):
    made_up(tmp_path, SOUND.format(name="x"), "x = strange:Own")
    reachable(tmp_path)
    assert load_methods(("strange",), {"x"})["x"].name == "x"
    assert code_of(load_methods(("strange",), {"x"})["x"]) == code_of_distribution(distribution("strange"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-such-distribution", "is not installed"),
        ("../duetto", "is not installed"),
        ("numpy", "offers no methods"),
    ],
)
def test_a_distribution_without_methods_is_refused(name, words):
    with pytest.raises(PluginError, match=words) as found:
        load_methods((name,), {"x"})
    assert found.value.hint


@pytest.mark.parametrize("given", ["duetto-rounding", [1], [""], {"a": 1}])
def test_the_table_of_plug_ins_is_checked(given):
    document = {"steps": [{"method": "mdav"}], "plugins": {"methods": given}}
    with pytest.raises(SpecError, match="plugins"):
        spec.parse(document, Path())
    with pytest.raises(SpecError, match="'digests'"):
        spec.parse({**document, "plugins": {"digests": []}}, Path())


def test_a_wrong_plug_in_ends_the_command_as_a_wrong_specification(tmp_path, capsys):
    rules = (EXAMPLES / "method_plugin" / "release.toml").read_text().replace("duetto-rounding", "nowhere")
    (tmp_path / "s.toml").write_text(rules)
    data = shutil.copy(EXAMPLES / "patients.csv", tmp_path)
    words = ("anonymize", data, "--spec", tmp_path / "s.toml", "-o", tmp_path / "o.csv")
    assert ran(*words, "--json") == 78
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], bool(error["hint"])) == ("plugin", True)
    assert not (tmp_path / "o.csv").exists()


def test_a_method_of_the_user_is_recorded_in_python_as_well():
    pipeline = Pipeline(steps=[("tens", Sound()), ("again", Sound())])
    release = pipeline.release(everyone())
    (code,) = release.manifest.code
    assert code.name == "tests.anonymizer.testing.test_conformance"
    assert code.sha256 == hashlib.sha256(Path(sys.modules[code.name].__file__).read_bytes()).hexdigest()
    assert any(code.name in one for one in cautions(everyone(), release.table, pipeline=pipeline))
    assert Manifest.from_json(release.manifest.to_json()) == release.manifest


def test_methods_of_the_house_are_not_foreign():
    assert code_of(Method) is None
    document = json.loads(Manifest().to_json())
    assert document["format"] == FORMAT == 2
    assert document["code"] == []
