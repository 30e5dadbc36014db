"""Draw the picture of docs/tutorials/ensemble.md: `python docs/images/ensemble.py ensemble.png`.

The blocks of that page are run, and their fields drawn. It takes half a minute.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from cheblienet_graphs.plot.figure import style

sys.path.insert(0, str(Path(__file__).parent))
from blocks import draw_page


def correlation(fields: Tensor, vertex: int) -> Tensor:
    """(1, 1, V) of each vertex with one, by draws (n, 1, V)."""
    values = fields - fields.mean(0)
    shared = (values * values[..., vertex : vertex + 1]).mean(0, keepdim=True)
    power = values.square().mean(0, keepdim=True)
    return shared / (power * power[..., vertex : vertex + 1]).sqrt()


def show(ax: Axes, field: Any, title: str, **how: Any) -> Any:
    """Draw a field on the grid, land gray."""
    ax.set(title=title, xticks=[], yticks=[])
    ax.set_facecolor("0.8")
    box = {"extent": (0, 360, -90, 90), "aspect": "auto", "interpolation": "nearest"}
    return ax.imshow(field, **box, **how)


def draw(path: Path, page: dict[str, Any]) -> None:
    """Draw the picture into a file."""
    land, degrees = page["land"], np.degrees(page["ocean"].coordinates.numpy())

    def grid(x: Tensor) -> np.ndarray:
        return np.where(land, np.nan, page["to_grid"](x)[0, 0].numpy())

    with style():
        figure = Figure(figsize=(9, 5), layout="constrained")
        above, below = figure.subfigures(2, height_ratios=(1.4, 1.7))
        axes = above.subplots(1, 3)
        signed = {"vmin": -1, "vmax": 1, "cmap": "RdBu_r"}
        for ax, way in zip(axes, ("around", "through"), strict=False):
            shown = grid(correlation(page[way], page["west"]))
            image = show(ax, shown, f"correlation, {way} land", **signed)
            ax.plot(degrees[page["west"], 1] % 360, 90 - degrees[page["west"], 0], "k.")
        above.colorbar(image, ax=axes[:2])
        limits = {"vmin": 0, "vmax": 4, "cmap": "cividis"}
        free = show(axes[2], grid(page["free"][None, None]), "variance without std", **limits)
        above.colorbar(free, ax=axes[2])
        for ax in axes:
            ax.set(xlim=(210, 340), ylim=(-60, 80))
        rows = below.subplots(2, 5)
        movies = page["frames"], page["by_scale"]
        for row, movie, name in zip(rows, movies, ("one time", "by scale"), strict=True):
            for ax, frame in zip(row, movie, strict=True):
                image = show(ax, grid(frame[:1]), "", vmin=-1.5, vmax=1.5, cmap="RdBu_r")
            row[0].set_ylabel(name)
        for number, ax in enumerate(rows[0]):
            ax.set_title(f"day {4 * number}")
        below.colorbar(image, ax=rows)
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw_page("ensemble", draw)
