"""Masked versions made from unmasked ones: sub-matrices by scipy, written file by file.

Shares no code with what builds or reads masked graphs, so it is the truth for both.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sealing import digest

from cheblienet_graphs import GraphSpec

Mask = Callable[[np.ndarray, tuple[int, ...]], np.ndarray]
"""From one orientation's coordinates (points, d) and the base shape to (points,) booleans."""


def children_inside(matrix: scipy.sparse.csr_matrix, fine: np.ndarray, n_o: int) -> np.ndarray:
    """(coarse points,) whether any child of one orientation is inside."""
    coarse = matrix.shape[0] // n_o
    return np.asarray(matrix[:coarse, : len(fine)] @ fine.astype(float)).ravel() > 0


def publish_masked(store: Path, name: str, masked: str, mask: Mask, **changes: Any) -> Path:
    """Publish a masked copy of a graph's first version under another name.

    Args:
        store: where both are.
        name: of the graph without a mask.
        masked: of the new one.
        mask: of the finest level; a coarse point is inside if any of its children is.
        changes: fields of the specification that differ.

    Returns:
        The new version's folder.
    """
    source = store / name / "v001"
    clg = json.loads((source / "zarr.json").read_bytes())["attributes"]["clg"]
    spec, facts = dict(clg["spec"], **changes), clg["levels"]
    grids = [fact["grid"] for fact in facts]
    coordinates = array(source / "levels/0/coordinates", 2)
    points = int(np.prod(grids[0][1:]))
    inside = [np.asarray(mask(coordinates[:points], tuple(grids[0][1:])), dtype=bool).ravel()]
    pools = [sparse(source / f"pooling/{n}to{n + 1}") for n in range(len(facts) - 1)]
    for pool, grid in zip(pools, grids, strict=False):
        inside.append(children_inside(pool, inside[-1], grid[0]))
    bits = inside[0].astype(np.uint8).tobytes()
    spec["mask"] = {
        "inside": [int(part.sum()) for part in inside],
        "sha256": hashlib.sha256(bits).hexdigest(),
    }
    out = Output(store / masked / "v001")
    kept = [np.flatnonzero(np.tile(p, g[0])) for p, g in zip(inside, grids, strict=True)]
    new_facts = [
        write_level(out, source, n, fact, inside[n], kept[n], spec["laplacian"])
        for n, fact in enumerate(facts)
    ]
    for n, pool in enumerate(pools):
        rows = pool[kept[n + 1]][:, kept[n]]
        areas = array(source / f"levels/{n}/area", 1)[kept[n]]
        out.csr(f"pooling/{n}to{n + 1}", normalised(pattern(rows).multiply(areas[None])))
        back = sparse(source / f"unpooling/{n + 1}to{n}")
        out.csr(f"unpooling/{n + 1}to{n}", normalised(back[kept[n]][:, kept[n + 1]]))
    for folder in ("levels", "pooling", "unpooling")[: 3 if pools else 1]:
        out.group(folder, {})
    clg |= {"schema": "1.1", "spec": spec, "spec_sha256": digest(spec), "levels": new_facts}
    clg["manifest"] = out.manifest
    clg["attributes_sha256"] = digest({k: v for k, v in clg.items() if k != "attributes_sha256"})
    document = {"attributes": {"clg": clg}, "zarr_format": 3, "node_type": "group"}
    (out.path / "zarr.json").write_text(json.dumps(document, indent=2))
    graph = {"attributes": {"clg": {"refs": {}}}, "zarr_format": 3, "node_type": "group"}
    (store / masked / "zarr.json").write_text(json.dumps(graph, indent=2))
    return out.path


