"""Areas of Voronoi cells: of the part of a domain that is nearer to a point than to all others.

Points so close that Qhull takes them for one share a cell equally.
"""

import numpy as np

from cheblienet_graphs.samplings.diagrams import (
    Diagram,
    indistinct,
    on_a_circle,
    plane_diagram,
    sphere_diagram,
)
from cheblienet_graphs.typing import Floats

ROUNDING = 1e-6
"""Largest relative difference between the sum of all cells and the domain."""
ANOTHER_SEED = "Use another `seed`, or fewer `points`."
"""Remedy where points are random."""


def sphere_cells(points: Floats, remedy: str = ANOTHER_SEED) -> Floats:
    """Solid angles of the cells of points on the unit sphere.

    Args:
        points: (N, 3) unit vectors.
        remedy: for points that are too close.

    Returns:
        (N,), whose sum is 4 pi.

    Raises:
        CheblienetError: some are too close to be distinguished.
    """
    if on_a_circle(points):
        return _lunes(points)
    return _checked(_cells(sphere_diagram(points, remedy)), 4 * np.pi, remedy)


def _lunes(points: Floats) -> Floats:
    """Cells of points on one circle: between half circles that join the ends of its axis."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0))
    angle = np.arctan2(points @ axes[1], points @ axes[0])
    order = np.argsort(angle)
    after = np.diff(angle[order], append=angle[order[0]] + 2 * np.pi)
    cells = np.empty(len(points))
    cells[order] = after + np.roll(after, 1)
    return cells


def plane_cells(
    points: Floats,
    extent: tuple[float, float],
    *,
    periodic: bool,
    remedy: str = ANOTHER_SEED,
) -> Floats:
    """Areas of the cells of points in [0, width] x [0, height], on a torus below these.

    Args:
        points: (N, 2) x, y.
        extent: width and height.
        periodic: whether opposite sides are glued.
        remedy: for points that are too close.

    Returns:
        (N,), whose sum is width * height.

    Raises:
        CheblienetError: some points are too close to be distinguished.
    """
    diagram = plane_diagram(points, extent, periodic=periodic)
    cells = _cells(diagram)[: len(points)] * diagram.inside
    return _checked(cells, float(np.prod(extent)), remedy)


def _cells(diagram: Diagram) -> Floats:
    """(points,) cell areas, images among them; points that coincide share one."""
    count, coincident = len(diagram.sources), diagram.coincident
    owner = np.arange(count)
    owner[coincident[:, 0]] = coincident[:, 2]
    shared: Floats = (diagram.cells / np.bincount(owner, minlength=count).clip(1))[owner]
    return shared


def _checked(cells: Floats, domain: float, remedy: str) -> Floats:
    if not (cells > 0).all() or abs(cells.sum() / domain - 1) > ROUNDING:
        raise indistinct(len(cells), remedy)
    return cells
