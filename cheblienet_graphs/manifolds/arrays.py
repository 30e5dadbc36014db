"""numpy arrays that speak torch's method style, so that one formula runs on both."""

from functools import partialmethod
from typing import Any

import numpy as np
import numpy.typing as npt


class Array(np.ndarray[Any, np.dtype[np.float64]]):
    """A float64 numpy array with the elementwise methods of a torch tensor."""

    cos = partialmethod(np.cos)
    """Cosine, radians."""
    sin = partialmethod(np.sin)
    """Sine, radians."""
    exp = partialmethod(np.exp)
    """Exponential."""
    sqrt = partialmethod(np.sqrt)
    """Square root."""
    abs = partialmethod(np.absolute)
    """Absolute value."""
    atan2 = partialmethod(np.arctan2)
    """Angle of the point (other, self), radians in [-pi, pi]."""
    minimum = partialmethod(np.minimum)
    """The smaller of the two, elementwise."""

    def sinc(self) -> "Array":
        """sin(pi x) / (pi x), 1 at 0, as torch.sinc."""
        return np.sinc(self).view(Array)


def array(values: npt.ArrayLike) -> Array:
    """The values as a float64 Array, without a copy where possible."""
    return np.asarray(values, dtype=np.float64).view(Array)
