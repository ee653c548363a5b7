"""Importers: each model predicts what its own program does, and crafted files end in typed errors."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from commons.errors import HintedError
from parties.errors import DataError
from parties.importing import xgboost
from parties.importing.importing import import_file, import_model, rename
from parties.importing.protobuf import read_fields
from smc.analyses.predictors.form import Forest, Leaf, Predictor
from smc.analyses.predictors.plain import chances
from smc.analyses.predictors.text import commitment, join, model_of, pieces, text_of
from smc.errors import DomainError, DuettoError, UsageError
from tests.support.seeds import seeded

MODELS = Path(__file__).parent / "models"
EXPECTED = json.loads((MODELS / "expected.json").read_text())
NAMES = ("age", "bmi", "marker", "smoker")
UNITS = 10.0 ** np.array([0, 1, 2, 0])


@cache
def model(name: str) -> Predictor:
    found = import_model((MODELS / name).read_bytes())
    return found if found.features == NAMES else rename(found, NAMES)


def rows():
    return dict(zip(NAMES, (np.array(EXPECTED["rows"]) / UNITS).T, strict=True))


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_a_model_predicts_what_its_program_does(name):
    found = chances(model(name), rows())
    wanted = np.array(EXPECTED["models"][name]["values"]).reshape(len(found), -1)
    if found.shape[1] == 2 and wanted.shape[1] == 1:
        wanted = np.concatenate([1 - wanted, wanted], axis=1)
    # ONNX and XGBoost compute in singles.
    np.testing.assert_allclose(found, wanted, atol=3e-6)
    np.testing.assert_array_equal(found.argmax(axis=1), wanted.argmax(axis=1))
    assert model(name).classes == tuple(map(str, range(found.shape[1] if found.shape[1] > 1 else 0)))


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_a_model_comes_back_from_its_text(name):
    text = text_of(model(name))
    assert model_of(text) == join(pieces(text)) == model(name)
    assert text.isascii()
    assert " " not in text


def test_a_file_gets_a_salt_so_that_a_guess_of_the_model_tells_nothing():
    path, random = MODELS / "tree.onnx", seeded()
    first, second = (import_file(path, random, NAMES) for _ in range(2))
    assert first.body == second.body
    assert commitment(first) != commitment(second)
    assert commitment(first) == commitment(model_of(text_of(first)))
    with pytest.raises(DomainError, match="no salt"):
        commitment(model("tree.onnx"))


def test_categories_of_naive_bayes_are_parts_of_counts():
    """Counts by hand: of 6 smokers 5 are ill, of 10 others 2; one label never occurs with the ill."""
    pmml = b"""<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><DataDictionary>
      <DataField name="smoker" optype="categorical" dataType="string"/>
      <DataField name="ill" optype="categorical" dataType="string">
      <Value value="no"/><Value value="yes"/></DataField>
      </DataDictionary><NaiveBayesModel functionName="classification" threshold="0.01"><MiningSchema>
      <MiningField name="smoker"/><MiningField name="ill" usageType="target"/></MiningSchema><BayesInputs>
      <BayesInput fieldName="smoker">
      <PairCounts value="yes"><TargetValueCounts><TargetValueCount value="no" count="1"/>
        <TargetValueCount value="yes" count="5"/></TargetValueCounts></PairCounts>
      <PairCounts value="no"><TargetValueCounts><TargetValueCount value="no" count="8"/>
        <TargetValueCount value="yes" count="2"/></TargetValueCounts></PairCounts>
      <PairCounts value="once"><TargetValueCounts><TargetValueCount value="no" count="1"/></TargetValueCounts>
      </PairCounts></BayesInput></BayesInputs>
      <BayesOutput fieldName="ill"><TargetValueCounts><TargetValueCount value="no" count="10"/>
      <TargetValueCount value="yes" count="7"/></TargetValueCounts></BayesOutput></NaiveBayesModel></PMML>"""
    found = chances(import_model(pmml), {"smoker": ["yes", "no", "once"]})
    ill = [5 / 7 * 7, 2 / 7 * 7, 0.01 * 7]
    well = [1 / 10 * 10, 8 / 10 * 10, 1 / 10 * 10]
    np.testing.assert_allclose(found[:, 1], np.array(ill) / (np.array(ill) + np.array(well)), rtol=1e-12)


def changed(name, *path, to):
    """The file with one value of its JSON replaced."""
    document = json.loads((MODELS / name).read_bytes())
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return json.dumps(document).encode()


LIGHT, ROOT = "lightgbm_binary.json", ("tree_info", 0, "tree_structure")
BOOST, TREE = "xgboost_binary.json", ("learner", "gradient_booster", "model", "trees", 0)
NESTED = b'{"a":' * 200_000 + b"1" + b"}" * 200_000

JSON_CASES = {
    "deep": (NESTED, "nested too deeply"),
    "not json": (b'{"tree_info": [', "no JSON"),
    "long number": (b'{"tree_info": ' + b"9" * 5000 + b"}", "no JSON"),
    "not utf-8": (b'{"tree_info": "\xff"}', "no JSON"),
    "other json": (b'{"some": "thing"}', "not a model as LightGBM"),
    "nan": (changed(LIGHT, *ROOT, "threshold", to=float("nan")), "NaN"),
    "infinity": (changed(LIGHT, *ROOT, "threshold", to=float("-inf")), "Infinity"),
    "overflow": (
        changed(LIGHT, *ROOT, "threshold", to=12345.5).replace(b"12345.5", b"1e999"),
        "threshold is infinite",
    ),
    "huge leaf": (changed(LIGHT, "tree_info", 0, "tree_structure", to={"leaf_value": 1e300}), "above 2"),
    "huge whole": (changed(LIGHT, *ROOT, "threshold", to=10**400), "not a model as LightGBM"),
    "text for number": (changed(LIGHT, *ROOT, "threshold", to="50"), "not a model as LightGBM"),
    "truth for number": (changed(LIGHT, *ROOT, "split_feature", to=True), "not a model as LightGBM"),
    "unknown feature": (changed(LIGHT, *ROOT, "split_feature", to=4), "feature that there is not"),
    "negative feature": (changed(LIGHT, *ROOT, "split_feature", to=-1), "feature that there is not"),
    "category": (changed(LIGHT, *ROOT, "decision_type", to="=="), "sets of categories"),
    "zero missing": (changed(LIGHT, *ROOT, "missing_type", to="Zero"), "zeros for missing"),
    "objective": (changed(LIGHT, "objective", to="poisson"), "'poisson' is not read"),
    "averaged": (changed(LIGHT, "average_output", to=True), "averaged"),
    "many classes": (changed(LIGHT, "num_tree_per_iteration", to=10**9), "more than 16 classes"),
    "no trees": (changed(LIGHT, "tree_info", to=[]), "1 to 1000 trees"),
    "names twice": (changed(LIGHT, "feature_names", to=["a", "a", "b", "c"]), "one name"),
    "hidden name": (changed(LIGHT, "feature_names", to=["a\x1b[2J", "d", "b", "c"]), "not printable"),
    "circle": (changed(BOOST, *TREE, "left_children", 1, to=0), "circle"),
    "shared child": (changed(BOOST, *TREE, "left_children", 0, to=2), "circle"),
    "own child": (changed(BOOST, *TREE, "right_children", 0, to=0), "circle"),
    "negative child": (changed(BOOST, *TREE, "left_children", 0, to=-2), "no node -2"),
    "child outside": (changed(BOOST, *TREE, "left_children", 0, to=10**18), "no node 10"),
    "fewer columns": (changed(BOOST, *TREE, "split_indices", to=[0]), "not a model as XGBoost"),
    "no base": (changed(BOOST, "learner", "learner_model_param", "base_score", to="[1.0]"), "not a model"),
    "base is text": (changed(BOOST, "learner", "learner_model_param", "base_score", to="NaN"), "not a model"),
    "many features": (
        changed(BOOST, "learner", "learner_model_param", "num_feature", to="999999999"),
        "256 features",
    ),
    "dart": (changed(BOOST, "learner", "gradient_booster", "name", to="dart"), "'dart' is not read"),
    "set split": (changed(BOOST, *TREE, "split_type", 0, to=1), "sets of categories"),
    "stopped early": (
        changed(BOOST, "learner", "attributes", to={"best_iteration": "1"}),
        "best at round 2 of 4",
    ),
}


@pytest.mark.parametrize("case", JSON_CASES)
def test_a_crafted_json_file_is_refused_by_what_is_wrong(case):
    data, what = JSON_CASES[case]
    with pytest.raises(DuettoError, match=what) as refused:
        import_model(data)
    assert refused.value.hint


def test_a_chain_of_splits_is_no_deeper_than_a_tree_may_be():
    tree = {"leaf_value": 1.0}
    for _ in range(200):
        split = {"split_feature": 0, "threshold": 1.0, "decision_type": "<=", "missing_type": "None"}
        tree = {**split, "left_child": tree, "right_child": {"leaf_value": 0.0}}
    with pytest.raises(DomainError, match="deeper than 12"):
        import_model(changed(LIGHT, *ROOT, to=tree))


LAUGHS = (
    '<!DOCTYPE PMML [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]><PMML>&j;</PMML>"
)
TREE_PMML = (MODELS / "tree.pmml").read_text()
PMML_CASES = {
    "billion laughs": (LAUGHS, "declares entities"),
    "file of others": ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><PMML>&x;</PMML>', "declares"),
    "document type": ('<!DOCTYPE PMML SYSTEM "http://127.0.0.1:9/x.dtd"><PMML/>', "declares entities"),
    "deep": ("<PMML>" + "<Node>" * 100_000 + "</Node>" * 100_000 + "</PMML>", "not one model"),
    "not xml": ("<PMML", "no XML"),
    "unknown coding": ('<?xml version="1.0" encoding="no-such"?><PMML/>', "no XML"),
    "empty": ("<PMML/>", "not one model"),
    "nan": (TREE_PMML.replace('value="50.5"', 'value="nan"'), "threshold is infinite, or no number"),
    "infinity": (TREE_PMML.replace('value="50.5"', 'value="inf"'), "threshold is infinite, or no number"),
    "text": (TREE_PMML.replace('value="50.5"', 'value="fifty"'), "not a model as PMML"),
    "two texts": (
        TREE_PMML.replace('value="50.5"', 'value="50.5"', 1).replace(
            'operator="greaterThan" value="50.5"', 'operator="greaterThan" value="51"'
        ),
        "not opposite",
    ),
    "other field": (TREE_PMML.replace('field="age"', 'field="name"'), "not a model as PMML"),
    "sets": (TREE_PMML.replace('operator="lessOrEqual"', 'operator="isMissing"'), "'isMissing'"),
    "negative count": (
        (MODELS / "bayes_grades.pmml").read_text().replace('count="', 'count="-'),
        "not a model as PMML",
    ),
    "no variance": (
        (MODELS / "bayes_grades.pmml").read_text().replace('variance="', 'variance="-'),
        "not a model as PMML",
    ),
    "votes": (
        (MODELS / "forest_grades.pmml").read_text().replace('"average"', '"majorityVote"'),
        "'majorityVote'",
    ),
}


@pytest.mark.parametrize("case", PMML_CASES)
def test_a_crafted_pmml_file_is_refused_by_what_is_wrong(case):
    text, what = PMML_CASES[case]
    with pytest.raises(DuettoError, match=what) as refused:
        import_model(text.encode())
    assert refused.value.hint


def varint(value):
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def blob(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, *fields):
    return blob(5, blob(1, name) + b"".join(fields))


def wholes(*values):
    return b"".join(varint(8 << 3) + varint(value % (1 << 64)) for value in values)


def singles(*values):
    return blob(7, np.array(values, dtype="<f4").tobytes())


def texts(*values):
    return b"".join(blob(9, value) for value in values)


def onnx(**changes):
    """A graph of one regression tree: x0 <= 1 gives 2, else 3."""
    given = {
        "nodes_treeids": wholes(0, 0, 0),
        "nodes_nodeids": wholes(0, 1, 2),
        "nodes_featureids": wholes(0, 0, 0),
        "nodes_modes": texts(b"BRANCH_LEQ", b"LEAF", b"LEAF"),
        "nodes_values": singles(1, 0, 0),
        "nodes_truenodeids": wholes(1, 0, 0),
        "nodes_falsenodeids": wholes(2, 0, 0),
        "target_treeids": wholes(0, 0),
        "target_nodeids": wholes(1, 2),
        "target_ids": wholes(0, 0),
        "target_weights": singles(2, 3),
    } | changes
    attributes = b"".join(attribute(name.encode(), fields) for name, fields in given.items())
    node = blob(4, b"TreeEnsembleRegressor") + blob(7, b"ai.onnx.ml") + attributes
    return blob(7, blob(1, node))


def test_the_graph_of_these_tests_is_a_model():
    found = chances(import_model(onnx()), {"f0": np.array([0.5, 1.0, 1.5])})
    assert found[:, 0].tolist() == [2, 2, 3]
    assert (
        chances(
            import_model(onnx(nodes_modes=texts(b"BRANCH_LT", b"LEAF", b"LEAF"))), {"f0": np.array([1.0])}
        )
        == 3
    )


ONNX_CASES = {
    "empty": (b"", "not a model as ONNX"),
    "noise": (b"\x08\x09 no model", "not a model as ONNX"),
    "cut": (onnx()[:-3], "not a model as ONNX"),
    "claims more": (varint(7 << 3 | 2) + varint(1 << 60) + b"x", "not a model as ONNX"),
    "endless number": (b"\x80" * 1000, "not a model as ONNX"),
    "group": (varint(7 << 3 | 3), "not a model as ONNX"),
    "circle": (
        onnx(nodes_truenodeids=wholes(0, 0, 0), nodes_modes=texts(b"BRANCH_LEQ", b"BRANCH_LEQ", b"LEAF")),
        "circle",
    ),
    "shared": (onnx(nodes_truenodeids=wholes(2, 0, 0)), "two roots"),
    "inner circle": (
        onnx(
            nodes_nodeids=wholes(0, 1, 2),
            nodes_modes=texts(b"BRANCH_LEQ", b"BRANCH_LEQ", b"LEAF"),
            nodes_truenodeids=wholes(1, 1, 0),
            nodes_falsenodeids=wholes(2, 2, 0),
        ),
        "circle",
    ),
    "negative child": (onnx(nodes_truenodeids=wholes(-1, 0, 0), nodes_nodeids=wholes(0, 2, 2)), "one number"),
    "missing child": (
        onnx(
            nodes_truenodeids=wholes(7, 0, 0),
            nodes_treeids=wholes(0, 0, 0),
            nodes_falsenodeids=wholes(8, 0, 0),
        ),
        "two roots",
    ),
    "negative feature": (onnx(nodes_featureids=wholes(-1, 0, 0)), "feature that there is not"),
    "far feature": (onnx(nodes_featureids=wholes(1 << 40, 0, 0)), "256 features"),
    "nan": (onnx(nodes_values=singles(float("nan"), 0, 0)), "threshold is infinite, or no number"),
    "infinity": (onnx(nodes_values=singles(float("inf"), 0, 0)), "threshold is infinite, or no number"),
    "no leaf value": (onnx(target_weights=singles(float("nan"), 3)), "leaves is above"),
    "lengths": (onnx(nodes_values=singles(1)), "not a model as ONNX"),
    "mode": (onnx(nodes_modes=texts(b"BRANCH_EQ", b"LEAF", b"LEAF")), "'BRANCH_EQ'"),
    "wrong kind": (onnx(nodes_values=varint(7 << 3) + varint(3)), "not a model as ONNX"),
    "doubles": (onnx(nodes_values_as_tensor=b""), "doubles"),
    "other graph": (blob(7, blob(1, blob(4, b"Loop"))), "'Loop'"),
}


@pytest.mark.parametrize("case", ONNX_CASES)
def test_a_crafted_onnx_file_is_refused_by_what_is_wrong(case):
    data, what = ONNX_CASES[case]
    with pytest.raises(DuettoError, match=what) as refused:
        import_model(data)
    assert refused.value.hint


def test_fields_of_a_message_are_numbers_and_bytes():
    fields = read_fields(
        varint(1 << 3) + varint((1 << 64) - 5) + blob(2, b"ab") + varint(3 << 3 | 5) + b"\0\0\x80?"
    )
    assert fields.wholes(1) == [-5]
    assert (fields.text(2), fields.text(9), fields.whole(9)) == ("ab", "", 0)
    assert fields.singles(3) == [1.0]


@pytest.mark.parametrize("name", EXPECTED["models"])
def test_damaged_files_end_with_an_error_or_a_model(name):
    random, data = np.random.default_rng(seeded().words(2)), (MODELS / name).read_bytes()
    for _ in range(60):
        harmed = bytearray(data)
        for place in random.integers(0, len(data), 3):
            harmed[place] = random.integers(0, 256)
        for variant in (bytes(harmed), data[: random.integers(0, len(data))]):
            try:
                found = import_model(variant)
            except HintedError:
                continue
            assert isinstance(found, Predictor)
            assert model_of(text_of(found)) == found


def test_a_file_that_is_too_large_or_missing_is_refused_before_it_is_parsed(tmp_path):
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(DataError, match="larger than 16 MB"):
        import_file(large, seeded())
    with pytest.raises(UsageError, match="cannot be read"):
        import_file(tmp_path / "none.json", seeded())


def test_features_are_renamed_one_by_one():
    found = model("tree.onnx")
    assert found.features == NAMES
    assert isinstance(found.body, Forest)
    assert all(isinstance(leaf, Leaf) for leaf in found.body.trees[0].leaves)
    with pytest.raises(UsageError, match="4 features, and 1 names"):
        rename(found, ["age"])


@pytest.mark.parametrize("best", ["3", "7"])
def test_a_model_that_was_best_in_its_last_round_is_read(best):
    found = changed(BOOST, "learner", "attributes", to={"best_iteration": best})
    usual = changed(BOOST, "learner", "attributes", to={})
    assert xgboost.read(json.loads(found)) == xgboost.read(json.loads(usual))
