"""All figures, in the order in which the report shows them."""

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.plot import (
    degrees,
    eigenmaps,
    equivariance,
    heat,
    neighbourhood,
    pooling,
    sparsity,
    spectrum,
    subgraphs,
)
from cheblienet_graphs.plot.figure import Figure

FIGURES: tuple[Figure, ...] = (
    neighbourhood.FIGURE,
    spectrum.FIGURE,
    heat.FIGURE,
    equivariance.FIGURE,
    eigenmaps.FIGURE,
    pooling.FIGURE,
    subgraphs.FIGURE,
    degrees.FIGURE,
    sparsity.FIGURE,
)
"""In the order of TITLES; a new figure is a module beside this one, a line here and one there."""


def figure_named(name: str) -> Figure:
    """The figure of a name.

    Raises:
        SpecError: there is none.
    """
    for figure in FIGURES:
        if figure.name == name:
            return figure
    raise SpecError("figure", f"one of {', '.join(known.name for known in FIGURES)}", name)
