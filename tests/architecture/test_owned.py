"""Limits are measured by what the holder of the data says, and nothing is opened that its auditor is not told
of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import ROOT, called, modules, nodes

OWNERS = frozenset(
    {
        "parties.contracts.contract",
        "smc.analyses.clustering.census",
        "smc.analyses.disclosure.limits",
        "smc.analyses.matching.aggregates.columns",
        "smc.analyses.models.matched_sides",
        "smc.analyses.statistics.horizontal.exact",
        "smc.analyses.studies.declared",
    }
)
"""Who says of a value that the holder's own catalog or policy says it: the own limits of a contract, declared
bounds of a local column, those that a peer's catalog declares of the peer's columns, and the reference of
exact tables. Whoever adds a module has to look at where its number comes from."""

WEIGHS = {
    "smc.analyses.clustering.census": {"ClusterSums"},
    "smc.analyses.disclosure.amounts": {"Members", "Sum"},
    "smc.analyses.models.matched_limits": {"Sum"},
    "smc.analyses.models.matched_outcomes": {"OutcomePart"},
    "smc.analyses.models.stated": {"Members"},
    "smc.analyses.statistics.horizontal.curves_run": {"Members"},
    "smc.analyses.statistics.horizontal.exact": {"Members", "Weighed"},
}
"""Where something is made that dominance, or an auditor, looks at. Whoever adds a place has to take what rows
add to a sum from `smc.analyses.disclosure.amounts`, as those do that do not count persons: `stated` has
products of columns, and counts each from 0 where its bound is below; `matched_limits` has information."""

SHOWS = frozenset({"reveal", "agree"})
"""What tells the peer something in the room of the release."""

OPENER = ROOT / "smc" / "analyses" / "disclosure" / "opener.py"


def owned(tree: ast.AST) -> Iterator[int]:
    """The lines where a value is called owned."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and called(node) == "Owned":
            yield node.lineno


def test_only_these_call_a_value_owned() -> None:
    found = {m.name for m in modules("smc", "parties") if any(True for _ in owned(m.tree))}
    assert found == OWNERS


def test_only_these_say_what_rows_add_to_a_sum() -> None:
    wanted = {each for places in WEIGHS.values() for each in places}
    found: dict[str, set[str]] = {}
    for module in modules("smc"):
        if not module.name.startswith("smc.analyses"):
            continue
        for node in nodes(module.tree):
            if isinstance(node, ast.Call) and called(node) in wanted:
                found.setdefault(module.name, set()).add(called(node))
    assert found == WEIGHS


def told_too_late(tree: ast.AST) -> list[str]:
    """Methods of the opener that show something without having told the auditor before."""
    (opener,) = (n for n in nodes(tree) if isinstance(n, ast.ClassDef) and n.name == "Opener")
    wrong = []
    for method in opener.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        lines = {"shows": [], "tells": []}
        for node in ast.walk(method):
            if isinstance(node, ast.Call):
                name = called(node)
                if name in SHOWS:
                    lines["shows"].append(node.lineno)
                if name == "_tell":
                    lines["tells"].append(node.lineno)
        unconditional = [
            s
            for s in method.body
            if isinstance(s, ast.Expr) and ast.unparse(s.value).startswith("self._tell(")
        ]
        if lines["shows"] and (not unconditional or unconditional[0].lineno > min(lines["shows"])):
            wrong.append(method.name)
    return wrong


def test_the_auditor_is_told_before_anything_is_opened() -> None:
    assert not told_too_late(ast.parse(OPENER.read_text(encoding="utf-8")))


def test_an_opening_without_audit_is_found() -> None:
    code = """
class Opener:
    def good(self, values, recipients, told):
        self._tell(recipients, told)
        return values.reveal(recipients)
    def bare(self, values, recipients):
        return values.reveal(recipients)
    def late(self, values, recipients, told):
        found = values.reveal(recipients)
        self._tell(recipients, told)
        return found
    def sometimes(self, told, answer):
        if answer:
            self._tell(BOTH, told)
        return agree(self.session, answer=answer)
"""
    assert told_too_late(ast.parse(code)) == ["bare", "late", "sometimes"]


def test_in_the_room_of_the_release_only_the_opener_shows_anything() -> None:
    found = {
        m.name
        for m in modules("smc")
        if m.name.startswith("smc.analyses")
        for node in nodes(m.tree)
        if isinstance(node, ast.Call) and called(node) == "agree"
        if "smc.protocols.agreement" in ast.unparse(m.tree)
    }
    assert found == {"smc.analyses.disclosure.opener"}
