"""What the pages show and do, over the real control service of two joined parties."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest

from parties.client import Job, Party
from parties.contracts.state import State
from parties.ledger.entries import APPROVED, DENIED
from smc.errors import UsageError
from tests.parties.dashboard.browsing import Browser
from tests.parties.jobs.joined import job_file
from tests.parties.served import waiting


@pytest.fixture
def browser(party):
    return Browser(party)


@pytest.fixture
def south(served):
    with Party(served.folder / "south") as opened:
        yield opened


def titled(text, title):
    return text.replace('title = "both sums"', f"title = {json.dumps(title, ensure_ascii=False)}", 1)


def test_submit_watch_and_result(browser, party):
    text = titled(job_file("1/2"), "Sum of both")
    checked = browser.post("/new/check", {"text": text})
    assert checked.status_code == 200
    assert "Allowed by rule" in checked.text
    moved = browser.post("/new/submit", {"text": text})
    assert moved.status_code == 303
    path = moved.headers["location"]
    party.job(path.rsplit("/", 1)[1]).wait(timeout=20)
    page = browser.get(path).text
    assert "Sum of both" in page
    assert '<td class="n">62</td>' in page
    assert "south learned" in page
    live = browser.get(f"/live{path}")
    assert live.headers["hx-refresh"] == "true"
    rows = list(csv.reader(io.StringIO(browser.get(f"{path}/0.csv").text)))
    assert rows == [["total"], ["62"]]
    assert browser.get(f"{path}/1.csv").status_code == 404
    assert json.loads(browser.get(f"{path}/certificate.json").text)
    assert "Sum of both" in browser.get("/learned?find=sum").text
    assert "Nothing was found" in browser.get("/learned?find=nosuch").text
    exported = list(csv.reader(io.StringIO(browser.get("/learned.csv").text)))
    assert exported[1][2] == "Sum of both"
    assert browser.post(f"{path}/forget").status_code == 303
    assert "The result was deleted" in browser.get(path).text


def test_a_certificate_is_checked_with_the_keys_and_the_result_of_this_party(
    browser, party, served, monkeypatch
):
    from parties.dashboard.pages import certificate

    keys = served._identities
    monkeypatch.setattr(certificate, "load_identity", lambda _: keys["north"])
    path = browser.post("/new/submit", {"text": job_file("1/2")}).headers["location"]
    job = party.job(path.rsplit("/", 1)[1]).wait(timeout=20)
    page = browser.get(f"{path}/certificate").text
    for words in ("The certificate holds", "is the one of this job", "compared with the one that is kept"):
        assert words in page
    assert "Whether south has signed is not confirmed" in page  # nobody is paired in this test

    honest = job.certificate()
    for place, wrong in (("digest", "0" * 64), ("party", "east")):
        changed = json.loads(json.dumps(honest))
        changed["certificate"][place] = wrong
        with monkeypatch.context() as forged:
            forged.setattr(Job, "certificate", lambda _, changed=changed: changed)
            page = browser.get(f"{path}/certificate").text
        assert "The certificate does not hold" in page
        assert "The certificate holds" not in page
    monkeypatch.setattr(certificate, "load_identity", lambda _: keys["south"])
    assert "names another signing key" in browser.get(f"{path}/certificate").text
    monkeypatch.setattr(certificate, "load_identity", lambda _: keys["north"])
    assert browser.post(f"{path}/forget").status_code == 303
    assert "deleted here since, so not compared" in browser.get(f"{path}/certificate").text


def test_what_refreshes_itself_leaves_the_browser_alone_while_nothing_changes(served, south, monkeypatch):
    from parties.dashboard.pages import today as today_page

    monkeypatch.setattr(today_page, "own_certificates", lambda _: served._identities["south"].certificates)
    monkeypatch.setattr(today_page.certificate, "days_left", lambda _: 400)
    job_id = waiting(served, job_file("1/2"))
    browser = Browser(south)

    def seen(page):
        return html.unescape(re.search(r'hx-get="([^"]*)"', page)[1])

    today = seen(browser.get("/").text)
    assert {browser.get(today).status_code for _ in range(3)} <= {200, 204}  # 200 where a minute ends
    assert browser.get(seen(browser.get("/live/today").text)).status_code == 204
    path = seen(browser.get(f"/jobs/{job_id}").text)
    assert "hx-swap-oob" not in browser.get(path).text
    south.job(job_id).deny("no", "Dr. Meyer")
    assert "hx-swap-oob" in browser.get(path).text
    assert 'hx-swap-oob="innerHTML">0 waiting for you' in browser.get(today).text


def test_a_job_that_is_refused_is_tried_with_the_reason(browser, served, party):
    """By the policy, by the budget, and by the rows that it would read; each is said in place."""

    def tried(text):
        answers = [browser.post(path, {"text": text}) for path in ("/policy/try", "/new/check")]
        assert {answer.status_code for answer in answers} == {200}
        return "".join(answer.text for answer in answers)

    served.allow("north", total="1/4")
    page = tried(job_file("1/2"))
    assert page.count("No rule allows this job") == 2
    assert "epsilon 0.25 left" in page
    served.allow("north")
    served.analysis["north"].refusal = UsageError("Too few rows.", "Bring more.")
    assert tried(job_file("1/2")).count("The run would refuse these rows. Too few rows. Bring more.") == 2
    served.forbid("north")
    assert tried(job_file("1/2")).count("No rule allows this job") == 2
    assert party.jobs() == []


def test_check_proposes_nothing(browser, party):
    assert browser.post("/new/check", {"text": job_file("1/2")}).status_code == 200
    assert browser.post("/policy/try", {"text": job_file("1/2")}).status_code == 200
    assert party.jobs() == []


def test_the_text_that_was_checked_is_the_text_that_is_sent(browser):
    text = titled(job_file("1/2"), "a < b & “c” </textarea><b>")
    page = browser.post("/new/check", {"text": text}).text
    assert "</textarea><b>" not in page
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.S)[1]
    assert html.unescape(found).strip() == text.strip()


@pytest.mark.parametrize("text", ["", "x", "[job]\nanalysis = 'none'", "\x00", "a = [" * 3000])
def test_wrong_jobs_are_pages_with_a_hint(browser, text):
    answer = browser.post("/new/check", {"text": text})
    assert answer.status_code in (409, 404)
    assert "That did not work" in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", ["/policy/try", "/new/submit"])
def test_a_text_that_cannot_be_taken_stays_with_the_reason(browser, path):
    answer = browser.post(path, {"text": "[job]\nanalysis = 1 # mine"})
    assert answer.status_code == 409
    assert "analysis = 1 # mine" in answer.text.split("<textarea", 1)[1]
    assert 'role="alert"' in answer.text


def test_approving_sends_back_what_was_shown(served, south):
    job_id = waiting(served, job_file("1/2"))
    browser = Browser(south)
    page = browser.get(f"/decide/{job_id}").text
    assert "<strong>north</strong> asks" in page
    assert "If you approve, the programs of north and south compute the result together." in page
    assert "It costs epsilon 0.5: then <strong>0.5</strong> of your" in page
    assert page.index('value="approve"') < page.index("Who learns what") < page.rindex('value="approve"')
    shown = re.search(r'name="shown" value="([0-9a-f]{64})"', page)[1]
    assert shown == south.job(job_id).shown
    other = shown[:-1] + ("0" if shown[-1] != "0" else "1")
    wrong = browser.post(f"/decide/{job_id}", {"decision": "approve", "shown": other, "name": "Ann"})
    assert wrong.status_code == 409
    assert "What was shown is not the contract" in wrong.text
    assert 'value="Ann"' in wrong.text  # what was typed stays
    for sent in ({"decision": "approve"}, {"decision": "maybe", "shown": shown}, {}, {"decision": "deny"}):
        assert (
            browser.post(
                f"/decide/{job_id}", {**sent, "name": "Ann"} if "shown" in sent else sent
            ).status_code
            == 409
        )
    nameless = browser.post(f"/decide/{job_id}", {"decision": "approve", "shown": shown})
    assert "Write your name" in nameless.text
    assert south.job(job_id).state is State.WAITING_OWN
    done = browser.post(f"/decide/{job_id}", {"decision": "approve", "shown": shown, "name": "Dr. Meyer"})
    assert done.status_code == 303
    decided = [entry for entry in served.south.ledger.entries() if entry.event == APPROVED]
    assert decided[0].actor == "Dr. Meyer"
    after = browser.get(f"/decide/{job_id}").text
    assert "does not wait for a person any more" in after
    assert "If you approve" not in after  # what it spends is spent, and would be counted twice


@pytest.mark.parametrize("name", ["Seán O’Neil", "Dr. Weiß–Groß", "Müller/Weiß", "A. Müller, M.Sc.; Stellv."])
def test_names_as_people_write_them_can_decide(served, south, name):
    job_id = waiting(served, job_file("1/2"))
    sent = {"decision": "deny", "reason": "no", "name": name}
    assert Browser(south).post(f"/decide/{job_id}", sent).status_code == 303
    assert [entry.actor for entry in served.south.ledger.entries() if entry.event == DENIED] == [name]


def test_what_was_typed_stays_where_the_name_is_none(served, south):
    job_id = waiting(served, job_file("1/2"))
    sent = {"decision": "deny", "reason": "a long reason & more", "name": "<Eve>"}
    answer = Browser(south).post(f"/decide/{job_id}", sent)
    assert answer.status_code == 409
    assert "Nothing was decided." in answer.text
    assert 'value="a long reason &amp; more"' in answer.text
    assert 'value="&lt;Eve&gt;"' in answer.text
    assert south.job(job_id).state is State.WAITING_OWN


def test_denying_keeps_the_reason_at_home(served, south, party):
    job_id = waiting(served, job_file("1/2"))
    browser = Browser(south)
    sent = {"decision": "deny", "reason": "No consent for this", "name": "Dr. Meyer"}
    assert browser.post(f"/decide/{job_id}", sent).status_code == 303
    assert south.job(job_id).state is State.DENIED
    assert [entry.actor for entry in served.south.ledger.entries() if entry.event == DENIED] == ["Dr. Meyer"]
    assert "No consent" not in Browser(party).get(f"/jobs/{job_id}").text


def test_a_peer_cannot_write_the_page_of_the_approver(served, south):
    """A title that is HTML is a title; one with control characters never comes in."""
    title = "<img src=x onerror=alert(1)> & <b>approve</b>"
    job_id = waiting(served, titled(job_file("1/2"), title))
    browser = Browser(south)
    for path in ("/decide", f"/decide/{job_id}", "/jobs", f"/jobs/{job_id}"):
        page = browser.get(path).text
        assert "<img" not in page
        assert "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;approve&lt;/b&gt;" in page


def test_pages_of_unknown_jobs(browser):
    for path in ("/jobs/0123456789abcdef", "/decide/zz", "/jobs/%3Cb%3E", "/live/jobs/0123456789abcdef"):
        answer = browser.get(path)
        assert answer.status_code == 404
        assert "<b>" not in answer.text
    assert browser.get("/jobs?state=%3Cscript%3E").status_code == 409
    assert browser.get("/nowhere").status_code == 404


def test_a_daemon_that_is_away_is_said(served):
    with Party(served.folder / "north") as party:
        browser = Browser(party)
        key = browser.form_key()
        party._channel.close()
        import grpc

        party._channel = grpc.insecure_channel(f"unix:{served.folder}/nobody.sock")
        party._stub = type(party._stub)(party._channel)
        answer = browser.get("/jobs")
        typed = browser.post("/new/check", {"text": "# mine"}, key=key)
    assert answer.status_code == 503
    assert "duetto party start" in answer.text
    assert "duetto party start" in typed.text
    assert "# mine</textarea>" in typed.text


def test_releases_side_by_side(party, tmp_path):
    for name, rows in (("one.csv", 10), ("two.csv", 20)):
        manifest = {"program": "duetto 1", "rows": rows, "guarantees": [{"kind": "k-anonymity", "k": 5}]}
        (tmp_path / f"{name}.manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "broken.csv.manifest.json").write_text("{")
    (tmp_path / "report one.html").write_text("<p>the report</p><script>alert(1)</script>")
    (tmp_path / "outside.html").symlink_to("/etc/passwd")
    browser = Browser(party, releases=tmp_path)
    page = browser.get("/releases").text
    assert "one.csv" in page
    assert "cannot be read" in page
    assert "outside" not in page
    report = browser.get("/releases/report%20one/report.html")
    assert report.status_code == 200
    assert "sandbox" in report.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in report.headers["content-security-policy"]
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    (tmp_path / "broken.csv.manifest.json").unlink()
    assert browser.get("/releases").text.count("differs") == 1  # the rows
    assert "script-src" not in report.headers["content-security-policy"]
    (tmp_path / "another.html").write_text("<p>another")
    compared = browser.get("/releases/beside?one=another&other=report%20one")
    assert compared.text.count(" sandbox></iframe>") == 2
    policy = compared.headers["content-security-policy"]
    assert "frame-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for asked in ("one=outside&other=another", "one=../x&other=another", "one=another", ""):
        assert browser.get(f"/releases/beside?{asked}").status_code == 404
    for name in ("outside", "..%2f..%2fetc%2fpasswd", "nosuch"):
        assert browser.get(f"/releases/{name}/report.html").status_code == 404
    assert "--releases" in Browser(party).get("/releases").text


def test_the_page_of_the_policy_says_how_many_approve(browser, party):
    path = party.config_path.parent / "policy.toml"
    before = path.read_text()
    rule = re.sub(r"^approval = .*$", "", before.split("[[rules]]")[1], flags=re.M)
    said = []
    try:
        for approval in ('"person"', '{ role = "steward", count = 2 }', '{ role = "operator" }'):
            path.write_text(f"[[rules]]\napproval = {approval}\n{rule}")
            said += re.findall(r"[^<>]* approves? each job", browser.get("/policy").text)
    finally:
        path.write_text(before)
    assert said == [
        "A person approves each job",
        "2 stewards approve each job",
        "One operator approves each job",
    ]
