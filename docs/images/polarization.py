"""Draw the picture of docs/tutorials/polarization.md: `python docs/images/polarization.py FILE`.

The blocks of that page are run, and their skies drawn.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from cheblienet_graphs.plot.figure import style
from cheblienet_models import VerticesToLatLon

sys.path.insert(0, str(Path(__file__).parent))
from blocks import draw_page

LATITUDES, LONGITUDES = np.linspace(89.5, 30.5, 60), np.arange(0, 360, 3.0)
WHOLE = np.linspace(89, -89, 90), np.arange(1, 360, 2.0)


def draw(path: Path, page: dict[str, Any]) -> None:
    """Draw the picture into a file."""
    polar = VerticesToLatLon(page["pyramid"], LATITUDES, LONGITUDES)
    grid = VerticesToLatLon(page["pyramid"], *WHOLE, skipna=True)
    smoothed = {"as spin 2": page["smoothed"], "as two scalars": page["apart"]}
    largest = float(page["modes"](page["smoothed"])[0, 0].abs().max())
    angle = np.radians(np.append(LONGITUDES, 360))
    with style():
        figure = Figure(figsize=(9, 5), layout="constrained")
        above, below = figure.subfigures(2, height_ratios=(1.5, 1))
        axes = above.subplots(1, 3, subplot_kw={"projection": "polar"})
        signed = {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"}
        shown = {"E modes": page["modes"](page["smoothed"])[:, :1]}
        for name, sky in smoothed.items():
            shown[f"B modes, smoothed {name}"] = page["modes"](sky)[:, 1:]
        for ax, (title, x) in zip(axes, shown.items(), strict=True):
            image = polar(x)[0, 0].numpy()
            closed = np.concatenate([image, image[:, :1]], 1)
            mesh = ax.pcolormesh(angle, 90 - LATITUDES, closed, **signed)
            ax.set(title=title, xticks=[], yticks=[])
        above.colorbar(mesh, ax=axes)
        for ax, (name, found) in zip(below.subplots(1, 3), page["ways"].items(), strict=True):
            error: Tensor = (found - page["truth"]).norm(dim=1, keepdim=True)
            error[..., page["galaxy"]] = float("nan")
            error = error / page["truth"].norm(dim=1).mean()
            ax.set(title=f"error, {name}", xticks=[], yticks=[])
            ax.set_facecolor("0.8")
            box = {"extent": (0, 360, -90, 90), "aspect": "auto", "interpolation": "nearest"}
            image = ax.imshow(grid(error)[0, 0].numpy(), **box, vmin=0, vmax=0.3, cmap="cividis")
        below.colorbar(image, ax=below.axes)
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw_page("polarization", draw)
