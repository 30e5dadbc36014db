"""Figures of published graphs: each is computed and drawn by a module.

Numbers (`..._of`) need no matplotlib, drawings (`draw_...`) do, which is an extra. In a notebook
both are apart, and axes are the reader's own:

    graph = open_graph("graphs.zarr", "se2-96x96x6")
    figure, (above, below) = pyplot.subplots(2, sharex=True)
    draw_spectrum(spectrum_of(graph), above, below)

A whole figure with its caption comes from `figure_named("spectrum").drawn(graph, Asked())`.
"""

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.plot import (
    eigenmaps,
    equivariance,
    heat,
    neighborhood_panels,
    sparsity,
    spectrum,
)
from cheblienet_graphs.plot.eigenmaps import draw_eigenmaps, eigenmaps_of
from cheblienet_graphs.plot.equivariance import draw_equivariance, equivariance_of
from cheblienet_graphs.plot.figure import Asked, Figure, svg_of, write_figure
from cheblienet_graphs.plot.heat import draw_heat, heat_of
from cheblienet_graphs.plot.neighborhood import neighborhood_of
from cheblienet_graphs.plot.neighborhood_panels import draw_neighborhood
from cheblienet_graphs.plot.sparsity import draw_sparsity, sparsity_of
from cheblienet_graphs.plot.spectrum import draw_spectrum, spectrum_of

FIGURES: tuple[Figure, ...] = (
    neighborhood_panels.FIGURE,
    spectrum.FIGURE,
    heat.FIGURE,
    equivariance.FIGURE,
    eigenmaps.FIGURE,
    sparsity.FIGURE,
)
"""In order of worth, which is that of the report; a new figure is a module and a line here."""

__all__ = [
    "FIGURES",
    "Asked",
    "Figure",
    "draw_eigenmaps",
    "draw_equivariance",
    "draw_heat",
    "draw_neighborhood",
    "draw_sparsity",
    "draw_spectrum",
    "eigenmaps_of",
    "equivariance_of",
    "figure_named",
    "heat_of",
    "neighborhood_of",
    "open_graph",
    "sparsity_of",
    "spectrum_of",
    "svg_of",
    "write_figure",
]


def figure_named(name: str) -> Figure:
    """The figure of a name.

    Raises:
        SpecError: there is none.
    """
    for figure in FIGURES:
        if figure.name == name:
            return figure
    raise SpecError("figure", f"one of {', '.join(known.name for known in FIGURES)}", name)
