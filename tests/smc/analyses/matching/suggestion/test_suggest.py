"""A suggested recipe: that of a fixed menu, with the quality that a job of it has."""

from __future__ import annotations

import numpy as np
import pytest

from parties.bench.people import people
from smc.analyses.matching.suggestion import menu, passes
from smc.analyses.matching.suggestion.errors import ErrorModel, corrupt_register
from smc.analyses.matching.suggestion.fit import Evidence, fit_terms
from smc.analyses.matching.suggestion.roles import guess_roles
from smc.analyses.matching.suggestion.suggest import (
    MIN_ROWS,
    OWN,
    RECIPES,
    Assumed,
    Quality,
    extrapolate,
    further_shifts,
    suggest,
)
from smc.analyses.matching.tolerant.parameters import MAX_SCORE
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness

ROWS = 2000
COMMON = 1200
TEXT = Schema("text")
COLUMNS = ("given_name", "surname", "born", "postcode")
ADDRESS = (*COLUMNS, "street", "house")


def seeded(seed: int) -> Randomness:
    return Randomness.from_seed(seed.to_bytes(4, "big"), "tests of suggestions")


def registers(seed: int, roles=COLUMNS):
    tables = people(seeded(seed), ROWS, COMMON, family=3)
    return [{role: tables[side][role] for role in roles} for side in Role]


def study(parameters):
    return TOLERANT.parse({name: value for name, value in parameters.items() if name != "method"})


def f_measure(parameters, alice, bob) -> float:
    """Of the job in the clear, where row k of Alice is row k of Bob for the first `COMMON`."""
    outcomes = study(parameters).reference(alice, bob, frozenset(Role))
    first, second = (np.array(one.tables[0].columns["row"], dtype=int) - 1 for one in outcomes)
    right = int(((first == second) & (first < COMMON)).sum())
    return 2 * right / (len(first) + COMMON)


@pytest.mark.parametrize(
    ("recipe", "roles", "least"),
    [
        ("menu", COLUMNS, 0.975),
        ("own", COLUMNS, 0.975),
        ("menu", ADDRESS, 0.985),
        ("own", ADDRESS, 0.985),
    ],
)
def test_the_recipe_finds_persons_with_errors_that_are_not_those_of_the_model(recipe, roles, least):
    alice, bob = registers(1, roles)
    found = suggest(alice, Assumed(overlap=0.6, recipe=recipe))
    assert f_measure(found.parameters, alice, bob) >= least
    assert found.expected.f_measure >= least


@pytest.mark.parametrize("assumed", [{"peer_rows": 1 << 20}, {"peer_rows": 1}])
def test_nothing_is_read_off_a_few_persons(assumed):
    alice, _ = registers(1)
    with pytest.raises(DomainError, match="in both registers, too few") as refused:
        suggest(alice, Assumed(**assumed))
    assert "--least-score" in refused.value.hint
    stated = suggest(alice, Assumed(**assumed, least_score=-17))
    assert stated.parameters["least_score"] == -17
    with pytest.raises(DomainError, match="in both registers, too few"):
        suggest(alice, Assumed(**assumed, least_score=-17, recipe=OWN))


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_expected_quality_is_that_of_the_job_on_the_same_registers(monkeypatch, recipe):
    alice, _ = registers(2)
    seen = {}

    def keep(texts, model, random):
        seen.update(before=texts, after=corrupt_register(texts, model, random))
        return seen["after"]

    monkeypatch.setattr("smc.analyses.matching.suggestion.suggest.corrupt_register", keep)
    found = suggest(alice, Assumed(recipe=recipe))
    # All of Alice's rows are of one file, and names and dates together tell them apart.
    first = _first_register(alice, seen["before"], found)
    sides = [
        {role: Column(list(column), TEXT) for role, column in side.items()} for side in (first, seen["after"])
    ]
    outcomes = study(found.parameters | {"overflow": "accept"}).reference(*sides, frozenset(Role))
    rows = [np.array(one.tables[0].columns["row"], dtype=int) - 1 for one in outcomes]
    people_of = [list(zip(*side.values(), strict=True)) for side in (first, seen["before"])]
    right = sum(people_of[0][a] == people_of[1][b] for a, b in zip(*rows, strict=True))
    # Terms at the end of their range lie elsewhere from another least score on.
    assert len(rows[0]) == pytest.approx(found.expected.pairs, abs=2)
    assert right / len(rows[0]) == pytest.approx(found.expected.precision, abs=0.002)
    assert right / found.common == pytest.approx(found.expected.recall, abs=0.002)


