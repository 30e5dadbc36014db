"""The smallest eigenvalues over all plane waves of a flat torus."""

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from cheblienet_graphs.typing import Floats

Fibre = Callable[[float, float], list[float]]
"""(|2 pi k|^2, cutoff) -> the eigenvalues over that frequency up to the cutoff, ascending."""

Lowest = Callable[[float], float]
"""|2 pi k|^2 -> the lowest eigenvalue over that frequency; grows with the frequency."""


def smallest_over_waves(
    count: int, extent: tuple[float, ...], fibre: Fibre, lowest: Lowest, first_of_fibre: float
) -> Floats:
    """All eigenvalues up to a cutoff that is doubled until there are enough.

    The cutoff starts at the smallest eigenvalue that is not 0. The lowest eigenvalue grows with the
    base frequency, so frequencies are tried in ascending order, up to the first without eigenvalues
    below the cutoff.

    Args:
        count: number of eigenvalues.
        extent: sides of the torus.
        fibre: the eigenvalues over a frequency.
        lowest: the smallest of these.
        first_of_fibre: the first eigenvalue over frequency 0 that is not 0.

    Returns:
        (count,) ascending, multiplicities repeated.
    """
    highest = 4 * math.pi**2 / max(extent) ** 2
    cutoff = min(lowest(highest), first_of_fibre)
    while True:
        while lowest(highest) <= cutoff:
            highest *= 2
        eigenvalues: list[float] = []
        for squared, times in sorted(_squared_frequencies(math.sqrt(highest), extent).items()):
            values = fibre(squared, cutoff)
            if not values:
                break  # all further frequencies have higher ones
            eigenvalues += values * times
        if len(eigenvalues) >= count:
            smallest: Floats = np.maximum(np.sort(eigenvalues)[:count], 0.0)
            return smallest
        cutoff *= 2


def _squared_frequencies(largest: float, extent: tuple[float, ...]) -> Counter[float]:
    """|2 pi k|^2 up to largest^2 over the dual lattice, k_i in Z / side, with multiplicities."""
    reach = [int(largest * side / (2 * math.pi)) for side in extent]
    multiplicities: Counter[float] = Counter()
    for k in itertools.product(*(range(-most, most + 1) for most in reach)):
        squared = 4 * math.pi**2 * sum((n / side) ** 2 for n, side in zip(k, extent, strict=True))
        if squared <= largest**2:
            multiplicities[squared] += 1
    return multiplicities
