"""Weights along one direction of an oriented plane, for Laplacians of their own.

With e the direction of an orientation and e' across it: "forward" has Selling's stencils of
e e^T + delta e' e'^T, "sideways" those of delta e e^T + e' e'^T, per squared width; "rotation" has
the steps along the fibre alone, per squared radian, so that it does not depend on xi. Second
moments are 2 diag(1, delta, 0), 2 diag(delta, 1, 0) and 2 diag(0, 0, (s / sin s)^2), s = pi / n_o,
with which the first mode along the fibre is exact.
"""

from dataclasses import replace
from typing import cast

from cheblienet_graphs.errors import Remedy, Words
from cheblienet_graphs.manifolds import FlatManifold, Metric
from cheblienet_graphs.manifolds.metric import Diffusion
from cheblienet_graphs.neighbours.offsets import OffsetDistances
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.lattice import LatticeWeights, check_room, in_widths
from cheblienet_graphs.weights.selling import edges_along, stencils_of


def directional_weights(
    sampled: SampledManifold[Lattice], direction: str, delta: float
) -> LatticeWeights:
    """The weights along a direction.

    Args:
        sampled: the level's points with their metric, which the weights do not depend on.
        direction: one of `spec.edges.DIRECTIONS`.
        delta: the diffusivity across it.

    Raises:
        SpecError: the lattice is too small for the stencils.
    """
    lattice = sampled.sampling
    infinite = replace(lattice, periodic=False)
    found = _stencils(cast("FlatManifold", sampled.manifold), infinite, direction, delta)
    distances = OffsetDistances(replace(sampled, sampling=infinite))
    stencils = tuple(distances.stencil(k, *edges[:2]) for k, edges in enumerate(found))
    check_room(lattice, stencils, Words("a larger ", Remedy("directional")))
    values = tuple(weights for _, _, weights in found)
    return LatticeWeights(
        lattice, stencils, values if direction == "rotation" else in_widths(values, lattice)
    )


def _stencils(
    manifold: FlatManifold, lattice: Lattice, direction: str, delta: float
) -> list[tuple[Indices, Indices, Floats]]:
    """As `weights.selling`, lengths in pixels and radians."""
    fibre, count = lattice.fibre, lattice.orientations
    samples = fibre.samples(count)
    if direction == "rotation":
        return stencils_of([()] * count, edges_along(fibre, count, 1.0), lattice)
    diffusions: list[Diffusion] = []
    for sample in samples:
        (_, ahead), (_, across) = manifold.diffusion(sample, Metric(1.0))
        rates = (1.0, delta) if direction == "forward" else (delta, 1.0)
        diffusions.append(((rates[0], ahead), (rates[1], across)))
    return stencils_of(diffusions, [[]] * count, lattice)
