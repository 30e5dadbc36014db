"""The nearest of some points on the sphere to each pixel of a grid."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def unit_vectors(beta: Floats, gamma: Floats) -> Floats:
    """(..., 3) of colatitudes and longitudes, radians, broadcast."""
    beta, gamma = np.broadcast_arrays(beta, gamma)
    sine = np.sin(beta)
    return np.stack([sine * np.cos(gamma), sine * np.sin(gamma), np.cos(beta)], axis=-1)


def nearest_points(
    beta: Floats, gamma: Floats, colatitudes: Floats, longitudes: Floats
) -> Iterator[Indices]:
    """(lon,) the nearest point to each place of a circle of latitude, circle by circle.

    Points are compared where their colatitudes are near; as no distance is below the difference in
    colatitude, the nearest is known once it is nearer than those left out.
    """
    order = np.argsort(beta, kind="stable")
    sorted_beta, points = beta[order], unit_vectors(beta, gamma)[order]
    start = np.sqrt(4 * np.pi / len(beta))
    for colatitude in colatitudes:
        places = unit_vectors(np.full(len(longitudes), colatitude), longitudes)
        margin = start
        while True:
            low, high = np.searchsorted(sorted_beta, [colatitude - margin, colatitude + margin])
            if high > low:
                cosines = places @ points[low:high].T
                best = cosines.argmax(1)
                if margin >= np.pi or cosines[np.arange(len(best)), best].min() >= np.cos(margin):
                    break
            margin = min(2 * margin, 4.0)
        yield order[low + best]
