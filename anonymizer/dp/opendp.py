"""OpenDP's names for this package.

`opendp.prelude` has them all, but imports scikit-learn for its extras: 1.8 s of the processor and 240 MB,
where these take 0.2 s and 50 MB.
"""

from __future__ import annotations

from opendp import combinators as c
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence, zero_concentrated_divergence
from opendp.metrics import l1_distance, l2_distance, linf_distance
from opendp.mod import binary_search_param, enable_features

__all__ = [
    "atom_domain",
    "binary_search_param",
    "c",
    "l1_distance",
    "l2_distance",
    "linf_distance",
    "m",
    "max_divergence",
    "vector_domain",
    "zero_concentrated_divergence",
]

enable_features("contrib")
