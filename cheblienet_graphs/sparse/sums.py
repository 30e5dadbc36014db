"""Sums that do not depend on the order of their terms, or on how they were split."""

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.typing import Floats

UNIT = 1127
"""Exact sums are integers in units of 2^-1127, of which every double is a multiple."""
LOW = 26


def exact_sum(values: Floats, times: npt.NDArray[np.int64] | None = None) -> int:
    """The sum in units of 2^-UNIT, without rounding.

    Args:
        values: finite.
        times: number of times that each value counts; default once.
    """
    if times is not None:
        return sum(int(n) * exact_sum(values[times == n]) for n in np.unique(times))
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    total = 0
    for power in np.unique(exponent):
        part = mantissa[exponent == power]
        # In two halves, so that no sum of fewer than 2^36 terms overflows.
        whole = (int((part >> LOW).sum()) << LOW) + int((part & (2**LOW - 1)).sum())
        total += whole << (int(power) - 53 + UNIT)
    return total


def rounded(total: int) -> float:
    """An exact sum as the nearest double, as math.fsum gives it."""
    value: float = total / 2**UNIT
    return value
