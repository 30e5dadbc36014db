"""Small graphs of all kinds whose figures are tested, each built when it is first asked for."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot.opened import OpenedGraph, open_graph
from cheblienet_graphs.store.reader import edge_weights


def disc(side: int) -> npt.NDArray[np.bool_]:
    """A disc with a hole off its middle."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    hole = (x - side / 4) ** 2 + y**2 < (side / 12) ** 2
    return (x**2 + y**2 < (0.45 * side) ** 2) & ~hole


def ball(side: int) -> npt.NDArray[np.bool_]:
    """A ball that touches the sides."""
    z, y, x = np.mgrid[:side, :side, :side] - (side - 1) / 2
    return x**2 + y**2 + z**2 < (0.5 * side) ** 2


def islands() -> npt.NDArray[np.bool_]:
    """Two squares and a pixel that is alone."""
    inside = np.zeros((14, 14), bool)
    inside[1:6, 1:6] = inside[8:13, 8:13] = inside[2, 12] = True
    return inside


def own_points() -> npt.NDArray[np.float64]:
    return np.random.default_rng(0).uniform(size=(150, 2))


SPECS = {
    "plane": lambda: GraphSpec("r2", "20x16"),
    "flat torus": lambda: GraphSpec("r2", 32, weights="selling", boundary="periodic", levels=1),
    "space": lambda: GraphSpec("r3", "12x10x8", weights="selling", boundary="periodic", levels=2),
    "cube": lambda: GraphSpec("r3", 12, weights="selling", boundary="periodic", levels=1),
    "group": lambda: GraphSpec("se2", 24, orientations=4, levels=3),
    "torus": lambda: GraphSpec(
        "se2", 20, orientations=4, weights="selling", boundary="periodic", eigenpairs=9
    ),
    "torus base": lambda: GraphSpec("r2", 20, weights="selling", boundary="periodic", levels=1),
    "torus isotropic": lambda: GraphSpec(
        "se2", 20, orientations=4, weights="selling", boundary="periodic", eps=1, levels=1
    ),
    "odd": lambda: GraphSpec("se2", 12, orientations=1, levels=1),
    "tiny": lambda: GraphSpec("se2", 2, orientations=2, weights="selling", levels=1),
    "masked": lambda: GraphSpec("se2", orientations=4, mask=disc(24), weights="selling", levels=2),
    "islands": lambda: GraphSpec("r2", mask=islands(), levels=1),
    "random": lambda: GraphSpec("se2", points=200, orientations=3, levels=1),
    "own": lambda: GraphSpec("se2", coordinates=own_points(), orientations=3),
    "sphere": lambda: GraphSpec("s2", subdivisions=3),
    "grid": lambda: GraphSpec("s2", bandlimit=8),
    "rotations": lambda: GraphSpec("so3", subdivisions=2, orientations=4, levels=2),
    "region": lambda: GraphSpec(
        "so3", subdivisions=3, orientations=3, region=(-60, -30, 60, 50), levels=1
    ),
    "axes": lambda: GraphSpec(
        "r3s2", "8x6x6", axes=4, weights="selling", boundary="periodic", levels=2
    ),
    "ball": lambda: GraphSpec("r3s2", mask=ball(8), axes=3, weights="matched", levels=1),
    "scan": lambda: GraphSpec("r3s2", "4x4x2", axes="ico6", spacing=(1, 1, 2), levels=1),
}


@functools.cache
def opened(name: str) -> OpenedGraph:
    """One of `SPECS`, built."""
    store = _folder() / f"{name.replace(' ', '-')}.zarr"
    build(SPECS[name](), store, device="cpu")
    return open_graph(store)


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="cheblienet-pictured-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def generator(graph: OpenedGraph, level: int = 0) -> npt.NDArray[np.float64]:
    """(V, V) N^-1 (D - W), from the weights alone, of a graph without isolated vertices."""
    arrays = graph.level(level)
    weights = edge_weights(arrays.version, arrays.level).toarray()
    stiffness = np.diag(weights.sum(axis=1)) - weights
    return stiffness / arrays.mass.astype(np.float64)[:, None]


def dense(graph: OpenedGraph, level: int = 0) -> npt.NDArray[np.float64]:
    """(V, V) the stored Laplacian, rescaled."""
    matrix: scipy.sparse.csr_array = graph.level(level).laplacian
    return matrix.toarray().astype(np.float64)
