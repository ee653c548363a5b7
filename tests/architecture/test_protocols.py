"""Protocols that the planner routes know each other through records only: the registry alone imports them.

Protocols without forms are called by whoever needs them, from above: `test_imports` has their floors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from smc.planning.registry import COMPARISONS, CONVERSIONS
from tests.architecture.source import Module, imports, modules, within

MAY_IMPORT = ("smc.planning.registry", "smc.protocols.comparison.oblivious_record")
"""The registry, and the record of a protocol whose code is part of the core and has none beside it."""


def acquaintances(module: Module, protocols: frozenset[str]) -> Iterator[str]:
    """The protocols that a module imports though they are none of its business."""
    if module.name in MAY_IMPORT:
        return
    for line, target in imports(module.tree):
        for protocol in protocols - {module.name}:
            if within(target, protocol):
                yield f"{module.name}:{line} imports {target}"


def protocols() -> frozenset[str]:
    return frozenset(record.module for record in (*COMPARISONS, *CONVERSIONS))


def test_nobody_but_the_registry_knows_a_protocol() -> None:
    known = protocols()
    wrong = [text for m in modules("smc", "parties") for text in acquaintances(m, known)]
    assert not wrong, "\n".join([*wrong, "what several protocols share wants a file of its own"])


def test_an_acquaintance_is_found() -> None:
    known = protocols()
    assert {"smc.protocols.comparison.oblivious", "smc.protocols.conversion.bit_to_shared"} <= known
    code = ast.parse("from smc.protocols.comparison.oblivious import cost_of")
    some = modules("smc")[0]
    assert list(acquaintances(Module("smc.secret.bits", some.path, code), known))
    assert list(acquaintances(Module("smc.protocols.conversion.plain_to_both", some.path, code), known))
    assert not list(acquaintances(Module("smc.planning.registry", some.path, code), known))
