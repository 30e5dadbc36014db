"""Masks of awkward shapes, and what a masked graph must be, from the unmasked one."""

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


def dense(csr: zarr.Group) -> np.ndarray:
    parts = (csr["data"][:], csr["indices"][:], csr["indptr"][:])
    return scipy.sparse.csr_array(parts, shape=csr.attrs["shape"]).toarray().astype(np.float64)


def dense_pattern(csr: zarr.Group) -> np.ndarray:
    """(V, V) whether an entry is stored."""
    parts = (np.ones(csr["data"].shape), csr["indices"][:], csr["indptr"][:])
    return scipy.sparse.csr_array(parts, shape=csr.attrs["shape"]).toarray() > 0


def vertices(inside: np.ndarray, orientations: int) -> np.ndarray:
    """Those of the points inside, of all orientations."""
    return (np.arange(orientations)[:, None] * len(inside) + np.flatnonzero(inside)).ravel()


def coarser(whole: zarr.Group, level: int, inside: np.ndarray, orientations: int) -> np.ndarray:
    """Points of the next level of which a child is inside, by the unmasked graph's pooling."""
    pooling = dense_pattern(whole[f"pooling/{level}to{level + 1}"])
    points = pooling[: len(pooling) // orientations, : len(inside)]
    return points[:, inside].any(axis=1)


def check_level(
    whole: zarr.Group,
    masked: zarr.Group,
    spec: GraphSpec,
    level: int,
    facts: LevelFacts,
    inside: np.ndarray,
) -> None:
    """Compare the stored arrays of a level with what the rule says of the points inside, densely.

    Args:
        whole, masked: versions without and with the mask.
        spec: of the masked one.
        level: of both.
        facts: of the level of the masked one.
        inside: (points,) booleans of the level.
    """
    kept, stored = vertices(inside, spec.orientations), masked[f"levels/{level}"]
    version = Path(str(whole.store.root)).resolve()
    weights = edge_weights(version, level).toarray()[np.ix_(kept, kept)]
    edges, degree = weights > 0, weights.sum(axis=1)
    area = np.array(whole[f"levels/{level}/area"], np.float64)[kept]
    area /= area.mean()
    mass = degree if spec.laplacian == "normalized" else area
    root = np.divide(1, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)
    delta = root[:, None] * (np.diag(degree) - weights) * root
    csr = stored["laplacian"]
    np.testing.assert_array_equal(dense_pattern(csr), edges | np.eye(len(edges), dtype=bool))
    rescaled = (dense(csr) + np.eye(len(edges))) * facts.lambda_max / 2
    np.testing.assert_allclose(rescaled, delta, atol=3e-7 * facts.lambda_max)
    np.testing.assert_allclose(stored["degree"][:], degree, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(stored["area"][:], area, rtol=1e-6)
    coordinates = whole[f"levels/{level}/coordinates"][:]
    np.testing.assert_array_equal(stored["coordinates"][:], coordinates[kept])
    np.testing.assert_array_equal(stored["base_index"][:], np.flatnonzero(inside))
    assert facts.vertices == len(edges)
    assert facts.edges * 2 == edges.sum() > 0
    assert facts.isolated == (degree == 0).sum()
    orientation = kept // len(inside)
    in_plane = edges[orientation[:, None] == orientation].sum() / edges.sum()
    assert abs(facts.in_plane_fraction - in_plane) < 1e-12
    largest = np.linalg.eigvalsh(delta)[-1]
    assert largest <= facts.lambda_max * (1 + 1e-6)
    if spec.lambda_max == "exact":
        assert facts.lambda_max <= largest * (1 + 1e-4)


def check_maps(
    whole: zarr.Group, masked: zarr.Group, level: int, insides: list[np.ndarray], orientations: int
) -> None:
    """Compare the maps between two levels: means by area over children inside, copies up."""
    fine, coarse = (vertices(inside, orientations) for inside in insides[level : level + 2])
    pooling, unpooling = f"pooling/{level}to{level + 1}", f"unpooling/{level + 1}to{level}"
    down = dense(whole[pooling])[np.ix_(coarse, fine)]
    down /= down.sum(axis=1, keepdims=True)
    stored = dense(masked[pooling])
    np.testing.assert_allclose(stored, down, rtol=1e-6)
    np.testing.assert_array_equal(stored > 0, down > 0)
    up = dense(whole[unpooling])[np.ix_(fine, coarse)]
    np.testing.assert_array_equal(dense(masked[unpooling]), up)


def check_masked(store: Path, inside: np.ndarray, fields: dict[str, Any], **how: Any) -> None:
    """Build with and without a mask; compare every array of every level."""
    spec = GraphSpec(**fields, mask=inside)
    size = {"size": inside.shape[::-1]} if spec.size and "size" not in fields else {}
    whole, masked = build(GraphSpec(**size, **fields), store), build(spec, store, **how)
    versions = open_group(store, whole.name), open_group(store, masked.name)
    insides = [inside.ravel()]
    for level, (facts, of_whole) in enumerate(zip(masked.levels, whole.levels, strict=True)):
        check_level(*versions, spec, level, facts, insides[level])
        for same in ("grid", "bandwidth", "xi"):
            assert getattr(facts, same) == getattr(of_whole, same)
        if level + 1 < spec.levels:
            insides.append(coarser(versions[0], level, insides[level], spec.orientations))
            check_maps(*versions, level, insides, spec.orientations)
