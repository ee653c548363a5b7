"""What guarantees come to for persons with several rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anonymizer.errors import SpecError
from anonymizer.releases.composition import PrivacyLoss, compose, loss_of
from anonymizer.releases.guarantee import Guarantee
from anonymizer.tables.persons import PersonRows


def persons(most: int | None, rows: int = 2) -> PersonRows:
    return PersonRows(np.repeat(np.arange(3), rows), most)


def dp(epsilon: float, delta: float, kind: str = "dp", unit: str = "record") -> Guarantee:
    return Guarantee(kind, {"epsilon": epsilon, "delta": delta}, unit, ("age",), "replace", method="m")


@pytest.mark.parametrize("most", [2, 3, 7])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (2.0, 1e-9), (1.0, 0.0)])
def test_records_of_a_person_are_as_many_steps(most, epsilon, delta):
    *_, person = compose([dp(epsilon, delta)], persons(most))
    assert person.unit == "person"
    assert person.number("epsilon") == pytest.approx(most * epsilon)
    assert person.number("delta") == pytest.approx(delta * sum(math.exp(i * epsilon) for i in range(most)))
    assert f"at most {most}" in person.condition


def test_noise_on_single_rows_adds_its_deltas():
    cells = [dp(0.5, 1e-6, "local-dp", "cell")]
    *_, record, person = compose(cells, persons(4))
    assert (record.unit, person.unit) == ("record", "person")
    assert person.number("epsilon") == pytest.approx(2.0)
    assert person.number("delta") == pytest.approx(4e-6)


def test_what_is_spent_is_the_persons_wherever_it_stands():
    found = compose([dp(0.5, 0.0)], persons(4))
    assert loss_of(found) == loss_of(found[::-1]) == PrivacyLoss(2.0, 0.0, "replace", of_persons=True)


@pytest.mark.parametrize(
    ("guarantee", "whose", "said"),
    [
        (dp(1.0, 0.0), persons(None), "rows_per_person = 3"),
        (dp(1.0, 0.0), persons(2, rows=3), "more than the 2 rows"),
        (dp(5.0, 1e-3), persons(9), "delta comes to 1"),
        (dp(100.0, 1e-9), persons(9), "delta comes to 1"),
        (Guarantee("anatomy", {"l": 3}, method="other"), persons(2), "is promised of rows"),
        (
            Guarantee("idp", {"epsilon": 1.0}, "record", ("age",), method="other"),
            persons(2),
            "promised of rows",
        ),
        (Guarantee("k-map", {"k": 3}, columns=("age", "in"), method="other"), persons(2), "promised of rows"),
    ],
)
def test_what_cannot_be_said_of_persons_is_refused(guarantee, whose, said):
    with pytest.raises(SpecError, match=said):
        compose([guarantee], whose)


def test_promises_of_classes_say_that_they_count_persons():
    given = Guarantee("k-anonymity", {"k": 3}, columns=("age",))
    assert "counts persons" in compose([given], persons(None))[0].condition
    assert compose([given], persons(1, rows=1)) == (given,)
    assert compose([given]) == (given,)
