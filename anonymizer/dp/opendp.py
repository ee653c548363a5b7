"""OpenDP's names for this package, imported when they are first used.

`opendp.prelude` imports scikit-learn for its extras: 1.8 s of the processor and 240 MB. Only releases with
noise need OpenDP at all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_MODULES: Final = {
    "atom_domain": "domains",
    "binary_search_param": "mod",
    "l1_distance": "metrics",
    "l2_distance": "metrics",
    "linf_distance": "metrics",
    "max_divergence": "measures",
    "vector_domain": "domains",
    "zero_concentrated_divergence": "measures",
}
_SHORT: Final = {"c": "combinators", "m": "measurements"}


def __getattr__(name: str) -> Any:
    if name in _SHORT:
        found = import_module(f"opendp.{_SHORT[name]}")
    elif name in _MODULES:
        found = getattr(import_module(f"opendp.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("opendp.mod").enable_features("contrib")
    globals()[name] = found
    return found
