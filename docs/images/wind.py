"""Draw the picture of docs/tutorials/wind.md: `python docs/images/wind.py wind.png`.

The blocks of that page are run, and its networks' results drawn around the north pole, below the
wind. It takes half a minute.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from cheblienet_graphs.plot.figure import style
from cheblienet_models import VerticesToLatLon

sys.path.insert(0, str(Path(__file__).parent))
from blocks import draw_page

LATITUDES, LONGITUDES = np.linspace(89.5, 50.5, 40), np.arange(0, 360, 3.0)
SPARSE = 4


def seen(x: Tensor, grid: VerticesToLatLon) -> np.ndarray:
    """(lat, lon + 1) closed around the pole."""
    image = grid(x.detach())[0, 0].numpy()
    return np.concatenate([image, image[:, :1]], 1)


def draw(path: Path, page: dict[str, Any]) -> None:
    """Draw the picture into a file."""
    x, y = page["tests"]["poles"]
    northern = y[:, 0, page["beta"] < 0.6]
    shown = int((northern / northern.amax()).sqrt().mean(1).argmax())  # several vortices
    wind, networks = x[shown : shown + 1], page["networks"]
    with torch.no_grad():
        images = {"true": y[shown : shown + 1]}
        images |= {name: network(wind) for name, network in networks.items()}
    to_grid = VerticesToLatLon(page["pyramid"], LATITUDES, LONGITUDES)
    winds = VerticesToLatLon(page["pyramid"], LATITUDES, LONGITUDES, spin=1)(wind)[0].numpy()
    angle = np.radians(np.append(LONGITUDES, 360))
    with style():
        figure = Figure(figsize=(9, 3.1), layout="constrained")
        axes = figure.subplots(1, 3, subplot_kw={"projection": "polar"})
        titles = "vorticity, and the wind", "by the network on winds", "on two scalars"
        for ax, image, title in zip(axes, images.values(), titles, strict=True):
            limits = {"vmin": 0, "vmax": float(images["true"].max()), "cmap": "cividis"}
            mesh = ax.pcolormesh(angle, 90 - LATITUDES, seen(image, to_grid), **limits)
            ax.set(title=title, xticks=[], yticks=[])
        turns, distances = np.meshgrid(np.radians(LONGITUDES[::8]), 90 - LATITUDES[SPARSE::SPARSE])
        south, east = winds[:, SPARSE::SPARSE, ::8]
        along = south * np.cos(turns) - east * np.sin(turns)
        up = south * np.sin(turns) + east * np.cos(turns)
        axes[0].quiver(turns, distances, along, up, color="w", scale=25, width=0.006)
        figure.colorbar(mesh, ax=axes)
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw_page("wind", draw)
