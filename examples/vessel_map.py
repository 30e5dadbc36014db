"""Vessels of a fundus photograph, found without training.

Gabor filters along each orientation answer to dark lines; diffusion on SE(2), within the field of
view alone (a mask), joins what lies on one line and fades what does not; the maximum over
orientations and scales says how much of a vessel a pixel is. The picture that is written has the
green channel on the left and the vessels on the right.

    python examples/vessel_map.py PHOTOGRAPH VESSELS.png [--side 320] [--time 4]

Pictures are read and written by Pillow: pip install '.[images]' in a clone.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from arguments import duration, new_picture, positive, printable
from images import Image, read_picture
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from torch import Tensor

from cheblienet_graphs import CheblienetError, GraphSpec, open_or_build
from cheblienet_models import Graph, OrientedLift, Project, StoreError

DARK = 30
"""Red below this, of 255, is outside the field of view."""


def photograph(file: Path, side: int) -> tuple[Tensor, NDArray[np.bool_]]:
    """(H, W) green without slow changes, of deviation 1 in the field of view, and that field."""
    image = read_picture(file, "RGB")
    size = (max(1, round(image.width * side / image.height)), side)
    colors = np.asarray(image.resize(size, Image.Resampling.BOX), np.float32)
    field = colors[..., 0] > DARK
    if not field.any() or np.ptp(colors[field, 1]) == 0:
        raise ValueError(f"{file} has no field of view in which green changes.")
    green = np.where(field, colors[..., 1], np.float32(0))
    # Less the mean of what is near in the field: illumination varies, and outside, at 0, no step
    # is left that would look like a vessel.
    near = size[1] / 20
    share = gaussian_filter(field.astype(np.float32), near).clip(min=1e-6)
    green = np.where(field, green - gaussian_filter(green, near) / share, 0)
    return torch.from_numpy(green / green[field].std()), field


def field_graph(field: NDArray[np.bool_], store: Path) -> Graph:
    """Over the field of view alone; diffusion hardly leaves a line, nor its direction."""
    spec = GraphSpec(
        "se2",
        mask=field,
        orientations=12,
        eps_squared=0.01,
        alpha=10,
        weights="selling",
        levels=1,
    )
    return open_or_build(spec, store).levels[0]


@torch.no_grad()
def vesselness(graph: Graph, green: Tensor, time: float) -> Tensor:
    """(H, W) green -> (H, W), larger on dark lines 2 to 4 pixels wide, NaN outside the field.

    Args:
        graph: of the field of view.
        green: of the whole photograph.
        time: of diffusion, in squared pixels.
    """
    scores = OrientedLift(graph, "gabor", scales=(4.0, 8.0))(-green[None, None])
    scale = graph.eigenvalue_scale
    assert scale is not None  # each build stores it
    # The graph's unit of length is the width of the photograph.
    t = time / green.shape[1] ** 2 * scale
    diffused = graph.diffuse(scores, t, density=True, tolerance=1e-4)
    strongest = Project(graph, "max")(diffused).amax(1, keepdim=True)
    vessels: Tensor = graph.to_grid(strongest)[0, 0]
    return vessels


def main() -> None:
    """Write the green channel and, to its right, the vessels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photograph", type=Path, help="of a fundus, in colors")
    parser.add_argument("vessels", type=new_picture, help="to write: green and the vessels")
    parser.add_argument(
        "--side",
        type=positive,
        default=320,
        help="height it is reduced to, in pixels [%(default)s]",
    )
    parser.add_argument(
        "--time", type=duration, default=4, help="of diffusion, in squared pixels [%(default)s]"
    )
    arguments = parser.parse_args()
    green, field = photograph(arguments.photograph, arguments.side)
    with tempfile.TemporaryDirectory() as folder:
        graph = field_graph(field, Path(folder) / "graphs.zarr")
        vessels = vesselness(graph, green, arguments.time).numpy()
    # Black at the middle of the field's values, white at all but the largest.
    low, high = np.nanpercentile(vessels, [50, 99.5])
    pictures = (green.numpy() + 3) / 6, np.where(field, (vessels - low) / (high - low), 0)
    shown = np.uint8(np.rint(255 * np.clip(np.hstack(pictures), 0, 1)))
    Image.fromarray(shown).save(arguments.vessels)


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
