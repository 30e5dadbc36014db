"""Figure: the smallest eigenvalues beside the operator's, and their relative errors."""

from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.limits import EIGENPAIRS, integer
from cheblienet_graphs.measure.comparison import FURTHER, LARGE, unknown_spectrum
from cheblienet_graphs.measure.error_bars import error_bars
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.measure.opened_graph import OpenedGraph
from cheblienet_graphs.measure.spectra import exact_eigenvalues, first_eigenvalues
from cheblienet_graphs.plot.figure import FAINT, INK, SERIES, Asked, Axes, Canvas, Figure, sentences
from cheblienet_graphs.spec import words
from cheblienet_graphs.spectrum.lanczos import Eigenvalues
from cheblienet_graphs.typing import Floats, Indices

FEW = 16
"""Number of eigenvalues that are computed of `LARGE` graphs without stored ones; of others
`FURTHER`."""
LARGEST = 2**17
"""Most vertices, off periodic lattices, for computing eigenvalues that are not stored."""
MOST = 200
"""Stored eigenvalues that are shown."""
FLAT = 1e-4
"""Errors below this, relatively, are not stretched to the height of the axes."""


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
        components: components, as many as eigenvalues that are 0.
        vertices: of the graph.
        bars: (M,) estimated errors, in the operator's units, NaN where unknown; None without any.
    """

    values: Floats
    exact: Floats | None
    unknown: str | None
    scaled: bool
    method: str
    converged: bool
    components: int
    vertices: int
    bars: Floats | None = None

    @property
    def errors(self) -> Floats | None:
        """(M,) value / exact - 1, NaN where the exact one is 0; None without exact ones."""
        if self.exact is None or not self.scaled:
            return None
        return self.values / np.where(self.exact > 0, self.exact, np.nan) - 1

    @property
    def relative_bars(self) -> Floats | None:
        """(M,) estimated errors over the values, NaN at 0; None without any."""
        if self.bars is None:
            return None
        return self.bars / np.where(self.bars > 0, self.values, np.nan)

    @property
    def largest_error(self) -> float | None:
        """The largest |error|, 0 where the 0 alone is there; None where nothing can be compared."""
        return None if self.errors is None else float(np.nan_to_num(abs(self.errors)).max())


def spectrum_of(graph: OpenedGraph, level: int = 0, count: int | None = None) -> Spectrum:
    """The smallest eigenvalues of a graph: the stored ones, else computed.

    Args:
        graph: an opened graph.
        level: of its pyramid.
        count: how many, in [1, 1000]; default all that are stored, up to 200, else 25, and fewer of
            large graphs.

    Raises:
        SpecError: there is no such level, or the count is out of range.
        NotDrawnError: the graph is large, no count was given, and no eigenvalues are stored.
        StoreError: the graph can't be read.
    """
    arrays = graph.level(level)
    vertices = arrays.of_level.vertices
    if count is None:
        if not soon_computed(graph, level, 1):
            raise too_large(graph, level, FURTHER)
        count = FURTHER if vertices <= LARGE or _periodic(graph, level) else FEW
        if arrays.eigenvalues is not None:
            count = min(len(arrays.eigenvalues), MOST)
    count = min(integer("count", count, *EIGENPAIRS), vertices)
    eigenvalues = first_eigenvalues(arrays, count, lambda *_: None)
    scale = arrays.scale
    exact = exact_eigenvalues(arrays, count)
    unknown = unknown_spectrum(graph.spec) and (
        "no spectrum is known exactly "
        f"{'on a part of the domain' if graph.spec.mask else 'with an open boundary'}"
    )
    if scale is None:
        unknown = "the metric can be measured nowhere and nothing gives the operator's units"
    return Spectrum(
        eigenvalues.values * (1.0 if scale is None else scale),
        None if exact is None or scale is None else np.array(exact),
        unknown,
        scale is not None,
        eigenvalues.method,
        eigenvalues.converged,
        arrays.components,
        vertices,
        _bars(arrays, eigenvalues),
    )


def _bars(arrays: MeasuredLevel, eigenvalues: Eigenvalues) -> Floats | None:
    """(M,) estimated errors; None without any."""
    estimated = error_bars(arrays, eigenvalues)
    if estimated.unknown:
        return None
    missing = len(eigenvalues.values) - len(estimated.bars)
    return np.array([*estimated.bars, *[np.nan] * missing])


def soon_computed(graph: OpenedGraph, level: int, count: int) -> bool:
    """True if so many eigenpairs are stored, or can be computed in seconds."""
    arrays = graph.level(level)
    stored = arrays.eigenvalues
    vertices = arrays.of_level.vertices
    if stored is not None and len(stored) >= min(count, vertices):
        return True
    return vertices <= LARGEST or _periodic(graph, level)


def _periodic(graph: OpenedGraph, level: int) -> bool:
    lattice = graph.level(level).sampling.whole_lattice
    return lattice is not None and lattice.periodic


def too_large(graph: OpenedGraph, level: int, count: int) -> NotDrawnError:
    """Why eigenpairs are not computed."""
    vertices = graph.level(level).of_level.vertices
    return NotDrawnError(
        (
            f"Level {level} of {graph.name} has {vertices:,} vertices, more than {LARGEST:,}, "
            f"and no eigenpairs are stored. Build it with `eigenpairs={count!r}`, or draw a "
            "coarser `level`."
        ),
    )


def connected(graph: OpenedGraph, level: int, count: int) -> None:
    """Check that the smallest eigenvalues are not all 0, one for each component.

    Raises:
        NotDrawnError: they are.
    """
    parts = graph.level(level).components
    if parts >= count:
        raise NotDrawnError(
            f"{graph.name} has {parts:,} components on level {level}, so its {count} "
            "smallest eigenvalues are 0, with constants on these, and there is nothing to see."
        )


def draw_spectrum(data: Spectrum, ax: Axes, errors: "Axes | None" = None, unit: str = "") -> None:
    """Draw eigenvalues, and their relative errors on axes of their own.

    Args:
        data: of `spectrum_of`.
        ax: axes for the eigenvalues.
        errors: axes for the errors, with bars as long as estimated ones; nothing is drawn there
            where neither is known.
        unit: of the eigenvalues.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    number, below = np.arange(1, len(data.values) + 1), ax
    if data.exact is not None:
        ax.plot(number, data.exact, "o", color=INK, mfc="none", markersize=7, label="exact")
    ax.plot(number, data.values, "o", color=SERIES[0], markersize=3.5, label="this graph")
    ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1])
    ax.margins(x=0.03)
    ax.set_ylabel(f"eigenvalue{f' ({unit})' if unit else ''}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper left")
    if errors is not None and (data.errors is not None or data.bars is not None):
        below = errors
        far = max(FLAT, 1.15 * _draw_errors(data, number, errors))
        errors.axhline(0, color=FAINT, linewidth=0.8)
        errors.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        errors.set_ylim(-far, far)
        errors.set_ylabel("estimated error" if data.errors is None else "error")
        ax.tick_params(labelbottom=False)
    below.set_xlabel("number of the eigenvalue, by size")


