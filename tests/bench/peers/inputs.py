"""The inputs of a case: tensor number i has the same values as in inputs.go."""

import numpy as np


def mix(seed, n):
    """A well mixed word for each of n elements of tensor number seed."""
    v = np.arange(n, dtype=np.uint32)
    v += np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    v *= np.uint32(2654435761)
    v ^= v >> np.uint32(15)
    v *= np.uint32(2246822519)
    return v ^ v >> np.uint32(13)


class Inputs:
    """Makes tensors of one library; tensor and floats turn NumPy arrays into
    them, of their own type and of the type of the case."""

    def __init__(self, tensor, floats):
        self.tensor, self.floats = tensor, floats
        self.made = 0

    def _words(self, shape):
        seed = self.made
        self.made += 1
        return mix(seed, int(np.prod(shape, dtype=np.int64))).reshape(shape)

    def _centred(self, shape):
        return (self._words(shape) >> np.uint32(8)).astype(np.float32) * np.float32(2**-22) - 2

    def values(self, *shape):
        """Floats in [-2, 2)."""
        return self.floats(self._centred(shape))

    def values32(self, *shape):
        """The same in f32, whatever the type of the case."""
        return self.tensor(self._centred(shape))

    def positive(self, *shape):
        """Floats in [0.5, 2.5)."""
        return self.floats(np.abs(self._centred(shape)) + np.float32(0.5))

    def ids(self, bound, *shape):
        """Integers in [0, bound)."""
        return self.tensor(((self._words(shape) >> np.uint32(1)) % np.uint32(bound)).astype(np.int32))

    def mask(self, *shape):
        """Bits."""
        return self.tensor((self._words(shape) >> np.uint32(16) & np.uint32(1)).astype(np.uint8))
