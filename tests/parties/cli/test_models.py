"""`duetto model import`: a file becomes a data set, and the parameters of a job."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from parties.cli.models import model
from smc.analyses.predictors.text import commitment, join
from smc.analyses.scoring.study import SCORING

MODELS = Path(__file__).parents[1] / "importing" / "models"


def imported(*words):
    return CliRunner().invoke(model, ["import", *map(str, words)])


@pytest.mark.parametrize(
    "name",
    ["forest.onnx", "lightgbm_multiclass.json", "xgboost_binary.json", "bayes_grades.pmml", "logistic.onnx"],
)
def test_what_is_printed_is_a_job_for_the_data_set_that_is_written(name, tmp_path):
    names = [word for each in ("age", "bmi", "marker", "smoker") for word in ("--feature", each)]
    report = json.loads(imported(MODELS / name, "--output", tmp_path / "a.csv", *names, "--json").stdout)
    with (tmp_path / "a.csv").open(newline="") as file:
        found = join([row["model"] for row in csv.DictReader(file)])
    assert report["parameters"]["commitment"] == commitment(found)
    assert found.features == ("age", "bmi", "marker", "smoker")
    study = SCORING.parse(report["parameters"])
    assert study.parameters.shape.places(found) == [0, 1, 2, 3]


def test_for_people_the_parameters_are_toml(tmp_path):
    said = imported(MODELS / "tree.pmml", "--output", tmp_path / "tree.csv").stdout
    parameters = tomllib.loads(said[said.index("[parameters]") :])["parameters"]
    assert (parameters["kind"], parameters["trees"], parameters["depth"]) == ("trees", 1, 4)
    assert "duetto data add" in said


def test_no_file_is_written_over_and_none_left_behind(tmp_path):
    output = tmp_path / "kept.csv"
    output.write_text("mine")
    refused = imported(MODELS / "tree.onnx", "--output", output)
    assert (refused.exit_code, "File exists" in refused.output) == (74, True)
    assert output.read_text() == "mine"
    broken = tmp_path / "broken.json"
    broken.write_text('{"tree_info": 1}')
    refused = imported(broken, "--output", tmp_path / "none.csv")
    assert "not a model as LightGBM" in refused.output
    assert not (tmp_path / "none.csv").exists()
