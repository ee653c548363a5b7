"""Vectors of a message: what is sent has values."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.vectors import Bits, ByteRows, Residues, Words
from smc.errors import UsageError
from smc.numeric.shape_arrays import shape_array


@pytest.mark.parametrize(
    "vector",
    [
        Bits(shape_array(8, np.uint8)),
        ByteRows(shape_array((2, 3), np.uint8)),
        Residues(shape_array(4, np.uint64), 2**64),
        Residues(shape_array(4, np.uint8), 2),
        Words(shape_array(4, np.uint64)),
    ],
    ids=lambda vector: type(vector).__name__,
)
def test_shapes_of_a_traced_run_are_never_sent_for_data(vector):
    """They share one zero: whoever got them for shares would know the other share's secret."""
    with pytest.raises(UsageError, match="no data"):
        vector.encode()
