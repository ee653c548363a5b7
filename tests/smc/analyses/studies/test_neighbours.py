"""One notion of neighbours in all analyses: what each epsilon covers, audited where it binds.

The worst case over neighbours of each notion (a row added, removed, replaced), in each layout, from the
analyses' own local numbers and distributions; and, for the case that a count of changes is easily forgotten
in, the loss that 100,000 runs of the mechanism show.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.clustering import privacy
from smc.analyses.clustering import reference as twin
from smc.analyses.clustering.reference import plain_table
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import check_sides
from smc.analyses.matching.aggregates.parameters import NEIGHBOURS
from smc.analyses.statistics.plans.noisy import local
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.neighbours import Neighbours
from smc.forms import Role
from tests.smc.analyses.clustering_runs import COLUMNS, NAMES, STATED, TENTHS, parsed, table
from tests.smc.analyses.statistics.test_losses import RUNS, draws, log_ratio, loss_at_least, random
from tests.smc.analyses.statistics_runs import SCHEMAS as STATISTICS_SCHEMAS
from tests.smc.analyses.statistics_runs import columns
from tests.smc.analyses.statistics_runs import parsed as statistics

LAYOUTS = {
    "horizontal": COLUMNS,
    "vertical": 'layout = "vertical"\nalice_columns = ["x"]\nbob_columns = ["y", "z"]\n',
    "arbitrary": 'layout = "arbitrary"\n' + COLUMNS,
    "matched": 'layout = "vertical"\nalice_columns = ["x"]\nbob_columns = ["y", "z"]\n'
    '[match]\nkeys = ["id"]\n',
}
EPSILON = 2
KEY = Schema("integer", lower=0, upper=9)


def test_replaced_rows_are_two_changes_where_rows_are_counted_in_public():
    assert Neighbours(3, rows_public=False).changes == 3
    assert Neighbours(3, rows_public=True).changes == 6
    assert Neighbours(1, rows_public=True, matched_per_row=2).changes == 4


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_analysis_with_public_row_counts_speaks_of_replaced_rows(layout):
    clustering = clusters(layout).parameters.neighbours
    assert clustering == NEIGHBOURS == Neighbours(1, rows_public=True)
    assert "replaced" in str(clustering)
    horizontal = statistics(
        'epsilon = "1"\n[[queries]]\nkind = "count"\ncolumn = "age"'
    ).parameters.neighbours
    assert horizontal == Neighbours(1, rows_public=False)
    assert "added or removed" in str(horizontal)


def clusters(layout, iterations=1):
    head = f"clusters = 3\niterations = {iterations}\nepsilon = {EPSILON}\nlabels = false\n"
    return parsed(head + STATED + LAYOUTS[layout])


def sides(layout, whole, split):
    """The columns of both sides of a table of held units, shape (n, 3); `split` rows or parts are Alice's."""
    if layout == "horizontal":
        return table(whole[:split]), table(whole[split:])
    if layout == "vertical":
        return table(whole[:, :1], ("x",)), table(whole[:, 1:], ("y", "z"))
    return table(split), table(whole - split)


def noisy_numbers(study, data, centres=None):
    """Counts and twice the sums about the middle as an iteration adds noise to them; their distributions."""
    both = {**dict.fromkeys(NAMES, TENTHS), "id": KEY}
    scaled = scaled_columns(study.parameters, check_sides(study.parameters, both, both))
    rows, _ = plain_table(study.parameters, scaled, dict(zip(Role, data, strict=True)))
    noisy = privacy.plan(study.parameters, scaled)
    stated = scaled.scale_centres(study.parameters.centres) if centres is None else centres
    labels = twin.assign_rows(scaled, rows, stated)
    hot = (labels[:, None] == np.arange(study.parameters.clusters)).astype(np.int64)
    counts = hot.sum(axis=0)
    deviations = 2 * (hot.T @ rows) - counts[:, None] * scaled.largest
    return np.concatenate([counts, deviations.reshape(-1)]), noisy.distributions


def loss_between(study, one, other):
    """The exact worst-case loss of all iterations, if each distinguishes as the first one does."""
    first, distributions = noisy_numbers(study, one)
    second, _ = noisy_numbers(study, other)
    each = sum(
        float(distribution.rate) * abs(int(a) - int(b))
        for a, b, distribution in zip(first, second, distributions, strict=True)
    )
    return study.parameters.iterations * each


def corners(count, random):
    """Rows that lie in the corners of the bounds, or anywhere."""
    extreme = random.choice([-500, 500], (count, 3))
    return np.where(random.random((count, 1)) < 0.5, extreme, random.integers(-500, 501, (count, 3)))


@pytest.mark.parametrize("change", ["added", "removed", "replaced"])
def test_horizontal_k_means_covers_each_notion(change):
    drawn, found = np.random.default_rng(5), []
    study = clusters("horizontal", 3)
    for _ in range(100):
        rows = corners(4, drawn)
        near = {"added": np.vstack([corners(1, drawn), rows]), "removed": rows[1:]}
        other = near.get(change, np.vstack([corners(1, drawn), rows[1:]]))
        split = 1 + len(other) - len(rows)
        found.append(loss_between(study, sides("horizontal", rows, 1), sides("horizontal", other, split)))
    assert max(found) <= EPSILON + 1e-9
    assert max(found) > (0.95 if change == "replaced" else 0.45) * EPSILON


