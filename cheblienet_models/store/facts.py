"""Verification that a version agrees with itself: spec with digest, facts with arrays.

An attacker can compute new digests, so digests alone do not tell.
"""

import hashlib
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.documents import Document
from cheblienet_models.store.files import Folder
from cheblienet_models.store.levels import Level

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
