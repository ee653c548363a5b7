"""Audits of the whole command: planted faults are exposed, and methods that claim epsilon keep it."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anonymizer.audit.audit import Auditor, Plan, claims_of, most_shown
from anonymizer.audit.command import Command, Output, workplace
from anonymizer.audit.neighbours import Neighbours
from anonymizer.dp.distinguisher import FEWEST, SCORE, Distinguisher
from anonymizer.errors import AnonymizerError, SpecError, UnreachableError
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.pipelines.spec import Spec, parse
from anonymizer.releases.claims import OF_RECORDS
from anonymizer.releases.guarantee import Guarantee
from anonymizer.releases.release import Release
from anonymizer.tables.declared import declared_numbers
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from tests.support.grids import grid

ALARM = 1e-6
"""Of the sound methods. Faults are looked for with less confidence, since a miss is what may not happen."""
AGE = {"type": "integer", "bounds": [0, 100], "missing": "impute"}
COLOURS = ["blue", "green", "red", "white"]


def spec_of(step: dict, columns: dict | None = None) -> Spec:
    columns = columns or {"age": AGE}
    roles = {"quasi_identifiers": list(columns)}
    return parse({"roles": roles, "columns": columns, "steps": [step]}, Path())


def people(rows: int = 9) -> pl.DataFrame:
    number = range(rows)
    return pl.DataFrame(
        {
            "age": [str(10 + 10 * n) for n in number],
            "pay": [str(n / 2) for n in number],
            "colour": [COLOURS[n % 4] for n in number],
            "town": [f"town {n}" for n in number],
        }
    )


def audited(
    spec: Spec,
    plan: Plan,
    method: type[DpNoise] | None = None,
    *,
    keep_order: bool = False,
    whole: bool = True,
    rows: int = 9,
    **args,
):
    """The audit of a specification or of another method in its place: the `whole` command, or its step."""
    kind = Command if whole else StepAlone
    command = kind.of(spec, keep_order=keep_order)
    if method is not None:

        def planted() -> Pipeline:
            return Pipeline(
                steps=[("planted", method(columns=("age",), **args))], roles=spec.roles, schema=spec.schema
            )

        command = kind(planted, spec.accept, spec.dialect, keep_order)
    with workplace() as folder:
        return Auditor(command, Neighbours(spec, people(rows), folder), folder, plan).audit()


class StepAlone(Command):
    """Only the method, its column written to a file: ten runs in the time of one with the gate."""

    def run(self, table: Table, folder: Path) -> Output:
        del folder
        ((_, method),) = self.pipeline().steps
        try:
            cells = method.fit_transform_table(table).series("age")
        except AnonymizerError as problem:
            return Output(refusal=f"{type(problem).__name__}: {problem.what}")
        return Output({"release.csv": "\n".join(["age", *map(str, cells)]).encode()})


class HalfTheNoise(DpNoise):
    """Noise half as large as epsilon needs."""

    def _fit(self, table: Table) -> None:
        super()._fit(table)
        self.scales_ = {column: scale / 2 for column, scale in self.scales_.items()}


class LawByTheData(DpNoise):
    """Noise of another size, as soon as one cell is not whole."""

    def _fit(self, table: Table) -> None:
        super()._fit(table)
        given = declared_numbers(table, "age")
        if (given != np.round(given)).any():
            self.scales_ = {column: 100 * scale for column, scale in self.scales_.items()}


class BoundsByTheData(DpNoise):
    """Bounds that the largest cell decides."""

    def _fit(self, table: Table) -> None:
        self.bounds = {"age": (0, max(1.0, float(np.nanmax(declared_numbers(table, "age")))))}
        super()._fit(table)


class OrderByTheData(DpNoise):
    """Sound noise; the rows leave in the order of the true cells."""

    def _transform(self, table: Table) -> Table:
        order = np.argsort(declared_numbers(table, "age"), kind="stable")
        return super()._transform(table).taken(order)


LAW_ALONE = (LawByTheData, 0.5, 160, 3, False)
"""Shows 2.5 with a deviation of 0.3; half as many runs show 1.6, and less than 0.7 once in 100 audits."""
BOUNDS_ALONE = (BoundsByTheData, 0.5, 160, 2, False)
ORDER = (OrderByTheData, 0.5, 40, 1, True)
FAULTS = [
    (HalfTheNoise, 1.0, 1500, 1, True),  # whose loss of 2 shows 1.5 with a deviation of 0.1
    (LawByTheData, 0.5, 160, 3, True),
    (BoundsByTheData, 0.5, 160, 2, True),
    LAW_ALONE,
    BOUNDS_ALONE,
    ORDER,
]


@pytest.mark.parametrize(
    ("fault", "claimed", "runs", "pairs", "whole"),
    grid(FAULTS, []),  # that of ORDER is in `test_the_command_ends_with_65_if_a_claim_is_refuted`
)
def test_planted_faults_are_exposed(fault, claimed, runs, pairs, whole):
    plan = Plan(runs=runs, search=96, pairs=pairs, wrong=0.01)  # fewer may pick an event that shows little
    keep = fault is OrderByTheData
    spec = spec_of({"method": "dp-noise"})
    found = audited(spec, plan, fault, keep_order=keep, whole=whole, epsilon=claimed)
    (finding,) = found.findings
    assert finding.claim.number("epsilon") == pytest.approx(claimed)
    assert finding.refuted, finding
    assert found.refuted == (finding,)


class Quick(Command):
    """Only the noise of the record, written to a file: thousands of runs in a second."""

    noise = Randomness(17)
    scale = 1.0

    def run(self, table: Table, folder: Path) -> Output:
        del folder
        if np.isnan(declared_numbers(table, "age")).any():
            return Output(refusal="a gap")
        cell = declared_numbers(table, "age")[4] + 100 * self.scale * self.noise.laplace(1)[0]
        return Output({"release.csv": f"age\n{cell}\n".encode()})


@pytest.mark.parametrize(("scale", "refuted"), [(1.0, False), (0.5, True)])
def test_noise_half_as_large_is_exposed(scale, refuted):
    spec = spec_of({"method": "dp-noise", "epsilon": 1.0})
    command = Quick.of(spec)
    object.__setattr__(command, "scale", scale)
    with workplace() as folder:
        auditor = Auditor(command, Neighbours(spec, people(), folder), folder, Plan(1500, 16, 1, ALARM))
        (finding,) = auditor.audit().findings
    assert bool(finding.refuted) is refuted
    assert 0.4 < finding.loss * scale < 1
    assert finding.runs == 1000, "two thirds of them count, the others choose"


NUMBERS = {"age": AGE, "pay": {"type": "float", "bounds": [0, 5], "missing": "impute"}}
COLOUR = {"colour": {"type": "category", "categories": COLOURS, "missing": "value"}}
SYNTHESIZERS = {
    **{word: {} for word in ("copula", "histogram", "independent", "privbayes")},
    **{word: {"delta": 1e-3} for word in ("aim", "mst")},
}
SOUND = [
    ({"method": "dp-noise", "epsilon": 0.5}, {"age": AGE}),
    ({"method": "dp-noise", "epsilon": 0.5, "clamped": True, "digits": 1}, NUMBERS),
    ({"method": "dp-noise", "epsilon": 0.5, "distribution": "gaussian", "delta": 1e-3}, {"age": AGE}),
    ({"method": "pram", "retention": 0.4}, COLOUR),
    ({"method": "exponential-mechanism", "epsilon": 0.5}, COLOUR),
    ({"method": "dp-um", "epsilon": 0.5, "k": 3}, {"age": AGE}),
    ({"method": "idp-ls", "epsilon": 0.5, "k": 3}, {"age": AGE}),
    ({"method": "idp-cbls", "epsilon": 0.5, "k": 4, "minimum_change": 0.01}, {"age": AGE}),
    *(
        ({"method": f"synth-{word}", "epsilon": 0.5, "bins": 2, "rows": 9} | rest, {"age": AGE} | COLOUR)
        for word, rest in SYNTHESIZERS.items()
    ),
]
"""A specification of every method that claims differential privacy, of a record or under a condition."""


def sound(step: dict, columns: dict) -> Spec:
    if step["method"].startswith("synth"):
        return spec_of(step | {"columns": list(columns)}, columns)
    spec = spec_of(step, columns)
    if "colour" not in columns:
        return spec
    hierarchy = {"rows": [[one, "*"] for one in COLOURS]}
    document = {**spec.document, "hierarchies": {"colour": hierarchy}}
    unchanged = {"finding": "unchanged", "why": "a short table may stay as it is"}
    document["accept"] = [{**unchanged, "column": f"1-{step['method']}"}, unchanged]
    return parse(document, Path())


def names(step: dict) -> str:
    """The name of a case."""
    return "-".join(str(value) for value in step.values() if not isinstance(value, list))


def is_long(step: dict) -> bool:
    """Whether a run takes longer than a second: such methods are audited in the slow tests only."""
    return "delta" in step and step["method"].startswith("synth")


QUICK_ONES = [one for one in SOUND if not is_long(one[0])]
OFTEN = [SOUND[0], *(one for one in SOUND if one[0]["method"] in {"pram", "dp-um", "synth-histogram"})]
"""Noise, chance, a condition, and a made-up table: of the others each is like one of these to the audit."""


@pytest.mark.parametrize(
    ("step", "columns"), grid(QUICK_ONES, OFTEN), ids=[names(step) for step, _ in QUICK_ONES]
)
def test_every_method_can_be_audited(step, columns):
    """So few runs refute nothing, see `most_shown`; those of the slow tests can."""
    found = audited(sound(step, columns), Plan(runs=8, search=8, pairs=1, wrong=ALARM), rows=12)
    assert found.findings
    assert not found.refuted, found.refuted


class OneClaim(Pipeline):
    """States one of its claims alone."""

    place = 0

    def release(self, table: Table) -> Release:
        made = super().release(table)
        return replace(made, guarantees=claims_of(made.guarantees)[self.place : self.place + 1])


class Within(Auditor):
    """Leaves out what is beyond the condition of a claim, which refutes nothing."""

    def _claim(self, claim: Guarantee, within: bool, claims: int):
        return super()._claim(claim, within, claims) if within else None


# What they refute where 0.5 is claimed, of 150 and of 60 audits of simulated Laplace noise on one number.
LONG = Plan(runs=200, search=8, pairs=4, wrong=ALARM)
"""Of methods that take a tenth of a second: a loss of 3 in nine audits of ten, one of 4 in 99 of 100."""
MANY = Plan(runs=2250, wrong=ALARM)
"""1,500 of these count: a loss of 0.9 in three audits of four, one of 1, by half of the noise, in 98 of 100.
With 3,000 runs, of which half count, it is as many."""
CLAIMS = [
    (step, columns, place, of)
    for step, columns in SOUND
    for of in [3 if len(columns) > 1 and step["method"] == "dp-noise" else 1]
    for place in range(of)
]
"""Each claim of each: of noise on two columns there are one of each cell and one of the record."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "columns", "place", "of"), CLAIMS, ids=[f"{names(one)}-{place}" for one, _, place, _ in CLAIMS]
)
def test_methods_keep_what_they_claim_whatever_the_neighbours(step, columns, place, of):
    plan = MANY
    if is_long(step):
        pytest.importorskip("mbi")
        plan = LONG
    spec = sound(step, columns)

    def pipeline() -> Pipeline:
        made = spec.pipeline()
        one = OneClaim(steps=made.steps, roles=made.roles, hierarchies=made.hierarchies, schema=made.schema)
        one.specification_, one.place = made.specification_, place
        return one

    with workplace() as folder:
        neighbours = Neighbours(spec, people(12), folder)
        claims = claims_of(spec.pipeline().release(neighbours.table(neighbours.base)).guarantees)
        assert len(claims) == of
        plan = replace(plan, wrong=plan.wrong / of)
        found = Within(Command(pipeline, spec.accept, spec.dialect), neighbours, folder, plan).audit()
    assert not found.refuted, found.refuted
    (one,) = found.findings
    assert one.claim == claims[place]
    assert one.most > one.claim.number("epsilon")
    assert found.pairs >= 4


