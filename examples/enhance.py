"""Enhance the lines of a noisy picture and keep their crossings.

An oriented lift takes each pixel's line to the orientation along which it runs, so two lines that
cross lie apart on SE(2). Diffusion there runs along each line and hardly leaves it; the maximum
over orientations brings the lines back to the image. The sum would give a blur (see `Project`). The
picture that is written has the given one on the left and its lines on the right.

    python examples/enhance.py PICTURE ENHANCED.png [--time 32] [--dark]

Pictures are read and written by Pillow: pip install '.[images]' in a clone.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from arguments import duration, new_picture, printable
from images import Image, read_picture
from torch import Tensor

from cheblienet_graphs import CheblienetError, GraphSpec, open_or_build
from cheblienet_models import Graph, OrientedLift, Project, StoreError


def line_graph(width: int, height: int, store: Path) -> Graph:
    """On which diffusion stays on a line: eps = 0.1, and turning costs much (alpha = 40)."""
    spec = GraphSpec(
        "se2",
        (width, height),
        orientations=16,
        eps_squared=0.01,
        alpha=40,
        weights="selling",
        levels=1,
    )
    return open_or_build(spec, store).levels[0]


@torch.no_grad()
def enhanced(graph: Graph, picture: Tensor, time: float) -> Tensor:
    """(H, W) brightness -> (H, W) of its bright lines, diffused for a time in squared pixels.

    Along itself a line blurs by about sqrt(2 time) pixels.
    """
    scores = OrientedLift(graph)(picture[None, None])
    scale = graph.eigenvalue_scale
    assert scale is not None  # each build stores it
    # The graph's unit of length is the width of the picture.
    t = time / picture.shape[1] ** 2 * scale
    # With `density` constants stay constant; on a lattice, where all areas are 1, they do anyway.
    diffused = graph.diffuse(scores, t, density=True, tolerance=1e-4)
    lines: Tensor = Project(graph, "max")(diffused)
    return lines.view_as(picture)


def main() -> None:
    """Write the picture and, to its right, its lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path, help="that Pillow can read")
    parser.add_argument("enhanced", type=new_picture, help="to write: the picture and its lines")
    parser.add_argument(
        "--time", type=duration, default=32, help="of diffusion, in squared pixels [%(default)s]"
    )
    parser.add_argument("--dark", action="store_true", help="lines are darker than the ground")
    arguments = parser.parse_args()
    gray = np.asarray(read_picture(arguments.picture, "L"), np.float32) / 255
    if gray.min() == gray.max():
        raise ValueError(f"{arguments.picture} is of one gray: it has no lines.")
    picture = torch.from_numpy(1 - gray if arguments.dark else gray)
    with tempfile.TemporaryDirectory() as folder:
        graph = line_graph(gray.shape[1], gray.shape[0], Path(folder) / "graphs.zarr")
        lines = enhanced(graph, picture, arguments.time)
    lines = (lines - lines.min()) / (lines.max() - lines.min())
    both = np.hstack([gray, 1 - lines.numpy() if arguments.dark else lines.numpy()])
    Image.fromarray(np.uint8(np.rint(255 * both))).save(arguments.enhanced)


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
