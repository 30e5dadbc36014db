"""Masks of awkward shapes, and what a masked graph must be, from the unmasked one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import zarr

from cheblienet_graphs import GraphSpec, build, open_group
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.store.reader import edge_weights


def disc(side: int, *, across: float | None = None) -> np.ndarray:
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return x**2 + y**2 < ((across or side) / 2) ** 2


def awkward(side: int) -> np.ndarray:
    """A ring with a hole, two squares joined by a neck one pixel wide, a piece, single pixels."""
    mask = disc(side, across=0.75 * side) & ~disc(side, across=0.3 * side)
    mask[:3] = mask[-3:] = False
    half = side // 2
    mask[half, : side // 4] = True  # the neck reaches the side
    mask[half - 2 : half + 3, :3] = True
    mask[-2:, -4:] = True
    mask[0, 0] = mask[0, -1] = mask[1, half] = True
    return mask


def points_mask(points: int, share: float, seed: int = 0) -> np.ndarray:
    """Points inside at random, the last one among them."""
    inside = np.random.default_rng(seed).random(points) < share
    inside[-1] = True
    return inside


@dataclass(frozen=True)
class Truth:
    """A masked level, computed densely from the unmasked one."""

    places: np.ndarray
    weights: np.ndarray
    degree: np.ndarray
    area: np.ndarray
    delta: np.ndarray
    coordinates: np.ndarray


def truth(store: Path, name: str, spec: GraphSpec, level: int, inside: np.ndarray) -> Truth:
    """What the rule says of the points inside a level of a graph without a mask.

    Args:
        store, name: of that graph.
        spec: of the masked one.
        level: of both.
        inside: (points,) booleans of the level.
    """
    group = open_group(store, name)[f"levels/{level}"]
    places, count = np.flatnonzero(inside), len(inside)
    vertices = (np.arange(spec.orientations)[:, None] * count + places).ravel()
    version = Path(str(group.store.root)).resolve()
    weights = edge_weights(version, level).toarray()[np.ix_(vertices, vertices)]
    degree = weights.sum(axis=1)
    area = np.array(group["area"], np.float64)[vertices]
    area /= area.mean()
    mass = degree if spec.laplacian == "normalized" else area
    root = np.divide(1, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)
    delta = root[:, None] * (np.diag(degree) - weights) * root
    return Truth(places, weights, degree, area, delta, np.array(group["coordinates"])[vertices])


def coarser(group: zarr.Group, level: int, inside: np.ndarray, orientations: int) -> np.ndarray:
    """Points of the next level of which a child is inside, by the unmasked graph's pooling."""
    csr = group[f"pooling/{level}to{level + 1}"]
    indptr, indices = csr["indptr"][:], csr["indices"][:]
    rows = (len(indptr) - 1) // orientations
    return np.array([inside[indices[indptr[r] : indptr[r + 1]]].any() for r in range(rows)])


def dense(csr: zarr.Group) -> np.ndarray:
    parts = (csr["data"][:], csr["indices"][:], csr["indptr"][:])
    return scipy.sparse.csr_array(parts, shape=csr.attrs["shape"]).toarray().astype(np.float64)


def dense_pattern(csr: zarr.Group) -> np.ndarray:
    """(V, V) whether an entry is stored."""
    parts = (np.ones(csr["data"].shape), csr["indices"][:], csr["indptr"][:])
    return scipy.sparse.csr_array(parts, shape=csr.attrs["shape"]).toarray() > 0


def check_level(masked: zarr.Group, facts: LevelFacts, spec: GraphSpec, expected: Truth) -> None:
    """Compare the stored arrays of a level with the truth."""
    csr = masked["laplacian"]
    stored = dense(csr)
    edges = expected.weights > 0
    np.testing.assert_array_equal(dense_pattern(csr), edges | np.eye(len(edges), dtype=bool))
    delta = (stored + np.eye(len(stored))) * facts.lambda_max / 2
    np.testing.assert_allclose(delta, expected.delta, atol=3e-7 * facts.lambda_max)
    np.testing.assert_allclose(masked["degree"][:], expected.degree, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(masked["area"][:], expected.area, rtol=1e-6)
    np.testing.assert_array_equal(masked["coordinates"][:], expected.coordinates)
    np.testing.assert_array_equal(masked["base_index"][:], expected.places)
    points = len(expected.places)
    orientation = np.arange(len(edges)) // points
    assert facts.vertices == len(edges) == spec.orientations * points
    assert facts.edges * 2 == edges.sum() > 0
    assert facts.isolated == (edges.sum(axis=1) == 0).sum()
    in_plane = edges[orientation[:, None] == orientation].sum() / edges.sum()
    assert abs(facts.in_plane_fraction - in_plane) < 1e-12
    largest = np.linalg.eigvalsh(expected.delta)[-1]
    assert largest <= facts.lambda_max * (1 + 1e-6)
    if spec.lambda_max == "exact":
        assert facts.lambda_max <= largest * (1 + 1e-4)


def check_maps(
    masked: zarr.Group, whole: zarr.Group, level: int, insides: list[np.ndarray], orientations: int
) -> None:
    """Compare the maps between two levels: means by area over children inside, copies up."""
    fine, coarse = (
        (np.arange(orientations)[:, None] * len(inside) + np.flatnonzero(inside)).ravel()
        for inside in insides[level : level + 2]
    )
    down = dense(whole[f"pooling/{level}to{level + 1}"])[np.ix_(coarse, fine)]
    down /= down.sum(axis=1, keepdims=True)
    found = dense(masked[f"pooling/{level}to{level + 1}"])
    np.testing.assert_allclose(found, down, rtol=1e-6)
    np.testing.assert_array_equal(found > 0, down > 0)
    up = dense(whole[f"unpooling/{level + 1}to{level}"])[np.ix_(fine, coarse)]
    np.testing.assert_array_equal(dense(masked[f"unpooling/{level + 1}to{level}"]), up)


def check_masked(store: Path, inside: np.ndarray, fields: dict[str, Any], **how: Any) -> None:
    """Build with and without a mask; compare every array of every level."""
    spec = GraphSpec(**fields, mask=inside)
    size = {"size": inside.shape[::-1]} if spec.size else {}
    whole_spec = GraphSpec(**({} if "size" in fields else size), **fields)
    whole, masked = build(whole_spec, store), build(spec, store, **how)
    groups = open_group(store, whole.name), open_group(store, masked.name)
    insides = [inside.ravel()]
    for level in range(spec.levels):
        expected = truth(store, whole.name, spec, level, insides[level])
        facts = masked.levels[level]
        check_level(groups[1][f"levels/{level}"], facts, spec, expected)
        assert facts.grid == whole.levels[level].grid
        assert (facts.bandwidth, facts.xi) == (
            whole.levels[level].bandwidth,
            whole.levels[level].xi,
        )
        if level + 1 < spec.levels:
            insides.append(coarser(groups[0], level, insides[level], spec.orientations))
            check_maps(groups[1], groups[0], level, insides, spec.orientations)
