"""The samplings: points of a base, each with the same fiber over it.

`manifolds.base` names the samplings of each base.
"""

from cheblienet_graphs.samplings.given import Given
from cheblienet_graphs.samplings.grids import Equiangular, Gaussian, Healpix, ReducedGaussian
from cheblienet_graphs.samplings.icosphere import Icosphere, RefinedIcosphere
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.samplings.sampling import SamplingKind, Size

_ALL: tuple[type[SamplingKind], ...] = (
    *(Lattice, Icosphere, RefinedIcosphere, Healpix, Equiangular, Gaussian, ReducedGaussian),
    *(Random, Given),
)
SAMPLINGS = {kind.name: kind for kind in _ALL}

__all__ = ["SAMPLINGS", "SamplingKind", "Size"]
