"""Small graphs of all kinds whose figures are tested, each built when it is first asked for."""

import functools
from pathlib import Path

import csr_truth
import masks
import numpy as np
import numpy.typing as npt
import zarr
from stores import folder

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.measure.opened_graph import OpenedGraph, open_graph


def disc(side: int) -> npt.NDArray[np.bool_]:
    """A disc with a hole off its middle."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return masks.disc(side, across=0.9 * side) & ((x - side / 4) ** 2 + y**2 >= (side / 12) ** 2)


def ball(side: int) -> npt.NDArray[np.bool_]:
    """A ball that touches the sides."""
    z, y, x = np.mgrid[:side, :side, :side] - (side - 1) / 2
    return x**2 + y**2 + z**2 < (0.5 * side) ** 2


GIVEN = np.random.default_rng(0).uniform(size=(150, 2))
SPECS = {
    "plane": GraphSpec("r2", "20x16"),
    "flat torus": GraphSpec("r2", 32, weights="selling", boundary="periodic", levels=1),
    "kernel torus": GraphSpec("r2", 12, boundary="periodic", eigenpairs=9, levels=1),
    "space": GraphSpec("r3", "12x10x8", weights="selling", boundary="periodic", levels=2),
    "cube": GraphSpec("r3", 12, weights="selling", boundary="periodic", levels=1),
    "volume": GraphSpec("r3", "6x5x4", levels=1),
    "group": GraphSpec("se2", 24, orientations=4, levels=3),
    "torus": GraphSpec(
        "se2", 20, orientations=4, weights="selling", boundary="periodic", eigenpairs=9
    ),
    "torus base": GraphSpec("r2", 20, weights="selling", boundary="periodic", levels=1),
    "torus isotropic": GraphSpec(
        "se2", 20, orientations=4, weights="selling", boundary="periodic", eps=1, levels=1
    ),
    "six": GraphSpec("se2", 16, orientations=6, eps_squared=0.1, levels=1),
    "columns": GraphSpec("se2", 8, orientations=16, period="2pi", xi=1e-3, levels=1),
    "odd": GraphSpec("se2", 12, orientations=1, levels=1),
    "tiny": GraphSpec("se2", 2, orientations=2, weights="selling", levels=1),
    "masked": GraphSpec(
        "se2", orientations=4, period="2pi", mask=disc(24), weights="selling", levels=2
    ),
    "islands": GraphSpec("r2", mask=masks.islands(), levels=1),
    "dust": GraphSpec("r2", mask=np.random.default_rng(0).random((16, 16)) < 0.25),
    "random": GraphSpec("se2", points=200, orientations=3, levels=1),
    "random torus": GraphSpec("r2", points=150, boundary="periodic", levels=1),
    "own": GraphSpec("se2", coordinates=GIVEN, orientations=3),
    "sphere": GraphSpec("s2", subdivisions=3),
    "grid": GraphSpec("s2", bandlimit=8),
    "rotations": GraphSpec("so3", subdivisions=2, orientations=4, levels=2),
    "region": GraphSpec("so3", subdivisions=3, orientations=3, region=(-60, -30, 60, 50), levels=1),
    "axes": GraphSpec("r3s2", "8x6x6", axes=4, weights="selling", boundary="periodic", levels=2),
    "twelve": GraphSpec(
        "r3s2", 5, axes=12, eps_squared=0.1, weights="selling", boundary="periodic", levels=1
    ),
    "ball": GraphSpec("r3s2", mask=ball(8), axes=3, weights="matched", levels=1),
    "scan": GraphSpec("r3s2", "4x4x2", axes="ico6", spacing=(1, 1, 2), levels=1),
}


@functools.cache
def opened(name: str) -> OpenedGraph:
    """One of `SPECS`, built."""
    store = folder() / f"{name.replace(' ', '-')}.zarr"
    build(SPECS[name], store, device="cpu")
    return open_graph(store)


def dense_weights(graph: OpenedGraph, level: int = 0) -> npt.NDArray[np.float64]:
    """(V, V) W, from the arrays as zarr reads them."""
    return csr_truth.dense_weights(zarr.open_group(Path(graph.version), mode="r"), level)


def generator(graph: OpenedGraph, level: int = 0) -> npt.NDArray[np.float64]:
    """(V, V) N^-1 (D - W), from the weights alone, of a graph without isolated vertices."""
    weights = dense_weights(graph, level)
    stiffness = np.diag(weights.sum(axis=1)) - weights
    return stiffness / graph.level(level).mass.astype(np.float64)[:, None]
