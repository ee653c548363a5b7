"""New job: what a form stands for, what it says before a proposal, and that nothing typed is lost."""

from __future__ import annotations

import html
import re
import tempfile
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from parties.client import Party
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.dashboard.pages.statistics import declared_by, job_names, likely, propose
from parties.policy.rules import load_policy
from parties.texts import NAME
from smc.analyses.registry import ANALYSES
from tests.parties.dashboard.browsing import Browser
from tests.parties.jobs.institutions import Institutions
from tests.parties.jobs.joined import approve, wait_final, wait_state
from tests.parties.served import control

NAMES = ("north", "south")
WEIGHT = "Gewicht (kg)"
SMOKER = "Raucher?"
COLUMNS = {
    "Alter": {"type": "integer", "lower": 0, "upper": 120, "unit": "years"},
    WEIGHT: {"type": "integer", "lower": 20, "upper": 250, "unit": "kg"},
    SMOKER: {"type": "category", "values": ["ja", "nein"]},
}
PEER = '[[peers]]\nname = "south"\naddress = "127.0.0.1:7443"\npairing = "south.pair"\npin = "x"\n'
FORM = {
    "dataset": "data",
    "title": "Why <we> ask",
    "asked_by": "Dr <b>Weber</b>",
    "purpose": "For the <board>",
    "peer": "south",
    "peer_dataset": "data",
    "epsilon": "1",
    "figure": ["count", "mean:Alter", f"mean:{WEIGHT}", f"median:{WEIGHT}"],
}


@pytest.fixture
def made():
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        found = Institutions(Path(folder))
        for name in NAMES:
            cells = {"Alter": range(90), WEIGHT: range(50, 140), SMOKER: ["ja", "nein", "nein"] * 30}
            found.hold(name, cells, COLUMNS, dataset="data")
            found.allow(name, approval="person")
        with control(found.north, found.folder / "north") as home, Party(home) as party:
            with (home / "duetto.toml").open("a") as config:
                config.write(PEER)
            yield SimpleNamespace(parties=found, browser=Browser(party), party=party)
        found.close()


def text_of(page):
    return html.unescape(re.search(r"<textarea[^>]*readonly>(.*?)</textarea>", page, re.S)[1])


def test_columns_with_blanks_and_brackets_can_be_asked_about(made):
    page = made.browser.post("/new/check", FORM).text
    spec = parse_spec(text_of(page))
    (short,) = (name for name, column in spec.alice.columns.items() if column == WEIGHT)
    assert NAME.fullmatch(short)
    assert spec.bob.columns == spec.alice.columns
    assert (spec.title, spec.asked_by, spec.purpose) == (FORM["title"], FORM["asked_by"], FORM["purpose"])
    assert "mean of Gewicht (kg)" in page
    moved = made.browser.post("/new/submit", {"text": text_of(page)})
    assert moved.status_code == 303
    shown = made.browser.get(f"/decide/{moved.headers['location'].rsplit('/', 1)[1]}").text
    assert "Gewicht (kg)</strong>" in shown
    assert "Why &lt;we&gt; ask" in shown
    assert "Why: For the &lt;board&gt;" in shown
    settings = re.sub(r"<[^>]+>", " ", shown.split("Settings of the analysis")[1].split("</table>")[0])
    settings = html.unescape(" ".join(settings.split()))
    assert "Epsilon 1 Figure 1 number of rows. Kind: number of rows Figure 2" in settings
    assert f"mean of {WEIGHT}. Kind: mean; Column: {WEIGHT}" in settings
    assert short not in settings


def test_the_precision_of_each_figure_stands_there_before_anything_is_proposed(made):
    page = made.browser.post("/new/check", FORM).text
    widths = re.findall(r"<li[^>]*>([^<]*)<strong>(± [0-9.]+ \w+)</strong>", page)
    assert [name for name, _ in widths] == [
        "number of rows",
        "mean of Alter",
        f"mean of {WEIGHT}",
        f"median of {WEIGHT}",
    ]
    assert "Nobody learns" in page
    assert "It costs epsilon 1" in page
    page = made.browser.post("/new/check", {**FORM, "epsilon": "0,1"}).text
    assert page.count("says almost nothing</small>") == 4
    assert '<p class="note">' in page
    assert made.party.jobs() == []