@pytest.mark.parametrize("party", Role)
@pytest.mark.parametrize("layout", ["vertical", "arbitrary"])
def test_k_means_over_common_rows_covers_other_values_of_one_side(layout, party):
    """The row stays; one party's cells of it differ, so that it leaves a cluster and enters another."""
    drawn, found = np.random.default_rng(6), []
    study = clusters(layout, 2)
    for _ in range(100):
        rows, split = corners(3, drawn), 0
        if layout == "arbitrary":
            split = rows // 2
        one = sides(layout, rows, split)
        other = rows.copy()
        mine = slice(0, 1) if party is Role.ALICE else slice(1, 3)
        if layout == "vertical":
            other[0, mine] = corners(1, drawn)[0, mine]
            changed = sides(layout, other, split)
        else:
            part = (split if party is Role.ALICE else rows - split).copy()
            part[0] = corners(1, drawn)[0] // 2
            changed = (table(part), one[1]) if party is Role.ALICE else (one[0], table(part))
        found.append(loss_between(study, one, changed))
    assert max(found) <= EPSILON + 1e-9
    assert max(found) > 0.5 * EPSILON


@pytest.mark.parametrize("party", Role)
def test_k_means_over_matched_rows_covers_a_row_with_another_key_and_other_values(party):
    drawn, found = np.random.default_rng(8), []
    study = clusters("matched", 2)
    for _ in range(100):
        rows = corners(6, drawn)
        keys = [np.arange(4), np.array([0, 1, 8, 9])]
        other = [keys[0].copy(), keys[1].copy()]
        other[party is Role.BOB][0] = 8 if party is Role.ALICE else 2
        found.append(
            loss_between(
                study,
                *(
                    [
                        {**data, "id": Column(own, KEY)}
                        for data, own in zip(sides("vertical", values, 0), chosen, strict=True)
                    ]
                    for values, chosen in ((rows[:4], keys), (np.vstack([rows[4:5], rows[1:4]]), other))
                ),
            )
        )
    assert 0.5 * EPSILON < max(found) <= EPSILON + 1e-9


def audited(layout, one, other, weaken=1):
    """The loss that runs of one iteration show between two tables, by the likelihood ratio."""
    study = clusters(layout)
    first, distributions = noisy_numbers(study, one)
    second, _ = noisy_numbers(study, other)
    moved = np.flatnonzero(first != second)
    shifts = weaken * (first - second)[moved]
    chosen = [distributions[place] for place in moved]
    source = random(f"neighbours {layout}")
    values = np.column_stack([draws(distribution, RUNS, source) for distribution in chosen])
    return loss_at_least(log_ratio(values + shifts, shifts, chosen), log_ratio(values, shifts, chosen))


@pytest.mark.parametrize(("weaken", "caught"), [(1, False), (2, True)])
def test_runs_show_no_more_than_epsilon_where_only_one_partys_cell_differs(weaken, caught):
    """Three rows, of which Bob holds other values in one; noise for half the changes is found out."""
    rows = np.array([[-500, -500, -500], [0, 0, 0], [500, 500, 500]])
    other = rows.copy()
    other[0, 1:] = 500
    found = audited("vertical", sides("vertical", rows, 0), sides("vertical", other, 0), weaken)
    assert found > EPSILON if caught else 0.4 * EPSILON < found <= EPSILON


def test_horizontal_statistics_cover_added_rows_and_twice_that_replaced_ones():
    text = (
        'epsilon = "1"\nmaximum_rows = 10\n'
        '[[queries]]\nname = "h"\nkind = "histogram"\ncolumn = "age"\nedges = [0, 50, 100, 150]\n'
        '[[queries]]\nname = "m"\nkind = "variance"\ncolumn = "age"\n'
    )
    study = statistics(text)
    plans = plan(study.parameters, STATISTICS_SCHEMAS)

    def entries(ages):
        data = columns(age=list(ages)) if len(ages) else columns(age=[])
        rows = LocalRows.of(study.parameters, {name: data[name] for name in study.columns[Role.ALICE]})
        return [local(each, rows).reshape(-1) for each in plans]

    def loss(one, other):
        return sum(
            float(distribution.rate) * abs(int(a) - int(b))
            for each, first, second in zip(plans, entries(one), entries(other), strict=True)
            for a, b, distribution in zip(first, second, each.distributions, strict=True)
        )

    drawn = np.random.default_rng(7)
    tables = [drawn.integers(0, 151, 3).tolist() for _ in range(50)] + [[0, 75, 150]]
    added = [loss(ages, [*ages, age]) for ages in tables for age in (0, 75, 150)]
    replaced = [loss(ages, [age, *ages[1:]]) for ages in tables for age in (0, 75, 150)]
    assert 0.9 < max(added) <= 1 + 1e-9
    assert 1 < max(replaced) <= 2 + 1e-9
