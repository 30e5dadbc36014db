"""Axes of a graph, and directions of the voxels in the world."""

from typing import TypeAlias

import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.arguments import real_array
from cheblienet_models.graphs.graph import Graph

Affine: TypeAlias = Tensor | npt.ArrayLike
UNIT = 1e-6
"""How far the length of an axis may be from 1."""
SHEAR = 1e-3
"""Largest cosine between two directions of the voxels: 0.06 degrees off a right angle."""


def axes_of(graph: Graph | Tensor) -> Tensor:
    """(n_o, 3) float64 unit vectors: the axes of a graph on positions and axes, or those given.

    Raises:
        ValueError: the graph has no axes, or what is given is no such tensor.
    """
    if not isinstance(graph, Graph):
        return unit_vectors(graph)
    if graph.coordinates.shape[1] != len(("x", "y", "z", "nx", "ny", "nz")):
        raise ValueError(
            f"Spherical harmonics are functions on the axes of r3s2; {graph.label}, grid "
            f"{graph.grid}, has none."
        )
    fibres = graph.coordinates.view(graph.orientations, graph.num_points, -1)
    return unit_vectors(fibres[:, 0, 3:])


def unit_vectors(axes: Tensor) -> Tensor:
    """(n_o, 3) as float64.

    Raises:
        ValueError: another shape, or some are no unit vectors.
    """
    if not isinstance(axes, Tensor) or axes.ndim != 2 or axes.shape[1] != 3 or not len(axes):
        found = tuple(axes.shape) if isinstance(axes, Tensor) else type(axes).__name__
        raise ValueError(f"axes must be a tensor (n_o, 3). Got {found}.")
    directions = axes.detach().to(torch.float64)
    lengths = directions.norm(dim=1)
    if not bool(((lengths - 1).abs() <= UNIT).all()):  # which NaN is not
        off = float((lengths - 1).abs().max())
        raise ValueError(f"axes must be unit vectors. Got lengths up to {off:.1g} off 1.")
    return directions


def rotation_of(affine: Affine) -> Tensor:
    """The rotation from voxel directions to those of the world, spacing taken out.

    Column a is the direction of the world in which voxel index a grows: a flip, or axes in another
    order, are in it. Its determinant may be -1.

    Args:
        affine: (4, 4), from (i, j, k, 1) to the world, or its linear part (3, 3); a tensor or an
            array.

    Returns:
        (3, 3) float64, orthogonal to rounding: the nearest to the affine's.

    Raises:
        ValueError: another shape, or it has shear.
    """
    if isinstance(affine, Tensor):
        matrix = affine.detach().cpu().to(torch.float64)
    else:
        matrix = torch.from_numpy(real_array("affine", affine))
    if tuple(matrix.shape) not in {(4, 4), (3, 3)}:
        raise ValueError(f"affine must be (4, 4) or (3, 3). Got {tuple(matrix.shape)}.")
    columns = matrix[:3, :3] / matrix[:3, :3].norm(dim=0)
    cosines = (columns.T @ columns - torch.eye(3)).abs().max()
    if not bool(cosines <= SHEAR):  # which NaN is not
        raise ValueError(
            "affine must have directions at right angles. Got a cosine of "
            f"{float(cosines):.3g} between two: resample the image without shear."
        )
    left, _, right = torch.linalg.svd(columns)
    rotation: Tensor = left @ right
    return rotation
