"""Heat kernels of the bases, as far as their ends are not felt."""

import numpy as np
from scipy.special import eval_legendre

from cheblienet_graphs.figures.places import Places
from cheblienet_graphs.typing import Floats

NEGLIGIBLE = 40.0
"""Exponents beyond which terms of the sphere's series are left out."""


def exact_density(places: Places, distance: Floats, spread: float) -> Floats:
    """(N,) heat per point at distances from where it started, on a boundless base.

    On flat bases exp(-r^2 / (2 s^2)) / (2 pi s^2)^(d/2), s the spread; on the sphere
    sum_l (2 l + 1) / (4 pi) exp(-l (l + 1) t) P_l(cos r), t = s^2 / 2; times a point's area.

    Args:
        places: of the graph; distances are in their spacings.
        distance: (N,) r.
        spread: s, sqrt(2 t).
    """
    if places.flat:
        exact: Floats = np.exp(-(distance**2) / (2 * spread**2))
        exact /= (2 * np.pi * spread**2) ** (places.dimension / 2)
        return exact
    time = (spread / places.radius) ** 2 / 2
    most = int(np.sqrt(NEGLIGIBLE / time)) + 1
    degree = np.arange(most + 1)[:, None]
    waves = eval_legendre(degree, np.cos(distance / places.radius))
    sizes = (2 * degree + 1) * np.exp(-degree * (degree + 1) * time)
    summed: Floats = (sizes * waves).sum(axis=0) / (4 * np.pi * places.radius**2)
    return summed
