"""numpy arrays that speak torch's method style, so that one formula runs on both."""

from typing import Any

import numpy as np
import numpy.typing as npt


class Array(np.ndarray[Any, np.dtype[np.float64]]):
    """A float64 numpy array with the elementwise methods of a torch tensor."""

    def cos(self) -> "Array":
        """Cosine, radians."""
        return np.cos(self).view(Array)

    def sin(self) -> "Array":
        """Sine, radians."""
        return np.sin(self).view(Array)

    def sinc(self) -> "Array":
        """sin(pi x) / (pi x), 1 at 0, as torch.sinc."""
        return np.sinc(self).view(Array)

    def exp(self) -> "Array":
        """Exponential."""
        return np.exp(self).view(Array)

    def sqrt(self) -> "Array":
        """Square root."""
        return np.sqrt(self).view(Array)

    def abs(self) -> "Array":
        """Absolute value."""
        return np.absolute(self).view(Array)

    def atan2(self, other: "Array") -> "Array":
        """Angle of the point (other, self), radians in [-pi, pi]."""
        return np.arctan2(self, other).view(Array)

    def minimum(self, other: "Array") -> "Array":
        """The smaller of the two, elementwise."""
        return np.minimum(self, other).view(Array)


def array(values: npt.ArrayLike) -> Array:
    """The values as a float64 Array, without a copy where possible."""
    return np.asarray(values, dtype=np.float64).view(Array)