def test_figures_are_told_apart_by_the_labels_of_a_column(made):
    page = made.browser.post("/new/check", {**FORM, "figure": ["count", "mean:Alter"], "by": SMOKER}).text
    spec = parse_spec(text_of(page))
    (short,) = (name for name, column in spec.alice.columns.items() if column == SMOKER)
    assert [query.get("by") for query in spec.parameters["queries"]] == [short, short]
    widths = re.findall(r"<li[^>]*>([^<]*)<strong>± [0-9.]+ \w+</strong>", page)
    assert widths == [
        f"{figure}, {label}" for figure in ("number of rows", "mean of Alter") for label in ("ja", "nein")
    ]
    assert f"<option selected>{SMOKER}</option>" in page
    both = {**FORM, "figure": ["mean:Alter", f"histogram:{SMOKER}"], "by": SMOKER}
    queries = parse_spec(text_of(made.browser.post("/new/check", both).text)).parameters["queries"]
    assert [query.get("by") for query in queries] == [short, None]  # its own figure is one of all rows


def test_how_many_are_in_both_is_asked_by_ticks(made):
    asked = {**FORM, "title": "", "question": "common", "key": ["Alter", WEIGHT], "theirs:Alter": "age"}
    page = made.browser.post("/new/check", asked).text
    spec = parse_spec(text_of(page))
    (short,) = (name for name, column in spec.alice.columns.items() if column == WEIGHT)
    assert (spec.analysis, spec.title) == ("matching", "How many are in both: data")
    assert spec.bob.columns == {"Alter": "age", short: WEIGHT}
    assert spec.parameters == {"method": "exact", "keys": ["Alter", short], "output": "size", "epsilon": "1"}
    assert "Nobody learns" in page
    assert page.count(" checked") == 1 + len(FORM["figure"]) + 2
    lacking = made.browser.post("/new/check", asked | {"key": []})
    assert lacking.status_code == 409
    assert "No column was chosen" in lacking.text.split('id="wrong-key"')[1]


@pytest.mark.parametrize(
    ("field", "wrong", "said"),
    [
        ("epsilon", "much", "Epsilon is not a number above 0."),
        ("epsilon", "", "Epsilon is not a number above 0."),
        ("peer_dataset", "two words", "cannot be the name of a data set"),
        ("figure", [], "No figure was chosen."),
        ("figure", ["count"], "No column was chosen"),
        ("figure", ["mean:nosuch"], "is not offered"),
        ("by", "Alter", "has no labels"),
    ],
)
def test_a_wrong_field_is_named_beside_it_and_nothing_typed_is_lost(made, field, wrong, said):
    answer = made.browser.post("/new/check", {**FORM, "theirs:Alter": "age", field: wrong})
    assert answer.status_code == 409
    beside = re.search(
        rf'aria-describedby="wrong-{field}".*?id="wrong-{field}" role="alert">([^<]*)', answer.text, re.S
    )
    assert said in html.unescape(beside[1])
    assert "<option selected>south" in answer.text
    for name, value in (FORM | {"theirs:Alter": "age", field: wrong}).items():
        for one in [value] if isinstance(value, str) else value:
            if name not in ("peer", "by") and one != "mean:nosuch":
                assert f'value="{html.escape(one)}"' in answer.text, name
    assert answer.text.count(" checked") == 1 + len(  # one for what is asked
        [one for one in (wrong if field == "figure" else FORM["figure"]) if one != "mean:nosuch"]
    )


def test_what_the_text_of_a_job_lacks_is_said_above_it(made):
    answer = made.browser.post("/new/check", {"text": "[job]\nanalysis = 1 # mine"})
    assert answer.status_code == 409
    assert "That did not work" in answer.text
    assert "analysis = 1 # mine</textarea>" in answer.text