def write_level(
    out: "Output",
    source: Path,
    number: int,
    fact: dict[str, Any],
    inside: np.ndarray,
    kept: np.ndarray,
    kind: str,
) -> dict[str, Any]:
    """Write the arrays of a level's vertices inside; return its facts."""
    folder, own = source / f"levels/{number}", f"levels/{number}"
    stored = sparse(folder / "laplacian").astype(float)
    degree, area = (array(folder / part, 1).astype(float) for part in ("degree", "area"))
    mass = np.sqrt(degree if kind == "normalized" else area)
    delta = (stored + scipy.sparse.eye(len(mass))) * (fact["lambda_max"] / 2)
    weights = -delta.multiply(mass[:, None]).multiply(mass[None]).tocsr()
    weights = weights[kept][:, kept]
    weights.setdiag(0)
    weights.eliminate_zeros()
    weights = (weights + weights.T) / 2
    area = area[kept] / area[kept].mean()
    degree = np.asarray(weights.sum(axis=1)).ravel()
    mass = degree if kind == "normalized" else area
    root = np.where(mass > 0, 1 / np.sqrt(np.where(mass > 0, mass, 1)), 0)
    scale = scipy.sparse.diags(root)
    delta = (scale @ (scipy.sparse.diags(degree) - weights) @ scale).tocsr()
    largest = 1.0001 * float(np.linalg.eigvalsh(delta.toarray())[-1]) if len(kept) > 1 else 1.0
    rescaled = (delta * (2 / largest)).tolil()
    rescaled.setdiag(rescaled.diagonal() - 1)
    out.csr(f"{own}/laplacian", with_whole_diagonal(rescaled.tocsr(), weights))
    out.array(f"{own}/degree", degree.astype("<f4"))
    out.array(f"{own}/area", area.astype("<f4"))
    out.array(f"{own}/coordinates", array(folder / "coordinates", 2)[kept])
    out.array(f"{own}/base_index", np.flatnonzero(inside).astype("<i4"))
    out.group(own, {})
    columns = sparse(folder / "laplacian").shape[0] // fact["grid"][0]
    rows, others = weights.nonzero()
    within = (kept[rows] // columns == kept[others] // columns).sum()
    return fact | {
        "vertices": len(kept),
        "nnz": len(kept) + weights.nnz,
        "edges": weights.nnz // 2,
        "isolated": int((degree == 0).sum()),
        "in_plane_fraction": float(within / max(1, weights.nnz)),
        "lambda_max": largest,
    }


def with_whole_diagonal(
    matrix: scipy.sparse.csr_matrix, weights: scipy.sparse.csr_matrix
) -> scipy.sparse.csr_matrix:
    """The matrix with an entry wherever there is a weight, and on the diagonal."""
    places = (abs(pattern(weights)) + scipy.sparse.eye(matrix.shape[0])).tocsr()
    places.sort_indices()
    rows, columns = places.nonzero()
    places.data = np.asarray(matrix[rows, columns]).ravel()
    return places


def pattern(matrix: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Ones where a matrix has entries."""
    ones = matrix.tocsr().copy()
    ones.data = np.ones_like(ones.data, dtype=float)
    return ones


def normalised(matrix: Any) -> scipy.sparse.csr_matrix:
    """With rows of sum 1."""
    rows = matrix.tocsr().astype(float)
    return scipy.sparse.diags(1 / np.asarray(rows.sum(axis=1)).ravel()) @ rows


def array(path: Path, dimensions: int) -> np.ndarray:
    """A stored array, read as plain bytes."""
    document = json.loads((path / "zarr.json").read_bytes())
    values = np.fromfile(path.joinpath("c", *["0"] * dimensions), document["data_type"])
    return values.reshape(document["shape"])


def sparse(path: Path) -> scipy.sparse.csr_matrix:
    """A stored CSR matrix."""
    shape = json.loads((path / "zarr.json").read_bytes())["attributes"]["shape"]
    parts = tuple(array(path / part, 1) for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_matrix(parts, shape=shape)


class Output:
    """Files of a version, and the manifest of what was written.

    Args:
        path: of the version.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.manifest = path, {}
        path.mkdir(parents=True)

    def array(self, key: str, values: np.ndarray) -> None:
        """Write an array as one raw chunk."""
        document = {
            "shape": list(values.shape),
            "data_type": values.dtype.name,
            "chunk_grid": {
                "name": "regular",
                "configuration": {"chunk_shape": [max(1, n) for n in values.shape]},
            },
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0.0 if values.dtype.kind == "f" else 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": {"encoding-type": "array", "encoding-version": "0.2.0"},
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        }
        self._write(f"{key}/zarr.json", json.dumps(document).encode(), f"{key}/zarr.json")
        chunk = "/".join([key, "c", *["0"] * values.ndim])
        self._write(chunk, np.ascontiguousarray(values).tobytes(), key)

    def csr(self, key: str, matrix: scipy.sparse.csr_matrix) -> None:
        """Write a CSR matrix in AnnData's encoding, values as float32."""
        matrix.sort_indices()
        attributes = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0"}
        self.group(key, attributes | {"shape": list(matrix.shape)})
        for part, dtype in (("data", "<f4"), ("indices", "<i4"), ("indptr", "<i4")):
            self.array(f"{key}/{part}", getattr(matrix, part).astype(dtype))

    def group(self, key: str, attributes: dict[str, Any]) -> None:
        """Write a zarr group's metadata, and that of the folder that it is in, if need be."""
        document = {"attributes": attributes, "zarr_format": 3, "node_type": "group"}
        self._write(f"{key}/zarr.json", json.dumps(document).encode(), f"{key}/zarr.json")

    def _write(self, name: str, contents: bytes, key: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)
        entry = {"sha256": hashlib.sha256(contents).hexdigest(), "nbytes": len(contents)}
        self.manifest[key] = entry


def disc(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The pixels or voxels about the centre of a box, less the ones in the middle: a ring."""
    sides = [np.arange(n) - (n - 1) / 2 for n in shape]
    radius = np.sqrt(sum(side**2 for side in np.meshgrid(*sides, indexing="ij")))
    return (radius < min(shape) / 2) & (radius > min(shape) / 8)


def north(coordinates: np.ndarray, _: tuple[int, ...]) -> np.ndarray:
    """The northern hemisphere and a bit more, the pole in it."""
    return coordinates[:, -2] < 1.7


def crescent(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A box without a corner: no symmetry maps it to itself."""
    inside = np.ones(shape, dtype=bool)
    inside[: shape[0] // 2 - 1, : shape[1] // 2] = False
    return inside


def half(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The upper half of a box."""
    return np.indices(shape)[0] < shape[0] // 2


def everything(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """All points."""
    return np.ones(shape, dtype=bool)


GRAPHS: dict[str, tuple[GraphSpec, Mask]] = {
    "ring": (GraphSpec("se2", 16, orientations=4, levels=2), disc),
    "crescent": (GraphSpec("se2", "12x10", orientations=2, weights="selling", levels=2), crescent),
    "half": (GraphSpec("se2", 8, orientations=2, levels=2), half),
    "all": (GraphSpec("r2", 8, levels=1), everything),
    "ball": (GraphSpec("r3", 8, levels=2), disc),
    "healpix": (GraphSpec("so3", nside=4, orientations=2, levels=2), north),
    "equiangular": (GraphSpec("s2", bandlimit=6, levels=2), north),
    "icosahedral": (GraphSpec("s2", subdivisions=2, levels=2), north),
}
"""By the name of the masked graph: what it was made from, and the mask."""
