"""Geometry of the sampled manifold, told by what is stored instead of by the manifold's name."""

from collections.abc import Mapping
from typing import Any

from cheblienet_models.graphs.graph import Graph


def is_spherical(spec: Mapping[str, Any]) -> bool:
    """Whether the base is the sphere: sampled, and alone in having no boundary to specify."""
    return "sampling" in spec and "boundary" not in spec


def is_lattice(spec: Mapping[str, Any]) -> bool:
    """Whether the base is a flat box of pixels or voxels."""
    return spec.get("sampling") == "lattice" and "boundary" in spec


def is_oriented(graph: Graph, base_dimensions: int) -> bool:
    """Whether vertices have an orientation, which may be one alone, besides their place.

    Args:
        graph: of one level.
        base_dimensions: of the base: coordinates beyond these are an orientation's.
    """
    return graph.coordinates.shape[1] > base_dimensions
