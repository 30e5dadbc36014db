"""The degrees of harmonics that a set of axes serves: that its values tell apart."""

import torch
from torch import Tensor

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.harmonics.bases import LARGEST, coefficients, harmonics_matrix
from cheblienet_models.harmonics.directions import axes_of

APART = 1e-3
"""Least ratio of the singular values of harmonics that axes tell apart; of graphs' sets 0.7."""


def largest_degree(axes: Graph | Tensor) -> int:
    """The largest degree up to which values on the axes give the coefficients back.

    Of graphs' sets 3 and 4 axes serve degree 0; 6, 7, 12, 13 and ico6 degree 2; 22 and ico21 degree
    4; 43 degree 6; ico81 degree 10: each as many coefficients as it has axes for.

    Args:
        axes: a graph on positions and axes, or (n_o, 3) unit vectors.

    Raises:
        ValueError: it is neither.
    """
    directions = axes_of(axes)
    served = 0
    for degree in range(2, LARGEST + 1, 2):
        if coefficients(degree) > len(directions) or not tells_apart(directions, degree):
            break
        served = degree
    return served


def check_served(axes: Tensor, degree: int) -> None:
    """Refuse a degree of which the axes do not give the coefficients back.

    Args:
        axes: (n_o, 3) unit vectors.
        degree: even.

    Raises:
        ValueError: the degree has more coefficients than there are axes, or the axes lie so that
            harmonics up to it look alike on them.
    """
    count, served = coefficients(degree), largest_degree(axes)
    if degree > served:
        more = "more than" if count > len(axes) else "which are not told apart by"
        raise ValueError(
            f"degree={degree} has {count} coefficients, {more} the {len(axes)} axes. The largest "
            f"degree that these serve is {served}; use it, or a graph of more axes."
        )


def tells_apart(axes: Tensor, degree: int) -> bool:
    """Whether harmonics up to a degree are independent on the axes."""
    values = torch.linalg.svdvals(harmonics_matrix(axes, degree, "descoteaux07"))
    return bool(values[-1] > APART * values[0])
