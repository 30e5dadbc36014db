"""Weights on lattices: stencils and the weights of their offsets; weights of a kernel."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.search.offsets import Stencil
from cheblienet_graphs.search.stencil import StencilEngine
from cheblienet_graphs.sparse import exact_sum, rounded
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    from cheblienet_graphs.weights.kernel import Kernel

Weighted = tuple[tuple[Stencil, ...], tuple[Floats, ...]]
"""Stencils and their weights, by orientation."""


@dataclass(frozen=True)
class LatticeWeights:
    """Stencils and the weights of their offsets.

    Args:
        engine: the neighbors of the vertices.
        values: weights of the neighbors that a vertex has everywhere, by its orientation.
        bandwidth: t of the kernel with the nearest weights, in squared widths of the domain; None
            where they follow from the metric alone.
        solution: matched weights as solved for, including zeros, in pixels^-2.
        united: by orientation the offsets, including offsets of weight 0; empty without these.
        sides: further edges of the vertices at the first and last place along an axis, by axis;
            their weights add to the weights of the same offsets. None where boundaries are not
            corrected.
    """

    engine: StencilEngine
    values: tuple[Floats, ...]
    bandwidth: float | None = None
    solution: Floats | None = None
    united: tuple[Stencil, ...] = ()
    sides: tuple[Weighted, ...] = ()

    @property
    def lattice(self) -> Lattice:
        """The lattice of the vertices."""
        return self.engine.lattice

    @property
    def stencils(self) -> Sequence[Stencil]:
        """The neighbors that a vertex has everywhere, by its orientation."""
        return self.engine.stencils

    @property
    def with_left_out(self) -> StencilEngine:
        """The neighbors, and the ones left out."""
        stencils = self.united or self.engine.stencils
        return StencilEngine(self.lattice, stencils, self.engine.along_sides)

    @cached_property
    def offset_values(self) -> list[list[Floats]]:
        """For each orientation the weights of the neighbors, 0 where there is none.

        First (N,) the values of a vertex everywhere, then for each axis the addends at the sides
        across it, in the order of `engine.neighborhoods`.
        """
        by_orientation = []
        for k, around in enumerate(self.engine.neighborhoods):
            masks = [around.everywhere, *around.at_sides]
            values = [self.values[k], *(weights[k] for _, weights in self.sides)]
            rows = [np.zeros(len(around.stencil)) for _ in masks]
            for row, mask, given in zip(rows, masks, values, strict=True):
                row[mask] = given
            by_orientation.append(rows)
        return by_orientation

    @property
    def outweighed_at_sides(self) -> bool:
        """True if edges that lead out of an open lattice weigh twice what is added there, or more.

        On the infinite lattice x^T (D - W) x of a signal that is 0 outside has w x_i^2 for each
        edge that leads out; on the open one w (x_i - x_j)^2 <= 2 w (x_i^2 + x_j^2) for each that is
        added. So no eigenvalue is beyond the infinite lattice's then.
        """
        ends = list(itertools.product((-1, 0, 1), repeat=len(self.lattice.shape)))
        for around, (values, *added) in zip(
            self.engine.neighborhoods, self.offset_values, strict=True
        ):
            for at in ends if added else []:
                outside = (around.stencil.offsets * at > 0).any(axis=1)
                more = sum(side[~outside].sum() for side, end in zip(added, at, strict=True) if end)
                if values[outside].sum() < 2 * more:
                    return False
        return True


def kernel_weights(kernel: "Kernel", sampled: SampledManifold[Lattice]) -> LatticeWeights:
    """The weights of a kernel; its width is a multiple of the mean of d^2 over all edges.

    Args:
        kernel: with K.
        sampled: the level's points, lengths of their metric in units of the domain's width.

    Raises:
        SpecError: K is smaller than every first shell, so there would be no edge.
    """
    engine = StencilEngine.of_rule(sampled, kernel.count)
    lengths = engine.squared_lengths
    block, squared = engine.rows_on_small([[squared] for squared in lengths])
    total = rounded(exact_sum(block.sums(squared), engine.small.times))
    mean = total / engine.total_degree
    values = tuple(kernel.of_squared_lengths(squared, mean) for squared in lengths)
    return LatticeWeights(engine, values, kernel.width(mean))
