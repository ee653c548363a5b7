"""Writes the model files of this folder; see README.md for the packages and their versions.

usage: python make_models.py FOLDER
"""

import json
import re
import sys
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from nyoka import skl_to_pmml
from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

FEATURES = {"age": (20, 95, 0), "bmi": (150, 450, 1), "marker": (0, 2000, 2), "smoker": (0, 1, 0)}
"""Least and greatest held value, and digits after the point."""

random = np.random.default_rng(31)
units = 10.0 ** np.array([digits for _, _, digits in FEATURES.values()])


def rows(count):
    return np.stack([random.integers(low, high + 1, count) for low, high, _ in FEATURES.values()], axis=1)


def risk(held):
    real = held / units
    return (
        (real[:, 0] - 60) / 15 + (real[:, 1] - 28) / 8 + real[:, 2] / 8 - 1 + real[:, 3] * (real[:, 0] > 50)
    )


train, test = rows(1200), rows(150)
score = risk(train) + random.normal(0, 0.7, len(train))
yes, grade = (score > 0).astype(int), np.digitize(score, [-1, 1])
x, z = train / units, test / units


def chances(probabilities):
    return np.asarray(probabilities, dtype=float).round(9).tolist()


folder = Path(sys.argv[1])
expected = {"rows": test.tolist(), "models": {}}


def keep(name, data, found):
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    expected["models"][name] = found


def onnx(model):
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    return to_onnx(
        model, x.astype(np.float32), options=None if options is None else {id(model): options}
    ).SerializeToString()


SKLEARN = {
    "logistic": (LogisticRegression(max_iter=5000), yes),
    "logistic_grades": (LogisticRegression(max_iter=5000), grade),
    "linear": (LinearRegression(), score),
    "tree": (DecisionTreeClassifier(max_depth=6, random_state=0), yes),
    "tree_regression": (DecisionTreeRegressor(max_depth=4, random_state=0), score),
    "forest": (RandomForestClassifier(5, max_depth=4, random_state=0), yes),
    "forest_grades": (RandomForestClassifier(4, max_depth=3, random_state=0), grade),
    "boosted": (GradientBoostingClassifier(n_estimators=5, max_depth=3, random_state=0), yes),
}
for name, (model, outcome) in SKLEARN.items():
    model.fit(x.astype(np.float32), outcome)
    single = z.astype(np.float32)
    found = {
        "values": chances(
            model.predict_proba(single) if hasattr(model, "predict_proba") else model.predict(single)
        )
    }
    keep(f"{name}.onnx", onnx(model), found)

for name, objective, outcome in (
    ("binary", "binary", yes),
    ("multiclass", "multiclass", grade),
    ("regression", "regression", score),
):
    settings = {"objective": objective, "num_leaves": 8, "verbose": -1, "seed": 0, "deterministic": True}
    if objective == "multiclass":
        settings["num_class"] = 3
    booster = lightgbm.train(
        settings, lightgbm.Dataset(x, outcome, feature_name=list(FEATURES)), num_boost_round=4
    )
    keep(f"lightgbm_{name}.json", json.dumps(booster.dump_model()), {"values": chances(booster.predict(z))})

for name, objective, outcome in (
    ("binary", "binary:logistic", yes),
    ("multiclass", "multi:softprob", grade),
    ("regression", "reg:squarederror", score),
):
    settings = {"objective": objective, "max_depth": 3, "seed": 0, "nthread": 1}
    if objective.startswith("multi"):
        settings["num_class"] = 3
    data = xgboost.DMatrix(x, outcome, feature_names=list(FEATURES))
    booster = xgboost.train(settings, data, num_boost_round=4)
    file = folder / f"xgboost_{name}.json"
    booster.save_model(file)
    predicted = booster.predict(xgboost.DMatrix(z, feature_names=list(FEATURES)))
    keep(file.name, file.read_bytes(), {"values": chances(predicted)})

PMML = {
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), yes),
    "tree_regression": (DecisionTreeRegressor(max_depth=3, random_state=0), score),
    "forest_grades": (RandomForestClassifier(3, max_depth=3, random_state=0), grade),
    "linear": (LinearRegression(), score),
    "logistic": (LogisticRegression(max_iter=5000), yes),
    "bayes_grades": (GaussianNB(), grade),
}
for name, (model, outcome) in PMML.items():
    model.fit(x, outcome)
    file = folder / f"{name}.pmml"
    skl_to_pmml(Pipeline([("model", model)]), list(FEATURES), "outcome", str(file))
    written = re.sub(
        r"\s*<(Output>.*?</Output|Timestamp>.*?</Timestamp)>", "", file.read_text(), flags=re.DOTALL
    )
    found = chances(model.predict_proba(z) if hasattr(model, "predict_proba") else model.predict(z))
    keep(file.name, re.sub(r"\n\s+", "\n", written), {"values": found})

(folder / "expected.json").write_text(json.dumps(expected))