def _first_register(data, second, found):
    """Alice's register: the permuted file's first rows, as many as were linked."""
    texts = {role: [text.lower() for text in column.texts] for role, column in data.items()}
    random = Randomness.from_seed((1).to_bytes(16, "big", signed=True), "duetto/matching/suggest/1")
    order = random.permutation(ROWS)[: found.registers[0]]
    assert len(second["born"]) == found.registers[1]
    return {role: [column[row] for row in order] for role, column in texts.items()}


def test_of_the_contents_a_recipe_of_the_menu_tells_the_least_score_and_the_ranks_only():
    recipes = [suggest(registers(seed)[0], Assumed()).parameters for seed in (3, 4)]
    own = menu.terms(menu.compared_roles(COLUMNS)).least
    for recipe in recipes:
        assert recipe["least_score"] - own in menu.SHIFTS
        assert recipe["ranks"] in (1, 2)
    same = [
        {name: value for name, value in one.items() if name not in ("least_score", "ranks")}
        for one in recipes
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize("rows", [1000, menu.FINER_FROM, menu.FINEST_FROM])
@pytest.mark.parametrize(
    "roles", [COLUMNS, ("given_name", "surname", "born"), (*COLUMNS, "town", "street", "sex"), ADDRESS]
)
def test_every_recipe_of_the_menu_is_a_job(rows, roles):
    parsed = study(menu.recipe(roles, rows, has_dashes=True)).parameters
    assert set(parsed.columns) <= set(roles)
    assert 5 <= len(parsed.blocking) <= 8
    assert all(_keys_left(parsed, {column}) for column in roles)


def test_a_stated_least_score_is_kept_and_larger_files_have_finer_keys():
    alice, _ = registers(5)
    assert suggest(alice, Assumed(least_score=3)).parameters["least_score"] == 3
    small, large = (
        suggest(alice, Assumed(peer_rows=rows)).parameters["blocking"] for rows in (0, menu.FINEST_FROM)
    )
    assert max(map(len, small)) <= max(map(len, large))
    assert sum(map(len, small)) / len(small) < sum(map(len, large)) / len(large)


def test_roles_are_compared_besides():
    alice, _ = registers(5, ADDRESS)
    found = suggest(alice, Assumed(compare=("street",), recipe=OWN)).parameters
    assert [one["column"] for one in found["fields"]] == [*COLUMNS, "street"]


def test_own_passes_bring_more_of_the_persons_together_one_after_the_other():
    """Against all keys tried one by one: the first meets most, and each adds what no other adds more of."""
    alice, bob = ({role: column.texts for role, column in side.items()} for side in registers(7))
    truth = np.where(np.arange(ROWS) < COMMON, np.arange(ROWS), -1)
    fields = menu.compared_roles(COLUMNS)
    chosen = passes.choose_passes(alice, bob, truth, fields, 4, has_dashes=False)
    assert len(set(chosen)) == 4
    sides = [passes._Register.of(side, fields, has_dashes=False) for side in (alice, bob)]

    def met(key):
        first, second = (one.firsts(key) for one in sides)
        rows = np.arange(COMMON)
        return (first.hashes[rows] == second.hashes[rows]) & first.chosen[rows] & second.chosen[rows]

    left = np.ones(COMMON, dtype=bool)
    for key in chosen:
        gains = [int((met(one) & left).sum()) for one in passes._keys(alice, fields)]
        assert int((met(key) & left).sum()) >= 0.99 * max(gains)
        left &= ~met(key)
    assert left.mean() < 0.03


def _keys_left(parameters, wrong):
    """The keys that take none of the wrong columns, or of a birth date a part, which may be right."""
    return [
        key
        for key in parameters.blocking
        if all(part.column not in wrong or str(part).startswith("born:") for part in key)
        and ("born" not in wrong or "born:value" not in map(str, key))
    ]


def test_two_wrong_fields_of_four_leave_a_key_of_large_files():
    finer, finest = (
        study(menu.recipe(COLUMNS, rows, has_dashes=True)).parameters
        for rows in (menu.FINER_FROM, menu.FINEST_FROM)
    )
    pairs = [{one, other} for number, one in enumerate(COLUMNS) for other in COLUMNS[:number]]
    assert all(_keys_left(finer, pair) for pair in pairs)
    # Too many of a million persons share given name and birth date.
    assert [pair for pair in pairs if not _keys_left(finest, pair)] == [{"surname", "postcode"}]


def test_false_pairs_grow_in_a_straight_line_and_right_ones_stay():
    sample = (Quality(-10, 1000, 0.9, 0.9), Quality(0, 880, 1.0, 0.88), Quality(10, 0, 0.0, 0.0))
    half = (Quality(-10, 475, 0.9 / 0.95, 0.9), Quality(0, 440, 1.0, 0.88), sample[2])
    larger = extrapolate(sample, half, 10)
    # 50 false pairs for 1,000 persons in common at half the rows and 100 at all: 1,000 at ten times.
    assert larger[0].precision == pytest.approx(0.9 / 1.9)
    assert larger[0].pairs == 1900
    assert [one.recall for one in larger] == [one.recall for one in sample]
    assert larger[1:] == sample[1:]
    assert extrapolate(sample, half, 1)[0].precision == pytest.approx(0.9)


def test_of_a_sample_of_a_file_the_expected_precision_is_no_better_than_of_the_sample():
    alice, _ = registers(9)
    said = []
    found = suggest(alice, Assumed(sample=500), said.append)
    assert suggest(alice, Assumed(sample=MIN_ROWS)).rows == ROWS
    assert len(said) == 2
    assert found.registers == (333, 333)
    assert f_measure(found.parameters | {"overflow": "accept"}, *registers(9)) >= 0.94


def test_no_errors_change_nothing_and_errors_have_their_stated_share():
    texts = {"given_name": ["maria"] * 40_000, "surname": ["vogel"] * 40_000, "born": ["19800203"] * 40_000}
    assert corrupt_register(texts, ErrorModel().times(0), seeded(6)) == texts
    model = ErrorModel(*[0.0] * 3, missing=0.02, short=0.0, crossed=0.0, renamed=0.0, moved=0.0)
    empty = corrupt_register(texts, model, seeded(6))["surname"].count("")
    assert abs(empty - 800) < 6 * 28
    turned = corrupt_register(texts, ErrorModel(0, 0, 1.0, 0, 0, 0, 0, 0), seeded(6))
    assert set(turned["born"]) == {"19800302"}
    crossed = corrupt_register(texts, ErrorModel(0, 0, 0, 0, 0, 1.0, 0, 0), seeded(6))
    assert set(crossed["given_name"]) == {"vogel"}
    assert corrupt_register(texts, ErrorModel(), seeded(7)) == corrupt_register(
        texts, ErrorModel(), seeded(7)
    )


def test_roles_are_guessed_by_names_and_can_be_said():
    names = ["Vorname", "lastName", "date of birth", "PLZ", "other"]
    assert guess_roles(names, {}) == {
        "given_name": "Vorname", "surname": "lastName", "born": "date of birth", "postcode": "PLZ",
    }  # fmt: skip
    assert guess_roles(names, {"postcode": "", "town": "other"})["town"] == "other"
    assert "postcode" not in guess_roles(names, {"postcode": ""})
    found = guess_roles([*names, "Hausnr.", "Street"], {})
    assert (found["house"], found["street"]) == ("Hausnr.", "Street")


@pytest.mark.parametrize(
    ("names", "given", "said"),
    [
        (["surname", "born"], {}, "given_name"),
        (["a"], {"nickname": "a"}, "not a role"),
        (["a"], {"surname": "b"}, "no column 'b'"),
        (["a", "b"], {"surname": "a", "given_name": "a"}, "two roles"),
    ],
)
def test_wrong_roles_are_refused(names, given, said):
    with pytest.raises(UsageError, match=said) as caught:
        guess_roles(names, given)
    assert caught.value.hint


def test_files_that_cannot_be_simulated_are_refused():
    alice, _ = registers(8)
    few = {role: Column(column.texts[:50], TEXT) for role, column in alice.items()}
    with pytest.raises(DomainError, match="too few rows to simulate with: 50"):
        suggest(few, Assumed())
    with pytest.raises(DomainError, match="neither YYYY-MM-DD nor YYYYMMDD"):
        suggest(alice | {"born": Column(["3 May 80"] * ROWS, TEXT)}, Assumed())
    with pytest.raises(DomainError, match="tells these persons apart"):
        suggest({role: Column(column.texts[:1] * ROWS, TEXT) for role, column in alice.items()}, Assumed())
    for wrong in (
        {"overlap": 0.0},
        {"sample": 10},
        {"least_score": 1001},
        {"recipe": "best"},
        {"passes": 17},
        {"compare": ("nickname",)},
        {"compare": ("street",)},
        {"peer_rows": -1},
        {"peer_rows": 1 << 40},
        {"seed": 1 << 80},
    ):
        with pytest.raises(UsageError):
            Assumed(**wrong)
    with pytest.raises(UsageError):
        ErrorModel().times(6)


def qualities(*f):
    """With these F, of least scores from 0 in steps of 2."""
    return [Quality(2 * place, 10, one, one) for place, one in enumerate(f)]


@pytest.mark.parametrize(
    ("f", "below", "above"),
    [
        ([0.1, 0.5, 0.4], False, False),
        ([0.1, 0.4, 0.5], False, True),
        ([0.5, 0.4, 0.1], True, False),
        ([0.5, 0.5, 0.1], False, False),  # a plateau does not rise
        ([0.1, 0.5, 0.5], False, False),
        ([0.0, 0.0, 0.0], False, False),
    ],
)
def test_more_scores_are_tried_where_f_rises_to_the_end(f, below, above):
    more, half = further_shifts(qualities(*f), [(-2, 0, 2)]), len(menu.SHIFTS) // 2
    expected = [*range(-2 - 2 * half, -2, 2)] * below + [*range(4, 4 + 2 * half, 2)] * above
    assert [*more] == expected


def test_the_search_for_more_scores_ends():
    windows = [menu.SHIFTS]
    for _ in range(100):
        rising = qualities(*(place / 1000 for place in range(sum(map(len, windows)))))
        if not (more := further_shifts(rising, windows)):
            break
        assert more[0] == windows[-1][-1] + 2
        windows.append(more)
    assert 2 < len(windows) < 10
    assert further_shifts(qualities(0.1, 0.2), [(0, 2, 4)]) == ()  # no score is higher


@pytest.mark.parametrize("window", [range(-80, -39, 2), range(16, 57, 2)])
def test_a_best_score_outside_the_menus_range_is_found(monkeypatch, window):
    """With scores that all lie below the best one, or above."""
    alice, _ = registers(2)
    usual = suggest(alice, Assumed())
    monkeypatch.setattr(menu, "SHIFTS", tuple(window))
    found = suggest(alice, Assumed())
    tried = [one.least_score for one in found.least_scores]
    assert tried == sorted(tried)
    assert len(tried) > len(window)
    assert tried[0] < found.expected.least_score < tried[-1]
    assert found.expected.f_measure == pytest.approx(usual.expected.f_measure, abs=0.003)


def test_where_nearly_all_that_meet_are_matches_the_least_score_is_one_that_a_job_may_state():
    """The share of matches decides then, and hardly any field: the even score lies anywhere."""
    common = np.arange(200.0)[:, None] % 5 + 20
    nothing = np.zeros_like(common)
    right = np.arange(200) != 2
    assert fit_terms(Evidence(common, nothing, nothing, nothing), right).least == -MAX_SCORE
