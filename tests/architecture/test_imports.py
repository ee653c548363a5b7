"""Imports point only downwards, and the house keeps away from what it must not use."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from smc.analyses.registry import ANALYSES
from tests.architecture.source import PACKAGES, imports, module_name, modules, nodes, python_files, within

FLOORS = (
    ("smc.errors", "smc.pieces"),
    ("smc.forms", "smc.network", "smc.numeric"),
    ("smc.values", "smc.moduli"),
    ("smc.holdings",),
    ("smc.channel",),
    ("smc.ciphers",),
    ("smc.oblivious.bitmatrix", "smc.oblivious.native_arrays", "smc.oblivious.workspace"),
    ("smc.oblivious.prg", "smc.oblivious.numpy_field", "smc.oblivious.numpy_store"),
    ("smc.oblivious.numpy_kernels", "smc.oblivious.native_field", "smc.oblivious.native_store"),
    ("smc.oblivious.native_kernels",),
    ("smc.oblivious.kernels",),
    (
        *("smc.oblivious.batches", "smc.oblivious.correlation_robust_hash", "smc.oblivious.ggm_trees"),
        *("smc.oblivious.lpn", "smc.oblivious.consistency", "smc.oblivious.silent_consistency"),
    ),
    ("smc.oblivious.correlated_ggm", "smc.oblivious.field_lpn"),
    ("smc.oblivious.vole_plan",),
    (
        "smc.oblivious.ot_1_of_16",
        "smc.oblivious.softspoken",
        "smc.oblivious.silent_ot",
        "smc.oblivious.ml_kem",
    ),
    ("smc.oblivious.spans", "smc.oblivious.endemic_curve", "smc.oblivious.endemic_lattice"),
    ("smc.oblivious.base_ot", "smc.oblivious.prepared", "smc.oblivious.correlated_transfers"),
    ("smc.oblivious.setup",),
    ("smc.oblivious.cost", "smc.oblivious.transfers"),
    ("smc.oblivious.pool",),
    ("smc.oblivious.circuits", "smc.oblivious.silent_transfers"),
    ("smc.oblivious.silent_circuits", "smc.oblivious.vole"),
    ("smc.oblivious.vole_steps",),
    ("smc.oblivious.engine", "smc.oblivious.lanes"),
    ("smc.oblivious.silent_engine",),
    ("smc.oblivious.lane_engine", "smc.oblivious.laned_engine", "smc.oblivious"),
    ("smc.protocols.against", "smc.protocols.engines", "smc.protocols.cipher_context"),
    ("smc.protocols.flights",),
    ("smc.protocols.session", "smc.protocols.spec"),
    (
        *("smc.protocols.transfer_costs", "smc.protocols.coins", "smc.protocols.agreement"),
        "smc.protocols.exchange",
    ),
    ("smc.protocols.public_records",),
    ("smc.protocols.full_session",),
    ("smc.protocols.pools",),
    ("smc.protocols.transfers", "smc.protocols.correlated", "smc.protocols.trees"),
    (
        *("smc.protocols.comparison", "smc.protocols.conversion", "smc.protocols.baselines"),
        *("smc.protocols.intersection", "smc.protocols"),
    ),
    ("smc.planning",),
    ("smc.tracing.channel",),
    ("smc.tracing.engine",),
    ("smc.tracing.session",),
    ("smc.tracing",),
    ("smc.secret.sharing",),
    ("smc.secret.products", "smc.secret.comparison", "smc.secret.noise"),
    ("smc.secret.division", "smc.secret.lattice"),
    ("smc.secret.bits",),
    ("smc.secret.shares",),
    ("smc.secret.linear_ints",),
    ("smc.secret.ints",),
    ("smc.secret.orders",),
    ("smc.secret.joins", "smc.secret.reals", "smc.secret.uniform", "smc.secret"),
    ("smc.registry",),
    ("smc.levels",),
    ("smc.analyses.studies.columns", "smc.analyses.studies.outcome", "smc.analyses.studies.loss"),
    ("smc.analyses.studies.memory", "smc.analyses.studies.parameters", "smc.analyses.studies.neighbours"),
    ("smc.analyses.disclosure",),
    ("smc.analyses.studies",),
    ("smc.analyses.records",),
    ("smc.analyses.derived", "smc.analyses.predictors"),
    ("smc.analyses.statistics.queries",),
    ("smc.analyses.statistics.kinds",),
    ("smc.analyses.statistics.plans",),
    ("smc.analyses.statistics.horizontal", "smc.analyses.statistics.vertical"),
    (
        *(f"smc.analyses.{name}" for name in sorted({*ANALYSES} - {"matching", "plan"})),
        *("smc.analyses.matching.exact", "smc.analyses.matching.aggregates"),
        *("smc.analyses.matching.tolerant", "smc.analyses.matching.vectors"),
    ),
    ("smc.analyses.matching.linked",),
    ("smc.analyses.matching", "smc.analyses.plan"),
    ("smc.analyses.registry",),
    ("smc.analyses",),
    ("smc.pair", "smc.evidence"),
    ("smc.testing", "smc"),
    ("parties",),
    ("parties.errors", "parties.texts", "parties.release"),
    ("parties.exits", "parties.findings"),
    (
        *("parties.bounded_files", "parties.clock", "parties.disk", "parties.memory", "parties.places"),
        *("parties.processes", "parties.posting", "parties.servers", "parties.workers"),
    ),
    ("parties.person_roles", "parties.audit_terms"),
    (
        *("parties.kept_pools", "parties.oidc", "parties.speed", "parties.hooks", "parties.role_sockets"),
        "parties.stamp_settings",
    ),
    ("parties.config", "parties.plugins"),
    ("parties.pki",),
    ("parties.catalog.sources",),
    ("parties.catalog.columns",),
    ("parties.catalog.declarations",),
    ("parties.catalog.loading",),
    ("parties.catalog.drafting",),
    ("parties.catalog", "parties.cluster", "parties.lanes"),
    ("parties.ledger",),
    ("parties.audit",),
    ("parties.closed_peers", "parties.stamps"),
    ("parties.persons",),
    ("parties.policy", "parties.disclosure"),
    ("parties.ports", "parties.contracts"),
    ("parties.evidence",),
    ("parties.rpc",),
    ("parties.session",),
    ("parties.results",),
    ("parties.certificates",),
    ("parties.jobs", "parties.auditors"),
    ("parties.notices",),
    ("parties.daemon", "parties.client"),
    ("parties.needs", "parties.importing"),
    ("parties.doctor",),
    ("parties.python", "parties.rehearsal"),
    ("parties.bench", "parties.dashboard.entrance", "parties.dashboard.drawing"),
    ("parties.dashboard.pages",),
    ("parties.dashboard",),
    ("parties.cli",),
)
"""From the ground up. A room may import itself and the rooms of lower floors; rooms of one floor do not
know each other. A new room gets its place here, on purpose."""

ANONYMIZER = (
    ("anonymizer.errors", "anonymizer.workers"),
    ("anonymizer.schema",),
    ("anonymizer.hierarchies",),
    ("anonymizer.tables",),
    ("anonymizer.releases",),
    ("anonymizer.risk.attacks",),
    ("anonymizer.risk",),
    ("anonymizer.risk.distance",),
    ("anonymizer.dp",),
    ("anonymizer.splu", "anonymizer.synthetic"),
    ("anonymizer.methods.contract",),
    ("anonymizer.methods.conditions",),
    (
        "anonymizer.methods.recoding",
        "anonymizer.methods.reduction",
        "anonymizer.methods.perturbation",
        "anonymizer.methods.sensitive",
        "anonymizer.methods.synthesis",
    ),
    ("anonymizer.methods",),
    ("anonymizer.pipelines",),
    ("anonymizer.gate", "anonymizer.utility", "anonymizer.testing"),
    ("anonymizer.proposals",),
    ("anonymizer.measures.contract",),
    ("anonymizer.measures.risk", "anonymizer.measures.utility"),
    ("anonymizer.measures",),
    ("anonymizer.documents.texts",),
    ("anonymizer.documents.languages", "anonymizer.documents.engines", "anonymizer.documents.formats"),
    ("anonymizer.documents.direct", "anonymizer.documents.generalization", "anonymizer.documents.words"),
    ("anonymizer.documents.sanitization", "anonymizer.documents.folders"),
    ("anonymizer.documents.attacks",),
    ("anonymizer.documents", "anonymizer.series"),
    ("anonymizer.search", "anonymizer.choosing", "anonymizer.audit"),
    ("anonymizer.report",),
    ("anonymizer.cli",),
    ("anonymizer",),
)
"""The same for the anonymizer, which stands beside the house. The gate looks at whole pipelines, and so lies
above them, while what it guards, releases and guarantees, lies below the methods that make them."""

COMMONS = (
    ("commons.errors", "commons.exits"),
    ("commons.logs", "commons.output", "commons.settings"),
    ("commons.files", "commons.plugins", "commons.tabular"),
    ("commons",),
)
"""What both houses share lies below them, and knows neither."""

ONLY_IN_PARTIES = ("grpc", "grpc_health", "google")

BANNED = ("random", "pickle", "marshal", "shelve", "dill", "yaml", "numpy.random")
"""Never in `smc` and `parties`: other randomness, and readers of files that run what they read."""

OUTSIDE_SMC = (
    *ONLY_IN_PARTIES,
    *("socket", "ssl", "http", "urllib", "asyncio", "subprocess", "importlib"),
    *("pathlib", "io", "shutil", "tempfile", "sqlite3", "os.path", "os.environ", "os.getenv"),
    *("time", "datetime"),
)
"""`smc` knows no sockets, files, clocks and environment variables."""

COMPILED = frozenset({"smc.oblivious.kernels", "smc.oblivious.native_kernels"})
"""These look for their compiled file, and for the variable that chooses numpy instead."""

BANNED_CALLS = frozenset({"eval", "exec", "compile", "__import__"})
ROOMS = {room: floor for house in (FLOORS, ANONYMIZER) for floor, rooms in enumerate(house) for room in rooms}
ROOMS |= {room: floor - len(COMMONS) for floor, rooms in enumerate(COMMONS) for room in rooms}
ROOMS |= dict.fromkeys(("duetto.measured_pair", "duetto.statistics_job"), max(ROOMS.values()) + 1)
ROOMS["duetto"] = max(ROOMS.values()) + 1
"""The names for users lie above both houses, and nothing imports them."""
NAMES = frozenset(name for path in python_files(*PACKAGES) if "." in (name := module_name(path)))

SINGLE = tuple(f"smc.analyses.{name}" for name in ANALYSES)
PUBLIC = (
    "smc.analyses.comparison.bisection",
    "smc.analyses.comparison.parameters.NUMBERS",
    "smc.analyses.matching.suggestion",
)
"""What `parties` knows of a single analysis: how many answers find a value, for warnings; and how a command
writes a job file for a person."""


OPENING = (
    *(f"parties.catalog.sources.{name}" for name in ("csvs", "excel", "parquets", "databases")),
    *("parties.catalog.loading.loading", "parties.catalog.loading.opening"),
    *(
        "parties.catalog.drafting.adding.draft_addition",
        "parties.catalog.loading.checking.check_dataset",
        "parties.catalog.loading.survey.survey",
    ),
)
"""What opens sources of data sets. Only the worker does; all others ask `parties.catalog.reading`."""


def room_of(name: str) -> str | None:
    """The room in which the module `name` lies, the most particular one."""
    return max((room for room in ROOMS if within(name, room)), key=len, default=None)


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every module of the houses that stands in quotes, as for `import_module`."""
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            target = node.value.partition(":")[0]
            if target in NAMES:
                yield node.lineno, target


