"""Pictures of signals on the base: which point each pixel shows, and how they are drawn."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import mean

from cheblienet_graphs.plot.figure import DIVERGING, FAINT, SEQUENTIAL, Axes, Image, Part
from cheblienet_graphs.plot.places import Places
from cheblienet_graphs.typing import Floats, Indices

FINE = 96
"""Most pixels of a picture along a side; larger lattices are thinned out."""
NUMBERS = 3
"""Most intervals between the numbers of an axis of a picture."""
CONTOUR = "#ffffffcc"
"""Color of lines of equal values, readable on all colors of the pictures."""
SHOWN = 6
"""Most orientations that a figure shows side by side."""
SMALL = 6.5
"""Points of the names of axes in space, which stand close beside each other."""


@dataclass(frozen=True, eq=False)
class View:
    """A picture of points of the base.

    Args:
        points: (rows, columns) the point that each pixel shows; -1 where there is none.
        extent: left, right, bottom, top of the picture, from its middle, in the visible unit; y
            grows downwards.
        across, down: names of the axes; empty where positions on the picture are no lengths.
        plane: the slice of a volume that it shows; empty where there is but one picture.
    """

    points: Indices
    extent: tuple[float, float, float, float]
    across: str
    down: str
    plane: str = ""

    @property
    def ratio(self) -> float:
        """Its height over its width."""
        left, right, bottom, top = self.extent
        return (bottom - top) / (right - left)

    def of(self, values: Floats) -> Floats:
        """(..., rows, columns) values (..., points) as pixels; NaN where there is no point."""
        return np.where(self.points >= 0, values[..., self.points], np.nan)


def around(places: Places, point: int, reach: float) -> list[View]:
    """Pictures of what is within some spacings of a point: one, of a volume three slices.

    Args:
        places: the points.
        point: in the middle, at 0, 0.
        reach: half of the pictures' sides, in spacings.
    """
    lattice = places.lattice
    if lattice is None:
        count = min(FINE, 8 * int(reach) + 1)
        spans = [((np.arange(count) + 0.5) / count * 2 - 1) * reach] * 2
    else:
        spans = [
            _pixels(side, max(1, round(int(reach) / length)), periodic=lattice.periodic) * length
            for side, length in zip(lattice.shape[::-1], lattice.sides[::-1], strict=True)
        ]
    return _slices(places, places.vectors[point], spans)


def _pixels(side: int, most: int, *, periodic: bool) -> Floats:
    """Steps up to the most both ways, on a periodic axis at most once around."""
    if periodic and 2 * most + 1 > side:
        return np.arange(side, dtype=np.float64) - side // 2
    return np.arange(-most, most + 1, dtype=np.float64)


def whole(places: Places, fine: int = FINE) -> list[View]:
    """Pictures of all points: one, of a volume three slices through the middle.

    The sphere is drawn by Mollweide's map, which keeps areas: north up, longitude 0 in the middle.

    Args:
        places: the points.
        fine: most pixels along a side, of the sphere's from pole to pole.
    """
    lattice, size = places.lattice, places.size
    if size is None:
        return [_cropped(_mollweide(places, fine))]
    if lattice is None:
        pixel = float(size.max()) / fine
        counts = [max(1, round(side / pixel)) for side in size]
        return _slices(places, size / 2, [(np.arange(n) - (n - 1) / 2) * pixel for n in counts])
    lengths = np.array(lattice.sides[::-1])
    step = -(-max(lattice.shape) // fine)
    middle = np.array(lattice.shape[::-1]) // 2
    pixels = [np.arange(min(step, side) // 2, side, step) for side in lattice.shape[::-1]]
    spans = [(p - m) * a for p, m, a in zip(pixels, middle, lengths, strict=True)]
    return _slices(places, middle * lengths, spans)


def _slices(places: Places, here: Floats, spans: list[Floats]) -> list[View]:
    """A picture for each pair of directions, at offsets along these from a place."""
    names, views = places.directions, []
    for across, down in itertools.combinations(range(len(spans)), 2):
        columns, rows = spans[across], spans[down]
        offsets = np.zeros((len(rows), len(columns), len(spans)))
        offsets[:, :, across], offsets[:, :, down] = columns, rows[:, None]
        seen = places.nearest(places.at(here, offsets.reshape(-1, len(spans))))
        left, right, top, bottom = (
            end * places.visible for span in (columns, rows) for end in _ends(span)
        )
        [*rest] = {0, 1, 2}.difference((across, down)) if len(spans) > 2 else ()
        lengths = places.lattice.sides[::-1] if places.lattice else ()
        views.append(
            View(
                seen.reshape(len(rows), len(columns)),
                (left, right, bottom, top),
                f"{names[across]} ({places.unit})",
                names[down],
                "".join(f"{names[axis]} = {round(here[axis] / lengths[axis])}" for axis in rest),
            )
        )
    return views


def _ends(span: Floats) -> tuple[float, float]:
    """Half a step beyond the first and the last."""
    half = float(span[1] - span[0]) / 2 if len(span) > 1 else 0.5
    return float(span[0]) - half, float(span[-1]) + half


def _mollweide(places: Places, fine: int) -> View:
    """The whole sphere in an ellipse twice as wide as high."""
    x = (np.arange(2 * fine) + 0.5) / fine - 1
    y = (np.arange(fine) + 0.5) / fine * 2 - 1
    across, down = np.meshgrid(x, y)
    inside = across**2 + down**2 < 1
    angle = np.arcsin(-down)
    sine = np.clip((2 * angle + np.sin(2 * angle)) / np.pi, -1, 1)
    cosine = np.sqrt(1 - sine**2)
    longitude = np.where(inside, np.pi * across / np.maximum(np.cos(angle), 1e-9), 0.0)
    seen = np.stack([cosine * np.cos(longitude), cosine * np.sin(longitude), sine], axis=-1)
    numbers = places.nearest(seen.reshape(-1, 3) * places.radius).reshape(inside.shape)
    return View(np.where(inside, numbers, -1), (-2.0, 2.0, 1.0, -1.0), "", "")


def _cropped(view: View) -> View:
    """The part of a picture that shows points."""
    down, across = (np.flatnonzero((view.points >= 0).any(axis=axis)) for axis in (1, 0))
    if not len(down):
        return view
    left, right, bottom, top = view.extent
    height, width = view.points.shape
    x = left + (right - left) * np.array([across[0], across[-1] + 1]) / width
    y = top + (bottom - top) * np.array([down[0], down[-1] + 1]) / height
    kept = view.points[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
    extent = (float(x[0]), float(x[1]), float(y[1]), float(y[0]))
    return View(kept, extent, view.across, view.down, view.plane)


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture of a signal on the base.

    Args:
        title: above it.
        view: which point each pixel shows.
        values: (points,) of the signal.
        ticks: whether its axes have names and numbers.
    """

    title: str
    view: View
    values: Floats
    ticks: bool = False


