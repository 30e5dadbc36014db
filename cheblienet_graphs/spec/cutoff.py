"""Cut-off radii of maps, relative to the spacing of the targets."""

from typing import Any

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError, Unquoted
from cheblienet_graphs.limits import number
from cheblienet_graphs.spec.graph_spec import GraphSpec


def cutoff_radius(source: GraphSpec, target: GraphSpec, factor: Any) -> float:
    """A factor times the largest distance of a target to its nearest other one.

    With a factor of at least 1 the balls around targets leave no gap between neighbors on even
    points. anemoi-graphs names its factor so.

    Args:
        source: of a map, without orientations.
        target: the same.
        factor: in [1e-3, 1e3].

    Returns:
        Radians of arc on the sphere, else widths of the domain.

    Raises:
        SpecError: the factor is out of range, there are orientations or one target alone, or the
            points of the target are known by digest alone.
    """
    times = number("cutoff_factor", factor, *limits.CUTOFF)
    if source.geometry.oriented:
        found = Unquoted(f"{source.manifold}, where a metric says how far rotations are")
        raise SpecError("cutoff_factor", "of points without orientations", found, "Give `radius`.")
    return times * _largest_spacing(target)


def _largest_spacing(side: GraphSpec) -> float:
    """The largest distance between a point and the nearest other one."""
    from scipy.spatial import KDTree  # what reads stores does without

    sampling = side.full_sampling(0)
    points = sampling.base_points
    points = points if side.mask is None else points[side.mask.on_level(0)]
    if len(points) < 2:
        raise SpecError("cutoff_factor", "of two targets or more", Unquoted("one"))
    box = sampling.extent if side.periodic else None
    distances = KDTree(points, boxsize=box).query(points, k=2)[0][:, 1]
    far = float(distances.max())
    return far if side.geometry.base.flat else 2 * float(np.arcsin(min(1.0, far / 2)))
