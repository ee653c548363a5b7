"""All protocols and conversions, listed plainly. Their mirror images are derived, not listed."""

from __future__ import annotations

from typing import Final

from smc.protocols.against import Against
from smc.protocols.baselines import bunn_ostrovsky, gentry, veugen
from smc.protocols.comparison import (
    dgk,
    elgamal_tree,
    encrypted,
    local,
    packed,
    shared,
    silent,
    tree,
    wrapping,
)
from smc.protocols.comparison.oblivious_record import OBLIVIOUS_TRANSFER
from smc.protocols.conversion import (
    bit_to_encrypted,
    bit_to_shared,
    bits_to_encrypted,
    both_to_plain,
    encrypted_to_encrypted,
    encrypted_to_plain,
    encrypted_to_shared,
    packed_to_shared,
    plain_to_both,
    plain_to_encrypted,
    plain_to_shared,
    shared_to_encrypted,
    shared_to_plain,
    shared_to_shared,
)
from smc.protocols.engines import PAILLIER
from smc.protocols.spec import Spec

COMPARISONS: Final[tuple[Spec, ...]] = (
    local.SPEC,
    local.SPEC_BOTH,
    tree.SPEC,
    tree.SPEC_ALICE_LEARNS,
    tree.SPEC_BOB_LEARNS,
    elgamal_tree.SPEC,
    elgamal_tree.SPEC_ALICE_LEARNS,
    elgamal_tree.SPEC_BOB_LEARNS,
    dgk.SPEC,
    OBLIVIOUS_TRANSFER,
    silent.SPEC,
    encrypted.SPEC,
    packed.SPEC,
    shared.SPEC,
    wrapping.SPEC,
    wrapping.SPEC_X_KNOWN,
    wrapping.SPEC_Y_KNOWN,
    bunn_ostrovsky.SPEC,
    gentry.SPEC,
    veugen.SPEC,
)

CONVERSIONS: Final[tuple[Spec, ...]] = (
    plain_to_shared.SPEC,
    shared_to_plain.SPEC,
    shared_to_plain.SPEC_BOTH,
    shared_to_encrypted.SPEC,
    shared_to_shared.SPEC,
    encrypted_to_shared.SPEC,
    packed_to_shared.SPEC,
    bit_to_encrypted.SPEC,
    bit_to_shared.SPEC,
    plain_to_encrypted.SPEC_FROM_ALICE,
    plain_to_encrypted.SPEC_FROM_BOB,
    encrypted_to_plain.SPEC,
    encrypted_to_encrypted.SPEC,
    plain_to_both.SPEC_BOTH,
    plain_to_both.SPEC_BOB,
    both_to_plain.SPEC_PLAIN,
    both_to_plain.SPEC_SHARED,
    bits_to_encrypted.SPEC,
)

AUTO: Final = "auto"
"""The name of the planner's own choice among engines."""

_ENGINES: Final = {spec.engine.name: spec.engine for spec in COMPARISONS if spec.engine is not None}

ENGINES: Final[tuple[str, ...]] = (*sorted(_ENGINES), AUTO)
"""Names that `engine` takes: the families of comparisons on plain values, and the planner's own choice."""

DEFAULT_ENGINE: Final = PAILLIER.name

BASELINES: Final = frozenset(name for name, engine in _ENGINES.items() if engine.baseline)
"""Engines to measure against: protocols of the literature."""

BY_NAME_ONLY: Final = frozenset(
    spec.engine.name for spec in COMPARISONS if spec.engine is not None and spec.level is Against.SEMI_HONEST
)
"""Engines that `auto` leaves alone: of those a peer that deviates may learn data from the messages."""

REFERENCE_ENGINES: Final = frozenset(name for name, engine in _ENGINES.items() if engine.reference)
"""Engines that keep to their paper around the comparison too: no protocol that `improves` another."""

POOL_ENGINES: Final = (AUTO, *(name for name, engine in sorted(_ENGINES.items()) if engine.pools))
"""Engines that may be asked to compare out of a pool."""

_BY_NAME: Final = {spec.name: spec for spec in (*COMPARISONS, *CONVERSIONS)}


def spec_named(name: str) -> Spec:
    """The protocol or conversion of that name."""
    return _BY_NAME[name]