def row_of(
    view: View, signals: Sequence[Floats] | Floats, titles: Sequence[str] = ()
) -> list[Panel]:
    """Pictures of several signals (points,) from the same points; without titles unless given."""
    named = zip(titles or [""] * len(signals), signals, strict=True)
    return [Panel(title, view, signal) for title, signal in named]


def draw_panels(
    canvas: Part,
    rows: Sequence[Sequence[Panel]],
    labels: Sequence[str],
    bar: str,
    *,
    signed: bool = False,
    levels: Sequence[float] = (),
    further: int = 0,
    small: bool = False,
    **given: Any,
) -> Sequence[Axes]:
    """Draw rows of pictures in one scale, with labels and the color bar.

    Signals are shares of the largest: in [0, 1], or in [-1, 1] where they are signed.

    Args:
        canvas: empty figure.
        rows: the pictures.
        labels: left of the rows; none where there is nothing to say.
        bar: label of the color bar, with its unit.
        signed: whether signals have both signs.
        levels: of lines of equal values, ascending.
        further: axes right of each row that stay empty.
        small: whether titles are long, as for axes in space.
        given: of the bar, as of matplotlib's `Figure.colorbar`.

    Returns:
        The further axes, row by row.
    """
    from matplotlib.colors import Normalize

    columns = max(map(len, rows))
    colors, norm = (DIVERGING, Normalize(-1, 1)) if signed else (SEQUENTIAL, Normalize(0, 1))
    size: dict[str, Any] = {"size": SMALL} if small else {}  # else as the user has set it
    grid = canvas.subplots(len(rows), columns + further, squeeze=False)
    for axes in grid[:, :columns].flat:
        axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
        axes.spines[:].set_visible(False)
    for cells, panels in zip(grid, rows, strict=True):
        for axes, panel in zip(cells, panels, strict=False):
            image = _draw_panel(axes, panel, norm, colors)
            axes.set_title(panel.title, pad=3, **size)
            _draw_contours(axes, panel, levels)
    for axes, label in zip(grid[:, 0], labels, strict=False):
        axes.set_ylabel(f"{label}\n{axes.get_ylabel()}".strip(), labelpad=2, **size)
    color_bar(canvas, image, list(grid[:, :columns].flat), bar, **given)
    return list(grid[:, columns:].flat)


