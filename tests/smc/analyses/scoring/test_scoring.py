"""Scoring by a model of the other side: its answers are those of the program that made it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.predictors.form import (
    Forest,
    Leaf,
    Link,
    Precision,
    Predictor,
    Split,
    Tree,
    WeightedTerm,
)
from smc.analyses.predictors.plain import chances
from smc.analyses.scoring.study import SCORING
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.testing import Case, check_analysis
from smc.testing.case import run_case, schemas_of
from tests.support.scored_models import (
    DECLARED,
    FEATURES,
    UNITS,
    held_rows_of,
    model_data,
    of_linear,
    of_tree,
    of_trees,
    rows_data,
    salted,
    scoring_job,
)

RANDOM = np.random.default_rng(31)
TRAINED = held_rows_of(RANDOM, 1500)
ROWS = held_rows_of(RANDOM, 120)
MANY = held_rows_of(RANDOM, 20_000)
BOB = frozenset({Role.BOB})


def _score(held):
    real = held / UNITS
    noise = RANDOM.normal(0, 0.6, len(held))
    return (real[:, 0] - 60) / 30 + (real[:, 1] - 35) / 20 + (real[:, 2] - 20) / 10 + noise


SCORES = _score(TRAINED)
YES, GRADE = (SCORES > 0).astype(int), np.digitize(SCORES, [-1, 1])
NAMES = {2: ("0", "1"), 3: ("0", "1", "2")}


@cache
def fitted(kind, classes):
    model = {
        "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
        "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
        "logistic": LogisticRegression(max_iter=9999),
        "bayes": GaussianNB(),
    }[kind]
    return model.fit(TRAINED / UNITS, YES if classes == 2 else GRADE)


def densities(model):
    """Gaussian naive Bayes as weights of features and of their squares."""
    mean, variance = model.theta_, model.var_
    constants = (
        np.log(model.class_prior_) - (mean**2 / variance + np.log(2 * np.pi * variance)).sum(axis=1) / 2
    )
    terms = (*map(WeightedTerm, range(3)), *(WeightedTerm(place, square=True) for place in range(3)))
    weights = np.concatenate([mean / variance, -0.5 / variance], axis=1)
    return of_linear(weights, constants, NAMES[len(weights)], Link.SOFTMAX, terms=terms)


@cache
def predictor(kind, classes):
    model = fitted(kind, classes)
    if kind == "logistic":
        link = Link.LOGISTIC if classes == 2 else Link.SOFTMAX
        return of_linear(model.coef_, model.intercept_, NAMES[classes], link)
    if kind == "bayes":
        return densities(model)
    return of_trees([model] if kind == "tree" else model.estimators_, NAMES[classes])


CHANGES = {"tree": {}, "forest": {"largest": 1}, "logistic": {"largest": 256}, "bayes": {"largest": 1 << 10}}


def changes_of(kind):
    return CHANGES[kind] | ({"squares": True} if kind == "bayes" else {})


def case(model, /, rows=ROWS, **changes):
    return Case(scoring_job(model, **changes), model_data(model), rows_data(rows), recipients=BOB)


def answers(model, /, rows=ROWS, **changes):
    """The last table of the side with rows, of a joint run and of the reference."""
    given = case(model, rows, **changes)
    study = SCORING.parse(given.parameters)
    (alice, bob), _ = run_case(study, given, NO_LIMITS)
    assert alice.tables == ()
    assert bob.tables == study.reference(given.alice, given.bob, BOB)[1].tables
    return bob.tables[-1].columns


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", CHANGES)
def test_labels_are_those_of_scikit_learn(kind, classes):
    model, changes = predictor(kind, classes), changes_of(kind)
    wanted = fitted(kind, classes).predict(ROWS / UNITS).astype(str).tolist()
    assert answers(model, **changes)["label"] == wanted
    # Of many more rows by the whole numbers that a joint run computes with, as was just seen.
    given = case(model, MANY, **changes)
    study = SCORING.parse(given.parameters)
    (_, bob) = study.reference(given.alice, given.bob, BOB)
    assert bob.tables[-1].columns["label"] == fitted(kind, classes).predict(MANY / UNITS).astype(str).tolist()


@pytest.mark.parametrize("kind", CHANGES)
def test_scores_are_chances_to_six_digits(kind):
    model = predictor(kind, 2)
    found = answers(model, output="score", **changes_of(kind))["chance"]
    wanted = fitted(kind, 2).predict_proba(ROWS / UNITS)[:, 1]
    np.testing.assert_allclose(found, wanted, atol=2e-6)


@pytest.mark.parametrize("kind", ["tree", "forest", "logistic"])
def test_bands_are_those_of_the_chances(kind):
    found = answers(predictor(kind, 2), output="band", cuts=["0.1", "0.5", "0.9"], **changes_of(kind))["band"]
    names = ["below 0.1", "0.1 to 0.5", "0.5 to 0.9", "from 0.9"]
    chance = fitted(kind, 2).predict_proba(ROWS / UNITS)[:, 1]
    near = np.abs(chance[:, None] - [0.1, 0.5, 0.9]).min(axis=1) < 1e-6
    wanted = np.searchsorted([0.1, 0.5, 0.9], chance, side="right")
    assert all(found[row] == names[wanted[row]] for row in np.flatnonzero(~near))
    assert near.sum() < 5


def test_numbers_are_those_of_scikit_learn():
    linear = LinearRegression().fit(TRAINED / UNITS, SCORES)
    found = answers(of_linear([linear.coef_], [linear.intercept_], (), Link.IDENTITY), output="score")[
        "score"
    ]
    np.testing.assert_allclose(found, linear.predict(ROWS / UNITS), atol=2e-6)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(TRAINED / UNITS, SCORES)
    found = answers(of_trees([tree], ()), output="score")["score"]
    np.testing.assert_allclose(found, tree.predict(ROWS / UNITS), atol=2e-6)


def test_boosted_trees_of_several_classes_take_turns():
    boosted = GradientBoostingClassifier(n_estimators=3, max_depth=3, random_state=0)
    boosted.fit(TRAINED / UNITS, GRADE)
    trees = []
    for stage in boosted.estimators_:
        for place, estimator in enumerate(stage):
            tree = of_tree(estimator, boosted.learning_rate)
            nodes = [
                Leaf(tuple(node.values[0] * (place == other) for other in range(3)))
                if isinstance(node, Leaf)
                else node
                for node in tree.nodes
            ]
            trees.append(Tree(tuple(nodes)))
    base = tuple(np.log(boosted.init_.class_prior_).tolist())
    model = salted(
        Predictor(tuple(FEATURES), NAMES[3], Link.SOFTMAX, base, Forest(tuple(trees), Precision.SINGLE))
    )
    wanted = boosted.predict(ROWS / UNITS).astype(str).tolist()
    assert answers(model)["label"] == answers(model, turns=True)["label"] == wanted
    mixed = scoring_job(predictor("forest", 3), trees=6, turns=True)
    study = SCORING.parse(mixed)
    refused = study.preview(model_data(predictor("forest", 3)), Role.ALICE, NO_LIMITS).refusal
    assert "adds to several classes" in str(refused)


def test_naive_bayes_over_categories_and_marks_is_a_linear_model():
    marks = RANDOM.integers(0, 2, (500, 2))
    outcome = (marks.sum(axis=1) + RANDOM.integers(0, 2, 500) > 1).astype(int)
    bayes = BernoulliNB().fit(marks, outcome)
    high, low = bayes.feature_log_prob_, np.log1p(-np.exp(bayes.feature_log_prob_))
    # The second mark is brought as a category, the first one as a number.
    terms = (WeightedTerm(0), WeightedTerm(1, label="no"), WeightedTerm(1, label="yes"))
    weights = np.stack([high[:, 0] - low[:, 0], low[:, 1], high[:, 1]], axis=1)
    model = of_linear(
        weights, bayes.class_log_prior_ + low[:, 0], NAMES[2], Link.SOFTMAX, ("mark", "other"), terms
    )
    features = [{"name": "mark", "lower": "0", "upper": "1"}, {"name": "other", "labels": ["no", "yes"]}]
    data = {
        "mark": Column(marks[:, 0], Schema("integer", 0, 0, 1)),
        # The catalog of the side with rows has the labels in another order.
        "other": Column(1 - marks[:, 1], Schema("category", categories=("yes", "no"))),
    }
    given = Case(scoring_job(model, features=features), model_data(model), data, recipients=BOB)
    study = SCORING.parse(given.parameters)
    (_, bob), _ = run_case(study, given, NO_LIMITS)
    assert bob.tables[-1].columns["label"] == bayes.predict(marks).astype(str).tolist()
    unknown = {**data, "other": Column(marks[:, 1], Schema("category", categories=("no", "maybe")))}
    assert "Add the missing labels" in str(study.preview(unknown, Role.BOB, NO_LIMITS).refusal)


@pytest.mark.parametrize("kind", ["tree", "forest", "logistic"])
@pytest.mark.parametrize("output", ["label", "score"])
def test_what_it_states_is_what_its_runs_do(kind, output):
    model = predictor(kind, 2)
    assert check_analysis(SCORING, case(model, output=output, **changes_of(kind)))


@pytest.mark.parametrize(("kind", "classes"), [(kind, classes) for kind in CHANGES for classes in (2, 3)])
@pytest.mark.parametrize("count", [1, 700])
def test_the_estimate_is_what_a_run_sends(kind, classes, count):
    given = case(predictor(kind, classes), held_rows_of(RANDOM, count), **changes_of(kind))
    study = SCORING.parse(given.parameters)
    _, sent = run_case(study, given, NO_LIMITS)
    for known in ({**given.alice, **given.bob}, given.alice, given.bob):
        found = estimate_cost(study, schemas_of(known), BOB, RunSetting((9, count)))
        assert (found.alice_bytes, found.bob_bytes) == tuple(each.sent for each in sent)
        assert found.rounds == sent[0].rounds


def test_the_side_of_the_model_may_be_bob():
    model = predictor("forest", 2)
    job = scoring_job(model, model="bob", largest=1)
    given = Case(job, rows_data(ROWS), model_data(model), recipients=frozenset({Role.ALICE}))
    (alice, bob), _ = run_case(SCORING.parse(job), given, NO_LIMITS)
    assert bob.tables == ()
    assert alice.tables[-1].columns["label"] == fitted("forest", 2).predict(ROWS / UNITS).astype(str).tolist()


def test_more_trees_and_depth_than_the_model_has_change_nothing():
    model = predictor("forest", 2)
    assert answers(model, largest=1) == answers(model, largest=1, trees=9, depth=6)


def test_trees_are_cut_where_the_program_rounds():
    """A threshold between 0.1 as a single and as a double: both are 0.1 to who reads them."""
    single = float(np.float32(0.1))
    assert single > 0.1
    split = Split(0, (single + 0.1) / 2, 1, 2)
    tree = Tree((split, Leaf((0.0, 1.0)), Leaf((1.0, 0.0))))
    features = [{"name": "x", "lower": "0", "upper": "1", "digits": 1}]
    for precision, label in ((Precision.SINGLE, "0"), (Precision.DOUBLE, "1")):
        model = salted(Predictor(("x",), NAMES[2], Link.IDENTITY, (0.0, 0.0), Forest((tree,), precision)))
        data = {"x": Column(np.array([1]), Schema("decimal", 1, 0, 10))}
        given = Case(scoring_job(model, features=features), model_data(model), data, recipients=BOB)
        (_, bob) = SCORING.parse(given.parameters).reference(given.alice, given.bob, BOB)
        assert bob.tables[-1].columns["label"] == [label]
        assert chances(model, {"x": np.array([0.1])}).argmax() == int(label)


def test_no_shape_of_what_is_sent_depends_on_the_model():
    """A model of one decision, and one of all that the job has room for."""
    leaf = Tree((Split(0, 60.0, 1, 2), Leaf((1.0, 0.0)), Leaf((0.0, 1.0))))
    small = salted(
        Predictor(tuple(FEATURES), NAMES[2], Link.IDENTITY, (0.0, 0.0), Forest((leaf,), Precision.SINGLE))
    )
    sent = [
        run_case(SCORING.parse(given.parameters), given, NO_LIMITS)[1]
        for given in (case(model, trees=3, depth=6) for model in (small, predictor("tree", 2)))
    ]
    first, second = ([each.sent for each in both] for both in sent)
    assert first == second


def test_bisecting_finds_a_threshold_as_the_leakage_statement_says():
    """The attack: rows of one's own choice, halving the range of a feature by each run."""
    split = Split(0, 47.0, 1, 2)
    tree = Tree((split, Leaf((1.0, 0.0)), Leaf((0.0, 1.0))))
    model = salted(
        Predictor(tuple(FEATURES), NAMES[2], Link.IDENTITY, (0.0, 0.0), Forest((tree,), Precision.SINGLE))
    )
    low, high, runs = 0, 120, 0
    while low < high:
        middle = (low + high) // 2
        row = np.array([[middle, 300, 100]])
        (label,) = answers(model, row)["label"]
        low, high, runs = (middle + 1, high, runs + 1) if label == "0" else (low, middle, runs + 1)
    assert low == 48
    assert runs <= (120).bit_length()
    leakage = SCORING.parse(scoring_job(model)).leakage(BOB)
    assert "as many answers as its feature's range has bits" in " ".join(leakage.bob)
    assert leakage.alice == ()


