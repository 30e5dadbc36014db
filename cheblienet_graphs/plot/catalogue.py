"""All figures, in the order in which the report shows them."""

from cheblienet_graphs.plot import eigenmaps, equivariance, heat, pooling
from cheblienet_graphs.plot.figure import Figure

FIGURES: tuple[Figure, ...] = (
    heat.FIGURE,
    equivariance.FIGURE,
    eigenmaps.FIGURE,
    pooling.FIGURE,
)
"""In order of worth; a new figure is a module beside this one and a line here."""
