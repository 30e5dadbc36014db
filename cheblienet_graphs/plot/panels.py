"""Pictures of signals on the base, and the color bars beside them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.plot.figure import DIVERGING, FAINT
from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.plot.views import View
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import matplotlib.image

GAP = 16
"""Pictures of a mosaic are their own size over this apart."""
NUMBERS = 3
"""Most intervals between the numbers of an axis of a picture."""
SHOWN = 6
"""Most orientations that a figure shows side by side."""


def picture(
    axes: "matplotlib.axes.Axes",
    view: View,
    values: Floats,
    norm: Any,
    colors: str,
    *,
    title: str = "",
    ticks: bool = False,
) -> "matplotlib.image.AxesImage":
    """Draw a signal on the base.

    Args:
        axes: to draw on.
        view: which point each pixel shows.
        values: (points,) of the signal.
        norm: from values to colors.
        colors: name of the color map.
        title: above the picture.
        ticks: whether the axes have names and numbers.
    """
    image = axes.imshow(
        view.of(values),
        cmap=colors,
        norm=norm,
        extent=view.extent,
        interpolation="nearest",
        aspect="equal",
    )
    axes.set_title(title, pad=3)
    bare(axes)
    if ticks and view.across:
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(True)
        axes.tick_params(left=True, bottom=True, labelleft=True, labelbottom=True, length=3)
        axes.locator_params(nbins=NUMBERS)
        axes.set_xlabel(view.across, labelpad=1)
        axes.set_ylabel(view.down, labelpad=1)
    return image


def mosaic(
    axes: "matplotlib.axes.Axes",
    view: View,
    values: Floats,
    names: tuple[Sequence[str], Sequence[str]],
) -> "matplotlib.image.AxesImage":
    """Draw many signals in [-1, 1] as one image of rows and columns, far quicker than one by one.

    Args:
        axes: to draw on.
        view: which point each pixel of one signal shows.
        values: (rows, columns, points).
        names: of the rows and of the columns.
    """
    cells = view.of(values)
    rows, columns, height, width = cells.shape
    gap = max(1, max(height, width) // GAP)
    wide = np.full((rows, columns, height + gap, width + gap), np.nan)
    wide[:, :, :height, :width] = cells
    sheet = wide.transpose(0, 2, 1, 3).reshape(rows * (height + gap), -1)[:-gap, :-gap]
    left, right, bottom, top = view.extent
    aspect = abs((bottom - top) / height / ((right - left) / width))
    limits: dict[str, Any] = {"vmin": -1, "vmax": 1, "cmap": DIVERGING}
    image = axes.imshow(sheet, interpolation="nearest", aspect=aspect, **limits)
    bare(axes)
    axes.set_yticks(np.arange(rows) * (height + gap) + (height - 1) / 2, names[0])
    axes.set_xticks(np.arange(columns) * (width + gap) + (width - 1) / 2, names[1])
    axes.tick_params(labelleft=True, labeltop=True, pad=2, labelsize=9)
    return image


def bare(axes: "matplotlib.axes.Axes") -> None:
    """Leave out an axis' frame and numbers."""
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def color_bar(
    canvas: "matplotlib.figure.FigureBase",
    image: "matplotlib.image.AxesImage",
    axes: "Sequence[matplotlib.axes.Axes] | None",
    label: str,
    **given: Any,
) -> None:
    """Draw the bar that tells colors of the pictures on some axes.

    Args:
        canvas: the figure.
        image: one of the pictures.
        axes: of all pictures, beside which the bar stands; None where `given` has an axis for it.
        label: what the colors tell, with its unit.
        given: as of matplotlib's `Figure.colorbar`.
    """
    beside: dict[str, Any] = {} if axes is None else {"ax": axes, "fraction": 0.05, "pad": 0.02}
    bar = canvas.colorbar(image, label=label, **(beside | given))
    if axes is None:
        bar.ax.set_in_layout(False)
    bar.outline.set_edgecolor(FAINT)


def name_axes(axes: "matplotlib.axes.Axes", view: View, places: Places) -> None:
    """Write what the axes of a picture show, and in what unit."""
    axes.set_xlabel(f"{view.across} [{places.unit}]", labelpad=1)


def row_label(axes: "matplotlib.axes.Axes", text: str) -> None:
    """Write what a row of pictures shows, left of its first one and of its axis' name."""
    name = axes.get_ylabel()
    axes.set_ylabel(f"{text}\n{name}" if name else text, labelpad=2)


def shown_orientations(count: int, *, most: int = SHOWN, through: int = 0) -> Indices:
    """Those that a figure shows: all, or some, evenly spread, one given one among them."""
    step = -(-count // most)
    return np.arange(through % step, count, step)
