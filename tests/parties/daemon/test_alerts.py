"""The rules of docs/monitoring: each metric and label in them is one that a daemon exports."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click
import pytest

from parties.cli.main import duetto
from parties.config import Address, Peer, load
from parties.daemon.metrics import Figures
from tests.parties.served import drain_of

FOLDER = Path(__file__).parents[3] / "docs" / "monitoring"
ALERTS = (FOLDER / "alerts.yml").read_text(encoding="utf-8")
EXPRESSIONS = re.findall(r"^ +expr: (.+)$", ALERTS, re.MULTILINE)
METRIC = re.compile(r"\b([a-z]+_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?(?!\()")
OF_PROMETHEUS = ("up",)
"""Made by Prometheus itself of each target."""

BY_SCRAPING = ("job", "instance")
"""Labels that Prometheus adds."""


@pytest.fixture
def samples(served, monkeypatch):
    """All that a party exports which has a rule, a peer and a certificate: names with their labels."""
    pytest.importorskip("prometheus_client")
    from prometheus_client import CollectorRegistry, ProcessCollector

    home = served.folder / "north"
    peer = Peer("south", Address("127.0.0.1", 1), home / "peers" / "south.pair", "")
    config = replace(load(home), peers=(peer,))
    shown = [("north", (home / "keys" / "tls.crt").read_bytes())]  # no pairing files lie in this home
    monkeypatch.setattr(Figures, "_certificates", lambda _: shown)
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(Figures(lambda: config, served.north, drain_of(served.north)))
    return [(sample.name, sample.labels) for family in registry.collect() for sample in family.samples]


def test_the_file_is_what_prometheus_reads():
    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load(ALERTS)
    (group,) = document["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(set(names)) == len(names) == len(EXPRESSIONS)
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule["alert"]
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert set(rule["annotations"]) == {"summary", "action"}
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
    assert scraped["rule_files"] == ["alerts.yml"]
    (job,) = scraped["scrape_configs"]
    assert all(found == job["job_name"] for found in re.findall(r'job="([^"]*)"', ALERTS))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_rule_asks_for_what_a_daemon_exports(samples, expression):
    found = METRIC.findall(re.sub(r"\b(min_over_time|delta)\(", "(", expression))
    assert found
    for name, selected in found:
        if name in OF_PROMETHEUS:
            continue
        wanted = dict(re.findall(r'(\w+)="([^"]*)"', selected))
        wanted = {label: value for label, value in wanted.items() if label not in BY_SCRAPING}
        there = [labels for each, labels in samples if each == name]
        assert any(wanted.items() <= labels.items() for labels in there), (name, wanted)


def test_what_is_said_of_an_alert_names_labels_of_its_metrics(samples):
    exported = {label for _, labels in samples for label in labels}
    named = set(re.findall(r"\$labels\.(\w+)", ALERTS))
    assert named
    assert named <= exported | {*BY_SCRAPING}


@pytest.mark.parametrize("line", sorted(set(re.findall(r"`duetto ([^`]+)`", ALERTS))))
def test_a_command_that_helps_is_one_of_duetto(line):
    command, words = duetto, line.split()
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options