def _draw_errors(data: Spectrum, number: Indices, axes: Axes) -> float:
    """Draw relative errors where they are known, and bars as far as estimates; the largest."""
    places = np.zeros(len(number)) if data.errors is None else data.errors
    farthest = float(np.nan_to_num(abs(places)).max())
    if data.errors is not None:
        axes.vlines(number, 0, np.nan_to_num(places), color=SERIES[0], linewidth=1.5)
        axes.plot(number, places, "o", color=SERIES[0], markersize=3.5)
    bars = data.relative_bars
    if bars is not None:
        axes.errorbar(number, places, bars, fmt="none", ecolor=SERIES[1], elinewidth=1, capsize=2)
        farthest = max(farthest, float(np.nan_to_num(abs(places) + bars).max()))
    return farthest


def unit_of(graph: OpenedGraph, *, scaled: bool) -> str:
    """The unit of eigenvalues: that of the operator, or Delta's own."""
    if not scaled:
        return "of Delta"
    return "per width²" if graph.spec.geometry.base.flat else "on the unit sphere"


def _draw(graph: OpenedGraph, asked: Asked, figure: Canvas) -> str:
    data = spectrum_of(graph, asked.level)
    connected(graph, asked.level, len(data.values))
    unit = unit_of(graph, scaled=data.scaled)
    if data.errors is None and data.bars is None:
        figure.set_size_inches(FIGURE.size[0], FIGURE.size[1] * 0.75)
        draw_spectrum(data, figure.subplots(), unit=unit)
    else:
        ax, errors = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        draw_spectrum(data, ax, errors, unit)
        figure.align_ylabels()
    compared = f"up to {words.percent(data.largest_error or 0.0)} off those of the operator"
    if data.unknown is not None:
        compared = f"drawn alone, as {data.unknown}"
    bars = data.relative_bars
    most = 0.0 if bars is None else float(np.nan_to_num(bars).max())
    return sentences(
        f"The {len(data.values)} smallest of {data.vertices:,} eigenvalues: {compared}.",
        bars is not None and f"Bars are estimated errors, up to {words.percent(most)}.",
        data.components > 1 and f"As many are 0 as there are components: {data.components:,}.",
        not data.converged and "The solver gave up, so they are approximate.",
        data.method == "lanczos" and "Copies of multiple ones may be missing.",
    )


FIGURE = Figure("spectrum", "The smallest eigenvalues", (6.0, 4.5), _draw)
