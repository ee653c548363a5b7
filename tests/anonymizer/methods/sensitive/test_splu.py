"""Small-sum privacy: decoy groups, estimated counts, guarantees, and questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.errors import AnonymizerError, SpecError, TableError, UnreachableError
from anonymizer.methods.sensitive.anatomy import SENSITIVE, Anatomy
from anonymizer.methods.sensitive.dbr import DistributionRandomization
from anonymizer.methods.sensitive.splu_gen import SpluGen
from anonymizer.schema.columns import Column, Schema
from anonymizer.splu.answers import AnatomyAnswers, DbrAnswers, LaplaceAnswers, SpluAnswers
from anonymizer.splu.generation import draw_from_groups, partition
from anonymizer.splu.query import parse
from anonymizer.splu.reconstruction import Blur, estimate, estimate_as_printed
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age",), sensitive=("job", "illness"))


def people(rows: int = 6000, seed: int = 1) -> Table:
    """Ages, and a job and an illness that depend on them and on each other."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 30, rows)
    job = (draw.integers(0, 12, rows) + (draw.random(rows) < 0.5) * (age - 20)) % 12
    illness = (job + draw.integers(0, 6, rows)) % 9
    frame = pd.DataFrame(
        {"age": age, "job": [f"job {i}" for i in job], "illness": [f"ill {i}" for i in illness]}
    )
    return Table.of(frame, ROLES)


