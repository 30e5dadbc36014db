"""Where the points of two samplings are in the domain that both cover."""

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.typing import Floats


def centers(sampling: Sampling) -> Floats:
    """(V, d) coordinates by the manifold's columns, those of pixels and voxels at their centers.

    On a lattice `Sampling.coordinates` begin at 0, whatever the size of a pixel, so that lattices
    of two sizes, or a lattice and given points, are apart by half a pixel of each.
    """
    coordinates = sampling.coordinates()
    lattice = sampling.full if isinstance(sampling, MaskedSampling) else sampling
    if isinstance(lattice, Lattice):
        sides = np.array(lattice.extent) / lattice.shape[::-1]
        coordinates[:, : len(sides)] += sides / 2
    return coordinates