def test_every_method_that_claims_epsilon_is_audited():
    """A new method with such a claim needs a line in `SOUND`."""
    declared = {**NUMBERS, **COLOUR}
    audited_words = {step["method"] for step, _ in SOUND}
    claiming = set()
    for word, method in METHODS.items():
        given = {key: value for key, value in method.example.items() if key not in ("columns", "levels")}
        spec = spec_of({"method": "drop-identifiers"}, declared)
        with workplace() as folder:
            table = Neighbours(spec, people(30), folder).table(people(30))
        try:
            made = Pipeline(steps=[("one", method(**given))], roles=spec.roles, schema=spec.schema).release(
                table
            )
        except (AnonymizerError, ModuleNotFoundError):
            continue
        if any(one.kind in OF_RECORDS for one in made.guarantees):
            claiming.add(word)
    assert {"dp-noise", "dp-um", "idp-ls"} <= claiming <= audited_words


@pytest.mark.slow
def test_a_record_that_changes_cluster_is_told_apart_and_refutes_nothing():
    step = {"method": "idp-cbls", "epsilon": 1.0, "k": 4, "minimum_change": 0.01}
    found = audited(spec_of(step), Plan(runs=200, search=8, pairs=1, wrong=0.01))
    within, beyond = found.findings
    assert within.within
    assert not beyond.within
    assert beyond.loss > 1 >= within.loss
    assert not found.refuted


