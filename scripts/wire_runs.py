"""Runs under fixed seeds of everything that two parties say to each other, for `scripts/gen_wire`.

All inputs and all randomness of both sides follow from the name of a run, so what is sent is the same on
every machine, whatever the threads do.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from small_models import FOREST, LINEAR
from wire_transcripts import KEYS, Run, Side

from smc.analyses.disclosure.limits import Limits
from smc.analyses.predictors.form import Predictor
from smc.analyses.predictors.text import pieces, text_of
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.columns import DAYS, Column, Data, Schema
from smc.analyses.studies.runner import run_study
from smc.ciphers.paillier import Ciphertexts, Paillier
from smc.errors import UsageError
from smc.forms import ComparisonType, Form, Holding, Role
from smc.moduli import Modulus
from smc.numeric.random import Randomness
from smc.oblivious.lpn import LpnSet
from smc.oblivious.pool import PoolInfo
from smc.oblivious.transfers import Transfers
from smc.oblivious.vole import Voles
from smc.oblivious.vole_plan import VoleSizes
from smc.planning.registry import BASELINES, COMPARISONS, CONVERSIONS
from smc.planning.route import plan_comparison
from smc.planning.run import run_plan
from smc.protocols.session import Session
from smc.protocols.spec import Parameters, Sharing, Spec
from smc.protocols.stock import compare_stock
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts, select
from smc.secret.lattice.columns import HeldColumns, PeerInner, columns_layout
from smc.secret.lattice.matrices import HeldMatrix, PeerMatrix, layout_of
from smc.secret.orders.order import Order
from smc.secret.products import lattice_multiply
from smc.secret.sharing.bounds import Bounds
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value

BITS = 8
X, Y = [3, 200, 77, 0, 255], [200, 3, 77, 255, 0]
EVERYONE = frozenset(Role)
JOBS = Path(__file__).with_name("wire_jobs.toml")
PAGE = Path(__file__).parents[1] / "docs" / "analyses.md"


def every_run() -> Iterator[Run]:
    """All runs of the baseline."""
    yield from comparisons()
    yield from conversions()
    yield from programs()
    yield from analyses()


# comparisons and conversions, each record once


def comparisons() -> Iterator[Run]:
    """Every comparison of the registry, with each engine that can be inside."""
    for spec in COMPARISONS:
        kind = ComparisonType(*spec.inputs, spec.output, bitwise=spec.bitwise)
        for engine in (spec.engine.name,) if spec.engine else ("paillier", "oblivious"):
            yield Run(f"comparison {spec.name} {engine}", _comparison(kind, engine))


def _comparison(kind: ComparisonType, engine: str) -> Side:
    count = 2 if engine in BASELINES else len(X)
    moduli = {
        f"{name}_modulus": 1 << BITS + 2 for name, form in (("x", kind.x), ("y", kind.y)) if form is Form.SS
    }
    given = Parameters(count, BITS, *(key.public.bits for key in KEYS))
    plan = plan_comparison(kind, given, engine=engine, **moduli)

    def side(session: Session) -> object:
        x = _held(session.role, X[:count], kind.x, 1 << BITS + 2, BITS if kind.bitwise else None)
        y = _held(session.role, Y[:count], kind.y, 1 << BITS + 2, None)
        return run_plan(plan, session, x, y)

    return side


def conversions() -> Iterator[Run]:
    """Every conversion of the registry, with the first modulus of each kind that it takes and gives."""
    for spec in CONVERSIONS:
        for taken in _moduli(spec.takes):
            for gives in _moduli(spec.gives):
                given = Parameters(len(X), BITS, *(key.public.bits for key in KEYS), taken, gives)
                if spec.applies(given):
                    yield Run(f"conversion {spec.name} {taken} {gives}", _conversion(spec, given))


def _moduli(sharing: Sharing | None) -> list[Modulus | None]:
    if sharing is None:
        return [None]
    return [each for each in (2, 1 << 40, 1 << 64, 10**9 + 7, Role.ALICE) if sharing.allows(each)]


def _conversion(spec: Spec, given: Parameters) -> Side:
    known = [
        int(KEYS[each is Role.BOB].public.n) if isinstance(each, Role) else each
        for each in (given.modulus_in, given.modulus_out)
    ]
    resolved = Parameters(given.count, given.bits, given.alice_key_bits, given.bob_key_bits, *known)
    values = [value % (known[0] or 1 << BITS) for value in X]
    if spec.inputs[0] is not Form.SS and spec.bitwise is False and "bit" in spec.name:
        values = [value & 1 for value in X]

    def side(session: Session) -> object:
        for setup in spec.setups:
            setup.run(session)
        width = BITS if spec.bitwise else None
        own = _held(session.role, values, spec.inputs[0], known[0] or 1 << BITS, width)
        return (spec.alice if session.role is Role.ALICE else spec.bob)(session, resolved, own)

    return side


def _held(role: Role, values: Sequence[int], form: Form, modulus: int, width: int | None) -> Value:
    """What a party holds of public values; both parties compute it, each its own part."""
    source = Randomness.from_seed(repr((list(values), form.value, modulus)).encode(), "holdings")
    if form is Form.SS:
        own = source.below(modulus, len(values))
        rest = [(value - part) % modulus for value, part in zip(values, own, strict=True)]
        return Share(own if role is Role.ALICE else rest, modulus)
    entries = list(values) if width is None else [value >> i & 1 for value in values for i in range(width)]
    match form.holding(role):
        case Holding.PLAIN:
            return Plain(entries)
        case Holding.CIPHERTEXT:
            key = KEYS[role is Role.ALICE].public
            with ThreadPoolExecutor(1) as pool:
                return Encrypted(Ciphertexts(key, Paillier(key, source, pool).encrypt(entries).values))
        case Holding.SECRET_KEY:
            return KeyHolder(len(entries))
        case _:
            return Nothing(len(entries))


# programs over secret vectors


def programs() -> Iterator[Run]:
    """What the analyses are written in, operation by operation."""
    for name, (x, y, program) in _PROGRAMS.items():
        yield Run(f"secret {name}", _program((x, y), program))
    yield Run("product of matrices by lattice encryption", _lattice_product)
    yield Run("inner products by lattice encryption", _inner_products)
    yield Run("products by lattice encryption", _lattice_products)
    yield Run("silent transfers of chosen bits", _silent_blocks)
    yield Run("silent comparison that is opened", _silently_opened)
    yield Run("vector OLE in many iterations", _vole)
    yield Run("pools that both parties keep", lambda session: compare_stock(session, 64))
    yield Run("transfers made ahead", _ahead)
    yield Run("lanes", _lanes)


def _lattice_product(session: Session) -> object:
    layout = layout_of(2, 3, 4, 5, 16)
    if layout is None:
        raise UsageError("No layout fits the example.", "Choose smaller sizes.")
    if session.role is Role.ALICE:
        return PeerMatrix(session, layout).times(np.full((2, 3), 5))
    return HeldMatrix(session, layout, np.full((3, 4), 7, dtype=np.uint64)).times(2)


def _lattice_products(session: Session) -> object:
    return lattice_multiply.multiply(session, [np.array([3, 1 << 63, 5], dtype=np.uint64)] * 2)


def _ahead(session: Session) -> None:
    """A comparison, an exchange and an AND out of what was ordered and prepared."""
    engine, alice = session.oblivious, session.role is Role.ALICE
    engine.order_silent(200)
    engine.deliver(len(X), 1)
    bits = (engine.greater_equal_x if alice else engine.greater_equal_y)(X, BITS, silent=True)
    engine.and_bits(engine.exchange(np.array(X, dtype=np.uint64), bits)[0].astype(np.uint8) & 1, bits)
    engine.order_silent(200, len(X), 1)
    engine.deliver()
    engine.and_bits(engine.exchange(np.array(X, dtype=np.uint64), bits, BITS)[0].astype(np.uint8) & 1, bits)


def _lanes(session: Session) -> None:
    """What is said before lanes; in them all is random, and as without."""
    session.lanes = 2
    session.oblivious.setup_lanes()


def _silent_blocks(session: Session) -> object:
    if session.role is Role.ALICE:
        return session.oblivious.send_blocks(100, silent=True)
    return session.oblivious.receive_blocks(np.arange(100, dtype=np.uint8) % 2, silent=True)


def _vole(session: Session) -> None:
    """More iterations than a sender makes without an answer, of small problems."""
    sizes = VoleSizes(LpnSet(7, 128, 4, 16), LpnSet(4, 48, 4, 16), LpnSet(8, 60, 4, 4))
    both = Voles(session.role, session.channel, session.random, sizes)
    transfers = Transfers(session.role, session.channel, session.random)
    if session.role is Role.ALICE:
        both.send(transfers, 30_000).answer()
    else:
        received = both.receive(transfers, 30_000)
        received.verify(received.challenge())


def _silently_opened(session: Session) -> object:
    engine, alice = session.oblivious, session.role is Role.ALICE
    bits = (engine.greater_equal_x if alice else engine.greater_equal_y)(X if alice else Y, BITS, silent=True)
    return SecretBits(session, np.array(bits, dtype=np.uint8)).reveal(EVERYONE)


def _inner_products(session: Session) -> object:
    layout = columns_layout(5, 2, 9, 2, 16)
    if layout is None:
        raise UsageError("No layout fits the example.", "Choose smaller sizes.")
    if session.role is Role.ALICE:
        peer = PeerInner(session, layout)
        for group in layout.groups():
            peer.take(group)
        return peer.times(np.full((2, 5), 9))
    held = HeldColumns(session, layout, np.full((5, 2), 7, dtype=np.uint64))
    for group in layout.groups():
        held.send(group)
    return held.times(2)


def _program(shapes: tuple[Shape, Shape], program: Callable[[SecretInts, SecretInts], SecretInts]) -> Side:
    def side(session: Session) -> object:
        x, y = (
            SecretInts.from_plain(
                session,
                np.resize([5, -7, 100, 0, -99], shape) if session.role is owner else None,
                owner,
                Bounds(-100, 100),
                shape,
            )
            for owner, shape in zip(Role, shapes, strict=True)
        )
        return program(x, y).reveal(EVERYONE)

    return side


Shape = int | tuple[int, int]
_PROGRAMS: Mapping[str, tuple[Shape, Shape, Callable[[SecretInts, SecretInts], SecretInts]]] = {
    "product": (4, 4, lambda x, y: x * y),
    "product of matrices": ((4, 8), (8, 16), lambda x, y: x @ y),
    "comparison and choice": (4, 4, lambda x, y: select(x >= y, x, y)),
    "equality": (4, 4, lambda x, y: SecretInts.from_bits(x == y)),
    "argmin": (4, 4, lambda x, y: (x * y).argmin()),
    "quotient by a public number": (4, 4, lambda x, y: (x * y) // 7),
    "order": (4, 4, lambda x, y: Order.of(x * y).apply(x * y)[0]),
    "quotient": (4, 4, lambda x, y: (x * x).divide(y * y + 1, 3)),
}


# whole analyses


def small_jobs() -> list[dict[str, Any]]:
    """The jobs of `wire_jobs.toml`; of analyses that have none there, those of docs/analyses.md."""
    jobs: list[dict[str, Any]] = tomllib.loads(JOBS.read_text(encoding="utf-8"))["jobs"]
    missing = {*ANALYSES} - {job["analysis"] for job in jobs}
    for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        shown = tomllib.loads(text)
        if shown.get("job", {}).get("analysis") in missing:
            sides = {role.value: shown.get(role.value, {}).get("columns", {}) for role in Role}
            jobs.append(
                {
                    "name": shown["job"]["title"],
                    **shown["job"],
                    **sides,
                    "parameters": shown.get("parameters", {}),
                }
            )
    return jobs


def analyses() -> Iterator[Run]:
    """The small jobs of all analyses."""
    for job in small_jobs():
        yield Run(f"job {job['name']}", _jobs([job, *([job["then"]] if "then" in job else [])]))


def _jobs(jobs: Sequence[Mapping[str, Any]]) -> Side:
    """Jobs in one session, with one store of pools."""
    stores = {role: _Shelf() for role in Role}

    def side(session: Session) -> object:
        session.precomputed = stores[session.role]
        results = []
        for job in jobs:
            analysis = ANALYSES[job["analysis"]]
            results.append(
                run_study(
                    analysis.parse(job.get("parameters", {})),
                    session,
                    data_of(job, session.role),
                    frozenset(map(Role, job["recipients"])),
                    Limits(
                        job.get("minimum_group", 0), minimum_intersection=job.get("minimum_intersection", 0)
                    ).of_both,
                )
            )
        return results

    return side


def data_of(job: Mapping[str, Any], role: Role) -> Data:
    """The columns of a small job at one side."""
    return {name: COLUMNS[column](role) for name, column in job.get(role.value, {}).items()}


def _numbers(schema: Schema) -> Callable[[Role], Column]:
    def column(role: Role) -> Column:
        source = Randomness.from_seed(repr(schema).encode(), role.value)
        drawn = source.below((schema.upper or 0) - (schema.lower or 0) + 1, ROWS)
        return Column(np.array(drawn, dtype=np.int64) + (schema.lower or 0), schema)

    return column


def _texts(texts: Sequence[str]) -> Callable[[Role], Column]:
    """Twelve of the texts for each side, of which six are the same."""
    return lambda role: Column(list(texts[:ROWS] if role is Role.ALICE else texts[-ROWS:]), Schema("text"))


def _model(model: Predictor) -> Callable[[Role], Column]:
    return lambda _: Column(pieces(text_of(model)), Schema("text"))


ROWS = 12
_SURNAMES = (
    "Adler Brandt Conrad Dietz Engel Falk Gruber Hahn Illing "
    "Jansen Keller Lorenz Maurer Nagel Otto Pohl Quast Ritter"
)
COLUMNS: Mapping[str, Callable[[Role], Column]] = {
    "card": _texts([str(1000 + number) for number in range(ROWS + 6)]),
    "surname": _texts(_SURNAMES.split()),
    "born": _numbers(Schema("integer", lower=-7000, upper=10_000, unit=DAYS)),
    "age": _numbers(Schema("integer", lower=0, upper=120, unit="years")),
    "weight": _numbers(Schema("decimal", scale=1, lower=200, upper=2500, unit="kg")),
    "cost": _numbers(Schema("integer", lower=0, upper=100_000, unit="EUR")),
    "term": lambda _: Column(["(intercept)", "age", "weight"], Schema("text")),
    "factor": lambda _: Column(
        np.array([-4000, 50, 10]), Schema("decimal", scale=3, lower=-10_000, upper=10_000)
    ),
    "forest": _model(FOREST),
    "weights": _model(LINEAR),
    "smoker": _numbers(Schema("category", lower=0, upper=1, categories=("no", "yes"))),
}


class _Shelf:
    """Pools in memory."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[PoolInfo, bytes]] = {}

    def put(self, stored: PoolInfo, data: bytes) -> None:
        """Keep a pool."""
        self._kept[stored.name] = (stored, data)

    def pools(self) -> Sequence[PoolInfo]:
        """All that are kept."""
        return [stored for stored, _ in self._kept.values()]

    def take(self, name: bytes) -> bytes | None:
        """Take one out."""
        return self._kept.pop(name, (None, None))[1]
