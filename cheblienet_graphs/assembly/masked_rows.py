"""Rows of the Laplacian of a part of a lattice, by stencils."""

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.job import Job
from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.neighbours.masked import LookedUp, MaskedStencils
from cheblienet_graphs.sparse.blocks import ascending_sums
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.kernel import KernelWeights


class MaskedRows:
    """The rows of the vertices inside; the weights of edges are those of the whole lattice.

    Args:
        job: the level.

    Attributes:
        level: its sampling, metric and neighbours.
        stencils: the neighbours inside.
        bandwidth: the kernel's t, None without a kernel.
        dropped_edges: left out, between vertices inside, because their weight came out 0.
    """

    def __init__(self, job: Job) -> None:
        self.level = job.level()
        stencils = self.level.stencils_inside
        if not isinstance(stencils, MaskedStencils):
            raise TypeError("the level has no mask")
        self.stencils = stencils
        whole = LatticeRows(job).weights
        self.bandwidth = whole.bandwidth
        given = self.level.offset_weights
        self.dropped_edges = 0 if given is None else stencils.edges_of(given.left_out)
        if isinstance(whole, KernelWeights):
            lengths = self.level.neighbours.rule.squared_lengths
            by_offset = tuple(map(whole.of_squared_lengths, lengths))
        else:
            by_offset = given.values if given else ()
        # The last place stands for the vertex itself.
        self._weights = [np.append(weights, 0.0) for weights in by_offset]
        self._degrees = [float(ascending_sums(weights[None].copy())[0]) for weights in self._weights]

    def degrees(self, found: LookedUp) -> Floats:
        """(vertices,) sums of the weights of each, the same to the last bit as in any block."""
        degrees = np.full(len(found), self._degrees[found.orientation])
        cut = ~found.inside.all(axis=1)
        degrees[cut] = ascending_sums(np.where(found.inside, self._entries(found), 0.0)[cut])
        return degrees

    def laplacian(
        self, found: LookedUp, degrees: Floats, inverse_root_mass: npt.NDArray[np.float64] | None
    ) -> npt.NDArray[np.float32]:
        """(vertices, N) entries of Delta, of no meaning where there is no neighbour.

        Args:
            found: the neighbours.
            degrees: (vertices,) weighted.
            inverse_root_mass: (V,) N^-1/2; None where it is 1.
        """
        values: Floats = np.negative(self._entries(found))
        if inverse_root_mass is not None:
            here = inverse_root_mass[found.start : found.start + len(found)]
            there = inverse_root_mass[np.where(found.inside, found.columns, 0)]
            values = values * (here[:, None] * there)
            degrees = degrees * here**2
        entries = np.broadcast_to(values, found.columns.shape).astype(np.float32)
        entries[found.diagonal] = degrees
        return entries

    def _entries(self, found: LookedUp) -> Floats:
        """(N,) or (vertices, N) weights of the neighbours, 0 of the vertex itself."""
        entries: Floats = self._weights[found.orientation][found.which]
        return entries
