"""Clustering jobs, made-up tables for them, and joint runs whose messages are listed."""

from __future__ import annotations

import tomllib

import numpy as np

from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import check_sides
from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.clustering.table import Shape
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.channel.message import Message
from smc.forms import Role
from smc.pair import run_pair
from tests.support.seeds import seeded

RANDOM = seeded()
BOTH = frozenset(Role)
NAMES = ("x", "y", "z")
TENTHS = Schema("decimal", scale=1, lower=-500, upper=500, unit="kg")
CENTRES = (("-30", "-30", "-30"), ("0", "0", "0"), ("30", "30", "30"))

BASE = "clusters = 3\niterations = 3\n"
COLUMNS = 'columns = ["x", "y", "z"]\n'
SPLIT = 'layout = "vertical"\nalice_columns = ["x"]\nbob_columns = ["y", "z"]\n'
STATED = "centres = [" + ", ".join(str(list(centre)).replace("'", '"') for centre in CENTRES) + "]\n"
HORIZONTAL = BASE + COLUMNS + STATED


def parsed(text=HORIZONTAL):
    return CLUSTERING.parse(tomllib.loads(text))


def integers(lower, upper, shape):
    """Random integers in [lower, upper]."""
    drawn = RANDOM.below(upper - lower + 1, int(np.prod(shape)))
    return np.array(drawn, dtype=np.int64).reshape(shape) + lower


def blobs(rows, columns=3, spread=60, middles=(-300, 0, 300)):
    """Rows around middles, in tenths."""
    chosen = np.array(middles)[integers(0, len(middles) - 1, rows)]
    return np.clip(chosen[:, None] + integers(-spread, spread, (rows, columns)), -500, 500)


def table(values, names=NAMES, schema=TENTHS, persons=None):
    """Columns of an array of held units."""
    data = {name: Column(values[:, i].copy(), schema) for i, name in enumerate(names)}
    if persons is not None:
        data[PERSONS] = Column(np.array(persons, dtype=np.int64), Schema("integer"))
    return data


def text(layout, extra=STATED):
    columns = SPLIT if layout == "vertical" else COLUMNS + f'layout = "{layout}"\n'
    return BASE + columns + extra


def sides(layout, rows=90):
    """Both sides' tables of a layout."""
    values = blobs(rows)
    if layout == "vertical":
        return table(values[:, :1], NAMES[:1]), table(values[:, 1:], NAMES[1:])
    if layout == "arbitrary":
        mine = np.where(integers(0, 1, values.shape) == 1, values, 0)
        return table(mine), table(values - mine)
    return table(values[: rows // 3]), table(values[rows // 3 :])


def joint(study, alice, bob, recipients=BOTH, limits=NO_LIMITS, gate=open_gate):
    """Both outcomes."""
    return watched(study, alice, bob, recipients, limits, gate)[0]


class Watched:
    """A channel that lists the kinds and sizes of what is sent."""

    def __init__(self, channel):
        self._channel = channel
        self.sent = []
        self.messages: list[Message] = []

    def __getattr__(self, name):
        return getattr(self._channel, name)

    def send(self, message):
        self.sent.append((type(message).__name__, len(message.encode())))
        self.messages.append(message)
        self._channel.send(message)


def watched(study, alice, bob, recipients=BOTH, limits=NO_LIMITS, gate=open_gate):
    """Both outcomes, and both sides' channels."""

    def side(data):
        def run(session):
            session.channel = Watched(session.channel)
            outcome = run_study(study, session, data, recipients, limits.of_both, gate or open_gate)
            return outcome, session.channel

        return run

    (first, left), (second, right) = run_pair(side(alice), side(bob), timeout=60)
    return (first, second), (left, right)


def plain(study, alice, bob, recipients=BOTH):
    return study.reference(alice, bob, recipients)


def named(outcome):
    """The tables of an outcome by name."""
    return {found.name: found.columns for found in outcome.tables}


def shape_of(study, alice, bob):
    """What is public of the table of both sides."""
    both = {name: column.schema for data in (alice, bob) for name, column in data.items() if name[0] != "@"}
    columns = scaled_columns(study.parameters, check_sides(study.parameters, both, both))
    return Shape.of(study.parameters, columns, *(len(next(iter(data.values()))) for data in (alice, bob)))