def test_solving_finds_all_weights_as_the_leakage_statement_says():
    """The attack: one score more than there are features."""
    model = of_linear([[0.03, -0.2, 0.5]], [1.25], (), Link.IDENTITY)
    rows = np.array([[0, 100, 0], [120, 100, 0], [0, 600, 0], [0, 100, 4000]])
    found = answers(model, rows, output="score", largest=256)["score"]
    solved = np.linalg.solve(np.concatenate([rows / UNITS, np.ones((4, 1))], axis=1), found)
    np.testing.assert_allclose(solved, [0.03, -0.2, 0.5, 1.25], atol=1e-5)
    leakage = SCORING.parse(scoring_job(model, output="score", largest=256)).leakage(BOB)
    assert "solving for them after 4 scores" in " ".join(leakage.bob)


def test_only_the_side_with_rows_receives():
    study = SCORING.parse(scoring_job(predictor("tree", 2)))
    study.check_recipients(BOB)
    for recipients in (frozenset({Role.ALICE}), frozenset(Role)):
        with pytest.raises(UsageError, match="for the side that has the rows"):
            study.check_recipients(recipients)


def test_another_model_than_the_one_of_the_contract_is_refused_before_anything_is_sent():
    study = SCORING.parse(scoring_job(predictor("tree", 2)))
    refused = study.preview(model_data(predictor("forest", 2)), Role.ALICE, NO_LIMITS).refusal
    assert isinstance(refused, DomainError)
    assert "not the one that the job is committed to" in str(refused)
    for texts in (["no model"], ["{}"], [], ['{"form":1}'], ["[" * 100_000]):
        broken = {"model": Column(texts, Schema("text"))}
        assert isinstance(study.preview(broken, Role.ALICE, NO_LIMITS).refusal, DomainError)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"classes": ["0", "1", "2"]}, "has the classes"),
        ({"link": "softmax"}, "has the classes"),
        ({"depth": 5}, "of depth 6, and the job says"),
        ({"features": DECLARED[:2]}, "'marker' is in one of them only"),
        ({"kind": "linear", "trees": 0, "depth": 0}, "made of trees"),
    ],
)
def test_a_job_that_does_not_fit_the_model_is_refused_at_its_side(changes, what):
    model = predictor("tree", 2)
    study = SCORING.parse(scoring_job(model, **changes))
    assert what in str(study.preview(model_data(model), Role.ALICE, NO_LIMITS).refusal)


