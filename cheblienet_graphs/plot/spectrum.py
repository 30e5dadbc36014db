"""Figure: the smallest eigenvalues beside those of the operator, and their relative errors."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.errors import NotDrawnError, Remedy
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Figure
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.diagnostics import components
from cheblienet_graphs.report.spectra import exact_eigenvalues, first_eigenvalues
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.spec import words
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

COUNTS = ((2**15, 32), (2**17, 16))
"""Most vertices, and the eigenvalues that are computed of so many where none are stored."""
MANY = 32
"""Eigenvalues of larger graphs, computed on periodic lattices only: it takes seconds there."""
MOST = 200
"""Stored eigenvalues that are shown."""


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenvalues, ascending.

    Args:
        values: (M,) of the graph: in the operator's units where `scaled`, else of Delta.
        exact: (M,) of the operator; None where none are known.
        unknown: why none are known, or can't be compared; None where they are compared.
        scaled: whether the factor to the operator's units is known.
        method: by which they were found: "stored", "components", or a solver's.
        converged: whether the solver's residuals are small.
        components: connected components, as many as eigenvalues that are 0.
        vertices: of the graph.
    """

    values: Floats
    exact: Floats | None
    unknown: str | None
    scaled: bool
    method: str
    converged: bool
    components: int
    vertices: int

    @property
    def errors(self) -> Floats | None:
        """(M,) value / exact - 1, NaN where the exact one is 0; None without exact ones."""
        if self.exact is None or not self.scaled:
            return None
        none = np.full_like(self.values, np.nan)
        ratio = np.divide(self.values, self.exact, out=none, where=self.exact > 0)
        return ratio - 1

    @property
    def largest_error(self) -> float | None:
        """The largest |error|; None where nothing can be compared."""
        errors = self.errors
        if errors is None or not np.isfinite(errors).any():
            return None
        return float(np.nanmax(abs(errors)))


def spectrum_of(graph: OpenedGraph, level: int = 0, count: int | None = None) -> Spectrum:
    """The smallest eigenvalues of a graph: the stored ones, else computed.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        count: how many; default all that are stored, up to 200, else 32, and fewer of large
            graphs.

    Raises:
        SpecError: there is no such level.
        NotDrawnError: the graph is large, no count was given, and no eigenvalues are stored.
        StoreError: the graph can't be read.
    """
    arrays, spec, points = graph.level(level), graph.spec, graph.points(level)
    vertices = arrays.of_level.vertices
    count = min(_count(graph, level) if count is None else count, vertices)
    apart = components(arrays.laplacian)
    found = first_eigenvalues(arrays, count, apart, points, _silent)
    scale = graph.scale(level)
    exact = exact_eigenvalues(spec, graph.sampled(level), count)
    where = "on a part of the domain" if spec.mask is not None else "with an open boundary"
    unknown = None if exact is not None else f"no spectrum is known exactly {where}"
    if scale is None:
        unknown = "the metric can be measured nowhere and nothing gives the operator's units"
    return Spectrum(
        found.values * (1.0 if scale is None else scale),
        None if exact is None or scale is None else np.array(exact),
        unknown,
        scale is not None,
        found.method,
        found.converged,
        apart,
        vertices,
    )


def _count(graph: OpenedGraph, level: int) -> int:
    """The number of eigenvalues that are stored, or soon computed."""
    arrays, points = graph.level(level), graph.points(level)
    if arrays.eigenvalues is not None:
        return min(len(arrays.eigenvalues), MOST)
    vertices = arrays.of_level.vertices
    for most, count in COUNTS:
        if vertices <= most:
            return count
    if isinstance(points, Lattice) and points.periodic:
        return MANY
    raise NotDrawnError(
        f"Level {level} of {graph.name} has {vertices:,} vertices, whose eigenvalues take long "
        "to compute, and none are stored. Build it with ",
        Remedy("eigenpairs", MANY),
        ", or draw a coarser ",
        Remedy("level"),
        ".",
    )


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


