"""Roll-up and tagging in the lattice against plain counting of every node."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.methods.recoding import lattice
from anonymizer.methods.recoding.attributes import Labelled
from anonymizer.methods.recoding.lattice import Frequencies, tag_nodes
from tests.anonymizer.tables import ROLES, tables


@given(table=tables(least=2, most=30), seed=st.integers(0, 99), held=st.sampled_from([1, 40, 4_000_000]))
def test_classes_are_counted_the_same_from_whatever_finer_node(table, seed, held):
    attributes = [Labelled.of(table, column) for column in ROLES.quasi_identifiers]
    random = np.random.default_rng(seed)
    counted = random.random(len(table)) < 0.8
    nodes = list(itertools.product(*(range(len(one.levels)) for one in attributes)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_HELD", held)
        patch.setattr(lattice, "_DENSE", 4 if seed % 2 else 1 << 16)
        frequencies = Frequencies(attributes, counted)
        for place in random.integers(len(nodes), size=12).tolist():
            node = nodes[place]
            rows = list(
                zip(
                    *(
                        one.levels[n].groups[one.codes].tolist()
                        for one, n in zip(attributes, node, strict=True)
                    ),
                    strict=True,
                )
            )
            plain = dict.fromkeys(rows, 0)
            for row, counts in zip(rows, counted, strict=True):
                plain[row] += bool(counts)
            profiles, counts = frequencies(node)
            labels = list(
                zip(*(places.tolist() for places in frequencies.labels(profiles, node)), strict=True)
            )
            assert len(set(labels)) == len(labels)
            assert dict(zip(labels, counts.tolist(), strict=True)) == plain


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple),
    ends=st.lists(st.integers(0, 10**6), max_size=4),
)
def test_tags_are_right_and_no_known_node_is_asked(shape, ends):
    passes = np.zeros(shape, dtype=np.bool_)
    for end in ends:
        node = np.unravel_index(end % passes.size, shape)
        passes[tuple(slice(int(level), None) for level in node)] = True
    asked = []

    def judged(node):
        assert not any(
            (passes[other] and all(a <= b for a, b in zip(other, node, strict=True)))
            or (not passes[other] and all(a >= b for a, b in zip(other, node, strict=True)))
            for other in asked
        )
        asked.append(node)
        return bool(passes[node])

    assert np.array_equal(tag_nodes(shape, judged), passes)
