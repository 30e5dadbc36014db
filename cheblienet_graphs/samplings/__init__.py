"""The samplings: points of a base, each with the same fibre over it; a file each.

`manifolds.base` names those of each base. What all promise is tested in `test_samplings.py`,
HEALPix and the equiangular grid in `test_grids.py`, masks with the rooms that use them.
"""

from cheblienet_graphs.samplings.equiangular import Equiangular
from cheblienet_graphs.samplings.gaussian import Gaussian
from cheblienet_graphs.samplings.given import Given
from cheblienet_graphs.samplings.healpix import Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.kind import SamplingKind, Setting, Size
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.random import Random

_ALL: tuple[type[SamplingKind], ...] = (
    Lattice,
    Icosphere,
    Healpix,
    Equiangular,
    Gaussian,
    Random,
    Given,
)
SAMPLINGS = {kind.name: kind for kind in _ALL}

__all__ = ["SAMPLINGS", "SamplingKind", "Setting", "Size"]