def test_a_text_comes_back_as_it_was_typed_though_browsers_send_other_ends_of_lines(made):
    answer = made.browser.post("/new/check", {"text": "[job]\r\nanalysis = 1\r\n"})
    assert ">[job]\nanalysis = 1\n</textarea>" in answer.text


def test_what_a_peer_declared_in_earlier_jobs_is_offered(made):
    desk = SimpleNamespace(party=made.party)
    assert declared_by(desk, "south") == {}
    job = made.party.submit(text_of(made.browser.post("/new/check", FORM).text))
    approve(made.parties.north, job.id)
    wait_state(made.parties.south, job.id, State.WAITING_OWN)
    approve(made.parties.south, job.id)
    wait_final(made.parties.north, job.id)
    assert {name: sorted(columns) for name, columns in declared_by(desk, "south").items()} == {
        "data": ["Alter", WEIGHT]
    }
    assert f'<option value="{WEIGHT}">' in made.browser.get("/new").text


def test_a_budget_may_have_a_decimal_comma(made):
    sent = {"name": "mine", "dataset": "data", "analysis": "statistics", "peer": "south", "column": "Alter"}
    sent |= {"epsilon_per_job": "0,5", "epsilon_total": "1,5"}
    assert made.browser.post("/policy/allow", sent).status_code == 303
    (rule,) = (
        one for one in load_policy(made.party.config_path.parent / "policy.toml").rules if one.name == "mine"
    )
    assert (rule.per_job.epsilon, rule.budget.epsilon) == (Fraction(1, 2), Fraction(3, 2))


def test_names_are_plain_words_and_each_another_one():
    names = job_names(["age", "a b", "a-b!", "a(b", "Größe", "年齢", "age"])
    assert len({*names.values()}) == len(names) == 6
    assert names["age"] == "age"
    assert all(NAME.fullmatch(name) for name in names.values())


def test_a_peers_name_is_proposed_where_one_is_alike():
    assert propose("Alter", {"alter", "Geschlecht"}) == "alter"
    assert propose("Gewicht (kg)", {"gewicht_kg"}) == "gewicht_kg"
    assert propose("Alter", {"ALTER", "alter"}) == "Alter"
    assert propose("Alter", {"age"}) == "Alter"
    assert propose("Alter", ()) == "Alter"


def hidden_form(page, action, label):
    """The fields of the form whose button says so."""
    forms = re.findall(rf'<form method="post" action="{action}"[^>]*>(.*?)</form>', page, re.S)
    (inside,) = [one for one in forms if label in one]
    found = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', inside):
        found.setdefault(html.unescape(name), []).append(html.unescape(value))
    for name, value in re.findall(r'<textarea name="([^"]+)"[^>]*>(.*?)</textarea>', inside, re.S):
        found[html.unescape(name)] = [html.unescape(value)]
    found.pop("form_key", None)
    return found


def test_a_better_split_is_taken_by_a_button_and_nothing_typed_is_lost(made):
    sent = FORM | {"figure": ["count", "mean:Alter", "median:Alter"], "epsilon": "4"}
    page = made.browser.post("/new/check", sent).text
    assert "Epsilon in other parts, so that figures are more alike: " in html.unescape(page)
    taken = hidden_form(page, "/new/check", "Take this split")
    assert {name: taken[name][-1] for name in FORM if name not in ("figure", "epsilon")} == {
        name: value for name, value in FORM.items() if name not in ("figure", "epsilon")
    }
    assert taken["figure"] == sent["figure"]
    page = made.browser.post("/new/check", taken).text
    (text,) = hidden_form(page, "/new/submit", "Propose it")["text"]
    shares = {query.name: query.loss.epsilon / 4 for query in queries_of(text)}
    assert shares == {name: Fraction(taken[f"share:{name}"][-1]) for name in shares}
    assert len({*shares.values()}) > 1
    assert "Take this split" not in page
    assert f'value="{html.escape(FORM["title"])}"' in page
    equal = {"text": re.sub(r', share = "[^"]*"', "", text)}  # as somebody writes it
    taken = hidden_form(made.browser.post("/new/check", equal).text, "/new/check", "Take this split")
    page = made.browser.post("/new/check", taken).text
    assert queries_of(hidden_form(page, "/new/submit", "Propose it")["text"][0]) == queries_of(text)


