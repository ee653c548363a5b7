"""The page that the scripts of reproductions write their sections to."""

from __future__ import annotations

import importlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "scripts" / "reproduce"


@pytest.fixture(scope="module")
def page():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("page")
    sys.path.remove(str(FOLDER))


@pytest.fixture
def section(page):
    """A section with a part of each kind and a statement of each verdict."""
    curves = [
        page.Series("a", [1, 2], [3.0, None], error=[0.1, 0.2]),
        page.Series("a", [1], [2.0], "printed"),
    ]
    plot = page.Plot("drawing", "Figure 1", [page.Panel("left", "x", "y", curves, "y")])
    statements = [
        page.Statement("Figure 1", "it grows", "1, 2", page.exactly(True)),
        page.Statement("Figure 1", "it falls", "1, 2", (-2.0, -1.0), "9 runs", "paper: erratum 36"),
        page.Statement("Table 2", "it is flat", "1, 2", (-2.0, 1.0), "9 runs", "data"),
    ]
    table = page.Table(("n", "found"), [(1, 0.12345)], "In numbers")
    return page.Section("splu", "SPLU", "Small sums, large", ["Some text.", plot, table], statements)


def test_a_verdict_is_given_only_where_noise_does_not_decide(page):
    def verdict(margin, draws="5 runs"):
        return page.Statement("1", "", "", margin, draws).verdict

    assert [verdict((0.1, 2.0)), verdict((-2.0, -0.1)), verdict((-0.1, 2.0))] == ["yes", "no", page.OPEN]
    assert verdict((0.0, 0.0)) == page.OPEN
    assert verdict((0.0, 0.0), "") == "yes"
    assert verdict(page.margin([5.0])) == page.OPEN


def test_the_interval_of_draws_is_students(page):
    low, high = page.margin([1.0, 2.0, 3.0, 4.0])
    assert (low, high) == pytest.approx((2.5 - 3.182 * 0.6455, 2.5 + 3.182 * 0.6455), abs=1e-3)
    wider = page.margin([1.0, 2.0, 3.0, 4.0], parts=5)
    assert wider[0] < low < high < wider[1]


def test_a_statement_of_many_parts_holds_only_if_all_do(page):
    assert page.every([(1.0, 2.0), (-1.0, 3.0)]) == (-1.0, 2.0)
    assert page.every([(1.0, 2.0), (-2.0, -1.0)]) == (-2.0, -1.0)
    assert page.Statement("1", "", "", page.every([]), "0 runs").verdict == page.OPEN


def test_wrong_verdicts_are_as_rare_as_stated(page):
    """Of 2,000 times that a true difference of 0 is judged by 8 draws, 5 % and no more get a verdict."""
    import numpy as np

    draws = np.random.default_rng(1).normal(size=(2000, 8))
    verdicts = [page.Statement("1", "", "", page.margin(one.tolist()), "8 runs").verdict for one in draws]
    # 1.5 %, three standard errors, on either side
    assert 0.035 < sum(one != page.OPEN for one in verdicts) / 2000 < 0.065


def test_a_fault_has_a_known_name(page):
    with pytest.raises(ValueError, match="begins with none of paper"):
        page.Statement("1", "", "", (0, 1), "", "nobody")


def test_a_section_comes_back_from_json(page, section):
    again = page.Section.from_json(section.to_json())
    assert again.markdown() == section.markdown()
    assert [one.verdict for one in again.statements] == ["yes", "no", page.OPEN]
    assert json.loads(again.to_json()) == json.loads(section.to_json())


def test_a_quick_run_says_what_it_cannot_judge(section):
    text = replace(section, quick=True).markdown()
    assert text.rstrip().endswith("It cannot judge:\n\n- Table 2: it is flat")
    assert "quick run" not in section.markdown()


def test_the_first_screen_has_a_verdict_in_a_word_and_whose_fault(page, section, tmp_path):
    page.write(tmp_path, section)
    text = (tmp_path / "reproduction.md").read_text()
    assert text.index("| [SPLU](#small-sums-large) | Figure 1 | partly | paper |") < text.index(
        "## Small sums"
    )
    assert "| [SPLU](#small-sums-large) | Table 2 | open |  |" in text
    assert "Of 3 statements: 1 yes, 1 no, 1 within noise." in text
    assert "## Left out, and why" in text


def test_sections_stand_in_their_order_and_replace_older_ones(page, section, tmp_path):
    other = replace(section, word="rod", heading="Risk", parts=["old"])
    for one in (other, section, replace(other, parts=["new"])):
        page.write(tmp_path, one)
    text = (tmp_path / "reproduction.md").read_text()
    assert text.index("## Small sums") < text.index("## Risk") < text.index("\nnew\n")
    assert "\nold\n" not in text


def test_no_curve_is_cut_off(page):
    """Also where a later panel on the same axis is higher than the first."""
    panels = [page.Panel(f"{top}", "x", "y", [page.Series("a", [1, 2], [0.5, top])]) for top in (1.0, 9.0)]
    axes = page.Plot("drawing", "Figure 1", panels).figure().axes
    assert all(one.get_ylim()[0] == 0 and one.get_ylim()[1] >= 9 for one in axes)


def test_the_same_figures_give_the_same_files(page, section, tmp_path):
    found = []
    for _ in range(2):
        page.write(tmp_path, section)
        found.append((tmp_path / "reproduction" / "drawing.svg").read_bytes())
    assert found[0] == found[1]


def test_the_page_is_made_of_its_json(page, tmp_path):
    docs = ROOT / "docs"
    (tmp_path / page.PLOTS).mkdir()
    for one in (docs / page.PLOTS).glob("*.json"):
        (tmp_path / page.PLOTS / one.name).write_bytes(one.read_bytes())
    page.build(tmp_path)
    text = (tmp_path / "reproduction.md").read_text()
    assert text == (docs / "reproduction.md").read_text()
    shown = set(re.findall(rf"\({page.PLOTS}/(.+?\.svg)\)", text))
    assert shown == {one.name for one in (docs / page.PLOTS).glob("*.svg")}


def test_every_no_of_the_page_says_whose(page):
    faults = [
        one.whose for section in page.read(ROOT / "docs") for one in section.statements if one.verdict == "no"
    ]
    assert len(faults) > 5
    assert all(faults)
