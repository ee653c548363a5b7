"""Sums up the demo in about ten lines, from what the two daemons and ledgers say.

demo_summary.py DIR      with the homes DIR/north and DIR/south, whose daemons run
"""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duetto

NAMES = ("north", "south")
WIDTH = 108
LABEL = 22


def answer(job: duetto.Job, tables: dict[str, Any]) -> str:
    """How much a result says: its one value, or its numbers of rows."""
    title = job.describe()["title"].rstrip("?.")
    rows = [len(next(iter(table.values()), ())) for table in tables.values()]
    values = [value for table in tables.values() for column in table.values() for value in column]
    size = f"{values[0]}" if len(values) == 1 else f"{sum(rows)} rows"
    return f"{title}: {size}"


def is_shared(tables: dict[str, Any]) -> bool:
    """Whether the result is this party's half of values that stay secret."""
    return any("share" in table for table in tables.values())


def learned(finished: dict[str, dict[str, tuple[duetto.Job, dict[str, Any]]]]) -> Iterable[tuple[str, str]]:
    """Who has the results of which jobs, and whose nobody has."""
    rows: dict[str, list[str]] = {"both learned": [], **{f"only {name} learned": [] for name in NAMES}}
    hidden = []
    for key, (job, tables) in reversed(finished["north"].items()):
        others = finished["south"][key][1]
        if is_shared(tables) and is_shared(others):
            hidden.append(job.describe()["title"].split("?")[0])
        elif tables and others:
            rows["both learned"].append(answer(job, tables))
        else:
            rows[f"only {NAMES[not tables]} learned"].append(answer(job, tables or others))
    for who, what in rows.items():
        yield who, "; ".join(what) or "nothing"
    noisy = [job for job, _ in finished["north"].values() if job.analysis == "statistics"]
    parts = [f'the answers to "{title}" (each side has a random-looking half)' for title in hidden]
    parts += ["the noise in the statistics, which both drew together"] if noisy else []
    yield (
        "nobody learned",
        "; ".join([*parts, "any row, name or score of the other but for the above"]),
    )


def spent(ledger: dict[str, Any], policy: dict[str, Any]) -> str:
    """What a party's ledger says was spent for good, and what its rules set as the end."""
    totals = {rule["name"]: rule["epsilon_total"] for rule in policy["rules"] if "epsilon_total" in rule}
    bounds = {run["account"]: totals[run["rule"]] for run in ledger["runs"] if run["rule"] in totals}
    losses = [
        f"epsilon {total['epsilon']} of {bounds[total['account']]} on {total['account']} "
        f"({Fraction(bounds[total['account']]) - Fraction(total['epsilon'])} left)"
        for total in ledger["totals"]
    ]
    exact = sum(account["jobs"] for account in ledger["exact"])
    return "; ".join([*losses, f"{exact} exact result{'s' if exact != 1 else ''}, which no noise covers"])


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0])
    finished: dict[str, dict[str, tuple[duetto.Job, dict[str, Any]]]] = {}
    rows = []
    for name in NAMES:
        with duetto.Party(folder / name) as party:
            finished[name] = {job.id: (job, job.result().tables) for job in party.jobs("finished")}
            with (folder / name / "policy.toml").open("rb") as file:
                rows.append((f"spent at {name}", spent(party.ledger(), tomllib.load(file))))
            facts = [job.facts for job, _ in finished[name].values()]
    # Each message is sent by one side and received by the other, so one side's figures are all.
    size = sum(one["sent"] + one["received"] for one in facts)
    seconds = sum(one["seconds"] for one in facts)
    work = f"{len(facts)} jobs, {size / 1e6:.1f} MB between the two, {seconds:.1f} s"
    for label, text in (*learned(finished), *rows, ("it took", work)):
        print(textwrap.fill(text, WIDTH, initial_indent=f"{label:<{LABEL}}", subsequent_indent=" " * LABEL))


if __name__ == "__main__":
    main(sys.argv[1:])
