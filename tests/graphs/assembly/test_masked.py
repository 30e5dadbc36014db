"""Masked graphs are the unmasked ones between points inside, on every sampling."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from csr_truth import edge_weights, stored
from masks import awkward, disc, points_mask

from cheblienet_graphs import GraphSpec, SpecError, build, open_group
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts


def dense(csr: zarr.Group) -> np.ndarray:
    return stored(csr).toarray().astype(np.float64)


def dense_pattern(csr: zarr.Group) -> np.ndarray:
    """(V, V) whether an entry is stored."""
    matrix = stored(csr)
    matrix.data[:] = 1
    return matrix.toarray() > 0


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
    kept, arrays = vertices(inside, spec.orientations), masked[f"levels/{level}"]
    version = Path(str(whole.store.root)).resolve()
    weights = edge_weights(Folder(version), level).toarray()[np.ix_(kept, kept)]
    edges, degree = weights > 0, weights.sum(axis=1)
    area = np.array(whole[f"levels/{level}/area"], np.float64)[kept]
    area /= area.mean()
    mass = degree if spec.laplacian == "normalized" else area
    root = np.divide(1, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)
    delta = root[:, None] * (np.diag(degree) - weights) * root
    csr = arrays["laplacian"]
    np.testing.assert_array_equal(dense_pattern(csr), edges | np.eye(len(edges), dtype=bool))
    rescaled = (dense(csr) + np.eye(len(edges))) * facts.lambda_max / 2
    np.testing.assert_allclose(rescaled, delta, atol=3e-7 * facts.lambda_max)
    np.testing.assert_allclose(arrays["degree"][:], degree, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(arrays["area"][:], area, rtol=1e-6)
    coordinates = whole[f"levels/{level}/coordinates"][:]
    np.testing.assert_array_equal(arrays["coordinates"][:], coordinates[kept])
    np.testing.assert_array_equal(arrays["base_index"][:], np.flatnonzero(inside))
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
    means = dense(masked[pooling])
    np.testing.assert_allclose(means, down, rtol=1e-6)
    np.testing.assert_array_equal(means > 0, down > 0)
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


LATTICES = {
    "kernel": {"manifold": "se2", "orientations": 4},
    "selling": {"manifold": "se2", "orientations": 4, "weights": "selling"},
    "matched": {"manifold": "se2", "orientations": 4, "weights": "matched"},
    "combinatorial": {"manifold": "r2", "laplacian": "combinatorial"},
    "torus": {"manifold": "se2", "orientations": 3, "boundary": "periodic"},
}


VOLUME = points_mask(6 * 8 * 10, 0.7).reshape(6, 8, 10)
AXES = points_mask(6 * 4 * 6, 0.7).reshape(6, 4, 6)
RUNS = np.arange(14 * 80).reshape(14, 80) % 400 > 2  # lines far longer than the stencils


@pytest.mark.parametrize("name", LATTICES)
def test_lattices(name: str, tmp_path: Path) -> None:
    check_masked(tmp_path / "g", awkward(20), LATTICES[name])


@pytest.mark.parametrize(
    ("mask", "fields", "how"),
    [
        (awkward(16), {"manifold": "se2"}, {"engine": "pruned"}),
        (RUNS, {"manifold": "r2", "boundary": "periodic", "levels": 1}, {}),
        (VOLUME, {"manifold": "r3", "weights": "matched", "laplacian": "normalized"}, {}),
        (AXES, {"axes": 6, "spacing": (1, 1, 2), "boundary": "periodic"}, {}),
        (AXES, {"axes": 7, "weights": "selling"}, {}),
    ],
)
def test_other_lattices(mask: np.ndarray, fields: dict, how: dict, tmp_path: Path) -> None:
    check_masked(tmp_path / "g", mask, {"manifold": "r3s2", "levels": 1} | fields, **how)


OWN = [
    np.stack(
        [np.degrees(np.arcsin(np.linspace(-0.99, 0.99, n))), np.arange(n) * 137.5 % 360], axis=1
    )
    for n in (90, 30)
]
"""Points on spirals, a coarser one below."""
MATCHED = {"weights": "matched", "neighbors": 24, "drift": 0.1}
SCATTERED = {
    "orientations": {"manifold": "so3", "subdivisions": 1, "levels": 2},
    "equiangular": {"manifold": "s2", "bandlimit": 6, "levels": 2},
    "random sphere": {"manifold": "s2", "points": 200},
    "random torus": {"manifold": "se2", "points": 120, "orientations": 3, "boundary": "periodic"},
    "matched": {"manifold": "s2", "subdivisions": 2, **MATCHED},
    "given points": {"manifold": "so3", "orientations": 3, "coordinates": OWN},
}


@pytest.mark.parametrize(
    ("name", "share"), [(name, (0.3, 0.9)[n % 2]) for n, name in enumerate(SCATTERED)]
)
def test_other_samplings(name: str, share: float, tmp_path: Path) -> None:
    points = GraphSpec(**SCATTERED[name]).base_points(0)
    check_masked(tmp_path / "g", points_mask(points, share), SCATTERED[name])


@pytest.mark.parametrize(
    ("fields", "shape"),
    [
        ({"manifold": "se2", "orientations": 3, "eps": 0.5, "lambda_max": 2, "levels": 1}, (9, 37)),
        ({"manifold": "r3", "weights": "selling", "levels": 1}, (11, 9, 12)),
        ({"manifold": "so3", "subdivisions": 1, "levels": 2}, (42,)),
    ],
)
def test_everything_inside_is_the_graph_without_a_mask(
    fields: dict, shape: tuple[int, ...], tmp_path: Path
) -> None:
    """Byte for byte, but for the array that says so."""
    masked = GraphSpec(**fields, mask=np.ones(shape, bool))
    size = {"size": shape[::-1]} if masked.size else {}
    built = [build(spec, tmp_path / "g") for spec in (GraphSpec(**fields, **size), masked)]
    whole, inside = (read_facts(Folder(tmp_path / "g" / b.name / b.version)).files for b in built)
    assert whole == {key: file for key, file in inside.items() if "base_index" not in key}
    assert built[0].levels == built[1].levels
    assert not build(masked, tmp_path / "g").built


def test_a_mask_without_edges_is_refused(tmp_path: Path) -> None:
    single = np.zeros((16, 16), bool)
    single[3, 3] = single[10, 11] = True
    for how in ({}, {"engine": "pruned"}):
        with pytest.raises(SpecError, match=r"level 0 has edges inside.*2 points inside.*larger"):
            build(GraphSpec("r2", mask=single, levels=1), tmp_path / "g", **how)
    pole = GraphSpec("s2", subdivisions=2, region=(0, 89, 1, 90), levels=1)
    with pytest.raises(
        SpecError, match=r"^region must .* Got none between 1 point inside\. Give a"
    ):
        build(pole, tmp_path / "g")
    assert not (tmp_path / "g").exists() or not any((tmp_path / "g").glob("*/v*"))


def test_dropped_edges_are_those_inside(tmp_path: Path) -> None:
    """Of the united edges of the rule and of Selling's stencils, those that are not stored."""
    mask = disc(18)[:16]
    fields = {"mask": mask, "orientations": 4, "eps": 0.1, "levels": 1}
    patterns, built = {}, None
    for weights in ("kernel", "selling", "matched"):
        built = build(GraphSpec("se2", weights=weights, **fields), tmp_path / weights)
        group = open_group(tmp_path / weights)["levels/0/laplacian"]
        patterns[weights] = dense_pattern(group)
    united = patterns["kernel"] | patterns["selling"]
    dropped = (united & ~patterns["matched"]).sum() / 2
    assert built.levels[0].dropped_edges == dropped > 0