def test_neighbours_that_are_refused_are_told():
    """Without `missing = "impute"` a gap is refused: who learns of the refusal learns of the gap."""
    spec = spec_of({"method": "dp-noise", "epsilon": 1.0}, {"age": {**AGE, "missing": "refuse"}})
    with workplace() as folder:
        auditor = Auditor(Quick.of(spec), Neighbours(spec, people(), folder), folder, Plan(8, 8, None, ALARM))
        found = auditor.audit()
    assert not found.refuted
    assert found.pairs > 10
    assert len(found.refused) == 8
    assert all("nothing" in one or "a text" in one for one in found.refused)
    assert all("a gap" in one for one in found.refused)


def test_what_cannot_be_audited_says_why():
    spec = spec_of({"method": "noise", "epsilon": 1.0, "random_state": 3})
    with pytest.raises(SpecError, match="draws from a seed") as caught:
        audited(spec, Plan(runs=8, search=8))
    assert "random_state" in caught.value.hint
    with pytest.raises(SpecError, match="promises no differential privacy"):
        audited(spec_of({"method": "noise", "epsilon": 1.0}), Plan(runs=8, search=8))
    with pytest.raises(SpecError, match="too few to learn"):
        Plan(runs=3)
    with pytest.raises(SpecError, match="probability of error"):
        Plan(wrong=0.7)


