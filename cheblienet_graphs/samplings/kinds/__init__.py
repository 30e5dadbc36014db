"""The kinds of samplings, a file each."""

from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.samplings.kinds.equiangular import EquiangularKind
from cheblienet_graphs.samplings.kinds.gaussian import GaussianKind
from cheblienet_graphs.samplings.kinds.healpix import HealpixKind
from cheblienet_graphs.samplings.kinds.icosahedral import IcosahedralKind
from cheblienet_graphs.samplings.kinds.kind import SamplingKind
from cheblienet_graphs.samplings.kinds.lattice import LatticeKind
from cheblienet_graphs.samplings.kinds.random import RandomKind
from cheblienet_graphs.samplings.kinds.unstructured import UnstructuredKind

_ALL: tuple[SamplingKind, ...] = (
    LatticeKind(),
    IcosahedralKind(),
    HealpixKind(),
    EquiangularKind(),
    GaussianKind(),
    RandomKind(),
    UnstructuredKind(),
)

SAMPLINGS = {kind.name: kind for kind in _ALL}


def sampling_names(base: Base) -> tuple[str, ...]:
    """Names of the samplings of a base, the default first."""
    return tuple(kind.name for kind in _ALL if base.name in kind.bases)
