"""Verification that a version is what was published, and that it agrees with itself.

An attacker can compute new digests, so digests alone do not tell: facts are compared with arrays.
"""

import hashlib
import math
import stat
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.files import LARGEST, Document, read_number
from cheblienet_models.store.gradients import StoredGradients
from cheblienet_models.store.levels import AREA, Level
from cheblienet_models.tensors import csr_tensor

Array = npt.NDArray[Any]
Entries = tuple[Array, Array, Array]
"""Rows, columns and values (n,) of a matrix."""

MASKED = 2**24
"""Points of a mask that are hashed at a time."""
ROUNDING = 1e-6
"""Of sums of float32 numbers, in units of their terms."""
STEPS = 64
"""Of the Chebyshev recursion with which the spectrum is probed."""
RESIDUAL = 1e-4
"""Largest |L v - mu v| of an eigenpair, L the rescaled Laplacian and v a unit vector."""
ORTHONORMAL = 1e-3
"""Largest relative change of a random vector under Phi^T Phi."""
VECTORS = 64
"""Eigenvectors that are multiplied at a time."""
POWERS = 8
"""Steps of the iteration with which norms of gradients are probed."""


def verify_files(version: Folder, attributes: Document) -> None:
    """Hash every file below a version and compare it with the manifest.

    Args:
        version: its folder.
        attributes: its own, attributes clg of its zarr.json.

    Raises:
        StoreError: anything is missing, added or changed; the message names the first such file.
    """
    document, published = version / DOCUMENT, layout.group_document({"clg": attributes})
    if layout.canonical_sha256(attributes) != attributes.get("attributes_sha256"):
        raise StoreError(f"{document} has attributes that differ from their digest.")
    if document.contents() != layout.document_bytes(published):
        raise StoreError(f"{document} holds more or other text than was published.")
    manifest = attributes.get("manifest")
    if not isinstance(manifest, dict):
        raise StoreError(f"{version} has no manifest.")
    missing = {_file(version, key): entry for key, entry in manifest.items()}
    _verify_folder(version, "", missing)
    if missing:
        raise StoreError(f"{version}/{min(missing)} is missing.")


def _file(version: Folder, key: str) -> str:
    """Path below the version of the file that a manifest key stands for."""
    if key.rpartition("/")[2] == DOCUMENT:
        return key
    shape = (version / key).document().get("shape")
    return f"{key}/{layout.chunk_path(len(shape) if isinstance(shape, list) else 1)}"


def _verify_folder(version: Folder, path: str, missing: dict[str, Any]) -> None:
    folder = version / path if path else version
    for name, status in folder.entries():
        where = f"{path}/{name}" if path else name
        if stat.S_ISDIR(status.st_mode) and any(file.startswith(f"{where}/") for file in missing):
            _verify_folder(version, where, missing)
        elif where != DOCUMENT:
            _verify_file(version, where, missing.pop(where, None))


