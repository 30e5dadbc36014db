"""Figure: where the stored entries of a Laplacian are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.plot.figure import FAINT, SEQUENTIAL, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.sparse import row_blocks, rows
from cheblienet_graphs.spec.fibers import samples_of, title, word, words
from cheblienet_graphs.spec.words import percent
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import matplotlib.image

CELLS = 400
"""Most rows and columns of the picture."""
EMPTY = 0.25
"""Where the colors of stored entries begin; cells without one have the first color of all."""
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
    shown = np.where(data.density > 0, data.density, np.nan)
    least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
    norm = LogNorm(least if least < most else most / 10, most)
    side, count = data.vertices, data.orientations
    extent = 0, side, side, 0
    image = ax.imshow(shown, cmap=begun, norm=norm, extent=extent, interpolation="nearest")
    of_axes = len(data.samples[0]) > 1
    by = f", by {'axis' if of_axes else 'orientation'}" if 1 < count <= MOST_LABELS else ""
    names = [str(k) if of_axes else title(data.samples, k) for k in range(count)]
    for axis, line in ((ax.xaxis, ax.axvline), (ax.yaxis, ax.axhline)):
        axis.set_label_text(f"vertices{by}" if by else "vertex")
        axis.set_major_locator(MaxNLocator(6, integer=True))
        if by:
            axis.set_ticks((np.arange(count) + 0.5) * side / count, names)
            axis.set_tick_params(length=0)
            for limit in np.arange(1, count) * side / count:
                line(limit, color=FAINT, linewidth=0.4)
    if by and not of_axes and count > 8:
        ax.xaxis.set_tick_params(rotation=90)
    ax.spines[["left", "bottom"]].set_visible(False)
    return image


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    from matplotlib.ticker import LogLocator, NullFormatter

    data, spec = sparsity_of(graph, asked.level), graph.spec
    ax = figure.subplots()
    image = draw_sparsity(data, ax)
    text = (
        f"All but {percent(1 - data.zeros)} of the entries of the {data.vertices:,} x "
        f"{data.vertices:,} Laplacian are zeros, which are not stored; {data.stored:,} are."
    )
    if data.side > 1:
        bar = figure.colorbar(image, ax=ax, label="share of entries stored", shrink=0.8)
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        bar.ax.yaxis.set_major_formatter(lambda share, _: percent(share))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        text += f" A cell of the picture stands for {data.side:,} x {data.side:,} of them."
    if data.orientations > 1:
        text += (
            f" Blocks on the diagonal are edges at the same {word(spec)}, those beside it lead to "
            f"other {words(spec)}."
        )
    return text


FIGURE = Figure("sparsity", "The sparsity pattern of the Laplacian", (5.2, 4.6), _draw)