def skewed(rows: int, values: int, gamma: int, seed: int = 3) -> np.ndarray:
    """Values of very different frequency, the commonest in just one of gamma rows."""
    counts = np.maximum(1, rows / gamma / np.arange(1, values) ** 1.3).astype(int)
    counts = np.append(counts, 0)
    while counts.sum() < rows:
        counts[np.argmin(counts)] += min(rows // gamma - counts.min(), rows - counts.sum())
    found = np.repeat(np.arange(values), counts)[:rows]
    return np.random.default_rng(seed).permutation(found)


@pytest.mark.parametrize("gamma", [2, 3, 7])
def test_groups_hold_different_values_and_every_row_once(gamma):
    values = skewed(gamma * 301, 40, gamma)
    assert np.bincount(values).max() == 301
    decoys = partition(values, gamma, Randomness(0))
    held = np.sort(values[decoys.rows], axis=1)
    assert (np.diff(held, axis=1) > 0).all()
    assert sorted(decoys.rows.ravel()) == list(range(len(values)))
    assert (decoys.group[decoys.rows] == np.arange(301)[:, None]).all()
    published = draw_from_groups(decoys, Randomness(4))
    assert (decoys.group[published] == decoys.group).all()


def test_values_meet_by_their_numbers_only():
    # groups filled from the largest buckets in turn would join 0 with 1 always and with 5 never
    values = np.repeat(np.arange(20), 500)
    held = values[partition(values, 5, Randomness(0)).rows]
    there = np.zeros((len(held), 20))
    there[np.arange(len(held))[:, None], held] = 1
    together = (there.T @ there)[~np.eye(20, dtype=bool)]
    expected = 500 * 4 / 19
    assert abs(together - expected).max() < 5.5 * np.sqrt(expected)  # false alarm below 1e-4 over 380 pairs


def test_a_second_release_draws_from_the_same_decoys():
    # else each value would stand out where the groups of several releases overlap
    table = Table.of(
        pd.DataFrame({"age": np.arange(60), "job": np.arange(60) % 20}), Roles(sensitive=("job",))
    )
    seen: dict[int, set[int]] = {}
    for _ in range(40):
        made = SpluGen(gamma=4).release(table).table.native
        for age, job in zip(made["age"], made["job"], strict=True):
            seen.setdefault(int(age), set()).add(int(job))
    assert max(map(len, seen.values())) == 4


def test_rows_are_shuffled_and_fewer_than_gamma_are_left_out():
    table = people(502)
    method = SpluGen(gamma=5)
    release = method.release(table)
    assert (len(release), release.manifest.gamma) == (500, 5)
    assert not (np.diff(release.origin) > 0).all()
    assert sorted(release.origin) == list(range(500))
    assert release.table.native["age"].tolist() == table.native["age"].iloc[release.origin].tolist()


def test_an_ineligible_column_is_refused_by_column_and_value():
    frame = pd.DataFrame({"job": ["a", "b", "c", "d"] * 5, "illness": ["flu"] * 6 + list("abcdefghijklmn")})
    with pytest.raises(UnreachableError, match=r"'flu' in column 'illness', more than 5") as problem:
        SpluGen(gamma=4).release(Table.of(frame, Roles(sensitive=("job", "illness"))))
    assert "Lower gamma" in problem.value.hint
    frame["illness"] = ["flu"] * 5 + list("abcdefghijklmno")
    assert len(SpluGen(gamma=4).release(Table.of(frame, Roles(sensitive=("job", "illness"))))) == 20


@pytest.mark.parametrize(
    "wrong", [{"gamma": 1}, {"e": 0.0}, {"e": float("nan")}, {"alpha": 0}, {"gamma": -3}]
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(AnonymizerError) as problem:
        SpluGen(**wrong).check()
    assert problem.value.hint


def test_quasi_identifiers_and_gaps_are_refused():
    with pytest.raises(TableError, match="'age' is a quasi-identifier"):
        SpluGen(columns=("age",)).release(people(100))
    frame = people(100).native.assign(job=[None, *["a", "b", "c"] * 33])
    with pytest.raises(TableError, match="'job' has 1 missing"):
        SpluGen(gamma=2).release(Table.of(frame, ROLES))


def test_the_guarantee_says_what_it_is_not():
    frame = pd.DataFrame({"job": np.arange(40) % 13, "illness": np.arange(40) % 20})
    [promise] = SpluGen(gamma=10).release(Table.of(frame, Roles(sensitive=("job", "illness")))).guarantees
    assert (promise.kind, promise.columns) == ("small-sum-privacy", ("job", "illness"))
    assert promise.parameters["T_P"] == pytest.approx(0.6, abs=0.02)
    assert "nothing of a person" in str(promise)


@pytest.fixture(scope="module")
def releases():
    """Many releases of one table, each with groups of its own, so that these vary as well."""
    table = people()
    columns = {name: table.codes(name) for name in ROLES.sensitive}
    found = []
    for number in range(100):
        moved = {
            name: draw_from_groups(
                partition(codes.codes, 4, Randomness(number, name)), Randomness(number, f"{name}2")
            )
            for name, codes in columns.items()
        }
        found.append(SpluAnswers(table.permuted(moved), ROLES.sensitive, 4))
    return table, found


QUESTIONS = {
    "illness = 'ill 3'": lambda f: f["illness"] == "ill 3",
    "job = 'job 7' and age = 27": lambda f: (f["job"] == "job 7") & (f["age"] == 27),
    "job in ('job 1', 'job 4', 'job 5', 'job 6') and age < 24": lambda f: (
        f["job"].isin(["job 1", "job 4", "job 5", "job 6"]) & (f["age"] < 24)
    ),
    "job != 'job 2' and age >= 25": lambda f: (f["job"] != "job 2") & (f["age"] >= 25),
    "job = 'job 5' and illness in ('ill 5', 'ill 6', 'ill 7', 'ill 8')": lambda f: (
        (f["job"] == "job 5") & f["illness"].isin(["ill 5", "ill 6", "ill 7", "ill 8"])
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_hold_the_true_count(releases, question):
    table, answers = releases
    true = int(QUESTIONS[question](table.native).sum())
    found = [one.ask(question) for one in answers]
    assert all(one.converged for one in found)
    held = sum(one.low <= true <= one.high for one in found)
    assert held >= 86  # of 100; fewer with probability below 0.0005
    errors = np.array([one.count for one in found]) - true
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(len(errors)) + 0.01 * true
    if not any(
        one.rounds for one in found
    ):  # where counts met no bound, intervals are not wider than need be
        assert np.mean([one.high - one.low for one in found]) / (2 * 1.96) < 1.35 * errors.std()


def test_one_value_is_counted_as_published(releases):
    table, answers = releases
    published = answers[0]._cells.table.native["job"]
    assert answers[0].ask("job = 'job 3'").count == pytest.approx((published == "job 3").sum())
    assert answers[0].ask("age < 23").low == (table.native["age"] < 23).sum()


def test_the_iteration_as_printed_counts_values_too_low(releases):
    table, answers = releases
    true = int((table.native["job"] == "job 3").sum())
    as_printed = [
        SpluAnswers(one._cells.table, ROLES.sensitive, 4, as_printed=True).ask("job = 'job 3'")
        for one in answers
    ]
    assert np.mean([one.count for one in as_printed]) < 0.97 * true
    assert all(one.converged for one in as_printed)


def test_values_in_every_group_say_nothing_of_dependence():
    found = estimate(np.array([[500.0, 500.0], [250.0, 250.0]]), [Blur(0.5)])
    assert (found.low, found.count, found.high) == (0, 250, 500)


def test_a_value_that_was_never_published_may_be_there():
    found = estimate(np.array([[0.0, 0.0], [1000.0, 0.0]]), [Blur(0.8)])
    assert found.count == 0
    assert 2.9 < found.high < 4.5  # f rows are all missed with probability 0.8**(5 f)


def test_blurs_of_sets_lie_between_those_of_one_value_and_of_all():
    counts = np.array([50.0, 100, 100, 125, 125])
    one = Blur.of(counts, np.arange(5) == 1, 4).leaving
    two = Blur.of(counts, np.isin(np.arange(5), [0, 1]), 4).leaving
    assert one == 0.75
    assert 0 < two < one
    assert Blur.of(counts, np.ones(5, dtype=bool), 4).leaving == 0


def test_other_releases_answer_through_the_same_interface():
    table = people(3000)
    question = "illness = 'ill 2' and age < 25"
    frame = table.native
    true = int(((frame["illness"] == "ill 2") & (frame["age"] < 25)).sum())
    one = Table.of(frame[["age", "illness"]], Roles(quasi_identifiers=("age",), sensitive=("illness",)))
    made = Anatomy(l=4, random_state=1).release(one)
    anatomy = AnatomyAnswers(made.table, made.extra[SENSITIVE], group="group", sensitive="illness")
    found = anatomy.ask(question)
    assert found.low < true < found.high < 2 * true
    randomized = DistributionRandomization(random_state=1).release(one).table
    independent = (frame["age"] < 25).sum() * (frame["illness"] == "ill 2").mean()
    assert DbrAnswers(randomized, ("illness",)).ask(question).count == pytest.approx(independent, rel=0.2)
    noisy = LaplaceAnswers(table, 1.0, Randomness(3))
    assert abs(noisy.ask(question).count - true) < 25  # beyond with probability 1e-11


def test_numbers_of_a_sensitive_column_stay_numbers():
    frame = pd.DataFrame({"age": np.arange(400) % 40, "job": np.arange(400) % 13})
    made = SpluGen(gamma=4, columns=("age",)).release(Table.of(frame, Roles(sensitive=("age", "job")))).table
    assert made.native["age"].dtype == frame["age"].dtype
    assert abs(SpluAnswers(made, ("age",), 4).ask("age < 10").count - 100) < 60


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name of a column"),
        ("job", "one of"),
        ("job =", "a value"),
        ("job = a or job = b", "'or'"),
        ("not job = a", "'not'"),
        ("job in a", "`\\(`"),
        ("job in (a,)", "a value"),
        ("job in (a", "`\\)`"),
        ("job = 'a", "cannot be read"),
        ("job = a b", "`and` or the end"),
        ("job = a and", "name of a column"),
        ("job == a", "a value"),
        ("job = __import__('os')", "`and` or the end"),
        ("x" * 20_000, "characters"),
    ],
)
def test_questions_that_are_none_are_refused(text, said):
    with pytest.raises(SpecError, match=said) as problem:
        parse(text)
    assert problem.value.hint


def test_quotes_take_what_words_cannot():
    [one, two] = parse('"and so" in (\'a b\', c.d, "it\'s") AND x<=-1.5')
    assert (one.column, one.sign, one.values) == ("and so", "in", ("a b", "c.d", "it's"))
    assert (two.column, two.sign, two.values) == ("x", "<=", ("-1.5",))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("jobb = a", "no column 'jobb'"),
        ("job = a", "no value 'a'"),
        ("city = Rom", "no value 'Rom'"),
        ("city < Roma", "no order"),
        ("age = old", "not a number"),
        ("age < nan", "not a number"),
    ],
)
def test_questions_that_do_not_fit_the_release_are_refused(question, said):
    frame = pd.DataFrame({"age": [1, 2] * 4, "city": ["Roma", "Bari"] * 4, "job": list("pqrs") * 2})
    with pytest.raises(SpecError, match=said) as problem:
        SpluAnswers(Table.of(frame), ("job",), 2).ask(question)
    assert problem.value.hint


def test_declared_categories_are_the_domain_and_their_order_compares():
    frame = pd.DataFrame({"age": [1, 2] * 4, "pain": ["low", "mid"] * 4})
    schema = Schema({"pain": Column(categories=("low", "mid", "high"), ordered=True)})
    answers = SpluAnswers(Table.of(frame, schema=schema), ("pain",), 2)
    assert answers.ask("pain = high").count == 0
    assert answers.ask("pain <= mid").count == 8
    assert answers.ask("pain in (low, mid, high) and age = 1").high == 4
    with pytest.raises(SpecError, match="no value 'hi'"):
        answers.ask("pain = hi")
    other = Schema({"pain": Column(categories=("low", "high"))})
    with pytest.raises(TableError, match="'mid', which its declared categories lack"):
        SpluAnswers(Table.of(frame, schema=other), ("pain",), 2).ask("pain = low")


def test_printed_takes_several_columns():
    observed = np.full((2, 2, 2), 100.0)
    assert estimate_as_printed(observed, [4, 4]).converged
