"""The registry holds every record, and every protocol that is called costs what its record declares."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from smc import registry
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.planning.cost import OPERATIONS
from smc.protocols import agreement, coins, correlated, pools, stock
from smc.protocols.exchange import bounds, row_counts, texts
from smc.protocols.intersection import exact, opprf, oprf, single_oprf
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Procedure, Spec
from smc.secret import uniform
from smc.secret.bits import SecretBits
from smc.secret.comparison import argmin, argmin_one_hot, msb, mux, pairing
from smc.secret.division import division, long_division, truncation
from smc.secret.division import newton as goldschmidt
from smc.secret.ints import SecretInts
from smc.secret.joins import circuit_psi, joins, majority
from smc.secret.lattice import columns as lattice_columns
from smc.secret.lattice import factors as lattice_factors
from smc.secret.lattice import matrices as lattice_products
from smc.secret.lattice import sums as lattice_sums
from smc.secret.noise import noise
from smc.secret.orders import group_sums, permutation, sorting
from smc.secret.products import (
    bit_words,
    common_ones,
    grouped,
    lattice_multiply,
    narrow_sums,
    repeated,
    tree_walks,
)
from smc.secret.products import words as products
from smc.secret.reals import reciprocals
from smc.secret.sharing import opening
from smc.secret.sharing.bounds import SHARED, Bounds
from tests.architecture.source import modules

SEED = b"records"
Sizes = Mapping[str, Any]


def words(session: Session, *shape: int) -> np.ndarray:
    """Shares of anything: what is sent does not depend on it."""
    return session.random.words(int(np.prod(shape))).reshape(shape)


def bits(session: Session, *shape: int) -> np.ndarray:
    return session.random.bits(int(np.prod(shape))).reshape(shape)


def zeros(session: Session, bound: Bounds, *shape: int) -> SecretInts:
    """Shares of zeros, where a protocol relies on the bounds of what it is given."""
    mask = Randomness.from_seed(SEED, str(shape)).words(int(np.prod(shape))).reshape(shape)
    return SecretInts.from_shares(
        session, mask if session.role is Role.ALICE else np.negative(mask), bound, 0
    )


def sides(session: Session, alice: Callable[[], object], bob: Callable[[], object]) -> object:
    return (alice if session.role is Role.ALICE else bob)()


def keys(role: Role, count: int) -> np.ndarray:
    """Distinct keys, of which the parties have half in common."""
    source = Randomness.from_seed(SEED, "common").words(count)
    rest = Randomness.from_seed(SEED, role.value).words(count)
    return np.stack([np.where(np.arange(count) % 2 == 0, source, rest), source], axis=1)


def _intersection(session: Session, sizes: Sizes) -> object:
    mine, theirs = sizes["receiver_count"], sizes["sender_count"]
    return sides(
        session,
        lambda: exact.receive(session, keys(Role.ALICE, mine), row_counts.RowCount(theirs)),
        lambda: exact.send(session, keys(Role.BOB, theirs), row_counts.RowCount(mine)),
    )


def _vole(session: Session, sizes: Sizes) -> object:
    def receive() -> None:
        received = session.oblivious.vole_receive(sizes["count"])
        received.verify(received.challenge())

    return sides(session, receive, lambda: session.oblivious.vole_send(sizes["count"]).answer())


def _opprf(session: Session, sizes: Sizes) -> object:
    mine, theirs, length = sizes["receiver_count"], sizes["sender_count"], sizes["words"]
    return sides(
        session,
        lambda: opprf.receive(session, keys(Role.ALICE, mine), row_counts.RowCount(theirs), length),
        lambda: opprf.send(
            session, keys(Role.BOB, theirs), words(session, theirs, length), row_counts.RowCount(mine)
        ),
    )


def _join(session: Session, sizes: Sizes) -> object:
    counts, owner = sizes["counts"], sizes["owner"]
    count = counts[session.role]
    columns = np.ones((count, sizes["columns"]), dtype=np.uint64)
    return joins.join(
        session,
        keys(session.role, count),
        row_counts.RowCount(counts[session.role.other]),
        owner,
        sizes["columns"] if session.role is owner else columns,
        xored=1,
    )


def _circuit_psi(session: Session, sizes: Sizes) -> object:
    counts = {Role.ALICE: sizes["alice_count"], Role.BOB: sizes["bob_count"]}
    columns = {Role.ALICE: sizes["alice_columns"], Role.BOB: sizes["bob_columns"]}
    count = counts[session.role]
    return circuit_psi.align(
        session,
        keys(session.role, count),
        row_counts.RowCount(counts[session.role.other]),
        np.ones((count, columns[session.role]), dtype=np.int64),
        *([Bounds(0, 1)] * columns[role] for role in Role),
    )


def _products(left: tuple[int, ...], right: tuple[int, ...], name: str) -> Callable[[Session], object]:
    def run(session: Session) -> object:
        return getattr(products, name)(session, words(session, *left), words(session, *right), SHARED, SHARED)

    return run


def _grouped(session: Session, sizes: Sizes) -> object:
    mine, theirs = sizes[session.role.value], sizes[session.role.other.value]
    return grouped.sums(
        session,
        [np.ones((mine.rows, mine.length), dtype=np.uint64)],
        bits(session, mine.rows, mine.groups),
        theirs,
        bits(session, theirs.rows, theirs.groups),
        sizes["width"],
    )


def _repeated(session: Session, sizes: Sizes) -> object:
    mine, theirs = sizes[session.role.value], sizes[session.role.other.value]
    lengths = dict(zip(Role, sizes["lengths"], strict=True))
    own = np.ones((mine.rows, len(mine.bits)), dtype=np.uint64)
    return repeated.RepeatedFactors(session, own, mine, theirs).times(
        words(session, len(mine.bits), lengths[session.role]),
        words(session, len(theirs.bits), lengths[session.role.other]),
        sizes["width"],
    )


def _lattice(session: Session, sizes: Sizes) -> object:
    layout = lattice_products.layout_of(**sizes)
    assert layout is not None
    rows, inner, columns = sizes["rows"], sizes["inner"], sizes["columns"]
    if session.role is Role.ALICE:
        peer = lattice_products.PeerMatrix(session, layout)
        return peer.times(np.full((rows, inner), sizes["bound"], dtype=np.int64))
    held = lattice_products.HeldMatrix(session, layout, np.ones((inner, columns), dtype=np.uint64))
    return held.times(rows)


def _columns(session: Session, sizes: Sizes) -> object:
    rows, length, columns = sizes["rows"], sizes["length"], sizes["columns"]
    layout = lattice_columns.columns_layout(length, columns, sizes["bound"], rows, sizes["width"])
    assert layout is not None
    if session.role is Role.ALICE:
        peer = lattice_columns.PeerInner(session, layout)
        for group in layout.groups():
            peer.take(group)
        return peer.times(np.full((rows, length), sizes["bound"], dtype=np.int64))
    held = lattice_columns.HeldColumns(session, layout, np.ones((length, columns), dtype=np.uint64))
    for group in layout.groups():
        held.send(group)
    return held.times(rows)


def _lattice_factors(session: Session, sizes: Sizes) -> object:
    mine, theirs = sizes[session.role.value], sizes[session.role.other.value]
    lengths = dict(zip(Role, sizes["lengths"], strict=True))
    plan = lattice_factors.LatticePlan.of(
        *(sizes[key] for key in ("alice", "bob", "lengths", "width", "times"))
    )
    assert plan is not None
    own = np.ones((mine.rows, len(mine.bits)), dtype=np.uint64)
    return lattice_factors.LatticeFactors(session, plan, own, mine, theirs).times(
        words(session, len(mine.bits), lengths[session.role]),
        words(session, len(theirs.bits), lengths[session.role.other]),
        sizes["width"],
    )


def _lattice_sums(session: Session, sizes: Sizes) -> object:
    mine, theirs = sizes[session.role.value], sizes[session.role.other.value]
    plan = lattice_sums.SumsPlan.of(sizes["alice"], sizes["bob"], sizes["width"], mine.groups)
    assert plan is not None
    rows = np.ones((mine.rows, mine.length), dtype=np.uint64)
    return lattice_sums.LatticeSums(session, plan, rows).sums(
        bits(session, mine.rows, mine.groups), bits(session, theirs.rows, theirs.groups)
    )


def _majority(session: Session, sizes: Sizes) -> object:
    slots = sizes["slots"]
    return majority.differing(
        SecretBits(session, np.zeros(slots, dtype=np.uint8)),
        zeros(session, Bounds(0, sizes["most"]), 1),
        [[zeros(session, Bounds(0, 1), slots) for _ in range(width)] for width in sizes["widths"]],
    )


def _correlated(session: Session, sizes: Sizes) -> object:
    modulus, count = sizes["modulus"], sizes["count"]
    return sides(
        session,
        lambda: correlated.send(session, correlated.numbers([1] * count, modulus), modulus),
        lambda: correlated.choose(session, bits(session, count), modulus),
    )


def _pool(session: Session, sizes: Sizes) -> object:
    holds_x = session.role is Role.ALICE
    return session.oblivious.fill_pool(sizes["count"], sizes["bits"], holds_x=holds_x)


RUNS: Mapping[str, Callable[[Session, Sizes], object]] = {
    "base-transfers": lambda s, _: s.oblivious.setup(),
    "random-transfers": lambda s, z: sides(
        s,
        lambda: s.oblivious.receive_blocks(bits(s, z["count"])),
        lambda: s.oblivious.send_blocks(z["count"]),
    ),
    "correlated-transfers": lambda s, z: sides(
        s,
        lambda: s.oblivious.correlate(words(s, z["count"])),
        lambda: s.oblivious.receive(bits(s, z["count"])),
    ),
    "correlated-transfers-modulo": _correlated,
    "silent-transfers": lambda s, _: s.oblivious.setup_silent(),
    "pool": _pool,
    "pool-agreement": lambda s, _: pools.take_pool(s, 64, 8, holds_x=s.role is Role.ALICE),
    "pool-stock": lambda s, z: stock.compare_stock(s, z["most"]),
    "vole": _vole,
    "oprf": lambda s, z: sides(
        s,
        lambda: oprf.receive(s, keys(Role.ALICE, z["count"])),
        lambda: oprf.send(s, row_counts.RowCount(z["count"])),
    ),
    "single-oprf": lambda s, z: sides(
        s,
        lambda: single_oprf.receive(s, keys(Role.ALICE, z["count"]), 2),
        lambda: single_oprf.send(s, z["count"]),
    ),
    "coins": lambda s, _: coins.toss(s),
    "agreement": lambda s, _: agreement.agree(s, answer=True),
    "row-counts": lambda s, z: row_counts.exchange_counts(s, [5] * z["numbers"]),
    "declared-bounds": lambda s, z: bounds.exchange_declarations(
        s, [bounds.Declared(0, 1, 0)] * z[s.role.value], z[s.role.other.value]
    ),
    "public-texts": lambda s, z: texts.exchange_texts(s, b"x" * z[s.role.value], z[s.role.other.value]),
    "intersection": _intersection,
    "opprf": _opprf,
    "circuit-psi": _circuit_psi,
    "join": _join,
    "bits-to-arithmetic": lambda s, z: s.oblivious.bits_to_arithmetic(bits(s, z["count"])),
    "and": lambda s, z: s.oblivious.and_bits(bits(s, z["count"]), bits(s, z["count"])),
    "equality": lambda s, z: s.oblivious.equal(
        np.zeros(z["count"], dtype=np.uint64), z["bits"], holds_x=s.role is Role.ALICE
    ),
    "below": lambda s, z: s.oblivious.below(words(s, z["count"]), np.full(z["count"], 9, dtype=np.uint64)),
    "mux": lambda s, z: mux.select(s, bits(s, z["count"]), words(s, z["count"])),
    "nonnegative": lambda s, z: msb.nonnegative(s, words(s, z["count"]), z["bounds"]),
    "zero": lambda s, z: msb.zero(s, words(s, z["count"]), z["bounds"]),
    "product": lambda s, z: _products((z["count"],), (z["count"],), "multiply")(s),
    "square": lambda s, z: products.square(s, words(s, z["count"])),
    "matrix-product": lambda s, z: _products((z["rows"], z["inner"]), (z["inner"], z["columns"]), "matmul")(
        s
    ),
    "repeated-products": _repeated,
    "lattice-matrix-product": _lattice,
    "lattice-repeated-products": _lattice_factors,
    "lattice-inner-products": _columns,
    "lattice-products": lambda s, z: lattice_multiply.multiply(s, [words(s, z["count"])] * z["terms"]),
    "lattice-narrow-sums": lambda s, z: narrow_sums.sums(
        s,
        z["count"],
        z["terms"],
        z["answers"],
        lambda part: [np.ones((z["terms"], part.stop - part.start), dtype=np.int64)] * z["answers"],
    ),
    "grouped-sums": _grouped,
    "bits-to-words": lambda s, z: bit_words.to_words(s, bits(s, z["count"]), z["width"]),
    "lattice-grouped-sums": _lattice_sums,
    "common-ones": lambda s, z: common_ones.overlaps(s, bits(s, z["blocks"], z["height"], z["bits"])),
    "tree-walk": lambda s, z: tree_walks.walk(
        s,
        bits(s, z["count"], (1 << z["depth"]) - 1),
        Role.ALICE,
        words(s, 1, 1 << z["depth"], z["size"]) if s.role is Role.ALICE else None,
        z["size"],
        z["width"],
    ),
    "truncation": lambda s, z: truncation.shift(s, words(s, z["count"]), Bounds(-9, 9), z["bits"]),
    "division-by-public": lambda s, z: truncation.divide(
        s, words(s, z["count"]), Bounds(-9, 9), z["divisor"]
    ),
    "truncation-without-carry": lambda s, z: truncation.shift_near(
        s, [(words(s, z["count"]), Bounds(-9, 9), 3)]
    ),
    "division": lambda s, z: division.Division.of(**z).run(s, words(s, z["count"]), words(s, z["count"])),
    "long-division": lambda s, z: long_division.divide(
        s, words(s, z["count"]), words(s, z["count"]), long_division.digits(z["numerator"], z["divisor"])
    ),
    "goldschmidt-division": lambda s, z: goldschmidt.divide(
        s, words(s, z["count"]), words(s, z["count"]), z["steps"]
    ),
    "reciprocals": lambda s, z: reciprocals.reciprocals(s, words(s, z["count"]), z["steps"]),
    "argmin": lambda s, z: argmin.least(s, words(s, z["rows"], z["columns"]), z["bounds"]),
    "argmin-one-hot": lambda s, z: argmin_one_hot.one_hot(
        s, words(s, z["rows"], z["columns"]), z["differences"]
    ),
    "best-pairs": lambda s, z: pairing.best(
        s,
        bits(s, z["blocks"], z["side"], z["side"]),
        words(s, z["blocks"], z["side"], z["side"]),
        z["most"],
    ),
    "differing-members": _majority,
    "permutation": lambda s, z: permutation.permute(
        s,
        words(s, z["count"], z["columns"]),
        z["owner"],
        np.arange(z["count"]) if s.role is z["owner"] else None,
    ),
    "group-sums": lambda s, z: group_sums.group_sums(
        s,
        words(s, z["count"], z["columns"]),
        z["owner"],
        np.arange(z["count"]) % z["groups"] if s.role is z["owner"] else None,
        z["groups"],
    ),
    "sort": lambda s, z: sorting.sort(s, zeros(s, z["bounds"], z["count"]).shares, z["bounds"]),
    "joint-noise": lambda s, z: noise.draw(s, z["distributions"]),
    "joint-uniform": lambda s, z: uniform.uniform(s, z["bits"], z["count"]),
    "opened-words": lambda s, z: opening.open_words(s, words(s, z["count"]), z["recipients"]),
    "opened-bits": lambda s, z: opening.open_bits(s, bits(s, z["count"]), z["recipients"]),
}
"""How each procedure is run at the sizes of its example, by both sides."""


def example_cost(record: Procedure | Spec) -> Any:
    """The cost that a record declares for its example."""
    if isinstance(record, Procedure):
        return record.cost(**record.example)
    given = Parameters(
        1, 32, 2048, 2048, record.takes and _modulus(record.takes), record.gives and _modulus(record.gives)
    )
    return record.cost(given)


def _modulus(sharing: Any) -> Any:
    return next(each for each in (1 << 64, Role.ALICE, 2) if sharing.allows(each))


def test_every_procedure_has_a_run() -> None:
    assert set(RUNS) == {record.name for record in registry.PROCEDURES}


@pytest.mark.parametrize("record", registry.PROCEDURES, ids=lambda record: record.name)
def test_a_procedure_costs_what_it_declares(record: Procedure) -> None:
    """Rounds are those of the whole: a first message may go along with the last one of the set-up."""
    declared = record.cost(**record.example)
    whole = sum((setup.cost for setup in record.setups), Cost()) + declared

    def side(session: Session) -> tuple[int, int, int]:
        for setup in record.setups:
            before = session.channel.traffic
            setup.run(session)
            made = session.channel.traffic.since(before)
            sent = {Role.ALICE: setup.cost.alice_bytes, Role.BOB: setup.cost.bob_bytes}
            assert (made.sent, made.received) == (sent[session.role], sent[session.role.other])
            setup.run(session)
            assert session.channel.traffic.since(before).messages == made.messages, "made twice"
        before = session.channel.traffic
        RUNS[record.name](session, record.example)
        made = session.channel.traffic.since(before)
        return made.sent, made.received, session.channel.traffic.rounds

    sources = tuple(Randomness.from_seed(SEED, f"{record.name} {role.value}") for role in Role)
    alice, bob = run_pair(side, side, randomness=(sources[0], sources[1]))
    assert alice[:2] == bob[1::-1] == (declared.alice_bytes, declared.bob_bytes)
    assert max(alice[2], bob[2]) == whole.rounds


def test_names_are_unique() -> None:
    names = [record.name for record in registry.RECORDS]
    assert len(set(names)) == len(names)


def test_every_record_is_in_the_registry() -> None:
    made = {
        keyword.value.value
        for module in modules("smc")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"Spec", "Procedure"}
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }
    assert len(made) > 60
    assert made <= {record.name for record in registry.RECORDS}


def test_every_operation_that_a_record_counts_has_a_price() -> None:
    counted = {
        name
        for record in registry.RECORDS
        for cost in (example_cost(record), *(setup.cost for setup in record.setups))
        for name in (*cost.alice_operations, *cost.bob_operations)
    }
    assert {"power", "ot", "ec_power", "dgk_power"} <= counted <= set(OPERATIONS)
