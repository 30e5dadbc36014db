"""Weights of lattices, and their second moments from inverse Jacobians.

The inverse Jacobians are checked against scipy's logm.
"""

from pathlib import Path

import numpy as np
import scipy.sparse
from csr_truth import edge_weights, mapped

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.weights.lattice import LatticeWeights

EPS = [0.1, 0.3162, 0.5, 1.0]
Sparse = scipy.sparse.csr_array


def inverse_metric(spec: GraphSpec, level: int = 0) -> np.ndarray:
    """R^-1, lengths in widths of the domain; xi^2 = alpha n_o h^2."""
    width = spec.size[0] >> level
    if isinstance(spec.xi, float):
        squared = spec.xi**2 * 4**level
    else:
        squared = spec.alpha * spec.orientations / width**2
    return np.diag([1, spec.eps**2, 1 / squared])


def deviation(moments: np.ndarray, inverse: np.ndarray, factor: np.ndarray) -> float:
    """Largest deviation of M_i / factor_i from R^-1, in units in which R is 1."""
    root = 1 / np.sqrt(np.diag(inverse))
    scaled = moments / np.asarray(factor)[..., None, None] * root[:, None] * root
    return float(abs(scaled - np.eye(len(root))).max())


def of_lattice(spec: GraphSpec) -> LatticeWeights:
    lattice = spec.full_sampling(0)
    assert isinstance(lattice, Lattice)
    return spec.weighting.on_lattice(spec, SampledManifold(lattice, spec.geometry, spec.metric(0)))


def offsets(weights: LatticeWeights) -> dict[tuple[int, ...], float]:
    """(i, dy, dx, j) -> weight, in space (i, dz, dy, dx, j)."""
    listed = {}
    for i, (stencil, values) in enumerate(zip(weights.stencils, weights.values, strict=True)):
        edges = np.column_stack([stencil.offsets, stencil.orientation])
        for edge, weight in zip(edges.tolist(), values.tolist(), strict=True):
            listed[i, *edge] = weight
        assert len(stencil) == len(values)
    return listed


def check_symmetric(listed: dict[tuple[int, ...], float], *, turned: bool = True) -> None:
    """Weights are positive, and both ends of an edge agree; as do edges that a half turn maps."""
    for (i, *offset, j), weight in listed.items():
        opposite = [-n for n in offset]
        assert weight > 0
        assert i != j or any(offset)
        assert listed[j, *opposite, i] == weight
        assert listed[i, *opposite, j] == weight
        assert not turned or listed[j, *offset, i] == weight


def stored(spec: GraphSpec, path: Path, **options: object) -> tuple[Path, tuple[dict, ...]]:
    """A build's version, and what it records of its levels."""
    built = build(spec, path / "g.zarr", **options)
    return path / "g.zarr" / built.name / built.version, built.levels


def weights_of(version: Path, level: int = 0) -> Sparse:
    """W of a level, positive; symmetric since the stored Laplacian is to the last bit."""
    laplacian = mapped(Folder(version / f"levels/{level}/laplacian"))
    assert laplacian.dtype == np.float32
    assert abs(laplacian - laplacian.T).max() == 0
    w = edge_weights(Folder(version), level)
    assert w.data.min() > 0
    assert abs(w - w.T).max() <= 1e-15 * w.max()
    return w


def difference(matrix_: Sparse, permutation: np.ndarray) -> float:
    return float(abs(matrix_[permutation][:, permutation] - matrix_).max())
