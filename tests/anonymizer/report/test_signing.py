"""For the person who signs: what the report says beside figures, and nothing of a single person."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import FileError, SpecError
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import parse
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.purpose import MOST_LETTERS, Purpose
from anonymizer.report import signing
from anonymizer.report.assessment import Question, assess
from anonymizer.report.judgment import _private, at_most, judgment
from anonymizer.report.sheet import cut, width
from anonymizer.report.signing import person
from anonymizer.report.specification import show_specification
from anonymizer.risk.covering import ReleasedRows
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

SPEC = """
title = "Visits"
[purpose]
purpose = "Study of visits"
legal_basis = "Art. 89 GDPR"
recipient = ""
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]
[columns]
illness = { type = "category", categories = ["flu", "cold", "kuru"] }
mood = { type = "category", categories = ["good", "bad"] }
[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
city = { rows = [["Ulm", "S", "*"], ["Rom", "S", "*"], ["Oslo", "N", "*"], ["Hum", "S", "*"]] }
[[steps]]
method = "local-recoding"
k = 3
[[accept]]
finding = "named-like-identifier"
column = "weight"
why = "Weights are of <scales> in the ward."
"""


def people(rows: int = 60) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in number],
            "age": 20 + (number * 7) % 50,
            "city": ["Hum" if i == 30 else ("Ulm", "Rom", "Oslo")[i % 3] for i in number],
            "illness": ["kuru" if i == 7 else ("flu", "cold")[i % 2] for i in number],
            "mood": [("good", "bad")[i % 2] for i in number],
            "weight": [f"{50 + (i * 37) % 97}.5" for i in number],
        }
    )


@pytest.fixture
def files(tmp_path):
    people().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "s.toml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def test_the_report_says_who_when_what_for_and_what_was_accepted(run, files):
    run("anonymize data.csv --spec s.toml -o out.csv --report r.html --by 'Dr. <Weber>'")
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Dr. &lt;Weber&gt;" in page
    assert "Study of visits" in page
    assert "Art. 89 GDPR" in page
    assert page.count('class="lacks">not stated') == 4, "responsible and recipient, on the page and the sheet"
    assert "Weights are of &lt;scales&gt; in the ward." in page
    assert "Signature" in page
    manifest = json.loads(Path("out.csv.manifest.json").read_text())
    assert manifest["files"]["out.csv"] in page, "the page is bound to the file"
    assert manifest["purpose"] == {
        "purpose": "Study of visits",
        "legal_basis": "Art. 89 GDPR",
        "responsible": "",
        "recipient": "",
    }
    assert manifest["specification"] in page


def test_without_a_name_the_account_is_said(monkeypatch):
    monkeypatch.setattr(signing, "who", lambda: ("eva", 1000))
    assert person(" Dr.  Weber ") == "Dr. Weber"
    assert person("") == "account eva (no name was stated)"
    monkeypatch.setattr(signing, "who", lambda: ("", 1000))
    assert person("") == "account 1000 (no name was stated)"


def test_no_page_names_a_value_of_a_few_rows(run, files):
    run("anonymize data.csv --spec s.toml -o out.csv --report r.html --summary s.html")
    for name in ("r.html", "s.html"):
        page = Path(name).read_text(encoding="utf-8")
        for rare in ("Hum", "kuru", "person 7"):
            assert rare not in page, (name, rare)
    report = Path("r.html").read_text(encoding="utf-8")
    assert "1 of 4 values of city are not shown" in report
    assert "2 of 2 values of mood are not shown" in report, "mood has no role"


def test_the_specification_is_shown_whole_where_nothing_is_rare():
    common = SPEC.replace(', ["Hum", "S", "*"]', "").replace(', "kuru"', "")
    common = common.replace('mood = { type = "category", categories = ["good", "bad"] }\n', "")
    spec = parse(tomllib.loads(common), Path())
    table = Table.of(people()).declare(spec.roles, None, spec.schema)
    text, left = show_specification(spec.document, table)
    assert left == ()
    assert tomllib.loads(text) == spec.document
    assert parse(tomllib.loads(text), Path()).digest == spec.digest


def test_a_purpose_is_checked_and_read_back():
    given = {"purpose": "a \n b", "responsible": "Eva"}
    assert Purpose.from_mapping(given, "s") == Purpose("a b", "", "Eva", "")
    for wrong, words in (
        ({"purpos": "x"}, "unknown key 'purpos'"),
        ({"purpose": 3}, "purpose is not a text"),
        ({"recipient": "x" * (MOST_LETTERS + 1)}, "has 501 letters"),
        ({"responsible": "Eva\u202e"}, r"no page shows, U\+202E"),
    ):
        with pytest.raises(SpecError, match=words):
            Purpose.from_mapping(wrong, "s")
    manifest = Manifest(purpose=Purpose("a", "b", "c", "d"))
    assert Manifest.from_json(manifest.to_json()) == manifest
    older = json.loads(manifest.to_json())
    del older["purpose"]
    assert Manifest.from_json(json.dumps(older)).purpose == Purpose()
    with pytest.raises(FileError, match="unknown key 'x'"):
        Manifest.from_json(json.dumps(older | {"purpose": {"x": "y"}}))


def judged(*steps, columns=("age", "city", "illness"), question=None, known=True) -> tuple[str, ...]:
    spec = parse(tomllib.loads(SPEC), Path())
    schema = Schema({"age": Column("integer", 0, 120)})
    roles = Roles(quasi_identifiers=("age", "city"), sensitive=("illness",))
    table = Table.of(people()[list(columns)]).declare(roles, spec.hierarchies, schema)
    pipeline = Pipeline(steps=[(str(n), step) for n, step in enumerate(steps)])
    release = pipeline.fit_transform_table(table)
    found = assess(table, release, pipeline if known else None, question or Question(seed=1))
    return judgment(release, found, pipeline if known else None)


def test_the_judgment_is_what_was_measured():
    worst, condition, smallest, illness = judged(Generalization(levels={"age": 2, "city": 1}))
    frame = people()
    sizes = frame.groupby([frame.age // 40, frame.city == "Oslo"]).age.transform("size")
    k = int(sizes.min())
    assert worst.startswith(f"At worst {k} released rows fit a person: an attacker who knows age, city of ")
    assert f"a chance of {at_most(1 / k)} at most" in worst
    assert f"have {k} rows (k = {k}); {(sizes == k).sum()} of 60" in smallest
    assert condition == (
        "This holds if each person is one row, if nobody has another release of the same people and if the "
        "attacker does not know illness of the person."
    )
    assert illness.startswith("illness: among the rows that fit a person there are 2 different values")


def test_releases_that_are_known_are_in_the_judgment():
    """Ages in tens and ages in tens from five on leave half of each."""
    frame = pd.DataFrame({"age": np.arange(20, 60), "illness": [f"i{number}" for number in range(40)]})
    roles = Roles((), ("age",), ("illness",))
    trees = parse(tomllib.loads(SPEC), Path()).hierarchies
    table = Table.of(frame).declare(roles, {"age": trees["age"]})
    other = frame.assign(
        age=[f"[{(age - 5) // 10 * 10 + 5}, {(age - 5) // 10 * 10 + 15})" for age in frame.age]
    )
    pipeline = Pipeline(steps=[("one", Generalization(levels={"age": 1}))])
    release = pipeline.fit_transform_table(table)
    question = Question(others=(ReleasedRows.of("other", Table.of(other), roles),))
    told = judgment(release, assess(table, release, pipeline, question), pipeline)
    assert (
        "Other releases of this table are known: who has all 2 is left with 5 rows for a person at worst, as "
        "far as it was measured."
    ) in told


def judged_of_persons(rows: int, *, known: bool = True) -> tuple[str, ...]:
    """Ten persons of one age; the first has so many rows, the others have one."""
    frame = pd.DataFrame({"who": [0] * rows + list(range(1, 10)), "age": 40, "illness": "flu"})
    roles = Roles(("who",), ("age",), ("illness",), person="who")
    trees = parse(tomllib.loads(SPEC), Path()).hierarchies
    table = Table.of(frame).declare(roles, {"age": trees["age"]})
    pipeline = Pipeline(steps=[("one", Generalization(levels={"age": 1}))])
    release = pipeline.fit_transform_table(table)
    without = () if known else ("simulator",)
    return judgment(release, assess(table, release, pipeline, Question(without=without)), pipeline)


def test_of_persons_with_several_rows_persons_are_counted_and_rows_said_beside_them():
    """91 of the 100 rows that fit the first person are its own."""
    worst, condition, *_ = judged_of_persons(91)
    assert worst.startswith("At worst the released rows that fit a person are of 10 persons: an attacker who")
    assert "picks one of these persons at random, is right with a chance of 1 in 10 (10 %) at most" in worst
    assert "who picks one of the rows that fit is right with a chance of 91 % at most" in worst
    assert condition.startswith("This holds if who says whose each row is, if nobody has another release")
    assert "each person is one row" not in " ".join((worst, condition))
    alone = judged_of_persons(1)[0]
    assert "are of 10 persons" in alone
    assert "one of the rows" not in alone


def test_classes_of_persons_are_judged_by_persons_too():
    worst, condition, *_ = judged_of_persons(91, known=False)
    assert "At worst 10 released persons look alike" in worst
    assert "picks one of these persons at random, is right with a chance of 1 in 10" in worst
    assert "if each of these persons is as likely, however many rows the person has" in condition


def test_epsilon_of_a_person_is_not_said_of_a_record():
    one = Guarantee("dp", {"epsilon": 1.0}, "record", ("age",), "add-remove")
    said = _private(one)
    assert "one more or less record in age changes" in said
    said = _private(replace(one, unit="person"))
    assert "one more or less person (with all rows) in age changes" in said


def test_conditions_are_said_where_there_are_more():
    sampled = " ".join(judged(Generalization(levels={"age": 2}), Sampling(rate=0.5, random_state=2)))
    assert "nobody knows who was drawn into the sample" in sampled
    unknown = " ".join(judged(Generalization(levels={"age": 2}), known=False))
    assert "it is not known how the release was made" in unknown
    assert "released row is like no other" in unknown or "released rows look alike" in unknown


def test_noise_is_not_judged_by_rows_alike():
    noisy = " ".join(judged(Noise(epsilon=0.5, columns=("age",), random_state=1)))
    assert "rows alike" not in noisy
    silent = judged(
        Noise(epsilon=0.5, columns=("age",), random_state=1), question=Question(without=("simulator",))
    )
    assert silent == (
        "How easily a person's row is found could not be measured, so that nothing is said of it.",
    )


def test_epsilon_is_said_as_a_factor():
    told = judged(DpNoise(epsilon=1.0, columns=("age",)), question=Question(without=("simulator",)))[-1]
    assert told.startswith("Differential privacy: another record in age changes the probability of what is")
    assert "by a factor of 2.72 at most (epsilon = 1)" in told


def test_long_names_do_not_make_long_sentences():
    names = [f"a quasi-identifier with a long name {n}" for n in range(12)]
    frame = pd.DataFrame({name: np.arange(40) % 2 for name in names})
    table = Table.of(frame, Roles(quasi_identifiers=tuple(names)))
    told = judgment(table, assess(table, table))
    assert "knows the 12 quasi-identifiers" not in told[0]
    assert "look alike in the 12 quasi-identifiers" in told[0]


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.2, "1 in 5 (20 %)"),
        (1 / 3, "1 in 3 (33.4 %)"),
        (0.0712345, "7.13 %"),
        (1.0, "100 %"),
        (2 / 3, "66.7 %"),
        (0.0, "0 %"),
    ],
)
def test_upper_bounds_are_rounded_up(chance, said):
    assert at_most(chance) == said


def test_texts_are_cut_to_their_width():
    assert cut("  one \n two ", 20) == "one two"
    assert width(cut("W" * 100, 40)) <= 40
    assert width(cut("東京" * 100, 41)) <= 41
    assert cut("abcdef", 5).endswith("…")


def test_local_recoding_is_judged_too():
    assert judged(LocalRecoding(k=3))[0].startswith("At worst ")
