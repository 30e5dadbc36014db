"""Figures of published graphs, drawn with matplotlib, an extra.

Importing this package loads matplotlib's name only; each public name loads its module on first use.

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
    from cheblienet_graphs.figures.opened import open_graph
    from cheblienet_graphs.plot.catalogue import FIGURES, figure_named
    from cheblienet_graphs.plot.figure import Asked, Figure
    from cheblienet_graphs.plot.files import write_figure
    from cheblienet_graphs.plot.svg import svg_of

_PUBLIC = {
    "FIGURES": "plot.catalogue",
    "Asked": "plot.figure",
    "Figure": "plot.figure",
    "figure_named": "plot.catalogue",
    "open_graph": "figures.opened",
    "svg_of": "plot.svg",
    "write_figure": "plot.files",
}

__all__ = [
    "FIGURES",
    "Asked",
    "Figure",
    "figure_named",
    "open_graph",
    "svg_of",
    "write_figure",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cheblienet_graphs.{_PUBLIC[name]}"), name)
