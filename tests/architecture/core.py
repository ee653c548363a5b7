"""The trusted core: what comparison, exact matching, noisy sums, release and ledger import when they run.

`docs/core.md` is made of this by `scripts/gen_docs`, and `test_core` holds both to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.architecture.source import PACKAGES, ROOT, Module, imports, modules, nodes, within

MOST_LINES = 17_800
"""The size of the core, docstrings included."""

ROOTS = (
    "smc.analyses.comparison.run",
    "smc.protocols.comparison.oblivious",
    "smc.analyses.matching.exact.run",
    "smc.analyses.statistics.horizontal.run",
    "smc.analyses.statistics.kinds.sums",
    "smc.analyses.studies.facts",
    "smc.analyses.studies.runner",
    "parties.ledger.commit",
)
"""Where the core begins: it is whatever these reach by imports at run time."""


@dataclass(frozen=True)
class Chapter:
    """Files that are read together.

    Attributes:
        title: of the chapter.
        guarantees: what its files have to guarantee, together.
        places: modules and packages whose files in the core it has; a longer name goes before a shorter one.
    """

    title: str
    guarantees: str
    places: tuple[str, ...]


CHAPTERS = (
    Chapter(
        "Ground",
        "Randomness comes from the operating system, no draw is made twice, and errors name no secret.",
        ("commons", "smc.errors", "smc.forms", "smc.moduli", "smc.network", "smc.pieces", "smc.numeric"),
    ),
    Chapter(
        "Channel",
        "The receiver states kind and size of every message before it reads it, and takes nothing else.",
        ("smc.channel",),
    ),
    Chapter(
        "Oblivious transfer",
        "The sender does not learn the choice, nor the receiver what it did not choose; no pad masks twice.",
        ("smc.oblivious",),
    ),
    Chapter(
        "Session and public exchanges",
        "What goes in the clear is public: numbers of rows, a bit of consent, a coin neither side chose.",
        ("smc.protocols",),
    ),
    Chapter(
        "Secret numbers",
        "Each side's shares are uniform, bounds rule out wrapping, values appear where shares are opened.",
        ("smc.secret",),
    ),
    Chapter(
        "Noise",
        "Neither party knows or bends a draw; its distribution is the stated one up to the stated distance.",
        ("smc.secret.noise",),
    ),
    Chapter(
        "Comparison",
        "The two sides get delta in the form of its type, and nothing else of x and y.",
        ("smc.values", "smc.protocols.comparison", "smc.analyses.comparison"),
    ),
    Chapter(
        "Exact matching",
        "Recipients learn which of their keys the other side has, others nothing.",
        (
            *("smc.protocols.intersection", "smc.secret.joins", "smc.analyses.records.keys"),
            *("smc.analyses.records.joint_hashes", "smc.analyses.matching"),
        ),
    ),
    Chapter(
        "Sums with noise",
        "A person changes a sum by no more than its noise is for, and all noise costs no more than the loss.",
        ("smc.analyses.records", "smc.analyses.statistics"),
    ),
    Chapter(
        "Release",
        "Opens to recipients alone, once both sides' limits hold, the gate is passed and the auditor told.",
        ("smc.analyses.disclosure", "smc.analyses.studies"),
    ),
    Chapter(
        "Ledger",
        "Both parties have written what is released before it is, within the budget, in a chain of hashes.",
        ("commons.logs", "parties"),
    ),
)
"""The reading order."""


@dataclass(frozen=True)
class Wall:
    """What keeps something outside of the core from harming privacy.

    Attributes:
        outside: what may be wrong.
        wall: why that harms nobody's privacy.
        tests: where that is tested: `file::function`, below `tests`.
    """

    outside: str
    wall: str
    tests: tuple[str, ...]


WALLS = (
    Wall(
        "programs of other analyses, their outcomes and references",
        "have no opener, no channel and no release but the runner's, which opens only what its scope says",
        (
            "architecture/test_release_gate.py::test_analyses_have_no_other_way_out",
            "architecture/test_release_gate.py::test_only_the_runner_makes_a_release",
            "smc/analyses/disclosure/test_release.py::test_a_figure_is_about_what_the_run_was_declared_to_be",
        ),
    ),
    Wall(
        "exact tables, curves, clusters and models, which withhold a part of what they open",
        "only `smc.analyses.disclosure` has such figures; these five claims are of jobs that open none",
        (
            "smc/analyses/disclosure/test_exact_figure.py::test_no_analysis_can_open_figures_by_itself",
            "smc/analyses/disclosure/test_exact_figure.py::test_the_five_claims_open_no_such_figure",
        ),
    ),
    Wall(
        "parsing of jobs, settings and catalogs, drafts",
        "policies judge what was parsed, and both parties sign every part of it; a run that differs ends",
        ("parties/contracts/test_spec.py::test_every_part_of_a_contract_is_in_its_digest_and_signature",),
    ),
    Wall(
        "planning of routes",
        "plans are compared before anything else is sent; a route runs after the gate, and gives delta "
        "in the form of its type",
        (
            "smc/planning/test_agreement.py::test_parties_with_different_plans_both_end_and_have_sent_a_digest_only",
            "smc/analyses/comparison/test_core.py::test_delta_in_another_form_is_refused",
            "smc/analyses/comparison/test_core.py::test_a_gate_that_raises_lets_no_route_run",
        ),
    ),
    Wall(
        "planning of statistics",
        "a statistic sets its own noise; plans that cost more than the loss that the ledger takes, or whose "
        "noise covers fewer rows than a person may have, are refused before anything is sent",
        ("smc/analyses/statistics/test_core.py::test_plans_with_too_little_noise_are_refused",),
    ),
    Wall(
        "products, division, truncation, lattice encryption",
        "`LinearInts`, on which the core computes, has none of them",
        ("smc/secret/test_linear_ints.py::test_there_is_no_product_of_secrets",),
    ),
    Wall(
        "silent comparisons, transfers made ahead, lanes, pools, Paillier, ElGamal, DGK",
        "a job asks for them, by a network, lanes, a pool, a type or an engine; without that only a "
        "comparison of very many rows by `auto` takes silent transfers; a plain `Session` has none of them "
        "and runs the core",
        (
            "smc/analyses/matching/exact/test_core.py::test_keys_are_matched_in_a_plain_session",
            "smc/analyses/statistics/test_core.py::test_noisy_sums_are_opened_in_a_plain_session",
            "smc/oblivious/test_plain_engine.py::test_an_engine_of_the_core_makes_extended_transfers_alone",
            "smc/oblivious/test_plain_engine.py::test_an_engine_of_the_core_computes_and_sends_what_every_engine_does",
            "smc/analyses/matching/exact/test_core.py::test_a_job_without_a_network_compares_by_no_silent_transfers",
            "smc/analyses/statistics/test_core.py::test_a_job_without_a_network_makes_no_silent_transfers",
        ),
    ),
    Wall(
        "prices and traces",
        "run over arrays without data, which no message takes, in a session that opens nothing",
        (
            "smc/numeric/test_shape_arrays.py::test_no_message_is_made_of_them",
            "smc/tracing/test_traces.py::test_what_is_opened_has_no_values_of_either_side",
        ),
    ),
    Wall(
        "normal forms of keys",
        "decide what matches; sets are tested and keys hashed under a salt drawn after they are fixed",
        ("smc/analyses/disclosure/test_release.py::test_small_sets_and_intersections_are_refused",),
    ),
    Wall(
        "the other party's whole installation",
        "sees what protocols show to a semi-honest peer; what it signs counts for one job, role and entry",
        ("parties/ledger/test_commit.py::test_a_signature_for_another_job_or_role_is_refused",),
    ),
)


def _known() -> dict[str, Module]:
    return {module.name: module for package in PACKAGES for module in modules(package)}


@cache
def core() -> tuple[Module, ...]:
    """The modules of the core, by name."""
    known = _known()
    found: set[str] = set()
    left = list(ROOTS)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += needed(known[name], known)
    return tuple(known[name] for name in sorted(found))


def needed(module: Module, known: dict[str, Module]) -> list[str]:
    """The modules that one imports when it runs, also inside functions; not those for annotations."""
    hints = _annotations(module)
    targets = (_module_of(target, known) for line, target in imports(module.tree) if line not in hints)
    return [target for target in targets if target and target != module.name]


def _annotations(module: Module) -> set[int]:
    """The lines below `if TYPE_CHECKING`."""
    return {
        inner.lineno
        for node in nodes(module.tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for outer in node.body
        for inner in ast.walk(outer)
        if isinstance(inner, ast.stmt)
    }


def _module_of(target: str, known: dict[str, Module]) -> str:
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target


def lines(module: Module) -> int:
    """How long a file is."""
    return len((ROOT / module.path).read_text(encoding="utf-8").splitlines())


def size() -> int:
    """How long the core is."""
    return sum(map(lines, core()))


def chapter_of(name: str) -> Chapter | None:
    """The chapter with the longest place that has the module."""
    places = [(place, chapter) for chapter in CHAPTERS for place in chapter.places if within(name, place)]
    return max(places, key=lambda found: len(found[0]))[1] if places else None


def files_of(chapter: Chapter) -> Iterator[Module]:
    """The files of a chapter, whatever one imports before it."""
    known = {module.name: module for module in core() if chapter_of(module.name) == chapter}
    done: dict[str, Module] = {}

    def visit(name: str) -> None:
        if name in done or name not in known:
            return
        done[name] = known[name]
        for each in sorted(needed(known[name], _known())):
            visit(each)
        del done[name]
        done[name] = known[name]

    for name in known:
        visit(name)
    return iter(done.values())


def describes(module: Module) -> str:
    """What a file is, by the first line of its text."""
    return (ast.get_docstring(module.tree) or "").partition("\n")[0]


def has_test(place: str) -> bool:
    """Whether there is a test `file::function` below `tests`."""
    path, _, name = place.partition("::")
    file = ROOT / "tests" / Path(path)
    if not file.is_file():
        return False
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)
