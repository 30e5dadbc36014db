"""Enhance noisy fiber orientation distributions and keep their crossings.

A distribution of fibers over positions and axes is diffused along them: two bundles that cross lie
apart there, so each is smoothed along itself and hardly across.

    python examples/enhance_fibers.py FOD.nii.gz MASK.nii.gz ENHANCED.nii.gz --basis tournier07

FOD.nii.gz is 4-D, the coefficients of even spherical harmonics, as MRtrix writes them with
`--basis tournier07`. dipy's are of descoteaux07_legacy unless it was told otherwise, and often of
functions in directions of the voxels: then give --voxel-directions. What is outside of the mask
becomes 0. Needs pip install '.[volumes]' in a clone.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from arguments import duration, printable
from numpy.typing import NDArray

from cheblienet_graphs import (
    CheblienetError,
    GraphSpec,
    Volume,
    open_or_build,
    read_mask,
    read_nifti,
    write_nifti,
)
from cheblienet_models import FromHarmonics, Graph, StoreError, ToHarmonics
from cheblienet_models.harmonics import BASES, Basis

AXES = {0: "12", 2: "12", 4: "22", 6: "43", 8: "ico81", 10: "ico81"}
"""Fewest axes that serve a degree, and tell bundles apart."""
TURNING = 0.02
"""Angular over spatial diffusion, squared radians over squared voxels."""


def voxel(mask: Volume) -> float:
    """Side of a voxel, the geometric mean of three, in the graph's unit, the volume's width."""
    x, y, z = mask.spacing
    return float((y * z / x**2) ** (1 / 3)) / mask.size[0]


def fiber_graph(mask: Volume, axes: str, store: Path) -> Graph:
    """Inside the mask; diffusion on it stays with a fiber and may turn a little."""
    xi = voxel(mask) / TURNING**0.5
    spec = GraphSpec(
        "r3s2", mask=mask, axes=axes, eps_squared=0.1, xi=xi, weights="selling", levels=1
    )
    return open_or_build(spec, store).levels[0]


@torch.no_grad()
def enhanced(
    graph: Graph, fibers: Volume, basis: Basis, time: float, *, world: bool
) -> NDArray[np.float32]:
    """(coefficients, D, H, W) -> the same, diffused for a time in the graph's unit, squared.

    Args:
        graph: inside a mask.
        fibers: the coefficients, of a basis.
        basis: of them.
        time: of diffusion.
        world: whether they are of functions in directions of the world.
    """
    degree = degree_of(fibers)
    affine = fibers.affine if world else None
    values = torch.from_numpy(np.asarray(fibers.values, np.float32)).flatten(1)
    assert graph.base_index is not None  # there is a mask
    inside = values[:, graph.base_index.long()][None, None]
    fields = FromHarmonics(graph, degree, basis, affine)(inside)
    scale = graph.eigenvalue_scale
    assert scale is not None  # each build stores it
    diffused = graph.diffuse(fields.flatten(2), time * scale, density=True, tolerance=1e-3)
    fitted = ToHarmonics(graph, degree, basis, affine)(diffused.view_as(fields))
    result: NDArray[np.float32] = graph.to_grid(fitted[0], fill=0)[0].numpy()
    return result


def degree_of(fibers: Volume) -> int:
    """The degree that has as many coefficients."""
    for degree in AXES:
        if (degree + 1) * (degree + 2) // 2 == len(fibers.values):
            return degree
    raise SystemExit(
        f"The distribution has {len(fibers.values)} coefficients; even degrees up to 10 have 1, 6, "
        "15, 28, 45 or 66."
    )


def new_volume(text: str) -> Path:
    """Where a volume can be written."""
    file = Path(text)
    if not file.name.lower().endswith((".nii", ".nii.gz")) or not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be .nii or .nii.gz, in a folder. Got {text}.")
    return file


def main() -> None:
    """Write the enhanced distribution."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fod", type=Path, help="coefficients of the distributions, NIfTI")
    parser.add_argument("mask", type=Path, help="of the brain, NIfTI")
    parser.add_argument("enhanced", type=new_volume, help="the file to write")
    parser.add_argument("--basis", choices=BASES, required=True, help="of the coefficients")
    parser.add_argument(
        "--time", type=duration, default=2, help="of diffusion, in squared voxels [%(default)s]"
    )
    parser.add_argument(
        "--voxel-directions",
        action="store_true",
        help="directions are those of the voxels, not of the world",
    )
    arguments = parser.parse_args()
    fibers = read_nifti(arguments.fod, 4)
    read_nifti(arguments.mask, 3, like=fibers)
    mask = read_mask(arguments.mask)
    assert isinstance(mask, Volume)  # as of all NIfTI
    with tempfile.TemporaryDirectory() as folder:
        axes = AXES[degree_of(fibers)]
        graph = fiber_graph(mask, axes, Path(folder) / "graphs.zarr")
        time = arguments.time * voxel(mask) ** 2
        world = not arguments.voxel_directions
        smooth = enhanced(graph, fibers, arguments.basis, time, world=world)
    write_nifti(arguments.enhanced, smooth, fibers.affine)


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {printable(error)}") from error
