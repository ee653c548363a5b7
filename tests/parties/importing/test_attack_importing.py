"""Model files whose parts beside the model change what it predicts: none is left out silently."""

from __future__ import annotations

import pytest

from parties.errors import DataError
from parties.importing.importing import import_file, import_model, parameters_of, write_dataset
from smc.analyses.scoring.study import SCORING
from smc.numeric.random import Randomness
from tests.parties.importing.test_importing import MODELS, attribute, blob, varint

REGRESSION = (MODELS / "tree_regression.pmml").read_text()
FLOAT, INT64 = 1, 7


def node(operator, taken, given, *attributes):
    return blob(1, blob(1, taken) + blob(2, given) + blob(4, operator) + b"".join(attributes))


def with_nodes_before(*nodes):
    """A linear model of columns c0 and c1 of a graph that first does something else with its input X."""
    fields = b"".join(
        [
            attribute(b"coefficients", blob(7, b"\0\0\x80?\0\0\0@")),
            attribute(b"intercepts", blob(7, b"\0\0\0\0")),
        ]
    )
    model = blob(
        1, blob(1, b"Y") + blob(2, b"out") + blob(4, b"LinearRegressor") + blob(7, b"ai.onnx.ml") + fields
    )
    return blob(7, b"".join(nodes) + model + blob(11, blob(1, b"X")))


@pytest.mark.parametrize(
    "before",
    [
        [node(b"Normalizer", b"X", b"Y")],
        [node(b"Cast", b"X", b"Y", attribute(b"to", varint(3 << 3) + varint(INT64)))],
        [node(b"ArrayFeatureExtractor", b"X", b"Y")],
        [node(b"Normalizer", b"X", b"Z"), node(b"Identity", b"Z", b"Y")],
    ],
    ids=["normalizer", "cast to whole numbers", "choice of columns", "normalizer further up"],
)
def test_what_an_onnx_graph_does_before_the_model_is_refused(before):
    """A pipeline of scikit-learn with a Normalizer before its regression is exported so."""
    with pytest.raises(DataError, match="before the model"):
        import_model(with_nodes_before(*before))


@pytest.mark.parametrize(
    "before",
    [
        [node(b"Identity", b"X", b"Y")],
        [node(b"Cast", b"X", b"Y", attribute(b"to", varint(3 << 3) + varint(FLOAT)))],
    ],
    ids=["identity", "cast to singles"],
)
def test_what_changes_no_value_is_not(before):
    assert import_model(with_nodes_before(*before)).body.weights == ((1.0, 2.0),)


def test_a_graph_in_a_circle_is_refused():
    with pytest.raises(DataError):
        import_model(with_nodes_before(node(b"Identity", b"Y", b"Y")))


TARGETS = '<Targets><Target field="y" rescaleConstant="22.5"/></Targets>'


def test_targets_that_move_predictions_are_refused():
    """Boosted trees of scikit-learn are exported with the mean of the outcome as rescaleConstant."""
    with pytest.raises(DataError, match="Targets"):
        import_model(REGRESSION.replace("</MiningSchema>", "</MiningSchema>" + TARGETS, 1).encode())


@pytest.mark.parametrize(
    "attribute",
    ['outliers="asExtremeValues" lowValue="0" highValue="1"', 'outliers="asMissingValues"'],
)
def test_fields_whose_values_are_moved_are_refused(attribute):
    with pytest.raises(DataError, match="outliers"):
        import_model(REGRESSION.replace('usageType="active"', f'usageType="active" {attribute}', 1).encode())


def test_derived_fields_of_the_model_itself_are_refused():
    """They may have the name of a field that the model reads."""
    own = (
        '<LocalTransformations><DerivedField name="age" optype="continuous" dataType="double">'
        '<NormContinuous field="age"><LinearNorm orig="0" norm="0"/><LinearNorm orig="1" norm="2"/>'
        "</NormContinuous></DerivedField></LocalTransformations>"
    )
    with pytest.raises(DataError, match="derives fields"):
        import_model(REGRESSION.replace("</MiningSchema>", "</MiningSchema>" + own, 1).encode())


@pytest.mark.parametrize(
    "name", ["linear.pmml", "tree_regression.onnx", "lightgbm_regression.json", "tree.pmml"]
)
def test_the_printed_parameters_are_those_of_a_job(name):
    """As they are, whether the model tells classes apart or predicts a number."""
    found = import_file(MODELS / name, Randomness.from_seed(b"", "importing"))
    assert SCORING.parse(parameters_of(found)).parameters.commitment


def test_the_salt_of_a_commitment_is_not_for_other_accounts(tmp_path):
    write_dataset(
        import_file(MODELS / "tree.pmml", Randomness.from_seed(b"", "importing")), tmp_path / "a.csv"
    )
    assert (tmp_path / "a.csv").stat().st_mode & 0o077 == 0
