"""Figure: where the stored entries of a Laplacian are."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.plot.figure import FAINT, SEQUENTIAL, Asked, Axes, Canvas, Figure, Image
from cheblienet_graphs.plot.pictures import color_bar
from cheblienet_graphs.sparse import row_blocks, rows
from cheblienet_graphs.spec.fibers import samples_of, title
from cheblienet_graphs.spec.words import percent
from cheblienet_graphs.typing import Floats

CELLS = 400
"""Most rows and columns of the picture."""
EMPTY = 0.25
"""Start of the colors of stored entries; cells without one have the first color of all."""
MOST_LABELS = 12


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
        row, column = rows(laplacian, start, stop).tocoo().coords
        cell = (row + start) // side * cells + column // side
        counts += np.bincount(cell, minlength=cells * cells)
    sizes = np.bincount(np.arange(vertices) // side)
    density = counts.reshape(cells, cells) / np.outer(sizes, sizes)
    return Sparsity(density, side, vertices, laplacian.nnz, samples_of(graph.spec))


def draw_sparsity(data: Sparsity, ax: Axes) -> Image:
    """Draw the pattern, rows downwards, with a label for each orientation's block of rows.

    Args:
        data: of `sparsity_of`.
        ax: axes to draw on.

    Returns:
        The image, for a color bar.
    """
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap, LogNorm

    colors = mpl.colormaps[SEQUENTIAL]
    begun = ListedColormap(colors(np.linspace(EMPTY, 1, 256))).with_extremes(bad=colors(0.0))
    shown = np.where(data.density > 0, data.density, np.nan)
    most, side, count = float(np.nanmax(shown)), data.vertices, len(data.samples)
    norm = LogNorm(min(float(np.nanmin(shown)), most / 10), most)
    extent = 0, side, side, 0
    image = ax.imshow(shown, cmap=begun, norm=norm, extent=extent, interpolation="nearest")
    ax.set(xlabel="vertex", ylabel="vertex")
    ax.locator_params(nbins=6, integer=True)
    if 1 < count <= MOST_LABELS:
        of_axes = len(data.samples[0]) > 1
        names = [str(k) if of_axes else title(data.samples, k) for k in range(count)]
        ax.set_yticks((np.arange(count) + 0.5) * side / count, names)
        ax.set_ylabel(f"vertices, by {'axis' if of_axes else 'orientation'}")
        limits = np.arange(1, count) * side / count
        ax.hlines(limits, 0, side, FAINT, linewidth=0.4)
        ax.vlines(limits, 0, side, FAINT, linewidth=0.4)
    ax.spines[["left", "bottom"]].set_visible(False)
    return image


def _draw(graph: OpenedGraph, asked: Asked, figure: Canvas) -> str:
    data = sparsity_of(graph, asked.level)
    ax = figure.subplots()
    image = draw_sparsity(data, ax)
    if data.side > 1:
        color_bar(figure, image, [ax], "share of entries stored", shrink=0.8)
    return (
        f"Stored are {data.stored:,} of {data.vertices:,} x {data.vertices:,} entries, "
        f"{percent(1 - data.zeros)}; cells of the picture have {data.side:,} x {data.side:,}."
    )


FIGURE = Figure("sparsity", "The sparsity pattern of the Laplacian", (5.2, 4.6), _draw)