FLAT = 1e-4
"""Errors below this, relatively, are not stretched to the height of the axes."""


def draw_spectrum(
    data: Spectrum,
    ax: "matplotlib.axes.Axes",
    errors: "matplotlib.axes.Axes | None" = None,
    unit: str = "",
) -> None:
    """Draw eigenvalues, and their relative errors on axes of their own.

    Args:
        data: of `spectrum_of`.
        ax: axes for the eigenvalues.
        errors: axes for the errors; nothing is drawn there where no spectrum is known.
        unit: of the eigenvalues.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    number = np.arange(1, len(data.values) + 1)
    if data.exact is not None:
        ax.plot(number, data.exact, "o", color=INK, mfc="none", markersize=7, label="exact")
    ax.plot(number, data.values, "o", color=SERIES[0], markersize=3.5, label="this graph")
    ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1])
    ax.margins(x=0.03)
    ax.set_ylabel(f"eigenvalue{f' ({unit})' if unit else ''}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper left")
    below = ax
    if errors is not None and data.errors is not None:
        errors.axhline(0, color=FAINT, linewidth=0.8)
        known = np.isfinite(data.errors)
        errors.vlines(number[known], 0, data.errors[known], color=SERIES[0], linewidth=1.5)
        errors.plot(number[known], data.errors[known], "o", color=SERIES[0], markersize=3.5)
        errors.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        far = max(FLAT, 1.15 * (data.largest_error or 0.0))
        low, high = float(np.nanmin(data.errors)), float(np.nanmax(data.errors))
        errors.set_ylim(-far if low < 0 else -far / 10, far if high > 0 else far / 10)
        errors.set_ylabel("error")
        ax.tick_params(labelbottom=False)
        below = errors
    below.set_xlabel("number of the eigenvalue, by size")


def unit_of(graph: OpenedGraph, data: Spectrum) -> str:
    """The unit of the eigenvalues: that of the operator, or Delta's own."""
    if not data.scaled:
        return "of Delta"
    return "per width²" if graph.spec.geometry.base.flat else "on the unit sphere"


def _draw(graph: OpenedGraph, asked: Asked, figure: "matplotlib.figure.Figure") -> str:
    data = spectrum_of(graph, asked.level)
    if data.components >= len(data.values):
        raise NotDrawnError(
            f"{graph.name} falls into {data.components:,} components, so that as many of its "
            "smallest eigenvalues are 0 and there is nothing to see."
        )
    unit = unit_of(graph, data)
    if data.errors is None:
        figure.set_size_inches(FIGURE.size[0], FIGURE.size[1] * 0.75)
        draw_spectrum(data, figure.subplots(), unit=unit)
    else:
        ax, errors = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        draw_spectrum(data, ax, errors, unit)
        figure.align_ylabels()
    return _caption(data)


def _caption(data: Spectrum) -> str:
    count = len(data.values)
    sentences = [f"The {count} smallest of {data.vertices:,} eigenvalues: {_finding(data)}."]
    if data.components > 1:
        sentences.append(
            f"The graph falls into {data.components:,} components, so as many eigenvalues are 0."
        )
    if data.scaled:
        sentences.append("They are in the operator's own units; nothing is fitted.")
    if data.method == "stored":
        sentences.append("They are those stored with the graph.")
    if not data.converged:
        sentences.append("The solver gave up, so they are approximate.")
    if data.method == "lanczos":
        sentences.append("Copies of multiple ones may be missing.")
    return " ".join(sentences)


def _finding(data: Spectrum) -> str:
    if data.unknown is not None:
        return f"drawn alone, as {data.unknown}"
    error = data.largest_error
    if error is None:
        return "only the 0 is there"
    return f"up to {words.percent(error)} off those of the operator"


FIGURE = Figure("spectrum", "The smallest eigenvalues and the exact ones", (6.0, 4.5), _draw)
