"""Graphs with gradients on every manifold, and dense matrices of their fields."""

import torch
from masks import disc
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph

FIBER = {"orientations": 4, "levels": 2, "gradients": True}
SPECS = {
    "arrows": GraphSpec("se2", 8, **FIBER, period="2pi"),
    "masked": GraphSpec("se2", mask=disc(12), **FIBER, period="2pi"),
    "lines": GraphSpec("se2", 8, **FIBER),
    "plane": GraphSpec("r2", 16, levels=2, gradients=True),
    "torus": GraphSpec("r2", 12, boundary="periodic", levels=1, gradients=True),
    "space": GraphSpec("r3", 6, levels=2, gradients=True),
    "sphere": GraphSpec("s2", subdivisions=2, levels=2, gradients=True),
    "turned": GraphSpec("so3", subdivisions=1, **FIBER | {"levels": 1}, period="2pi"),
}
ARROWS = ("arrows", "masked", "turned")
"""Those on which all fields are operators."""
PLAIN = ("plane", "torus", "sphere")
"""Those on which norms are handed."""


def dense(graph: Graph) -> Tensor:
    """(F, V, V) float64, in the units of layers."""
    of = graph.gradients
    fields = zip(of.names, of.units, strict=True)
    return torch.stack([of.matrix(name).to_dense().double() / unit for name, unit in fields])
