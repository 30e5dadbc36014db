"""Verification that a version is what was published, and that it agrees with itself."""

import hashlib
import json
import math
import stat
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.files import Document, Folder
from cheblienet_models.store.levels import Eigenpairs, Level
from cheblienet_models.tensors import csr_tensor


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


ROUNDING = 1e-6
"""Of sums of float32 numbers, in units of their terms."""
LARGEST = 1e100
"""Of numbers that are squared."""


def verify_spec(version: Folder, attributes: Document) -> None:
    """Check that a specification has the digest and the number of levels that are stated.

    Raises:
        StoreError: it has not.
    """
    spec, levels = attributes["spec"], attributes["levels"]
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != attributes.get("spec_sha256"):
        raise StoreError(f"{version} has a spec_sha256 that is not the digest of its spec.")
    if not _equal(spec.get("levels"), len(levels)):
        found = quoted(spec.get("levels"))
        raise StoreError(f"{version} has {len(levels)} levels; its spec says {found}.")


def verify_facts(spec: Document, facts: Document, level: Level) -> None:
    """Check the facts of a level against its arrays.

    Args:
        spec: of the version.
        facts: of the level.
        level: its arrays, the Laplacian symmetric.

    Raises:
        StoreError: one of them contradicts another or the arrays.
    """
    isolated, in_plane = _counted(level)
    counts = {
        "vertices": level.num_vertices,
        "nnz": len(level.laplacian.data),
        "edges": level.num_edges,
        "isolated": isolated,
    }
    for name, expected in counts.items():
        if not _equal(facts.get(name), expected):
            _refuse(level, name, expected, facts.get(name))
    if not _equal(spec.get("orientations"), level.orientations):
        _refuse(level, "orientations", level.orientations, spec.get("orientations"))
    xi = facts.get("xi")
    if xi is not None and not _near(xi, xi):
        raise StoreError(f"{level.label} must have a number or null as xi. Got {quoted(xi)}.")
    numbers = {
        "in_plane_fraction": in_plane / max(1, 2 * level.num_edges),
        "xi_squared": None if xi is None else xi * xi,
    }
    for name, number in numbers.items():
        if not _near(facts.get(name), number):
            _refuse(level, name, number, facts.get(name))
    _verify_masses(level)
    for name in level.directional:
        _verify_directional(level, name, facts["directional"][name])


