"""Results have one way out: nothing but `smc.analyses.disclosure` opens what is shared."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import imports, modules, nodes, within

OPENERS = frozenset({"open_words", "open_bits", "reveal"})
"""What turns shares into values; `smc.secret.sharing.opening.cost` and `cost_bits` do not."""

EXITS = frozenset({"run_plan", "receive", "send"})
"""Protocols that give outputs by themselves; analyses hand them to `Release.protocol`."""

GATE = "smc.analyses.disclosure"
OPENER = "smc.analyses.disclosure.opener"
RUNNER = "smc.analyses.studies.runner"
INSIDE_SECRET = frozenset(
    {
        "smc.secret.sharing.opening",
        "smc.secret.shares",
        "smc.secret.bits",
        "smc.secret.reals.reals",
        "smc.secret.orders.sorting",
    }
)
"""The modules of `smc.secret` that define opening, and the sort, which opens an order that is random
whatever the data are; no other one opens anything, not even what is masked."""

FLOORS = ("smc.channel", "smc.ciphers", "smc.oblivious", "smc.planning", "smc.protocols")

SILENT = frozenset(
    {
        "smc.ciphers.ciphertexts.valid",
        "smc.oblivious.cost.comparison_transfers",
        "smc.oblivious.cost.preparation",
        "smc.oblivious.kernels.run_compiled",
        "smc.planning.cost.estimate_seconds",
        "smc.planning.cost.operation_named",
        "smc.planning.pools.need_of",
        "smc.planning.pools.takes_pools",
        "smc.planning.route.plan_comparison",
        "smc.protocols.against.weakest",
        "smc.protocols.intersection.cuckoo",
    }
)
"""Functions and modules of the floors below that analyses use and that say nothing to the peer."""

SPOKEN = {
    "smc.planning.agreement.compare_plans": {"smc.analyses.comparison.routed"},
    "smc.planning.run": {"smc.analyses.comparison.routed"},
    "smc.protocols.coins.toss": {
        "smc.analyses.clustering.matched",
        "smc.analyses.matching.tolerant.rank_join",
        "smc.analyses.records.joint_hashes",
        "smc.analyses.statistics.plans.noisy",
        "smc.analyses.statistics.vertical.run",
    },
    "smc.protocols.exchange.bounds.exchange_declarations": {"smc.analyses.matching.aggregates.columns"},
    "smc.protocols.exchange.bounds": {"smc.analyses.clustering.sides"},
    "smc.protocols.exchange.texts.exchange_texts": {
        "smc.analyses.models.matched_study",
        "smc.analyses.statistics.vertical.run",
    },
    "smc.protocols.intersection.exact": {
        "smc.analyses.matching.exact.run",
    },
    "smc.protocols.pools.take_pool": {"smc.analyses.comparison.prepared"},
    "smc.protocols.exchange.row_counts.exchange_counts": {
        "smc.analyses.clustering.sides",
        "smc.analyses.comparison.run",
        "smc.analyses.matching.linked.run",
        "smc.analyses.matching.tolerant.run",
        "smc.analyses.matching.vectors.study",
        "smc.analyses.models.matched_study",
        "smc.analyses.models.study",
        "smc.analyses.records.joint_hashes",
        "smc.analyses.records.paired_rows",
        "smc.analyses.scoring.study",
        "smc.analyses.statistics.vertical.run",
        "smc.analyses.validation.study",
    },
}
"""What tells the peer something, and who may use it: sizes, declarations and coins, which are public, and the
exits. Whoever adds a line has to look at what is told."""


def analyses() -> Iterator[tuple[str, ast.Module]]:
    """The modules that compute: all of the analyses but the room of the release."""
    for module in modules("smc"):
        if within(module.name, "smc.analyses") and not within(module.name, GATE):
            yield module.name, module.tree


def openings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every use of an opener: by call, as a value, or by import of its name."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in OPENERS:
            yield node.lineno, node.attr
        if isinstance(node, ast.Name) and node.id in OPENERS:
            yield node.lineno, node.id
    for line, target in imports(tree):
        if target.rpartition(".")[2] in OPENERS:
            yield line, target


def exits(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every use of an exit but as what `Release.protocol` is to run."""
    handed = {
        id(call.args[1])
        for call in nodes(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "protocol"
        and len(call.args) > 1
    }
    ready = {
        ast.unparse(target)
        for node in nodes(tree)
        if isinstance(node, ast.Assign) and _prepares(node.value)
        for target in node.targets
    }
    for node in nodes(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        planned = isinstance(node, ast.Attribute) and (
            _prepares(node.value) or ast.unparse(node.value) in ready
        )
        if (name in EXITS or (planned and name == "run")) and id(node) not in handed:
            yield node.lineno, name
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, a.name) for a in node.names if a.name in EXITS and a.asname)


