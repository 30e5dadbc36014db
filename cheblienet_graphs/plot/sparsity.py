"""The sparsity pattern of a Laplacian."""

import math

import matplotlib as mpl
import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.sparsity import Sparsity, sparsity_of
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import FAINT, SEQUENTIAL
from cheblienet_graphs.spec.fibres import title, word, words

EMPTY = 0.25
"""Where the colours of stored entries begin; cells without one have the first colour of all."""
MOST_LABELS = 12


def draw_sparsity(data: Sparsity, ax: Axes) -> AxesImage:
    """Draw the pattern, rows downwards, with a label for each orientation's block of rows.

    Args:
        data: of `sparsity_of`.
        ax: axes to draw on.

    Returns:
        The image, for a colour bar.
    """
    colours = mpl.colormaps[SEQUENTIAL]
    begun = ListedColormap(colours(np.linspace(EMPTY, 1, 256))).with_extremes(bad=colours(0.0))
    there = data.density[data.density > 0]
    least, most = float(there.min()), float(there.max())
    norm = LogNorm(least if least < most else most / 10, most)
    side = data.vertices
    image = ax.imshow(
        np.where(data.density > 0, data.density, np.nan),
        cmap=begun,
        norm=norm,
        extent=(0, side, side, 0),
        interpolation="nearest",
    )
    if 1 < data.orientations <= MOST_LABELS:
        block = side / data.orientations
        middles = (np.arange(data.orientations) + 0.5) * block
        axes = len(data.samples[0]) > 1
        names = [str(k) if axes else title(data.samples, k) for k in range(data.orientations)]
        ax.set_xticks(middles, names, rotation=90 if data.orientations > 8 and not axes else 0)
        ax.set_yticks(middles, names)
        ax.tick_params(length=0)
        for limit in np.arange(1, data.orientations) * block:
            ax.axhline(limit, color=FAINT, linewidth=0.4)
            ax.axvline(limit, color=FAINT, linewidth=0.4)
        ax.set_xlabel(f"vertices, by {'axis' if axes else 'orientation'}")
        ax.set_ylabel(f"vertices, by {'axis' if axes else 'orientation'}")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_xlabel("vertex")
        ax.set_ylabel("vertex")
    ax.spines[["left", "bottom"]].set_visible(False)
    return image


def _draw(graph: OpenedGraph, asked: Asked, figure: matplotlib.figure.Figure) -> str:
    data = sparsity_of(graph, asked.level)
    ax = figure.subplots()
    image = draw_sparsity(data, ax)
    if data.side > 1:
        bar = figure.colorbar(image, ax=ax, label="share of entries stored", shrink=0.8)
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.3g} %"))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    zeros = 100 * data.zeros
    shown = f"{zeros:.{_digits(zeros)}f} %"
    text = (
        f"{shown} of the entries of the {data.vertices:,} x {data.vertices:,} Laplacian are zeros, "
        f"which are not stored; {data.stored:,} are."
    )
    if data.side > 1:
        text += f" A cell of the picture stands for {data.side:,} x {data.side:,} of them."
    if data.orientations > 1:
        text += (
            f" Blocks on the diagonal are edges at the same {word(graph.spec)}, those beside it "
            f"lead to other {words(graph.spec)}."
        )
    return text


def _digits(percent: float) -> int:
    """Decimals that tell a percentage from 100."""
    rest = 100 - percent
    return 1 if rest >= 0.1 else min(8, 1 - math.floor(math.log10(rest)))


FIGURE = Figure("sparsity", TITLES["sparsity"], (5.2, 4.6), _draw)
