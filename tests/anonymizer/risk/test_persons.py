"""Risks where persons have several rows, against definitions by brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.pipelines.spec import parse
from anonymizer.report.assessment import Question, assess
from anonymizer.report.records import record_risks
from anonymizer.risk.class_risk import class_risk
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.individual import person_risk
from anonymizer.risk.intersection import intersect
from anonymizer.risk.measures import journalist_risk, prosecutor_risk
from anonymizer.risk.simulator import simulate_attack
from anonymizer.risk.suda import special_uniques
from anonymizer.risk.uniqueness import uniqueness
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age", "town"), sensitive=("ill",), person="nbr")
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 1), st.integers(0, 2)),
    min_size=4,
    max_size=24,
)


def table_of(rows, roles: Roles = ROLES) -> Table:
    frame = pd.DataFrame(rows, columns=["nbr", "age", "town", "ill"])
    return Table.of(frame.astype({"town": str, "ill": str}), roles)


def classes_of(rows) -> dict[tuple, list]:
    found: dict[tuple, list] = {}
    for who, age, town, ill in rows:
        found.setdefault((age, town), []).append((who, ill))
    return found


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_classes_and_rows_count_persons(rows):
    table = table_of(rows)
    persons = {key: len({who for who, _ in own}) for key, own in classes_of(rows).items()}
    of_rows = np.array([persons[age, town] for _, age, town, _ in rows])
    assert class_risk(table).k == min(persons.values())
    assert prosecutor_risk(table).rows == pytest.approx(1 / of_rows)
    assert uniqueness(table, 0.5).rows.tolist() == (of_rows == 1).tolist()
    assert ((special_uniques(table).smallest > 0) >= (of_rows == 1)).all()
    assert journalist_risk(table, table).rows == pytest.approx(1 / of_rows)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_shares_of_values_count_each_person_once(rows):
    found = class_risk(table_of(rows)).sensitive["ill"]

    def shares(own):
        weights: dict[int, float] = {}
        for who in {one for one, _ in own}:
            theirs = [ill for one, ill in own if one == who]
            for ill in theirs:
                weights[ill] = weights.get(ill, 0) + 1 / len(theirs)
        total = sum(weights.values())
        return {ill: weight / total for ill, weight in weights.items()}

    whole = shares([(who, ill) for who, _, _, ill in rows])
    classes = [shares(own) for own in classes_of(rows).values()]
    entropy = [np.exp(-sum(p * np.log(p) for p in one.values())) for one in classes]
    far = [sum(abs(one.get(ill, 0) - part) for ill, part in whole.items()) / 2 for one in classes]
    assert found.entropy_l == pytest.approx(min(entropy))
    assert found.t["equal"].release == pytest.approx(max(far))


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, most=st.integers(1, 30))
def test_the_fewest_persons_of_some_rows(rows, most):
    persons = PersonRows(np.unique([who for who, *_ in rows], return_inverse=True)[1])
    count = min(most, len(rows))
    left, fewest = count, 0
    for own in sorted(persons.rows.tolist(), reverse=True):
        if left > 0:
            left, fewest = left - own, fewest + 1
    assert persons.fewest(np.array([0, count])).tolist() == [0, fewest]


def spec_of(**roles):
    document = {
        "roles": {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "person": "nbr", **roles},
        "hierarchies": {"town": {"rows": [["0", "*"], ["1", "*"]]}},
        "steps": [{"method": "generalization", "levels": {"town": 1}}],
    }
    return parse(document, Path())


@settings(max_examples=25, deadline=None)
@given(rows=ROWS)
def test_the_simulator_counts_persons_among_candidates(rows):
    spec = spec_of()
    original = Table.of(table_of(rows).native, spec.roles, spec.hierarchies)
    pipeline = spec.pipeline()
    made = pipeline.release(original)
    found = simulate_attack(original, made.table, pipeline)
    expected = [len({who for who, age, *_ in rows if age == own[1]}) for own in rows]
    assert found.candidates.tolist() == expected
    assert found.found.all()
    if found.own is None:  # nobody has two rows
        return
    alike = [[who for who, age, *_ in rows if age == own[1]] for own in rows]
    shares = [them.count(own[0]) / len(them) for own, them in zip(rows, alike, strict=True)]
    assert found.own == pytest.approx(np.array(shares))


def test_weights_of_several_rows_stand_for_one_person():
    table = table_of([(0, 1, 1, 0), (0, 1, 1, 0), (1, 1, 1, 0)])
    one = table_of([(0, 1, 1, 0), (1, 1, 1, 0)])
    several = person_risk(table, weights=np.array([10.0, 10.0, 10.0]))
    assert several.rows[2] == pytest.approx(person_risk(one, weights=np.array([10.0, 10.0])).rows[1])


def test_releases_together_leave_persons():
    rows = [(0, 1, 1, 0), (0, 1, 1, 1), (1, 1, 1, 2), (2, 0, 1, 0), (3, 0, 1, 0)]
    original = table_of(rows)
    table = original.without(("nbr",))
    everybody = np.arange(len(rows))
    known = ReleasedRows.of("first", table, original.roles, persons=everybody)
    unknown = ReleasedRows.of("second", table, original.roles)
    found = intersect(original, (known, unknown), Randomness(1))
    first, second = found.left
    assert (first.k, first.k_alone) == (2, 2)
    # two rows of the second may be of one person, as far as anybody knows
    assert second.k == 1


def test_a_file_that_does_not_say_whose_rows_it_has_is_not_measured_by_rows():
    original = table_of([(n % 5, n % 2, 1, n % 3) for n in range(20)])
    release = Table.of(original.without(("nbr",)).native, original.roles.among(("age", "town", "ill")))
    found = assess(original, release, None, Question(seed=1))
    assert "it is not known whose the released ones are" in found.skipped["classes"].why
    assert "prosecutor" in found.skipped
    assert "classes" in assess(original, original.without(("nbr",)), None, Question(seed=1)).found


def test_a_population_that_does_not_say_whose_rows_it_has_is_refused():
    table = table_of([(0, 1, 1, 0), (0, 1, 1, 0), (1, 1, 1, 0)])
    without = Table.of(table.without(("nbr",)).native, table.roles.among(("age", "town", "ill")))
    with pytest.raises(TableError, match="column of persons"):
        journalist_risk(table, without)


def test_records_before_and_after_count_persons():
    rows = [(0, 1, 1, 0)] * 5 + [(n, 2, 1, 1) for n in range(1, 4)]
    spec = spec_of()
    original = Table.of(table_of(rows).native, spec.roles, spec.hierarchies)
    pipeline = spec.pipeline()
    found = record_risks(original, pipeline.release(original).table, pipeline)
    assert found.alike.tolist() == [1] * 5 + [3] * 3
    assert found.risks == pytest.approx(1 / found.alike)


OF_ROWS = {"hitting-rate", "y-privacy", "singling-out", "linkability", "inference"}


@pytest.mark.parametrize("repeated", [True, False])
def test_figures_that_count_rows_say_so_where_a_person_has_several(repeated):
    rows = [(n // 2 if repeated else n, n % 6, n // 6 % 2, n % 3) for n in range(48)]
    spec = spec_of()
    original = Table.of(table_of(rows).native, spec.roles, spec.hierarchies)
    pipeline = spec.pipeline()
    release = pipeline.release(original).table
    asked = Question(attacks=True, measures=(*sorted(OF_ROWS), "prosecutor"), scale="original")
    found = assess(original, release, pipeline, asked)
    assert set(found.stories) > OF_ROWS
    for word, story in found.stories.items():
        says = repeated and word in OF_ROWS
        assert (story.values.get("counts") == "rows") == says
        assert all(("rows, of which a person may have several" in said) == says for _, said in story.lines)