def _prepares(node: ast.AST) -> bool:
    """Whether an expression prepares a planned protocol, whose `run` gives outputs by itself."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "prepare"


def ways_around(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of the channel, of what is private to another object, and of releases made by hand."""
    for node in nodes(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            if node.attr == "channel" or (private and owner not in {"self", "cls"}):
                yield node.lineno, node.attr
        if isinstance(node, ast.Name) and node.id.endswith("Opener"):
            yield node.lineno, node.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "Release":
                yield node.lineno, "Release(...)"
            if node.func.id == "getattr" and ast.unparse(node.args[0]).split(".")[-1] in {
                "release",
                "session",
            }:
                yield node.lineno, "getattr"


def defaults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of functions whose release has a default."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            if any(argument.arg == "release" for argument in given):
                yield node.lineno, node.name


def speaks(target: str) -> bool:
    """Whether an import may tell the peer something: types, constants and costs do not."""
    name = target.rpartition(".")[2]
    quiet = name[0].isupper() or "cost" in name or target in SILENT
    return any(within(target, floor) for floor in FLOORS) and not quiet


FINDERS = {
    "opens by itself; open it with the Release of the run": openings,
    "runs a protocol with outputs by itself; hand it to Release.protocol": exits,
    "reaches around the Release of the run": ways_around,
    "would run without a release": defaults,
}


@pytest.mark.parametrize("what", FINDERS)
def test_analyses_have_no_other_way_out(what: str) -> None:
    wrong = [
        f"{name}:{line} {what}: {found}"
        for name, tree in analyses()
        if name != RUNNER
        for line, found in FINDERS[what](tree)
    ]
    assert not wrong, "\n".join(wrong)


def test_analyses_say_nothing_to_the_peer_but_what_is_listed() -> None:
    wrong = [
        f"{name}:{line} imports {target}; if it is public, list it in {__name__}"
        for name, tree in analyses()
        for line, target in imports(tree)
        if speaks(target) and name not in SPOKEN.get(target, ())
    ]
    assert not wrong, "\n".join(wrong)


def test_the_lists_are_not_longer_than_they_need_to_be() -> None:
    used = {(name, target) for name, tree in analyses() for _, target in imports(tree)}
    assert {target for _, target in used} >= SILENT
    assert used >= {(name, target) for target, names in SPOKEN.items() for name in names}


def test_programs_over_secrets_open_nothing_on_the_way() -> None:
    wrong = [
        f"{m.name}:{line} uses {name}"
        for m in modules("smc")
        if within(m.name, "smc.secret") and m.name not in INSIDE_SECRET
        for line, name in openings(m.tree)
    ]
    assert not wrong, "\n".join(wrong)


def test_in_the_room_of_the_release_only_the_opener_opens() -> None:
    inside = {m.name for m in modules("smc") if within(m.name, GATE) and list(openings(m.tree))}
    assert inside == {OPENER}


def test_only_the_runner_makes_a_release() -> None:
    found = {
        m.name for m in modules("smc", "parties") if any(x == "Release(...)" for _, x in ways_around(m.tree))
    }
    assert found == {RUNNER}


@pytest.mark.parametrize(
    "code",
    [
        "total.reveal(BOTH)",
        "opener = total.reveal",
        "from smc.secret.sharing.opening import open_words as peek",
        "from smc.secret import opening\nopening.open_bits(session, shares, BOTH)",
        "def f():\n    return (a * b).sum().reveal()",
    ],
)
def test_an_opening_is_found(code: str) -> None:
    assert list(openings(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "delta = run_plan(plan, session, x, y)",
        "run = run_plan",
        "from smc.planning.run import run_plan as go",
        "found = exact.receive(session, keys, count, tell=True)",
        "release.protocol(about, lambda: exact.send(session, keys, count, tell=True))",
        "release.protocol(run_plan, about)",
        "ready = prepare(plan, session)\ndelta = ready.run(x, y)",
        "delta = prepare(plan, session).run(x, y)",
    ],
)
def test_an_exit_is_found(code: str) -> None:
    assert list(exits(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "session.channel.send(Words(x.shares))",
        "release._opener.ints(total, BOTH)",
        "release._limits = NO_LIMITS",
        "getattr(release, name)(total)",
        "Release(session, scope, BOTH, NO_LIMITS).open(total, BOTH, Noisy())",
        "PartOpener(whole, stated)",
        "release._of_part(scope, opener)",
    ],
)
def test_a_way_around_is_found(code: str) -> None:
    assert list(ways_around(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "release.open(total, BOTH, Groups(persons))",
        "opening.cost(3, BOTH)",
        "opening.cost_bits(1, BOTH)",
        "release.protocol(Rows(), run_plan, plan, session, x, y)",
        "ready = prepare(plan, session)\nrelease.protocol(Rows(), ready.run, x, y)",
        "release.protocol(Rows(), exact.receive, session, keys, count, tell=True)",
        "from smc.planning.run import run_plan",
        "self._release.open(total, BOTH, Noisy())",
    ],
)
def test_the_release_and_costs_are_allowed(code: str) -> None:
    tree = ast.parse(code)
    assert not [*openings(tree), *exits(tree), *ways_around(tree)]
