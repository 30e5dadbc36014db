"""Directions across an axis in space, chosen so that a reader can name them."""

import numpy as np

from cheblienet_graphs.manifolds.r3s2 import directions_across
from cheblienet_graphs.typing import Floats

LEVEL = 1e-6
"""Length of an axis across z below which it is z."""


def axis_frame(axis: Floats) -> Floats:
    """(3, 3) a right-handed frame, as rows: an axis in space, and two directions across it.

    The first of these is across z, too; x where the axis is z itself.

    Args:
        axis: (3,) unit vector.
    """
    level = np.array([-axis[1], axis[0], 0.0])
    length = float(np.linalg.norm(level))
    level = level / length if length > LEVEL else np.array([1.0, 0.0, 0.0])
    return np.stack([axis, level, np.cross(axis, level)])


def to_the_frame(axis: Floats) -> Floats:
    """(5, 5) what takes logarithms at an axis from the manifold's directions to `axis_frame`'s.

    Args:
        axis: (3,) unit vector.
    """
    frame = axis_frame(axis)
    across: Floats = np.array(directions_across(tuple(frame[0].tolist())))
    turned: Floats = np.eye(5)
    turned[1:3, 1:3] = turned[3:, 3:] = frame[1:] @ across.T
    return turned
