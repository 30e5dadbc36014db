"""The rows at the edge of a domain that cuts pixels: computed once, for all who do blocks."""

from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.samplings.cut import CutSampling, pixel_means
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.search.masked import MaskedStencils
from cheblienet_graphs.store import layout
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.cut import EdgeRows, edge_rows

if TYPE_CHECKING:
    from cheblienet_graphs.assembly.level import Level

SCRATCH = ("edge-vertices", "edge-indptr", "edge-columns", "edge-values")
"""Scratch arrays of these rows."""


def cut_sampling(level: "Level") -> CutSampling:
    """The vertices of a level whose domain cuts pixels."""
    if not isinstance(level.full, Lattice):
        raise TypeError("pixels that are cut are those of a lattice")
    if level.staged:
        return CutSampling(level.full, level.dense(layout.FRACTION).mapped())
    return CutSampling(level.full, pixel_means(_halves(level)))


def edge_rows_of(level: "Level") -> EdgeRows | None:
    """The rows at the edge of a level's domain; None where that cuts no pixels."""
    cut, weights, stencils = level.inside, level.offset_weights, level.stencils_inside
    if not (isinstance(cut, CutSampling) and isinstance(stencils, MaskedStencils) and weights):
        return None
    if level.staged:
        return EdgeRows(*(np.asarray(level.scratch(name).mapped()) for name in SCRATCH))
    halves = _halves(level)
    return edge_rows(cut, stencils, weights.stencils, weights.values, halves)


def _halves(level: "Level") -> Floats:
    if level.spec.mask is None:
        raise TypeError("the level has no mask")
    return level.spec.mask.halves_on(level.number)


def entries_more(rows: EdgeRows | None, stencils: object) -> int:
    """How many entries more, or fewer, rows at the edge have than the stencils inside.

    Args:
        rows: at the edge; None where there are none.
        stencils: `MaskedStencils` where there are.
    """
    if rows is None or not isinstance(stencils, MaskedStencils):
        return 0
    return int(rows.counts.sum() - stencils.counts(rows.vertices).sum())