@pytest.mark.parametrize("kind", ["logistic", "bayes", "forest"])
def test_scores_above_the_bound_are_refused_at_the_side_of_the_model(kind):
    model = predictor(kind, 2)
    if kind == "forest":
        large = tuple(Tree((Leaf((0.0, 2.0)),)) for _ in range(2))
        model = replace(model, body=Forest(large, Precision.SINGLE))
    study = SCORING.parse(scoring_job(model, squares=kind == "bayes", largest=3))
    assert "could exceed 3" in str(study.preview(model_data(model), Role.ALICE, NO_LIMITS).refusal)


def test_values_outside_the_ranges_count_as_their_ends_and_are_remarked():
    model, rows = predictor("tree", 2), ROWS.copy()
    rows[:3, 0] = 500
    data = rows_data(rows)
    data["age"] = Column(rows[:, 0], Schema("integer", 0, 0, 1 << 62))
    data["age"].values[3] = 1 << 62
    study = SCORING.parse(scoring_job(model))
    (note,) = study.preview(data, Role.BOB, NO_LIMITS).notes
    assert note.startswith("4 rows have a value outside")
    ends = np.minimum(rows, 120 * (np.arange(3) == 0) + 5000 * (np.arange(3) > 0))
    _, found = study.reference(model_data(model), data, BOB)
    _, wanted = study.reference(model_data(model), rows_data(ends), BOB)
    assert found.tables == wanted.tables


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"commitment": "abc"}, "64 hexadecimal"),
        ({"output": "all"}, "output"),
        ({"output": "band"}, "cuts is there without bands"),
        ({"output": "band", "cuts": ["0.5", "0.2"]}, "ascending"),
        ({"output": "band", "cuts": ["0", "0.2"]}, "not between 0 and 1"),
        ({"classes": ["0"]}, "one class alone"),
        ({"classes": []}, "output is a label"),
        ({"classes": ["a", "b", "c"], "output": "score"}, "many classes"),
        ({"trees": 0}, "trees is missing"),
        ({"trees": 100}, "more than 4096 decisions"),
        ({"turns": True}, "turns is true"),
        ({"kind": "linear"}, "of kind trees alone"),
        ({"squares": True}, "squares or labels"),
        ({"maximum_rows": 0}, "out of range"),
        ({"features": [DECLARED[0], DECLARED[0]]}, "names a column twice"),
        ({"features": [{"name": "x", "lower": "1", "upper": "1"}]}, "not below upper"),
        ({"features": [{"name": "x", "lower": "0", "upper": "0.5"}]}, "digits is less"),
        ({"features": [{"name": "x", "lower": "0", "upper": "99999999"}]}, "narrower range"),
        ({"features": [{"name": "x", "labels": ["a"]}]}, "labels is of one label"),
    ],
)
def test_impossible_parameters_are_named(changes, what):
    with pytest.raises(UsageError, match=what):
        SCORING.parse(scoring_job(predictor("tree", 2), **changes))


def test_scores_that_no_word_holds_are_refused():
    wide = [{"name": name, "lower": "0", "upper": "1.6", "digits": 7} for name in FEATURES]
    model = predictor("logistic", 2)
    with pytest.raises(UsageError, match="57 can be had"):
        SCORING.parse(scoring_job(model, features=wide, squares=True, largest=1 << 20))


def test_a_column_with_more_digits_than_the_job_is_refused():
    study = SCORING.parse(scoring_job(predictor("tree", 2)))
    data = rows_data(ROWS)
    data["age"] = Column(ROWS[:, 0], Schema("decimal", 1, 0, 1200))
    assert "has 1 digits after the point" in str(study.preview(data, Role.BOB, NO_LIMITS).refusal)
    data["age"] = Column(ROWS[:, 0], Schema("text"))
    assert "not a number" in str(study.preview(data, Role.BOB, NO_LIMITS).refusal)


def test_more_rows_than_the_job_has_are_refused():
    study = SCORING.parse(scoring_job(predictor("tree", 2), maximum_rows=119))
    assert "more rows than" in str(study.preview(rows_data(ROWS), Role.BOB, NO_LIMITS).refusal)
    assert [each.most for each in study.facts(BOB).asked.answers] == [119]
