"""Arrays that are used again and again, so that kernels write to pages that are already there."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

_CIPHER_BLOCK_WORDS: Final = 2


class Workspace:
    """Named scratch arrays of one thread; each keeps the largest size that was asked for."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[np.uint64]] = {}
        self._zeros = b""

    def words(self, name: str, *shape: int) -> NDArray[np.uint64]:
        """A contiguous array of words with the last user's content.

        Args:
            name: whoever asks for the same name gets the same memory.
            shape: of the array.
        """
        size = prod(shape)
        flat = self._arrays.get(name)
        if flat is None or flat.size < size + _CIPHER_BLOCK_WORDS:
            flat = np.empty(size + _CIPHER_BLOCK_WORDS, dtype=np.uint64)
            self._arrays[name] = flat
        return flat[:size].reshape(shape)

    def output(self, name: str, count: int) -> NDArray[np.uint8]:
        """Room for `count` bytes of a block cipher, with the block more that its library demands.

        Args:
            name: as in `words`.
            count: bytes, a multiple of 8.
        """
        self.words(name, count // 8)
        return self._arrays[name].view(np.uint8)[: count + 8 * _CIPHER_BLOCK_WORDS]

    def zeros(self, count: int) -> memoryview:
        """`count` zero bytes."""
        if len(self._zeros) < count:
            self._zeros = bytes(count)
        return memoryview(self._zeros)[:count]
