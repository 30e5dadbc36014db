"""Figures of published graphs, drawn with matplotlib, an extra.

In a notebook data and drawing are apart, and axes are the reader's own:

    graph = open_graph("graphs.zarr", "se2-96x96x6")
    figure, (above, below) = pyplot.subplots(2, sharex=True)
    draw_spectrum(spectrum_of(graph), above, below)

A whole figure with its caption comes from `figure_named("spectrum").drawn(graph, Asked())`. Each
public name loads its module on first use.

Raises:
    CheblienetError: on import, where matplotlib is not installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import CheblienetError

try:
    import matplotlib as mpl  # noqa: F401
except ModuleNotFoundError as error:
    raise CheblienetError(
        f"Figures need matplotlib, which is not installed ({error.name}). "
        "Install it: pip install 'cheblienet[plot]', or pip install matplotlib."
    ) from error

if TYPE_CHECKING:  # __getattr__ tells type checkers nothing
    from cheblienet_graphs.figures.degrees import degrees_of
    from cheblienet_graphs.figures.neighbourhood import neighbourhood_of
    from cheblienet_graphs.figures.opened import open_graph
    from cheblienet_graphs.figures.sparsity import sparsity_of
    from cheblienet_graphs.figures.spectrum import spectrum_of
    from cheblienet_graphs.figures.subgraphs import subgraphs_of
    from cheblienet_graphs.plot.catalogue import FIGURES, figure_named
    from cheblienet_graphs.plot.degrees import draw_degrees, draw_weights
    from cheblienet_graphs.plot.figure import Asked, Figure
    from cheblienet_graphs.plot.files import write_figure
    from cheblienet_graphs.plot.neighbourhood import draw_neighbourhood, draw_planes, draw_rotation
    from cheblienet_graphs.plot.sparsity import draw_sparsity
    from cheblienet_graphs.plot.spectrum import draw_spectrum
    from cheblienet_graphs.plot.subgraphs import draw_subgraph
    from cheblienet_graphs.plot.svg import svg_of

_PUBLIC = {
    "FIGURES": "plot.catalogue",
    "Asked": "plot.figure",
    "Figure": "plot.figure",
    "degrees_of": "figures.degrees",
    "draw_degrees": "plot.degrees",
    "draw_neighbourhood": "plot.neighbourhood",
    "draw_planes": "plot.neighbourhood",
    "draw_rotation": "plot.neighbourhood",
    "draw_sparsity": "plot.sparsity",
    "draw_spectrum": "plot.spectrum",
    "draw_subgraph": "plot.subgraphs",
    "draw_weights": "plot.degrees",
    "figure_named": "plot.catalogue",
    "neighbourhood_of": "figures.neighbourhood",
    "open_graph": "figures.opened",
    "sparsity_of": "figures.sparsity",
    "spectrum_of": "figures.spectrum",
    "subgraphs_of": "figures.subgraphs",
    "svg_of": "plot.svg",
    "write_figure": "plot.files",
}

__all__ = [
    "FIGURES",
    "Asked",
    "Figure",
    "degrees_of",
    "draw_degrees",
    "draw_neighbourhood",
    "draw_planes",
    "draw_rotation",
    "draw_sparsity",
    "draw_spectrum",
    "draw_subgraph",
    "draw_weights",
    "figure_named",
    "neighbourhood_of",
    "open_graph",
    "sparsity_of",
    "spectrum_of",
    "subgraphs_of",
    "svg_of",
    "write_figure",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cheblienet_graphs.{_PUBLIC[name]}"), name)
