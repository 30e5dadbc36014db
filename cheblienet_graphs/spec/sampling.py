"""The samplings of a specification's levels."""

from cheblienet_graphs.samplings.equiangular import Equiangular
from cheblienet_graphs.samplings.healpix import Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere
from cheblienet_graphs.spec import GraphSpec


def sampling(spec: GraphSpec, level: int) -> Sampling:
    """The sampling of a level, 0 the finest."""
    size = spec.level_size(level)
    orientations, oriented = spec.orientations, spec.geometry.oriented
    periodic = spec.boundary == "periodic"
    if spec.sampling == "lattice":
        width, height = size
        return PlaneLattice(width, height, orientations, oriented, periodic)
    if spec.sampling == "random":
        seed = spec.seed or 0
        if spec.geometry.base == "plane":
            return RandomPlane(size, seed, orientations, oriented, periodic)
        return RandomSphere(orientations, oriented, size, seed)
    if spec.sampling == "icosahedral":
        return Icosphere(orientations, oriented, size)
    if spec.sampling == "healpix":
        return Healpix(orientations, oriented, size)
    return Equiangular(orientations, oriented, size)
