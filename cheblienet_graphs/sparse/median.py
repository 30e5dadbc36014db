"""The median of more numbers than fit in memory, exactly."""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.typing import Floats

Keys = npt.NDArray[np.uint64]

BITS = 16
"""Width of a digit; numbers are counted by one digit of their keys in each sweep."""
SHIFTS = (48, 32, 16, 0)
"""Positions of the digits in a key."""


def median(blocks: Callable[[], Iterable[Floats]], count: int) -> float:
    """The median of float64 numbers that are read four times, block by block.

    Counts how many have each value of their leading bits, then of the next ones among those that
    share the leading bits of the median.

    Args:
        blocks: yields all the numbers, in any blocks at each call; none is nan.
        count: of the numbers, at least 1.
    """
    ranks = [(count - 1) // 2, count // 2]
    prefixes = [0, 0]
    for shift in SHIFTS:
        counts = {prefix: np.zeros(1 << BITS, np.int64) for prefix in prefixes}
        for block in blocks():
            keys = _keys(block) >> np.uint64(shift)
            for prefix, counted in counts.items():
                digits = keys - np.uint64(prefix << BITS)  # too large for other prefixes
                inside = digits[digits < (1 << BITS)].astype(np.int64)
                counted += np.bincount(inside, minlength=1 << BITS)
        for number, prefix in enumerate(prefixes):
            below = np.cumsum(counts[prefix])
            digit = int(np.searchsorted(below, ranks[number], side="right"))
            ranks[number] -= int(below[digit] - counts[prefix][digit])
            prefixes[number] = prefix << BITS | digit
    return float(_numbers(np.array(prefixes, np.uint64)).mean())


def _keys(numbers: Floats) -> Keys:
    """Unsigned integers in the order of the numbers."""
    signed = numbers.view(np.int64)
    flipped = signed ^ ((signed >> 63) & np.int64(2**63 - 1))
    return flipped.view(np.uint64) ^ np.uint64(2**63)


def _numbers(keys: Keys) -> Floats:
    flipped = (keys ^ np.uint64(2**63)).view(np.int64)
    return (flipped ^ ((flipped >> 63) & np.int64(2**63 - 1))).view(np.float64)