def test_neighbours_differ_in_the_columns_that_cells_were_made_of():
    """A column that is made of two others has neighbours in both, whatever it is called."""
    spec = spec_of({"method": "dp-noise"}, NUMBERS)
    claim = Guarantee("local-dp", {"epsilon": 1.0}, "cell", ("worth",), "replace", over=("age", "pay"))
    with workplace() as folder:
        pairs = list(Neighbours(spec, people(), folder).pairs(claim))
    differing = {
        name
        for pair in pairs
        for name in pair.first.names
        if pair.first.native[name].to_list() != pair.second.native[name].to_list()
    }
    assert differing == {"age", "pay"}


def test_an_audit_of_which_every_run_is_refused_is_no_result(run):
    """A short table may come out as it was: then the gate finds a step that has changed nothing."""
    people().write_csv("data.csv")
    Path("spec.toml").write_text(SPEC.replace("[columns]", f"[columns]\n{CODES}") + "columns = ['age']\n")
    out, err = run("audit data.csv --spec spec.toml --runs 8 --search 8", status=65)
    assert "No run was released: GateError: " in err
    assert "type" in err
    assert out == ""


def test_an_audit_of_pairs_with_one_side_refused_is_no_result(monkeypatch):
    """Nothing was measured of the claim, though half of the runs were released."""
    calls, own = itertools.count(), Quick.run

    def run(self, table: Table, folder: Path) -> Output:
        is_second = next(calls) // FEWEST % 2
        return Output(refusal="GateError: no.") if is_second else own(self, table, folder)

    monkeypatch.setattr(Quick, "run", run)
    spec = spec_of({"method": "dp-noise", "epsilon": 1.0})
    with (
        workplace() as folder,
        pytest.raises(UnreachableError, match="Nothing was measured of local-dp of one"),
    ):
        Auditor(Quick.of(spec), Neighbours(spec, people(), folder), folder, Plan(8, 8, 3, ALARM)).audit()


def test_neighbours_of_a_truth_value_are_both_whatever_the_rows_hold(tmp_path):
    spec = spec_of({"method": "dp-noise", "epsilon": 1.0}, {"age": {"type": "boolean"}})
    rows = pl.DataFrame({"age": ["true"] * 9})
    kinds = Neighbours(spec, rows, tmp_path)._kinds("age")
    assert (kinds["the smallest"], kinds["the largest"]) == ("false", "true")