def _draw_panel(axes: Axes, panel: Panel, norm: Any, colors: str) -> Image:
    view = panel.view
    if panel.ticks:
        axes.spines[["left", "bottom"]].set_visible(True)
        axes.tick_params(left=True, bottom=True, labelleft=True, labelbottom=True, length=3)
        axes.locator_params(nbins=NUMBERS)
        axes.set_xlabel(view.across, labelpad=1)
        axes.set_ylabel(view.down, labelpad=1)
    look = {"cmap": colors, "norm": norm, "interpolation": "nearest"}
    return axes.imshow(view.of(panel.values), extent=view.extent, **look)


def _draw_contours(axes: Axes, panel: Panel, levels: Sequence[float]) -> None:
    """Draw lines of equal values on a picture; between points these are interpolated."""
    view, drawn = panel.view, panel.view.of(panel.values)
    if not levels or min(drawn.shape) < 2 or not np.nanmax(drawn, initial=0.0) > levels[0]:
        return
    shown = np.unique(view.points)
    look = {"levels": levels, "colors": CONTOUR, "linewidths": 0.8}
    if len(shown) == view.points.size:
        axes.contour(drawn, extent=view.extent, origin="upper", **look)
        return
    # Several pixels show a point: it stands at their middle.
    shown = shown[shown >= 0]
    left, right, bottom, top = view.extent
    height, width = drawn.shape
    down, across = (mean(pixel, view.points, shown) for pixel in np.indices(drawn.shape))
    x = left + (across + 0.5) * (right - left) / width
    y = top + (down + 0.5) * (bottom - top) / height
    places = np.stack([x, y], axis=1)
    if np.linalg.matrix_rank(places - places.mean(axis=0)) == 2:  # else they span no triangle
        axes.tricontour(*places.T, panel.values[shown], **look)


def lines(axes: Axes, ends: Floats, color: str, widths: Any, **given: Any) -> None:
    """Draw lines between pairs of places.

    Args:
        axes: to draw on.
        ends: (N, 2, 2) of x and y.
        color: of all.
        widths: one, or one for each, in points.
        given: as of matplotlib's `LineCollection`.
    """
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(list(ends), colors=color, linewidths=widths, **given))


def color_bar(canvas: Part, image: Image, axes: Sequence[Axes], label: str, **given: Any) -> None:
    """Draw the color bar of the pictures on some axes.

    Args:
        canvas: the figure.
        image: one of the pictures.
        axes: of all pictures, beside which the bar stands.
        label: of the colors, with its unit.
        given: as of matplotlib's `Figure.colorbar`.
    """
    place: dict[str, Any] = {"fraction": 0.05, "pad": 0.02} | given
    canvas.colorbar(image, ax=axes, label=label, **place).outline.set_edgecolor(FAINT)


def shown_orientations(count: int, *, most: int = SHOWN, through: int = 0) -> Indices:
    """The orientations that a figure shows: all, or some, evenly spread, with a given one."""
    step = -(-count // most)
    return np.arange(through % step, count, step)