def _verify_directional(level: Level, name: str, facts: Document) -> None:
    """Check a directional Laplacian: its counts, its edges' direction, and its kernel."""
    matrix = level.directional[name].laplacian
    entries, vertices = len(matrix.data), level.num_vertices
    for fact, expected in (("nnz", entries), ("edges", (entries - vertices) // 2)):
        if not _equal(facts.get(fact), expected):
            _refuse(level, f"{name} {fact}", expected, facts.get(fact))
    rows, own, values = _entries(matrix)
    points = vertices // level.orientations
    if name == "rotation":
        along = rows % points == matrix.indices % points
    else:
        along = rows // points == matrix.indices // points
    root = np.sqrt(level.area.double().numpy())
    if own.sum() != vertices or not along.all() or _off_its_kernel(rows, values, matrix, root):
        raise StoreError(
            f"The {name} Laplacian of {level.label} must store its diagonal, have edges along its "
            "direction alone, and vanish on the square roots of the areas."
        )


def _verify_masses(level: Level) -> None:
    """Check degrees, areas and lambda_max against the diagonal and the kernel of the Laplacian."""
    degree, area = (array.double().numpy() for array in (level.degree, level.area))
    coordinates = level.coordinates.numpy()
    finite = all(np.isfinite(array).all() for array in (degree, area, coordinates))
    if not finite or (degree < 0).any() or (area <= 0).any() or abs(area.mean() - 1) > 1e-5:
        raise StoreError(
            f"{level.label} must have finite coordinates, degrees from 0, and positive areas with "
            "mean 1."
        )
    mass = level.mass.double().numpy()
    rows, own, values = _entries(level.laplacian)
    diagonal = (values[own] + 1) * (level.lambda_max / 2)
    if len(diagonal) != level.num_vertices or _far(
        diagonal * mass, degree, level.lambda_max * mass
    ):
        raise StoreError(
            f"The Laplacian of {level.label} has another diagonal than lambda_max and the degrees "
            "say."
        )
    root = np.sqrt(mass)
    if _off_its_kernel(rows, values, level.laplacian, root):
        raise StoreError(
            f"The Laplacian of {level.label} does not vanish on the square roots of the degrees or "
            "areas."
        )


def _off_its_kernel(
    rows: npt.NDArray[Any],
    values: npt.NDArray[Any],
    matrix: CsrArrays,
    root: npt.NDArray[Any],
) -> bool:
    """Whether a rescaled Laplacian does not map the kernel of Delta, `root`, to its negative."""
    terms = values * root[matrix.indices]
    sums, sizes = (np.bincount(rows, part, len(root)) for part in (terms, abs(terms)))
    return _far(sums, -root, sizes + root)


def _entries(matrix: CsrArrays) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Row of each entry, whether it is on the diagonal, and its value in float64."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, rows == matrix.indices, matrix.data.astype(np.float64)


def _counted(level: Level) -> tuple[int, int]:
    """Vertices without neighbours, and stored edges within one orientation."""
    rows, own, _ = _entries(level.laplacian)
    base = level.num_vertices // level.orientations
    within = (rows // base == level.laplacian.indices // base) & ~own
    degrees = np.bincount(rows[~own], minlength=level.num_vertices)
    return int((degrees == 0).sum()), int(within.sum())


def _far(found: npt.NDArray[Any], expected: npt.NDArray[Any], scale: npt.NDArray[Any]) -> bool:
    return not (abs(found - expected) <= ROUNDING * scale).all()


def _equal(value: Any, expected: int) -> bool:
    """Whether a JSON value is this integer, which 1.0 and true are not."""
    return type(value) is int and value == expected


def _near(value: Any, expected: float | None) -> bool:
    """Whether a JSON value is this number up to rounding, or nothing where nothing is expected."""
    if expected is None or type(value) not in {int, float} or abs(value) > LARGEST:
        return value is None and expected is None
    return math.isclose(value, expected, rel_tol=1e-9)


def _refuse(level: Level, name: str, expected: object, found: object) -> None:
    told = f"{name} {quoted(expected)}, as its arrays say"
    raise StoreError(f"{level.label} must have {told}. Got {quoted(found)}.")


STEPS = 64
"""Of the Chebyshev recursion with which the spectrum is probed."""
RESIDUAL = 1e-4
"""Largest |L v - mu v| of an eigenpair, L the rescaled Laplacian and v a unit vector."""
ORTHONORMAL = 1e-3
"""Largest relative change of a random vector under Phi^T Phi."""
BLOCK = 64
"""Eigenvectors that are multiplied at a time."""


def verify_laplacian(level: Level) -> None:
    """Check what a recursion relies on: finite, symmetric, spectrum within [-1, 1].

    Outside [-1, 1] Chebyshev polynomials grow exponentially, so the spectrum is probed by applying
    them to a random vector, whose norm must not grow. Stored eigenpairs must be the Laplacian's,
    and orthonormal, which again a random vector tells.

    Raises:
        StoreError: one of them does not hold.
    """
    laplacian = _verified(level.laplacian, f"The Laplacian of {level.label}")
    for name, operator in level.directional.items():
        _verified(operator.laplacian, f"The {name} Laplacian of {level.label}")
    if level.eigenpairs is not None:
        _verify_eigenpairs(level, level.eigenpairs, laplacian)


def _verified(matrix: CsrArrays, named: str) -> Tensor:
    """The matrix, if it is finite, symmetric and has its spectrum within [-1, 1]."""
    pointers, columns, values = (
        torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data)
    )
    vertices = matrix.shape[0]
    rows = torch.arange(vertices).repeat_interleave(pointers.diff())
    order = torch.argsort(columns, stable=True)  # stable: rows stay ascending within a column
    transposed = (columns[order], rows[order], values[order])
    symmetric = all(map(torch.equal, transposed, (rows.to(columns), columns.to(rows), values)))
    if not (values.isfinite().all() and symmetric):
        raise StoreError(f"{named} is not finite and symmetric.")
    laplacian = csr_tensor(pointers, columns, values, matrix.shape)
    start = torch.randn(vertices, 1, generator=torch.Generator().manual_seed(0))
    previous, current = start, laplacian @ start
    for _ in range(STEPS):
        previous, current = current, 2 * (laplacian @ current) - previous
    if not current.norm() <= 1.01 * start.norm():
        raise StoreError(f"{named} has eigenvalues outside [-1, 1].")
    return laplacian


def _verify_eigenpairs(level: Level, eigenpairs: Eigenpairs, laplacian: Tensor) -> None:
    """Check L v = (2 lambda / lambda_max - 1) v, and Phi^T Phi y = y for a random y."""
    vectors = eigenpairs.vectors
    values = eigenpairs.values.to(vectors)
    rescaled = 2 * values / level.lambda_max - 1
    for start in range(0, len(values), BLOCK):
        block = vectors[:, start : start + BLOCK]
        residuals = (laplacian @ block - block * rescaled[start : start + BLOCK]).norm(dim=0)
        if not (residuals <= RESIDUAL).all():
            raise StoreError(f"The stored eigenpairs of {level.label} are not its Laplacian's.")
    probe = torch.randn(len(values), 1, generator=torch.Generator().manual_seed(0))
    if not (vectors.T @ (vectors @ probe) - probe).norm() <= ORTHONORMAL * probe.norm():
        raise StoreError(f"The stored eigenvectors of {level.label} are not orthonormal.")
