"""Figure: where the stored entries of a Laplacian are."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.plot.figure import FAINT, SEQUENTIAL, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.sparse import row_blocks, rows
from cheblienet_graphs.spec.fibres import samples_of, title, word, words
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import matplotlib.image

CELLS = 400
"""Most rows and columns of the picture."""


@dataclass(frozen=True)
class Sparsity:
    """The pattern of a Laplacian, as shares of entries that are stored.

    Args:
        density: (C, C) share of stored entries in each cell of the matrix; 0 or 1 where a cell is
            one entry.
        side: rows and columns of a cell; the last ones may have fewer.
        vertices: V, the matrix's rows and columns.
        stored: entries that are stored, the diagonal among them.
        samples: (n_o, f) angles in radians or axes in space, each a block of rows.
    """

    density: Floats
    side: int
    vertices: int
    stored: int
    samples: tuple[tuple[float, ...], ...]

    @property
    def orientations(self) -> int:
        """Blocks of rows, one after the other."""
        return len(self.samples)

    @property
    def zeros(self) -> float:
        """Share of the entries that are not stored."""
        return 1 - self.stored / self.vertices**2


def sparsity_of(graph: OpenedGraph, level: int = 0) -> Sparsity:
    """The pattern of a level's Laplacian, counted block by block.

    Args:
        graph: an opened graph.
        level: of its pyramid.

    Raises:
        SpecError: there is no such level.
        StoreError: the graph can't be read.
    """
    laplacian = graph.level(level).laplacian
    vertices = laplacian.shape[0]
    side = -(-vertices // CELLS)
    cells = -(-vertices // side)
    counts = np.zeros(cells * cells, np.int64)
    for start, stop in row_blocks(laplacian.indptr):
        block = rows(laplacian, start, stop)
        row = np.repeat(np.arange(start, stop), np.diff(block.indptr)) // side
        column = block.indices.astype(np.int64) // side
        counts += np.bincount(row * cells + column, minlength=cells * cells)
    sizes = np.bincount(np.arange(vertices) // side)
    density = counts.reshape(cells, cells) / np.outer(sizes, sizes)
    return Sparsity(density, side, vertices, laplacian.nnz, samples_of(graph.spec))


EMPTY = 0.25
"""Where the colors of stored entries begin; cells without one have the first color of all."""
MOST_LABELS = 12


def draw_sparsity(data: Sparsity, ax: "matplotlib.axes.Axes") -> "matplotlib.image.AxesImage":
    """Draw the pattern, rows downwards, with a label for each orientation's block of rows.

    Args:
        data: of `sparsity_of`.
        ax: axes to draw on.

    Returns:
        The image, for a color bar.
    """
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap, LogNorm
    from matplotlib.ticker import MaxNLocator

    colors = mpl.colormaps[SEQUENTIAL]
    begun = ListedColormap(colors(np.linspace(EMPTY, 1, 256))).with_extremes(bad=colors(0.0))
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


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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


FIGURE = Figure("sparsity", "The sparsity pattern of the Laplacian", (5.2, 4.6), _draw)
