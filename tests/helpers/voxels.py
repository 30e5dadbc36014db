"""Graphs of voxels on which weights differ by axis, since their sides do."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Pyramid, open_store

Shape = tuple[int, int, int]


def places(shape: Shape) -> np.ndarray:
    """(D H W, 3) whole numbers x, y, z of the voxels in the order of vertices."""
    return np.indices(shape).reshape(3, -1)[::-1].T.copy()


def pyramid_of_voxels(
    shape: Shape, sides: Sequence[float] = (1, 1, 1), *, periodic: bool = False, levels: int = 1
) -> Pyramid:
    """Levels of half as many voxels each way; what is mapped outlives its files."""
    boundary = "periodic" if periodic else "open"
    spec = GraphSpec("r3", shape[::-1], spacing=sides, boundary=boundary, levels=levels)
    with tempfile.TemporaryDirectory() as folder:
        build(spec, folder, name="voxels")
        return open_store(Path(folder))["voxels"]