def _verify_file(version: Folder, where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise StoreError(f"{version}/{where} is not in the manifest.")
    digest, size = (version / where).sha256()
    if size != entry.get("nbytes") or digest != entry.get("sha256"):
        raise StoreError(f"{version}/{where} is not what was published.")


def verify_spec(version: Folder, attributes: Document) -> None:
    """Check that a specification has the digest and the number of levels that are stated.

    Raises:
        StoreError: it has not.
    """
    spec, levels = attributes["spec"], attributes.get("levels")
    if layout.canonical_sha256(spec) != attributes.get("spec_sha256"):
        raise StoreError(f"{version} has a spec_sha256 that is not the digest of its spec.")
    if isinstance(levels, list) and not _agrees(spec.get("levels"), len(levels)):
        found = quoted(spec.get("levels"))
        raise StoreError(f"{version} has {len(levels)} levels; its spec says {found}.")


def verify_mask(version: Folder, spec: Document, base_index: Tensor, points: int) -> None:
    """Check that a version's finest level has the points of the mask that it was built with.

    Args:
        version: for messages.
        spec: of the version, with a mask.
        base_index: of the finest level.
        points: of the full sampling's base there.

    Raises:
        StoreError: the mask has another digest.
    """
    digest, index = hashlib.sha256(), base_index.numpy()
    for start in range(0, points, MASKED):
        mask = np.zeros(min(MASKED, points - start), dtype=np.uint8)
        low, high = np.searchsorted(index, [start, start + len(mask)])
        mask[index[low:high] - start] = 1
        digest.update(mask.tobytes())
    if digest.hexdigest() != spec["mask"].get("sha256"):
        raise StoreError(f"{version} has points inside that are not those of its spec's mask.")


def verify_facts(spec: Document, facts: Document, level: Level) -> None:
    """Check the facts of a level against its arrays.

    Args:
        spec: of the version.
        facts: of the level.
        level: its arrays, the Laplacian symmetric.

    Raises:
        StoreError: one of them contradicts another or the arrays.
    """
    rows, own, values = _entries(level.laplacian)
    base, vertices = level.num_vertices // level.orientations, level.num_vertices
    in_plane = int(((rows // base == level.laplacian.indices // base) & ~own).sum())
    xi = facts.get("xi")  # null without orientations
    expected: dict[str, float | None] = {
        "vertices": vertices,
        "nnz": len(rows),
        "edges": level.num_edges,
        "isolated": int((np.bincount(rows[~own], minlength=vertices) == 0).sum()),
        "in_plane_fraction": float(in_plane / max(1, 2 * level.num_edges)),
        "xi_squared": None if xi is None else read_number(level.label, "xi", xi) ** 2,
    }
    stated = [(name, facts.get(name), value) for name, value in expected.items()]
    stated.append(("orientations", spec.get("orientations"), level.orientations))
    for name, (matrix, _) in level.directional.items():
        known, entries = facts["directional"][name], len(matrix.data)
        stated.append((f"{name} nnz", known.get("nnz"), entries))
        stated.append((f"{name} edges", known.get("edges"), (entries - vertices) // 2))
    for name, value, true in stated:
        if not _agrees(value, true):
            told = f"{name} {quoted(true)}, as its arrays say"
            raise StoreError(f"{level.label} must have {told}. Got {quoted(value)}.")
    _verify_masses(level, rows, own, values)
    for name, (matrix, _) in level.directional.items():
        _verify_directional(level, name, matrix)
    if level.gradients is not None:
        _verify_gradients(level.label, level.gradients, facts["gradients"].get("largest"))
    if level.fraction is not None and level.filling is not None:
        _verify_cut(level, level.fraction.flatten().double().numpy(), level.filling)


def _verify_directional(level: Level, name: str, matrix: CsrArrays) -> None:
    """Check a directional Laplacian: its diagonal, its edges' direction, and its kernel."""
    rows, own, values = _entries(matrix)
    points = level.num_vertices // level.orientations
    part = np.mod if name == "rotation" else np.floor_divide
    along = part(rows, points) == part(matrix.indices, points)
    root = np.sqrt(level.area.double().numpy())
    is_whole = own.sum() == level.num_vertices and along.all()
    if not is_whole or _off_its_kernel(rows, values, matrix, root):
        raise StoreError(
            f"The {name} Laplacian of {level.label} must store its diagonal, have edges along its "
            "direction alone, and vanish on the square roots of the areas."
        )


def _verify_masses(level: Level, rows: Array, own: Array, values: Array) -> None:
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


def _verify_cut(level: Level, fraction: Array, filling: CsrArrays) -> None:
    """Check that masses are the parts of the pixels that each point shows itself in."""
    area = level.area[: filling.shape[1]].numpy()
    parts = fraction[filling.rows()] * filling.data
    masses = np.bincount(filling.indices, parts, filling.shape[1])
    mean = float(area.mean(dtype=np.float64))
    if not np.allclose(masses / masses.mean(), area / mean, rtol=0, atol=AREA):
        raise StoreError(f"{level.label} has areas that are not those of its parts of pixels.")


def _off_its_kernel(rows: Array, values: Array, matrix: CsrArrays, root: Array) -> bool:
    """Whether a rescaled Laplacian does not map the kernel of Delta, `root`, to its negative."""
    terms = values * root[matrix.indices]
    sums, sizes = (np.bincount(rows, part, len(root)) for part in (terms, abs(terms)))
    return _far(sums, -root, sizes + root)


def _entries(matrix: CsrArrays) -> tuple[Array, Array, Array]:
    """Row of each entry, whether it is on the diagonal, and its value in float64."""
    rows = matrix.rows()
    return rows, rows == matrix.indices, matrix.data.astype(np.float64)


def _far(found: Array, expected: Array, scale: Array) -> bool:
    return not (abs(found - expected) <= ROUNDING * scale).all()


def _agrees(value: Any, expected: float | None) -> bool:
    """Whether a JSON value is nothing, this integer, or this number up to rounding.

    1.0 and true are no integers.
    """
    if expected is None or type(expected) is int:
        return type(value) is type(expected) and value == expected
    known = type(value) in {int, float} and abs(value) <= LARGEST**2
    return known and math.isclose(value, expected, rel_tol=1e-9)


def verify_laplacian(level: Level) -> None:
    """Check what a recursion relies on: finite, symmetric, spectrum within [-1, 1].

    Outside [-1, 1] Chebyshev polynomials grow exponentially, so the spectrum is probed by applying
    them to a random vector, whose norm must not grow. Stored eigenpairs must be the Laplacian's,
    and orthonormal, which again a random vector tells.

    Raises:
        StoreError: one of them does not hold.
    """
    laplacian = _verified(level.laplacian, f"The Laplacian of {level.label}")
    for name, (matrix, _) in level.directional.items():
        _verified(matrix, f"The {name} Laplacian of {level.label}")
    if level.eigenvalues is not None and level.eigenvectors is not None:
        _verify_eigenpairs(level, level.eigenvalues, level.eigenvectors, laplacian)


def _verified(matrix: CsrArrays, named: str) -> Tensor:
    """The matrix, if it is finite, symmetric and has its spectrum within [-1, 1]."""
    stored, vertices = matrix.tensors(), matrix.shape[0]
    if not (stored.values.isfinite().all() and matrix.is_transpose_of(matrix)):
        raise StoreError(f"{named} is not finite and symmetric.")
    laplacian = csr_tensor(stored, vertices)
    start = torch.randn(vertices, 1, generator=torch.Generator().manual_seed(0))
    previous, current = start, laplacian @ start
    for _ in range(STEPS):
        previous, current = current, 2 * (laplacian @ current) - previous
    if not current.norm() <= 1.01 * start.norm():
        raise StoreError(f"{named} has eigenvalues outside [-1, 1].")
    return laplacian


def _verify_eigenpairs(level: Level, values: Tensor, vectors: Tensor, laplacian: Tensor) -> None:
    """Check L v = (2 lambda / lambda_max - 1) v, and Phi^T Phi y = y for a random y."""
    rescaled = 2 * values.to(vectors) / level.lambda_max - 1
    for start in range(0, len(values), VECTORS):
        block = vectors[:, start : start + VECTORS]
        residuals = (laplacian @ block - block * rescaled[start : start + VECTORS]).norm(dim=0)
        if not (residuals <= RESIDUAL).all():
            raise StoreError(f"The stored eigenpairs of {level.label} are not its Laplacian's.")
    probe = torch.randn(len(values), 1, generator=torch.Generator().manual_seed(0))
    if not (vectors.T @ (vectors @ probe) - probe).norm() <= ORTHONORMAL * probe.norm():
        raise StoreError(f"The stored eigenvectors of {level.label} are not orthonormal.")


def _verify_gradients(label: str, gradients: StoredGradients, largest: Any) -> None:
    """Check gradients: 0 on constants, beside their sums with transposes, norms as they say."""
    read_number(label, "a largest norm of gradients", largest, zero=True)
    vertices = gradients.fields.shape[1]
    for n, (name, norm) in enumerate(zip(gradients.names, gradients.norms, strict=True)):
        entries, sums = (_of_field(m, n) for m in (gradients.fields, gradients.symmetric))
        rows, columns, values = entries
        finite = np.isfinite(values).all() and np.isfinite(sums[2]).all()
        constants = rows, np.zeros_like(columns), values
        if not (finite and _cancel(vertices, constants) and _are_sums(vertices, entries, sums)):
            raise StoreError(
                f"The {name} gradients of {label} must be finite, be 0 on constants, and be stored "
                "with their sums with their transposes."
            )
        if not _reached_norm(vertices, *entries) <= norm * (1 + ROUNDING):
            raise StoreError(f"The {name} gradients of {label} have a norm above {norm:g}.")


def _of_field(matrix: CsrArrays, n: int) -> Entries:
    """The entries of the n-th of square matrices, one below the other."""
    vertices = matrix.shape[1]
    pointers = matrix.indptr[n * vertices : (n + 1) * vertices + 1]
    within = slice(pointers[0], pointers[-1])
    rows = np.repeat(np.arange(vertices), np.diff(pointers))
    return rows, matrix.indices[within].astype(np.int64), matrix.data[within].astype(np.float64)


def _are_sums(vertices: int, entries: Entries, sums: Entries) -> bool:
    """Whether entries and those of the transpose add up to the others."""
    rows, columns, values = entries
    parts = entries, (columns, rows, values), (sums[0], sums[1], -sums[2])
    return _cancel(vertices, *parts)


def _cancel(vertices: int, *parts: Entries) -> bool:
    """Whether entries of the same place add up to 0, to rounding."""
    rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
    places, which = np.unique(rows * vertices + columns, return_inverse=True)
    totals, sizes = (np.bincount(which, part, len(places)) for part in (values, abs(values)))
    return not _far(totals, np.zeros_like(totals), sizes)


def _reached_norm(vertices: int, rows: Array, columns: Array, values: Array) -> float:
    """The largest |G v| of unit vectors v that a few power iterations of G^T G meet."""
    vector: Array = np.random.default_rng(0).standard_normal(vertices)
    largest = 0.0
    for _ in range(POWERS):
        vector = vector / max(np.linalg.norm(vector), np.finfo(np.float64).tiny)
        image = np.bincount(rows, values * vector[columns], vertices)
        largest = max(largest, float(np.linalg.norm(image)))
        vector = np.bincount(columns, values * image[rows], vertices)
    return largest
