"""Small graphs of all kinds, of which figures are drawn, and W of a level without the package."""

from pathlib import Path

import numpy as np
import zarr

from cheblienet_graphs import GraphSpec


def _disc(side: int) -> np.ndarray:
    """True within a disc off the middle."""
    y, x = np.indices((side, side))
    return (x - 0.4 * side) ** 2 + (y - 0.5 * side) ** 2 < (0.35 * side) ** 2


SPECS = {
    "plane": GraphSpec("r2", "9x7", levels=1),
    "torus": GraphSpec("r2", 12, boundary="periodic", eigenpairs=9, levels=1),
    "gaussian": GraphSpec("se2", 16, orientations=6, eps_squared=0.1, levels=1),
    "selling": GraphSpec(
        "se2", 12, orientations=8, weights="selling", eps_squared=0.1, boundary="periodic", levels=1
    ),
    "two": GraphSpec("se2", 12, orientations=2, levels=1),
    "sphere": GraphSpec("s2", subdivisions=2, levels=1),
    "rotations": GraphSpec("so3", subdivisions=2, orientations=4, levels=1),
    "region": GraphSpec("so3", subdivisions=2, orientations=4, region=(-60, -10, 60, 60), levels=1),
    "volume": GraphSpec("r3", "6x5x4", levels=1),
    "axes": GraphSpec(
        "r3s2", 5, axes=12, eps_squared=0.1, weights="selling", boundary="periodic", levels=1
    ),
    "unequal": GraphSpec("r3s2", "4x4x3", axes=7, spacing=(1, 1, 2), levels=1),
    "masked": GraphSpec("se2", mask=_disc(20), orientations=4, levels=1),
    "dust": GraphSpec("r2", mask=np.random.default_rng(0).random((16, 16)) < 0.25, levels=1),
    "own": GraphSpec("r2", coordinates=[np.random.default_rng(1).random((60, 2))]),
    "columns": GraphSpec("se2", 8, orientations=16, xi=1e-3, levels=1),
    "tiny": GraphSpec("r2", 2, neighbors=4, levels=1),
}


def dense_weights(store: Path, name: str) -> np.ndarray:
    """(V, V) -Delta_ij sqrt(n_i n_j) off the diagonal, from the arrays as zarr reads them."""
    version = zarr.open_group(store, mode="r")[name]["v001"]
    level = version["levels/0"]
    clg = dict(version.attrs)["clg"]
    of_laplacian = {key: level[f"laplacian/{key}"][:] for key in ("data", "indices", "indptr")}
    size = len(of_laplacian["indptr"]) - 1
    rescaled = np.zeros((size, size))
    row = np.repeat(np.arange(size), np.diff(of_laplacian["indptr"]))
    rescaled[row, of_laplacian["indices"]] = of_laplacian["data"]
    laplacian = (rescaled + np.eye(size)) * clg["levels"][0]["lambda_max"] / 2
    normal = clg["spec"]["laplacian"] == "normalized"
    mass = level["degree" if normal else "area"][:].astype(float)
    weights = -laplacian * np.sqrt(np.outer(mass, mass))
    np.fill_diagonal(weights, 0)
    return weights