def queries_of(text):
    return ANALYSES["statistics"].parse(dict(parse_spec(text).parameters)).parameters.queries


@pytest.mark.parametrize(
    ("dataset", "columns", "known", "name"),
    [
        ("stays", ["Alter"], {}, "stays"),
        ("stays", ["Alter"], {"patients": ["Alter"], "stays": ["Rauch"]}, "stays"),
        ("stays", ["Leeftijd (jaren)"], {"patients": ["Âge", "Fumeur"]}, "stays"),  # nothing is like it
        ("stays", ["ALTER", "Kosten"], {"patients": ["Gewicht"], "aufenthalte": ["Alter"]}, "aufenthalte"),
        ("stays", ["年齢"], {"patients": ["体重"]}, "stays"),
    ],
)
def test_the_peers_data_set_that_is_proposed_is_like_the_chosen_one(dataset, columns, known, name):
    """Not the one of whatever job came before, whose policy refuses what it is asked."""
    assert likely(dataset, columns, known) == name


def test_a_name_that_a_rule_has_is_said_beside_it_and_nothing_typed_is_lost(made):
    sent = {"name": "mine", "dataset": "data", "analysis": "statistics", "peer": "south", "column": "Alter"}
    sent |= {"epsilon_per_job": "1", "epsilon_total": "2"}
    assert made.browser.post("/policy/allow", sent).status_code == 303
    page = html.unescape(made.browser.post("/policy/allow", sent | {"epsilon_total": "5"}).text)
    assert re.search(r'id="wrong-name">policy.toml has a rule \'mine\' already', page)
    assert 'value="5"' in page
    assert "<details open><summary>Allow results with noise" in page


def test_the_form_of_a_rule_stays_open_where_a_data_set_is_chosen(made):
    """There are rules already, so that it is folded otherwise; its links would seem to do nothing."""
    form = "<summary>Allow results with noise"
    assert f"<details>{form}" in made.browser.get("/policy").text
    assert f"<details open>{form}" in made.browser.get("/policy?dataset=data").text


def test_a_column_that_nobody_confirmed_is_marked_and_told_beside_its_field(made):
    catalog = made.party.config_path.parent / "catalog.toml"
    text = catalog.read_text()
    head = f'[datasets.data.columns."{SMOKER}"]\n'
    assert head in text
    catalog.write_text(text.replace(head, f"{head}confirmed = false\n"))
    page = html.unescape(made.browser.get("/new").text)
    assert f'{SMOKER}</strong> <span class="tag">not confirmed</span>' in page
    assert '<a href="/data/add?edit=data">Edit data</a>' in page
    for field, form in (
        ("figure", FORM | {"figure": [f"histogram:{SMOKER}"]}),
        ("by", FORM | {"by": SMOKER}),
        ("key", FORM | {"question": "common", "key": [SMOKER]}),
    ):
        page = html.unescape(made.browser.post("/new/check", form).text)
        assert "That did not work" not in page
        assert (
            f'id="wrong-{field}" role="alert">Nobody has confirmed bounds or labels of \'{SMOKER}\'' in page
        )
        assert "duetto data confirm" not in page
    text = made.browser.post("/new/check", {"text": JOB_ON_SMOKERS}).text
    assert "Confirm it on Data, under Edit data" in html.unescape(text)
    assert "duetto data confirm" not in text


JOB_ON_SMOKERS = f"""
[job]
analysis = "statistics"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "data"
columns = {{ s = "{SMOKER}" }}
[bob]
dataset = "data"
columns = {{ s = "{SMOKER}" }}
[parameters]
epsilon = "1"
queries = [{{ name = "s", kind = "histogram", column = "s" }}]
"""
