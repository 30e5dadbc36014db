"""Maps between samplings: entries against all pairs, 0 differences."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from csr_truth import built_map
from masks import fractions
from refusing import refused
from sphere_truth import arcs, plane_rows, unit_vectors

from cheblienet_graphs import (
    GraphSpec,
    MapSpec,
    OtherGraphWarning,
    SpecError,
    StoreError,
    build,
    build_map,
    inspect_map,
)
from cheblienet_graphs.store.layout import NAME

TIE = 1e-6
"""Of d^2: sources that are as far as the last one."""
STATIONS = np.random.default_rng(5).random((60, 2)) * [120, 300] - [60, 150]
SPHERES: dict[str, GraphSpec] = {
    "icosphere": GraphSpec("s2", subdivisions=3),
    "healpix": GraphSpec("s2", nside=4),
    "equiangular": GraphSpec("s2", bandlimit=6),
    "octahedral": GraphSpec("s2", gaussian="O16"),
    "regular": GraphSpec("s2", gaussian="F6"),
    "random": GraphSpec("s2", points=300, seed=3),
    "given": GraphSpec("s2", coordinates=STATIONS),
    "region": GraphSpec("s2", subdivisions=4, region=(-60, -40, 60, 60)),
    "stations": GraphSpec("s2", coordinates=STATIONS, region=(-100, -40, 100, 60)),
}
PAIRS = [
    ("octahedral", "icosphere", {"neighbors": 3}),
    ("icosphere", "octahedral", {"neighbors": 4}),
    ("given", "region", {"neighbors": 6}),
    ("region", "given", {"radius": 1.5}),
    ("stations", "icosphere", {"neighbors": 3}),
]


def coordinates(spec: GraphSpec) -> np.ndarray:
    """Those of the points inside, of a sampling that has no pixels."""
    full = spec.full_sampling(0).coordinates()
    return full if spec.mask is None else full[spec.mask.on_level(0)]


def expected(squared: np.ndarray, rule: dict[str, Any]) -> np.ndarray:
    """(targets, sources) whether each is listed, of all d^2."""
    if "radius" in rule:
        return squared <= rule["radius"] ** 2
    last = np.sort(squared, axis=1)[:, rule["neighbors"] - 1]
    return squared <= last[:, None] * (1 + TIE)


def differences(matrix: scipy.sparse.csr_array, truth: np.ndarray) -> int:
    return int(((matrix.toarray() > 0) != truth).sum())


@pytest.mark.parametrize(("source", "target", "rule"), PAIRS)
def test_pairs_as_all_great_circles(
    source: str, target: str, rule: dict[str, Any], tmp_path: Path
) -> None:
    sides = SPHERES[source], SPHERES[target]
    matrix = built_map(MapSpec(*sides, **rule), tmp_path)
    here, there = (coordinates(side) for side in sides)
    u, v = unit_vectors(here), unit_vectors(there)
    squared = arcs(u[None], v[:, None]) ** 2
    assert differences(matrix, expected(squared, rule)) == 0


def plane_truth(source: GraphSpec, target: GraphSpec, rings: int) -> np.ndarray:
    """(targets, sources) d^2 on se2, by the nearest image; pixels at their centers."""
    sides = []
    for spec in (target, source):
        points = spec.full_sampling(0).coordinates().copy()
        if spec.size is not None:
            points[:, :2] += 0.5 / spec.size[0]
        sides.append(points)
    metric, count = source.metric(0), len(sides[0])
    rows = plane_rows(np.concatenate(sides), metric.eps, metric.xi, rings)
    return np.array([row.min(axis=0)[count:] for row in itertools.islice(rows, count)])


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("rule", [{"neighbors": 90}, {"radius": 0.45}])
def test_positions_with_orientations_as_all_pairs(
    boundary: str, rule: dict[str, Any], tmp_path: Path
) -> None:
    source = GraphSpec("se2", 6, orientations=4, boundary=boundary, levels=1)
    target = GraphSpec("se2", points=40, orientations=3, boundary=boundary)
    matrix = built_map(MapSpec(source, target, **rule), tmp_path)
    squared = plane_truth(source, target, 2 if boundary == "periodic" else 0)
    assert differences(matrix, expected(squared, rule)) == 0


def edges_of_meshes(points: np.ndarray, subdivisions: int) -> Iterator[tuple[int, int]]:
    """Both directions of the edges of all icospheres, by their hulls."""
    for level in range(subdivisions + 1):
        hull = scipy.spatial.ConvexHull(points[: 10 * 4**level + 2])
        for face in hull.simplices:
            yield from itertools.permutations(face.tolist(), 2)


@pytest.mark.parametrize("scales", [1, 2, 4])
def test_scales_are_the_edges_of_meshes_together(scales: int, tmp_path: Path) -> None:
    sphere = SPHERES["icosphere"]
    matrix = built_map(MapSpec(sphere, sphere, scales=scales), tmp_path)
    points = unit_vectors(coordinates(sphere))
    known = set(edges_of_meshes(points, 3))
    if scales < 4:
        known -= set(edges_of_meshes(points, 3 - scales))
    assert set(zip(*matrix.nonzero(), strict=True)) == known
    assert matrix.nnz == sum(60 * 4**level for level in range(4 - scales, 4))


def weights_of(kind: str, squared: np.ndarray, t: float) -> np.ndarray:
    if kind == "uniform":
        return np.full(len(squared), 1 / len(squared))
    raw = np.exp(-squared / (4 * t)) if kind == "gaussian" else 1 / squared
    return raw / raw.sum()


@pytest.mark.parametrize("weights", ["inverse", "gaussian", "uniform"])
def test_weights_follow_from_lengths_and_keep_constants_exactly(
    weights: str, tmp_path: Path
) -> None:
    sides = SPHERES["random"], SPHERES["octahedral"]
    matrix = built_map(MapSpec(*sides, neighbors=6, weights=weights), tmp_path)
    u, v = (unit_vectors(coordinates(side)) for side in sides)
    squared = (arcs(u[None], v[:, None]) ** 2)[matrix.nonzero()]
    rows = np.split(squared, matrix.indptr[1:-1])
    truth = np.concatenate([weights_of(weights, row, 0.2 * squared.mean()) for row in rows])
    assert abs(matrix.data - truth).max() <= 2.0**-24
    for order in (slice(None), slice(None, None, -1)):
        for row in np.split(matrix.data, matrix.indptr[1:-1]):
            assert np.add.accumulate(row[order], dtype=np.float32)[-1] == 1


@pytest.mark.parametrize("rule", [{"neighbors": 3}, {"neighbors": 1, "weights": "gaussian"}])
def test_a_source_that_coincides_gives_its_own_value(rule: dict[str, Any], tmp_path: Path) -> None:
    """Those of a coarser icosphere are among those of a finer one; or all coincide."""
    coarse = GraphSpec("s2", subdivisions=1)
    fine = coarse if "weights" in rule else SPHERES["icosphere"]
    matrix = built_map(MapSpec(fine, coarse, **rule), tmp_path)
    assert (matrix.toarray() == np.eye(*matrix.shape)).all()


def test_weights_and_levels_of_graphs_are_no_part_of_a_map() -> None:
    plain = GraphSpec("se2", 8, orientations=4), GraphSpec("se2", 4, orientations=4)
    other = (
        GraphSpec("se2", 8, orientations=4, levels=1, weights="selling", eigenpairs=3),
        GraphSpec("se2", 4, orientations=4, eps=0.9, xi=3, neighbors=5),
    )
    one, same = (MapSpec(*sides, neighbors=3) for sides in (plain, other))
    assert (one == same, one.sha256, hash(one)) == (True, same.sha256, hash(same))
    assert MapSpec(plain[0], plain[1], neighbors=4) != one
    read_back = MapSpec.from_dict(one.to_dict())
    assert (read_back, read_back.to_dict(), read_back.schema) == (one, one.to_dict(), "1.5")


def test_default_names_tell_maps_apart_and_others_warn(tmp_path: Path) -> None:
    plain = MapSpec(*[GraphSpec("so3", subdivisions=1, orientations=4)] * 2, neighbors=3)
    assert plain.default_name == "so3-icosahedral-1x4-to-so3-icosahedral-1x4-k3"
    few, many = (GraphSpec("s2", subdivisions=n) for n in (1, 2))
    sides = [
        *(GraphSpec("so3", subdivisions=1, orientations=4, **f) for f in ({"eps": 0.5}, {"xi": 3})),
        *(GraphSpec("r2", 8, boundary=boundary) for boundary in ("open", "periodic")),
        *(GraphSpec("s2", points=90, seed=seed) for seed in (0, 1)),
    ]
    specs = [plain, *(MapSpec(side, side, neighbors=3) for side in sides)]
    specs += [MapSpec(few, many, radius=radius) for radius in (0.5, 0.51234567, 0.51234568)]
    assert len({spec.default_name for spec in specs}) == len(specs)
    assert all(NAME.fullmatch(spec.default_name) for spec in specs)
    build_map(plain, tmp_path / "m.zarr", name="m")
    with pytest.warns(OtherGraphWarning, match=r"m@v002 differs .*source.eps 0.316228 -> 0.5. m "):
        build_map(specs[1], tmp_path / "m.zarr", name="m")


SIDES = {
    **SPHERES,
    "cut": GraphSpec("se2", mask=fractions(12), mask_edge="cut", orientations=3, weights="selling"),
    "masked": GraphSpec("se2", mask=fractions(12) > 0, orientations=2, period="pi"),
    "voxels": GraphSpec("r3", "4x4x2", spacing=(1, 1, 3), boundary="periodic"),
    "axes": GraphSpec("r3s2", 4, axes=12, levels=1),
    "arrows": GraphSpec("se2", 6, orientations=4, period="2pi", xi=0.4),
}


@pytest.mark.parametrize("name", SIDES)
def test_every_sampling_is_read_back(name: str, tmp_path: Path) -> None:
    side = SIDES[name]
    spec = MapSpec(side, side, neighbors=1, weights="uniform")
    matrix = built_map(spec, tmp_path)
    assert (matrix.diagonal() == 1).all()
    assert MapSpec.from_dict(spec.to_dict()) == spec
    report = inspect_map(tmp_path / "m.zarr", build_map(spec, tmp_path / "m.zarr").name)
    assert (report.spec, report.unused, report.entries) == (spec, 0, spec.shape[0])


PLANE, MESH, SMALL = GraphSpec("r2", 8), SPHERES["icosphere"], GraphSpec("s2", gaussian="O2")
ONE = {"neighbors": 1}
LINES, ARROWS = (GraphSpec("se2", 8, orientations=4, period=p) for p in ("pi", "2pi"))
UNLIKE: list[tuple[GraphSpec, Any, dict[str, Any], str]] = [
    (PLANE, GraphSpec("r2", "8x4"), ONE, "target must be of a domain 1 x 1, the source's. Got 1 x"),
    (LINES, ARROWS, ONE, "target must be on se2 modulo pi, as the source is"),
    (GraphSpec("se2", 8, xi="auto"), LINES, ONE, "source must be with a number or 'alpha' for xi"),
    (MESH, GraphSpec("s2", subdivisions=2), {"scales": 2}, "target must be the source itself"),
    (MESH, MESH, {"scales": 5}, r"scales must be an integer in \[1, 4\]. Got 5."),
    (SMALL, MESH, {}, "neighbors must be given, or `radius` or `scales` instead."),
    (SMALL, MESH, {"neighbors": 2, "radius": 1}, "radius must be left out where `neighbors`"),
    (SMALL, MESH, {"neighbors": 89}, r"neighbors must be an integer in \[1, 88\]. Got 89."),
    (SMALL, MESH, {"scales": 2}, "scales must be left out but on a whole icosphere"),
    (SMALL, MESH, ONE | {"bandwidth": 1}, "bandwidth must be left out with inverse"),
    (SMALL, GraphSpec("so3", subdivisions=1), ONE, "target must be on s2, as the source is."),
]


@pytest.mark.parametrize(("source", "target", "rule", "message"), UNLIKE)
def test_what_is_no_map_is_refused(
    source: GraphSpec, target: GraphSpec, rule: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        MapSpec(source, target, **rule)


def test_a_radius_that_leaves_targets_out_names_one_that_does_not(tmp_path: Path) -> None:
    sides = SPHERES["given"], SPHERES["icosphere"]
    with pytest.raises(SpecError, match="such that each target has a source") as caught:
        build_map(MapSpec(*sides, radius=0.1), tmp_path / "m.zarr")
    least = float(str(caught.value).partition("radius=")[2].partition("`")[0])
    assert np.diff(built_map(MapSpec(*sides, radius=least), tmp_path).indptr).min() >= 1
    with pytest.raises(SpecError):
        build_map(MapSpec(*sides, radius=0.99 * least), tmp_path / "m.zarr")


def test_a_name_is_of_graphs_or_of_maps(tmp_path: Path) -> None:
    store, sphere = tmp_path / "m.zarr", GraphSpec("s2", subdivisions=1)
    build(sphere, store, name="graph")
    spec = MapSpec(sphere, sphere, neighbors=1)
    build_map(spec, store, name="map")
    with pytest.raises(StoreError, match=r"graph in .* is a graph; choose another `name`"):
        build_map(spec, store, name="graph")
    with pytest.raises(StoreError, match=r"map in .* is a map between samplings; choose another"):
        build(sphere, store, name="map")
    with pytest.raises(StoreError, match="is a graph, where a map between samplings is needed"):
        inspect_map(store, "graph")


def test_a_specification_that_was_read_back_knows_no_points(tmp_path: Path) -> None:
    for name, field in (("given", "coordinates"), ("region", "mask")):
        known = MapSpec(SPHERES[name], SPHERES["icosphere"], neighbors=1)
        with pytest.raises(SpecError, match=f"{field} must be"):
            build_map(MapSpec.from_dict(known.to_dict()), tmp_path / "m.zarr")
    assert not (tmp_path / "m.zarr").exists()


@pytest.mark.parametrize("manifold", ["s2", "r2", "torus"])
def test_a_relative_radius_is_that_of_the_widest_spacing(manifold: str) -> None:
    """By brute force over all pairs of targets."""
    if manifold == "s2":
        source, target = GraphSpec("s2", gaussian="O8"), GraphSpec("s2", points=60, seed=3)
    else:
        inside = np.random.default_rng(0).random((8, 8)) > 0.5
        boundary = "periodic" if manifold == "torus" else "open"
        fields: dict[str, Any] = {"boundary": boundary, "levels": 1}
        source, target = GraphSpec("r2", 16, **fields), GraphSpec("r2", mask=inside, **fields)
    points = target.domain(0).coordinates(0, target.num_vertices)
    if manifold == "s2":
        beta, gamma = points.T
        x = np.stack([np.sin(beta) * np.cos(gamma), np.sin(beta) * np.sin(gamma), np.cos(beta)])
        apart = np.arccos(np.clip(x.T @ x, -1, 1))
    else:
        steps = np.abs(points[:, None] - points)
        steps = np.minimum(steps, 1 - steps) if manifold == "torus" else steps
        apart = np.sqrt((steps**2).sum(2))
    np.fill_diagonal(apart, np.inf)
    spec = MapSpec(source, target, cutoff_factor=1.2)
    assert spec.radius == pytest.approx(1.2 * apart.min(axis=1).max(), rel=1e-9)
    assert spec == MapSpec(source, target, radius=spec.radius)


def test_relative_radii_that_mean_nothing_are_refused() -> None:
    source, target = GraphSpec("s2", gaussian="O8"), GraphSpec("s2", subdivisions=1)
    for more in ({"radius": 0.1}, {"neighbors": 3}, {"scales": 2}):
        refused("where `cutoff_factor` is given", MapSpec, source, target, cutoff_factor=1, **more)
    refused("cutoff_factor must be a number", MapSpec, source, target, cutoff_factor=0)
    lines = GraphSpec("se2", 8), GraphSpec("se2", 4)
    refused("without orientations", MapSpec, *lines, cutoff_factor=1)
