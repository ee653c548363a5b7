"""The attacks read labels as well as an attacker of a few lines who has the hierarchies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy, text_of
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.hierarchies.labels import spans_of
from anonymizer.hierarchies.prefix import PrefixHierarchy
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.risk.attacks.inference import inference
from anonymizer.risk.attacks.linkability import linkability
from anonymizer.risk.attacks.rows import align_rows
from anonymizer.risk.attacks.singling_out import singling_out
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

KEYS = ("age", "zip", "sex", "ward", "weight")
HIERARCHIES = {
    "age": IntervalHierarchy.of_widths(0, 120, [5, 10, 20, 40]),
    "zip": PrefixHierarchy(5),
    "sex": ValueHierarchy([["f", ANY], ["m", ANY]]),
    "weight": IntervalHierarchy.of_widths(0, 200, [1, 5, 20, 100]),
    "ward": ValueHierarchy([[f"w{n}", f"wing {n % 3}", ANY] for n in range(12)]),
}
ROLES = Roles(quasi_identifiers=KEYS, sensitive=("ill",))
ROWS = 8000


def patients(count: int, seed: int) -> Table:
    r = Randomness(seed)
    frame = pd.DataFrame(
        {
            "age": np.clip(np.round(50 + 20 * r.normal(count)), 0, 119).astype(np.int64),
            "zip": [f"{80_000 + n}" for n in (300 * r.uniform(count) ** 2).astype(np.int64)],
            "sex": np.array(["f", "m"], dtype=object)[r.integers(2, count)],
            "ward": np.array([f"w{n}" for n in range(12)], dtype=object)[
                (12 * r.uniform(count) ** 2).astype(np.int64)
            ],
            "weight": np.round(80 + 15 * np.clip(r.normal(count), -5, 5), 1),
            "ill": np.array([f"i{n}" for n in range(60)], dtype=object)[r.integers(60, count)],
        }
    )
    return Table.of(frame, ROLES, HIERARCHIES)


def reader(original: Table, release: Table, targets: np.ndarray) -> float:
    """Guess what most rows have whose labels cover the target, each by the product of 1 / leaves."""
    likely = np.ones((len(targets), len(release)))
    for column in original.roles.quasi_identifiers:
        before, after = original.codes(column), release.codes(column)
        covers = np.zeros((len(before.values), len(after.values)))
        for place, label in enumerate(map(text_of, after.values.tolist())):
            hierarchy = original.hierarchies.get(column)
            for level in hierarchy.bind(before.values, column) if hierarchy else ():
                if label in level.labels and not covers[:, place].any():
                    inside = level.groups == level.labels.index(label)
                    covers[inside, place] = 1 / inside.sum()
            low, high = spans_of([label])[0]
            if not covers[:, place].any() and not np.isnan(low) and original.is_numeric(column):
                inside = (low <= before.values) & (before.values <= high)
                covers[inside, place] = 1 / max(1, inside.sum())
        likely *= covers[before.codes[targets]][:, after.codes]
    secret = release.codes("ill")
    votes = np.stack([likely[:, secret.codes == kind].sum(axis=1) for kind in range(len(secret.values))])
    guesses = secret.values[votes.argmax(axis=0)]
    truth = np.array(original.native["ill"])[targets]
    return float((guesses == truth).mean())


CASES = {
    "mondrian": (Mondrian(k=3), ("zip", "sex", "ward")),
    "mondrian, labels only": (Mondrian(k=3), KEYS),
    "local-recoding": (LocalRecoding(k=3), KEYS),
    "incognito": (Incognito(k=25), KEYS),
}


@pytest.mark.parametrize("case", CASES)
def test_inference_is_right_about_as_often_as_a_reader_of_labels(case):
    method, labelled = CASES[case]
    hierarchies = {column: HIERARCHIES[column] for column in labelled}
    original, control = (Table.of(patients(n, n).native, ROLES, hierarchies) for n in (ROWS, 1000))
    release = method.fit_transform_table(original)
    expected = reader(original, release, Randomness(3).sample(ROWS, 600))
    found = inference(original, release, control, secret="ill", attempts=800, random_state=1)
    assert found.main.value == pytest.approx(expected, abs=0.1)
    assert found.control.value < 0.05
    if method.k == 3:
        assert found.interval[0] > 0.15


def test_a_safe_release_is_not_called_linkable():
    original, control = patients(5000, 4), patients(5000, 5)
    release = Mondrian(k=900).fit_transform_table(original)
    found = linkability(original, release, control, attempts=400, random_state=1)
    assert found.risk < 0.05
    assert found.interval[1] < 0.1
    assert singling_out(original, release, control, attempts=600, random_state=1).risk < 0.05


def test_a_column_that_leaks_beside_safe_ones_is_found():
    original, control = patients(3000, 6), patients(3000, 7)
    visit = Randomness(8).permutation(6000).astype(np.float64)
    original = original.replace({"ward": visit[:3000]})
    control = control.replace({"ward": visit[3000:]})
    roles = Roles(quasi_identifiers=("age", "zip", "sex"), sensitive=("ill",))
    table = Table.of(original.native, roles, {key: HIERARCHIES[key] for key in ("age", "zip", "sex")})
    release = LocalRecoding(k=20).fit_transform_table(table)
    found = singling_out(table, release, control, attempts=600, random_state=1)
    assert found.conclusive
    assert found.interval[0] > 0.9


def test_what_touches_does_not_meet():
    ages = Table.of(pd.DataFrame({"age": ["[20, 30)", "[30, 40)", "*", "< 20", "[20, 30]"]}))
    values = Table.of(pd.DataFrame({"age": [29, 30, 25, 19]}))
    for others in ((values,), (ages, values)):
        release, *_, own = align_rows(ages, others, ("age",))
        inside = (release.low <= own.low.T) & (release.high >= own.high.T)
        assert inside.tolist() == [
            [True, False, True, False, True],
            [False, True, True, False, True],
            [True, False, True, False, True],
            [False, False, True, True, False],
        ]
