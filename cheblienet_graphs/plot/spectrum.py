"""The spectrum: eigenvalues beside the exact ones, and their relative errors below."""

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.spectrum import Spectrum, spectrum_of
from cheblienet_graphs.figures.titles import TITLES
from cheblienet_graphs.plot.figure import Asked, Figure
from cheblienet_graphs.plot.style import FAINT, INK, SERIES
from cheblienet_graphs.spec import words

FLAT = 1e-4
"""Errors below this, relatively, are not stretched to the height of the axes."""


def draw_spectrum(data: Spectrum, ax: Axes, errors: Axes | None = None, unit: str = "") -> None:
    """Draw eigenvalues, and their relative errors on axes of their own.

    Args:
        data: of `spectrum_of`.
        ax: axes for the eigenvalues.
        errors: axes for the errors; nothing is drawn there where no spectrum is known.
        unit: of the eigenvalues.
    """
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


def _draw(graph: OpenedGraph, asked: Asked, figure: matplotlib.figure.Figure) -> str:
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


FIGURE = Figure("spectrum", TITLES["spectrum"], (6.0, 4.5), _draw)