CODES = 'pay = { type = "integer", bounds = [0, 5] }'
"""Which it is not: the gate refuses every release for a cell of another type."""


def test_a_trained_distinguisher_adds_up_what_single_numbers_say():
    draw = Randomness(11)
    first, second = (np.stack([draw.normal(4000) + shift for _ in range(8)], axis=1) for shift in (0.0, 0.5))
    cut = 2000
    learned = Distinguisher.trained(first[:cut], second[:cut], [f"x{n}" for n in range(8)], 0.0, ALARM)
    assert learned.name == SCORE
    assert learned.loss(first[cut:], second[cut:], 0.0, ALARM) > 1
    alone = Distinguisher.trained(first[:cut, :1], second[:cut, :1], ["x0"], 0.0, ALARM)
    assert alone.loss(first[cut:, :1], second[cut:, :1], 0.0, ALARM) < 1
    same = Distinguisher.trained(first[:cut], first[cut:], [f"x{n}" for n in range(8)], 0.0, ALARM)
    assert same.loss(first[:cut], first[cut:], 0.0, ALARM) < 1
    with pytest.raises(SpecError):
        Distinguisher.trained(first[:2], second[:2], ["x"] * 8, 0.0, ALARM)


def test_no_more_can_be_shown_than_runs_allow():
    assert most_shown(50, 0.0, 1e-3) == pytest.approx(np.log((5e-4 ** (1 / 50)) / (1 - 5e-4 ** (1 / 50))))
    assert most_shown(50, 0.0, 1e-3) < most_shown(1000, 0.0, 1e-3) < most_shown(1000, 0.0, 1e-1)


SPEC = """[roles]
quasi_identifiers = ["age"]
[columns]
age = { type = "integer", bounds = [0, 100], missing = "impute" }
[[steps]]
method = "dp-noise"
epsilon = 1.0
"""


def test_the_command(run):
    people().write_csv("data.csv")
    people().with_columns(pl.col("age").cast(pl.Int64)).write_parquet("data.parquet")
    Path("spec.toml").write_text(SPEC)
    words = "audit {} --spec spec.toml --runs 8 --search 8 --pairs 1"
    told = json.loads(run(f"{words.format('data.csv')} --json")[0])
    assert told["success"] is True
    assert told["refuted"] is False
    assert told["claims"][0]["epsilon"] == 1.0
    assert told["runs"] == 2 * (8 + 8)
    out, err = run(words.format("data.parquet"))
    assert "claimed epsilon 1; at least" in out
    assert "raise --runs" in err
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "data.parquet", "spec.toml"]


def test_the_command_ends_with_65_if_a_claim_is_refuted(run, monkeypatch):
    monkeypatch.setattr("anonymizer.pipelines.spec.METHODS", {**METHODS, "dp-noise": OrderByTheData})
    people().write_csv("data.csv")
    Path("spec.toml").write_text(SPEC.replace("1.0", "0.5"))
    words = "audit data.csv --spec spec.toml --runs 40 --search 16 --keep-order --confidence 0.99"
    told = json.loads(run(f"{words} --json", status=65)[0])
    assert told["refuted"] is True
    assert told["claims"][0]["at_least"] > 0.5


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        ("audit data.csv --spec spec.toml --seed 3", 2, "leave --seed out"),
        ("audit data.csv --spec seeded.toml", 78, "random_state"),
        ("audit data.csv --spec plain.toml", 78, "no differential privacy"),
        ("audit data.csv --spec spec.toml --runs 2", 78, "too few"),
        ("audit none.csv --spec spec.toml", 65, "none.csv"),
        ("audit data.csv --spec none.toml", 65, "none.toml"),
        ("audit data.csv --spec spec.toml --confidence 1", 2, "confidence"),
    ],
)
def test_bad_input(run, words, status, part):
    people().write_csv("data.csv")
    Path("spec.toml").write_text(SPEC)
    plain = SPEC.replace("dp-noise", "noise")
    Path("plain.toml").write_text(plain)
    Path("seeded.toml").write_text(f"{plain}random_state = 1\n")
    out, err = run(words, status=status)
    assert part in err
    assert out == ""
    assert "Traceback" not in err
