"""A step of a specification becomes comments and comes back, byte by byte; else nothing is changed."""

from __future__ import annotations

import itertools
import json
import re
import stat
import tomllib
from pathlib import Path

import pytest

from anonymizer.errors import AnonymizerError, SpecError
from anonymizer.pipelines.undoing import redo, undo

SPEC = '''# for the board
title = """
[[steps]]
method = \\"""no step\\"""
"""
[roles]   # read them
quasi_identifiers = [
    "age",
["city"][0],
]

# first
[[steps]]
name = "coarse"   # a name
method = "generalization"

[steps.levels]
age = 1
# between
[["steps"]]
method = "local-recoding" # k
k = 3
constraints = [
    # so many
    { model = "distinct-l-diversity", column = "illness", l = 2 },
]

# about the sample

  [[ steps ]]
method = "sampling"
rate = 0.5  # a half
# below

[hierarchies]
age = { widths = [10], lower = 0, upper = 120 }
'''.replace('["city"][0],\n', '# [[steps]]\n"city",\n')
NAMES = ["coarse", "2-local-recoding", "3-sampling"]


def written(text: str = SPEC) -> str:
    assert len(tomllib.loads(text)["steps"]) == 3
    return text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", [None, *NAMES])
def test_a_step_becomes_comments_and_comes_back(name, ending):
    text = written().replace("\n", ending)
    found = undo(text, Path(), "s.toml", name)
    assert found.step == (name or "3-sampling")
    document = tomllib.loads(text)
    place = NAMES.index(found.step)
    del document["steps"][place]
    assert tomllib.loads(found.text) == document
    kept = [line for line in found.text.split("\n") if not line.startswith("#~ ")]
    held = [line.removeprefix("#~ ") for line in found.text.split("\n")[found.first : found.last]]
    at = found.first - 1
    assert "\n".join([*kept[:at], *held, *kept[at:]]) == text, "no letter is lost"
    assert redo(found.text, Path(), "s.toml", name).text == text


def test_comments_around_a_step_stay():
    found = undo(SPEC, Path(), "s.toml")
    for comment in ("# about the sample\n", "# below\n", "# for the board\n", "# between\n"):
        assert comment in found.text
        assert f"#~ {comment}" not in found.text
    assert '#~   [[ steps ]]\n#~ method = "sampling"\n#~ rate = 0.5  # a half\n# below' in found.text


def test_all_orders_of_undoing_lead_back():
    for first, second in itertools.permutations(range(3), 2):
        one = undo(SPEC, Path(), "s.toml", NAMES[first])
        left = [name for name in NAMES if name != NAMES[first]]
        renamed = dict(one.renamed)
        two = undo(one.text, Path(), "s.toml", renamed.get(NAMES[second], NAMES[second]))
        assert len(tomllib.loads(two.text)["steps"]) == 1
        assert left
        back = redo(two.text, Path(), "s.toml")
        assert back.text == one.text, "what was undone last comes back first"
        assert redo(back.text, Path(), "s.toml").text == SPEC


def test_steps_that_are_called_by_their_number_are_said_to_be_renamed():
    found = undo(SPEC, Path(), "s.toml", "coarse")
    assert found.renamed == (("2-local-recoding", "1-local-recoding"), ("3-sampling", "2-sampling"))
    assert redo(found.text, Path(), "s.toml").renamed == (
        ("1-local-recoding", "2-local-recoding"),
        ("2-sampling", "3-sampling"),
    )


def test_an_editor_that_strips_blanks_breaks_nothing():
    text = SPEC.replace('method = "sampling"\n', 'method = "sampling"\n\n')
    stripped = undo(text, Path(), "s.toml").text.replace("#~ \n", "#~\n")
    assert "#~\n" in stripped
    assert redo(stripped, Path(), "s.toml").text == text


def test_a_file_without_a_last_newline():
    text = SPEC + '[[steps]]\nname = "last \\" one"\nmethod = "sampling"\nrate = 0.5'
    found = undo(text, Path(), "s.toml")
    assert found.step == 'last " one'
    assert redo(found.text, Path(), "s.toml").text == text