def upward(name: str, tree: ast.AST) -> Iterator[str]:
    """The imports of module `name` that do not point downwards, in quotes too."""
    room = room_of(name)
    assert room is not None
    for line, target in (*imports(tree), *named(tree)):
        other = room_of(target)
        if other is not None and other != room and ROOMS[other] >= ROOMS[room]:
            yield f"{name}:{line} imports {target}; {other} does not lie below {room}"


def banned_imports(name: str, tree: ast.AST, banned: tuple[str, ...]) -> Iterator[str]:
    """The imports of modules in `banned`, and attributes such as `np.random` and `os.environ`."""
    attributes = {entry.split(".")[1] for entry in banned if "." in entry}
    for line, target in imports(tree):
        if any(within(target, entry) for entry in banned):
            yield f"{name}:{line} imports {target}"
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            base = {"np": "numpy"}.get(node.value.id, node.value.id)
            if node.attr in attributes and f"{base}.{node.attr}" in banned:
                yield f"{name}:{node.lineno} uses {base}.{node.attr}"


def banned_calls(name: str, tree: ast.AST, banned: frozenset[str]) -> Iterator[str]:
    """The calls of built-in functions in `banned`."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in banned:
            yield f"{name}:{node.lineno} calls {node.func.id}"


def test_every_module_has_a_floor() -> None:
    homeless = [
        m.name for house in PACKAGES for m in modules(house) if m.name != house and room_of(m.name) == house
    ]
    assert not homeless, f"give these a place in FLOORS: {homeless}"


def test_imports_point_downwards() -> None:
    wrong = [text for m in modules(*PACKAGES) for text in upward(m.name, m.tree)]
    assert not wrong, "\n".join(wrong)


def test_the_anonymizer_stands_alone() -> None:
    wrong = [
        text
        for m in modules("anonymizer", "commons")
        for text in banned_imports(m.name, m.tree, ("smc", "parties"))
    ]
    wrong += [
        text for m in modules("smc", "commons") for text in banned_imports(m.name, m.tree, ("anonymizer",))
    ]
    assert not wrong, "\n".join(wrong)


def test_of_the_daemon_only_the_command_line_knows_the_anonymizer() -> None:
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("parties")
        if not within(m.name, "parties.cli")
        for line, target in (*imports(m.tree), *named(m.tree))
        if within(target, "anonymizer")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_daemon_imports_no_single_analysis() -> None:
    """It gets them from the registry, and knows none by its name."""
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("parties")
        for line, target in (*imports(m.tree), *named(m.tree))
        if any(within(target, one) for one in SINGLE) and not any(within(target, one) for one in PUBLIC)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_worker_opens_sources() -> None:
    """A file can end or hang whoever opens it."""
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("parties")
        if not within(m.name, "parties.catalog") or m.name == "parties.catalog.recipes"
        for line, target in (*imports(m.tree), *named(m.tree))
        if any(within(target, one) for one in OPENING) and not target.rpartition(".")[2].isupper()
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_gate_writes_tables() -> None:
    """What writes a release elsewhere would let it out unseen. An audit writes its own input."""
    writers = {"appended", "write_csv", "write_parquet", "to_csv", "to_parquet", "write_table", "sink_csv"}
    rooms = ("anonymizer.tables", "anonymizer.gate", "anonymizer.audit.neighbours")
    wrong = [
        f"{m.name}:{node.lineno} calls {node.func.attr}"
        for m in modules("anonymizer")
        if not any(within(m.name, room) for room in rooms)
        for node in nodes(m.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (
            node.func.attr in writers
            or (node.func.attr == "write" and getattr(node.func.value, "id", "") == "files")
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_tables_for_the_steward_alone_are_written_in_two_places() -> None:
    """They hold personal data and pass no gate, so that none may become a release."""
    allowed = {"anonymizer.cli.records", "anonymizer.cli.frequencies", "anonymizer.tables.private"}
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("anonymizer")
        if m.name not in allowed
        for line, target in imports(m.tree)
        if within(target, "anonymizer.tables.private")
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_gate_writes_documents() -> None:
    """Bytes of a sanitized document are made by formats, and nobody else than the gate asks for them."""
    rooms = ("anonymizer.documents.folders.gate", "anonymizer.documents.formats")
    wrong = [
        f"{m.name}:{node.lineno} calls written"
        for m in modules("anonymizer")
        if not any(within(m.name, room) for room in rooms)
        for node in nodes(m.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "written"
    ]
    assert not wrong, "\n".join(wrong)


def test_smc_knows_no_network_files_clocks_or_environment() -> None:
    inside = [m for m in modules("smc") if m.name not in COMPILED]
    wrong = [text for m in inside for text in banned_imports(m.name, m.tree, OUTSIDE_SMC)]
    wrong += [text for m in modules("smc") for text in banned_calls(m.name, m.tree, frozenset({"open"}))]
    assert not wrong, "\n".join(wrong)


def test_only_parties_knows_grpc_and_protobuf() -> None:
    wrong = [
        text for m in modules("smc", "anonymizer") for text in banned_imports(m.name, m.tree, ONLY_IN_PARTIES)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_other_randomness_and_no_object_readers() -> None:
    wrong = [text for m in modules("smc", "parties") for text in banned_imports(m.name, m.tree, BANNED)]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_evaluated() -> None:
    wrong = [text for m in modules(*PACKAGES) for text in banned_calls(m.name, m.tree, BANNED_CALLS)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("smc.errors", "from smc.forms import Role"),
        ("smc.channel.vectors", "from smc import protocols"),
        ("smc.ciphers.paillier", "def f():\n    import smc.oblivious.engine"),
        ("smc.oblivious.softspoken", "from smc.oblivious.transfers import Transfers"),
        ("smc.protocols.session", "import smc.planning.route"),
        ("smc.protocols.conversion.bit_to_shared", "import smc.protocols.comparison.oblivious"),
        ("smc.protocols.exchange.texts", "from smc.protocols.coins import toss"),
        ("smc.secret.comparison.mux", "from smc.secret import msb"),
        ("smc.analyses.studies.study", "import parties.config"),
        ("parties.pki.home", "def f():\n    from parties.policy import EXAMPLE"),
        ("parties.rpc.stream", "if TYPE_CHECKING:\n    from parties.session.runner import Sessions"),
        ("parties.certificates.document", "from parties.jobs.storage.store import Store"),
        ("parties.rpc.packets", "importlib.import_module('parties.jobs.manager')"),
        ("anonymizer.releases.release", "pkgutil.resolve_name('anonymizer.gate.gate:checked')"),
        ("anonymizer.hierarchies.hierarchy", "from anonymizer.tables.table import Table"),
        ("anonymizer.releases.guarantee", "from anonymizer.gate import gate"),
        ("anonymizer.methods.contract.method", "import anonymizer.pipelines.pipeline"),
        ("commons.tabular.column_names", "from smc.errors import UsageError"),
    ],
)
def test_an_upward_import_is_found(name: str, code: str) -> None:
    assert list(upward(name, ast.parse(code)))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("smc.protocols.session", "from smc.ciphers.paillier import Paillier"),
        ("smc.channel.channel", "from smc.channel.message import Frame"),
        ("parties.config", "import smc.analyses.studies.study"),
        ("parties.session.directory", "from parties.rpc.client import PeerClient"),
        ("smc.analyses.matching.suggestion.roles", "import commons.tabular.column_names"),
        ("anonymizer.gate.looks", "from commons.tabular.column_names import direct"),
    ],
)
def test_a_downward_import_is_allowed(name: str, code: str) -> None:
    assert not list(upward(name, ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "np.random.bytes(4)",
        "import pickle as p",
    ],
)
def test_a_banned_import_is_found(code: str) -> None:
    assert list(banned_imports("smc.values", ast.parse(code), BANNED))


@pytest.mark.parametrize(
    "code", ["from smc.numeric import random", "session.random.bytes(4)", "import numpy"]
)
def test_the_own_randomness_is_not_banned(code: str) -> None:
    assert not list(banned_imports("smc.values", ast.parse(code), BANNED))


@pytest.mark.parametrize("code", ["from os import environ", "import os\nos.getenv('A')", "import time"])
def test_the_outside_world_is_found(code: str) -> None:
    assert list(banned_imports("smc.values", ast.parse(code), OUTSIDE_SMC))


def test_a_call_of_eval_is_found() -> None:
    assert list(banned_calls("smc.values", ast.parse("eval(text)"), BANNED_CALLS))
    assert not list(banned_calls("smc.values", ast.parse("re.compile(text)"), BANNED_CALLS))


DRAWS = ("parties.cli.output", "parties.cli.grid", "parties.cli.following", "parties.client.progress")


def test_few_rooms_draw_on_the_terminal() -> None:
    """What rich prints, it prints as it is; these escape texts before."""
    wrong = [
        f"{m.name}:{line} imports {target}"
        for m in modules("parties")
        if m.name not in DRAWS
        for line, target in imports(m.tree)
        if within(target, "rich")
    ]
    assert not wrong, "\n".join(wrong)
