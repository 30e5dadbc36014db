"""Whether a version still is what was published: every byte against its manifest."""

import hashlib
import json
import stat
from typing import Any

import torch

from cheblienet_models.errors import StoreError
from cheblienet_models.files import Document, Folder
from cheblienet_models.graph import Graph

STEPS = 64
"""Of the Chebyshev recursion with which the spectrum is probed."""
RESIDUAL = 1e-4
"""Largest |L v - mu v| of an eigenpair, L the rescaled Laplacian and v a unit vector."""
ORTHONORMAL = 1e-3
"""Largest relative change of a random vector under Phi^T Phi."""
BLOCK = 64
"""Eigenvectors that are multiplied at a time."""


def verify_files(version: Folder, attributes: Document) -> None:
    """Hash every file below a version and compare it with the manifest.

    Args:
        version: its folder.
        attributes: its own, attributes clg of its zarr.json.

    Raises:
        StoreError: anything is missing, added or changed; the message names the first such file.
    """
    rest = {key: value for key, value in attributes.items() if key != "attributes_sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != attributes.get("attributes_sha256"):
        raise StoreError(f"{version}/zarr.json has attributes that differ from their digest.")
    document = {"attributes": {"clg": attributes}, "zarr_format": 3, "node_type": "group"}
    if (version / "zarr.json").contents() != json.dumps(document, indent=2).encode():
        raise StoreError(f"{version}/zarr.json holds more or other text than was published.")
    manifest = attributes.get("manifest")
    if not isinstance(manifest, dict):
        raise StoreError(f"{version} has no manifest.")
    missing = {_file(version, key): entry for key, entry in manifest.items()}
    _verify_folder(version, "", missing)
    if missing:
        raise StoreError(f"{version}/{min(missing)} is missing.")


def verify_laplacian(graph: Graph) -> None:
    """Check what a recursion relies on: finite, symmetric, spectrum within [-1, 1].

    Outside [-1, 1] Chebyshev polynomials grow exponentially, so the spectrum is probed by applying
    them to a random vector, whose norm must not grow. Stored eigenpairs must be the Laplacian's,
    and orthonormal, which again a random vector tells.

    Raises:
        StoreError: one of them does not hold.
    """
    rows = torch.arange(graph.num_vertices).repeat_interleave(graph.row_pointers.diff())
    order = torch.argsort(graph.columns, stable=True)  # stable: rows stay ascending within a column
    transposed = (graph.columns[order], rows[order], graph.values[order])
    symmetric = all(
        map(torch.equal, transposed, (rows.to(graph.columns), graph.columns.to(rows), graph.values))
    )
    if not (graph.values.isfinite().all() and symmetric):
        raise StoreError(f"The Laplacian of {graph.label} is not finite and symmetric.")
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(graph.num_vertices, 1, generator=generator)
    previous, current = start, graph.laplacian @ start
    for _ in range(STEPS):
        previous, current = current, 2 * (graph.laplacian @ current) - previous
    if not current.norm() <= 1.01 * start.norm():
        raise StoreError(f"The Laplacian of {graph.label} has eigenvalues outside [-1, 1].")
    if graph.eigenvectors is not None:
        _verify_eigenpairs(graph)


def _verify_eigenpairs(graph: Graph) -> None:
    """Check L v = (2 lambda / lambda_max - 1) v, and Phi^T Phi y = y for a random y."""
    values, vectors = graph.eigenpairs
    rescaled = 2 * values / graph.lambda_max - 1
    for start in range(0, len(values), BLOCK):
        block = vectors[:, start : start + BLOCK]
        residuals = (graph.laplacian @ block - block * rescaled[start : start + BLOCK]).norm(dim=0)
        if not (residuals <= RESIDUAL).all():
            raise StoreError(f"The stored eigenpairs of {graph.label} are not its Laplacian's.")
    probe = torch.randn(len(values), 1, generator=torch.Generator().manual_seed(0))
    if not (vectors.T @ (vectors @ probe) - probe).norm() <= ORTHONORMAL * probe.norm():
        raise StoreError(f"The stored eigenvectors of {graph.label} are not orthonormal.")


def _file(version: Folder, key: str) -> str:
    """Path below the version of the file that a manifest key stands for."""
    if key.rpartition("/")[2] == "zarr.json":
        return key
    shape = (version / key).document().get("shape")
    return "/".join([key, "c", *["0"] * (len(shape) if isinstance(shape, list) else 1)])


def _verify_folder(version: Folder, path: str, missing: dict[str, Any]) -> None:
    folder = version / path if path else version
    for name, mode in folder.entries():
        where = f"{path}/{name}" if path else name
        if stat.S_ISDIR(mode) and any(file.startswith(f"{where}/") for file in missing):
            _verify_folder(version, where, missing)
        elif where != "zarr.json":
            _verify_file(version, where, missing.pop(where, None))


def _verify_file(version: Folder, where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise StoreError(f"{version}/{where} is not in the manifest.")
    digest, size = (version / where).sha256()
    if size != entry.get("nbytes") or digest != entry.get("sha256"):
        raise StoreError(f"{version}/{where} is not what was published.")