@pytest.mark.parametrize(
    ("text", "step", "what"),
    [
        (SPEC, "coarser", "s.toml has no step 'coarser'. Did you mean 'coarse'?"),
        ("[roles]\n", None, "s.toml has no steps to undo"),
        ("[roles\n", None, "s.toml is not TOML"),
        ('steps = [{ method = "sampling" }]\n', None, "are not written one by one"),
        ('[[steps]]\nmethod = "sampling"\nrate = 0.5\n', None, "has only the step '1-sampling'"),
        (SPEC.replace("lower = 0", "lower = 500"), None, "age"),
    ],
)
def test_what_cannot_be_undone_is_refused(text, step, what):
    with pytest.raises(AnonymizerError) as refused:
        undo(text, Path(), "s.toml", step)
    assert what in str(refused.value)


def test_what_cannot_be_brought_back_is_refused():
    with pytest.raises(SpecError, match="no step that was undone"):
        redo(SPEC, Path(), "s.toml")
    found = undo(SPEC, Path(), "s.toml").text
    with pytest.raises(SpecError, match="no undone step 'x'"):
        redo(found, Path(), "s.toml", "x")
    with pytest.raises(SpecError, match="are not a step any more"):
        redo(re.sub(r"^#~ (?!undone)", "#~ #", found, flags=re.MULTILINE), Path(), "s.toml")
    with pytest.raises(SpecError, match=r"s\.toml with the step '3-sampling' in it is not TOML"):
        redo(found.replace("#~ rate = 0.5", "#~ rate = ["), Path(), "s.toml")


def test_the_commands_change_the_file_and_say_how_to_change_it_back(run, tmp_path):
    Path("my spec.toml").write_text(SPEC)
    Path("my spec.toml").chmod(0o640)
    Path("link.toml").symlink_to("my spec.toml")
    out, _ = run("anonymize undo link.toml")
    lines = Path("my spec.toml").read_text().splitlines()
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("#~ undone 1"))
    assert out == (
        f"link.toml: step 3-sampling is a comment now, lines {first} to {first + 3}\n"
        "bring it back: duetto anonymize redo link.toml --step 3-sampling\n"
    )
    assert stat.S_IMODE(Path("my spec.toml").stat().st_mode) == 0o640
    assert Path("link.toml").is_symlink()
    told = json.loads(run("anonymize redo link.toml --json")[0])
    assert told["step"] == "3-sampling"
    assert told["back"] == "duetto anonymize undo link.toml --step 3-sampling"
    assert Path("my spec.toml").read_text() == SPEC


def test_another_encoding_is_named_with_its_place(run, tmp_path):
    text = '[roles]\nidentifiers = ["Nachname"]\nquasi_identifiers = ["Größe"]\n'.encode("cp1252")
    (tmp_path / "s.toml").write_bytes(text)
    for words in ("undo s.toml", "redo s.toml"):
        _, err = run(f"anonymize {words}", 65)
        assert "s.toml is not UTF-8: line 3 has the byte 0xF6." in err
        assert "Save it as UTF-8" in err
    assert (tmp_path / "s.toml").read_bytes() == text
    (tmp_path / "data.csv").write_text("Nachname\n")
    for words in ("anonymize data.csv --spec s.toml -o o.csv", "risk data.csv data.csv --roles s.toml"):
        assert "line 3 has the byte 0xF6" in run(words, 65)[1]


def test_nothing_is_written_where_nothing_can_be_undone(run, tmp_path):
    text = '[[steps]]\nmethod = "sampling"\nrate = 0.5\n'
    Path("s.toml").write_text(text)
    _, err = run("anonymize undo s.toml", status=78)
    assert "hint:  Write another first" in err
    assert Path("s.toml").read_text() == text
    _, err = run("anonymize undo none.toml", status=65)
    assert "none.toml cannot be read" in err
