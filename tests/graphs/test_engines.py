"""Every engine's edges against the comparison of all pairs, on every sampling."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from sphere_truth import Edges, edges_of_rows, rows_of

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.neighbours import cloud as clouds
from cheblienet_graphs.neighbours import pruned, search
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.cloud import Cloud, PairLengths, cloud
from cheblienet_graphs.neighbours.keops import KeopsSearch
from cheblienet_graphs.neighbours.protocols import Engine, Lengths
from cheblienet_graphs.neighbours.pruned import PrunedSearch
from cheblienet_graphs.neighbours.search import SearchEngine
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere

PRUNED = Choice("pruned", "cpu")

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(
                not torch.cuda.is_available(), reason="torch sees no CUDA device here"
            ),
        ],
    ),
]


def listed(engine: Engine, lengths: Lengths, vertices: int, block: int | None = None) -> Edges:
    """All edges with their squared lengths, read in blocks of rows."""
    found: Edges = {}
    block = block or vertices
    for start in range(0, vertices, block):
        stop = min(start + block, vertices)
        degrees, columns = engine.degrees(start, stop), engine.columns(start, stop)
        rows = np.repeat(np.arange(start, stop), degrees)
        squared = lengths.squared_distances(rows, columns)
        found |= dict(
            zip(zip(rows.tolist(), columns.tolist(), strict=True), squared.tolist(), strict=True)
        )
        assert len(columns) == degrees.sum()
        assert (np.diff(columns)[np.diff(rows) == 0] > 0).all()
    return found


def edges(spec: GraphSpec, choice: Choice = PRUNED) -> Edges:
    edges = Level(spec, choice).edges()
    engine, lengths = edges.engine, edges.weights.lengths
    found = listed(engine, lengths, spec.num_vertices)
    assert engine.total_degree == len(found)
    points = spec.base_points(0)
    assert engine.in_plane_degree == sum(a // points == b // points for a, b in found)
    return found


def searched(
    sampling: Sampling, manifold: str, metric: Metric, count: int, choice: Choice = PRUNED
) -> Edges:
    engine = SearchEngine(sampling, MANIFOLDS[manifold], metric, count, choice)
    return listed(engine, PairLengths(engine.cloud), sampling.num_vertices)


RINGS = 2


@lru_cache(maxsize=4)
def rows(spec: GraphSpec) -> list[np.ndarray]:
    level, rings = Level(spec, PRUNED), RINGS if spec.boundary == "periodic" else 0
    coordinates = level.sampling.coordinates()
    return list(rows_of(spec.manifold, coordinates, spec.eps, level.metric.xi, rings))


def check_rule(found: Edges, expected: Edges, count: int) -> None:
    assert found.keys() == expected.keys()
    assert all(abs(found[e] - expected[e]) <= 1e-12 * max(1, expected[e]) for e in found)
    assert all(found[b, a] == squared for (a, b), squared in found.items())
    assert all(a != b for a, b in found)
    assert np.bincount([a for a, _ in found]).max() <= count


def check_against_all_pairs(fields: dict, count: int, choice: Choice = PRUNED) -> None:
    """Edges are those of the brute force; where that has none, a message says so."""
    spec = GraphSpec(**fields, neighbors=count)
    measured = rows(GraphSpec(**fields))
    expected = edges_of_rows(measured, count)
    if expected:
        check_rule(edges(spec, choice), expected, count)
        if spec.boundary == "periodic":
            assert max(expected.values()) < RINGS**2
        return
    least = count + 1
    while not edges_of_rows(measured, least):
        least += 1
    with pytest.raises(SpecError, match=f"at least {least} .*Got {count}"):
        edges(spec, choice)


SPHERES = [
    {"subdivisions": 0},
    {"subdivisions": 1},
    {"subdivisions": 2},
    {"nside": 2},
    {"nside": 4},
    {"bandlimit": 3},
    {"bandlimit": 5},
    {"sampling": "random", "points": 150},
]
"""Samplings that are small enough for orientations over them."""

COUNTS = [4, 8, 16, 24]


def name(value: object) -> str:
    if isinstance(value, dict):
        return "-".join(f"{key}{number}" for key, number in value.items() if key != "sampling")
    return str(value)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("sphere", [*SPHERES, {"nside": 8}, {"bandlimit": 8}], ids=name)
def test_s2_equals_all_pairs(sphere: dict, count: int) -> None:
    check_against_all_pairs({"manifold": "s2", **sphere}, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("orientations", "eps"), [(1, 0.3162), (5, 0.1), (5, 1), (6, 0.3162)], ids=name
)
@pytest.mark.parametrize("sphere", SPHERES, ids=name)
def test_so3_equals_all_pairs(sphere: dict, orientations: int, eps: float, count: int) -> None:
    fields = {"manifold": "so3", **sphere, "orientations": orientations, "eps": eps}
    check_against_all_pairs(fields, count)


@pytest.mark.parametrize("alpha", [0.05, 20])
def test_so3_with_cheap_and_dear_rotation(alpha: float) -> None:
    fields = {"manifold": "so3", "subdivisions": 1, "orientations": 6, "alpha": alpha}
    check_against_all_pairs(fields, 16)


def test_larger_so3_equals_all_pairs() -> None:
    check_against_all_pairs({"manifold": "so3", "subdivisions": 3}, 16)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_random_plane_equals_all_pairs(boundary: str, count: int) -> None:
    check_against_all_pairs(
        {"manifold": "r2", "sampling": "random", "points": 300, "boundary": boundary}, count
    )


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("orientations", "eps"), [(1, 0.3162), (5, 1), (6, 0.3162), (6, 0.1)])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_random_se2_equals_all_pairs(
    boundary: str, orientations: int, eps: float, count: int
) -> None:
    fields = {"manifold": "se2", "sampling": "random", "points": 60, "boundary": boundary}
    check_against_all_pairs(fields | {"orientations": orientations, "eps": eps}, count)


@settings(max_examples=30, deadline=None)
@given(
    points=st.integers(2, 12),
    seed=st.integers(0, 1000),
    orientations=st.integers(1, 4),
    count=st.integers(1, 30),
    eps=st.sampled_from([0.3, 1.0]),
)
def test_images_all_around_few_points(
    points: int, seed: int, orientations: int, count: int, eps: float
) -> None:
    """On so few points neighbours lie several periods away."""
    fields = {"manifold": "se2", "sampling": "random", "points": points, "seed": seed}
    spec = GraphSpec(
        **fields, orientations=orientations, eps=eps, neighbors=count, boundary="periodic"
    )
    level = Level(spec, PRUNED)
    coordinates = level.sampling.coordinates()
    measured = list(rows_of("se2", coordinates, eps, level.metric.xi, rings=6))
    expected = edges_of_rows(measured, count)
    assume(expected)
    assume(max(expected.values()) < 36)
    check_rule(edges(spec), expected, count)


@settings(max_examples=30, deadline=None)
@given(
    points=st.integers(2, 15),
    seed=st.integers(0, 1000),
    orientations=st.integers(1, 4),
    count=st.integers(1, 70),
    alpha=st.sampled_from([0.01, 1.0, 30.0]),
    eps=st.sampled_from([0.1, 1.0]),
)
def test_few_points_on_the_sphere(
    points: int, seed: int, orientations: int, count: int, alpha: float, eps: float
) -> None:
    """Neighbours are a quarter turn away and farther, or all others are neighbours."""
    spec = GraphSpec(
        "so3",
        points=points,
        seed=seed,
        orientations=orientations,
        eps=eps,
        alpha=alpha,
        neighbors=count,
    )
    level = Level(spec, PRUNED)
    expected = edges_of_rows(
        rows_of("so3", level.sampling.coordinates(), eps, level.metric.xi), count
    )
    assume(expected)
    check_rule(edges(spec), expected, count)


@pytest.mark.parametrize("count", [4, 16, 32])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize(
    "fields",
    [
        {"manifold": "se2", "size": "12x12", "orientations": 6},
        {"manifold": "se2", "size": "9x14", "orientations": 5, "eps": 0.1},
        {"manifold": "se2", "size": "5x5", "orientations": 4, "eps": 1},
        {"manifold": "r2", "size": "11x8"},
    ],
    ids=name,
)
def test_pruned_equals_stencils(fields: dict, boundary: str, count: int) -> None:
    spec = GraphSpec(**fields, boundary=boundary, neighbors=count)
    assert edges(spec, PRUNED) == edges(spec, Choice("stencil", "cpu"))


SOME = [
    ({"manifold": "so3", "subdivisions": 1}, 16),
    ({"manifold": "so3", "nside": 2, "orientations": 5, "eps": 0.1}, 16),
    ({"manifold": "so3", "subdivisions": 2, "orientations": 1}, 16),
    ({"manifold": "s2", "subdivisions": 2}, 8),
    ({"manifold": "s2", "bandlimit": 5}, 8),
    ({"manifold": "se2", "size": "10x8", "boundary": "periodic"}, 16),
    ({"manifold": "se2", "sampling": "random", "points": 80, "boundary": "open"}, 16),
    ({"manifold": "se2", "sampling": "random", "points": 80, "boundary": "periodic"}, 16),
    ({"manifold": "r2", "sampling": "random", "points": 200, "boundary": "periodic"}, 8),
    ({"manifold": "r2", "size": 12}, 8),
]
"""Few combinations of manifold and K: KeOps compiles each."""

LARGEST = [
    ({"manifold": "so3", "subdivisions": 3}, 16),
    ({"manifold": "so3", "nside": 8, "orientations": 5}, 16),
    ({"manifold": "so3", "bandlimit": 12}, 16),
    ({"manifold": "so3", "points": 600}, 16),
    ({"manifold": "s2", "subdivisions": 4}, 8),
    ({"manifold": "s2", "nside": 16}, 8),
    ({"manifold": "s2", "bandlimit": 31}, 8),
    ({"manifold": "s2", "sampling": "random", "points": 4000}, 8),
    ({"manifold": "se2", "size": 25}, 16),
    ({"manifold": "se2", "points": 650}, 16),
    ({"manifold": "r2", "size": 63, "boundary": "periodic"}, 8),
    ({"manifold": "r2", "points": 4000}, 8),
]
"""Every sampling, with nearly 4,000 vertices."""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("fields", "count"), SOME + LARGEST, ids=name)
def test_keops_equals_pruned(fields: dict, count: int, device: str) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, Choice("keops", device)) == edges(spec)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here")
@pytest.mark.parametrize(("fields", "count"), SOME, ids=name)
def test_pruned_on_a_gpu_equals_the_cpu(fields: dict, count: int) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, Choice("pruned", "cuda")) == edges(spec)


def cloud_of(spec: GraphSpec) -> Cloud:
    level = Level(spec, PRUNED)
    return cloud(level.sampling, spec.geometry, level.metric)


def nearest(found: PrunedSearch | KeopsSearch, points: int, count: int) -> tuple:
    """(n_o, points) r^2 and (n_o, points, K) neighbours ascending, -1 first."""
    radii, vertices = found.nearest(0, points, count, None, search.TOLERANCE)
    return radii.numpy(), np.sort(vertices.numpy(), axis=2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("limit", [100, 252, 10**6])
def test_keops_in_parts(limit: int, device: str) -> None:
    found = cloud_of(GraphSpec("so3", subdivisions=1))
    radii, vertices = nearest(KeopsSearch(found, device, index_limit=limit), 42, 16)
    expected_radii, expected = nearest(PrunedSearch(found, "cpu"), 42, 16)
    assert np.allclose(radii, expected_radii, rtol=1e-12)
    assert (vertices == expected).all()


def test_keops_and_pruned_on_fewer_vertices_than_neighbours() -> None:
    for count in (9, 10, 30):
        spec = GraphSpec("s2", sampling="random", points=10, neighbors=count)
        assert edges(spec, Choice("keops", "cpu")) == edges(spec)
        assert len(edges(spec)) == 10 * 9


TURN = Rotation.from_euler("xyz", [0.3, -1.1, 2.5])


class Turned(Icosphere):
    """An icosphere in no particular position."""

    @property
    def base_points(self) -> np.ndarray:
        return TURN.apply(self.mesh.points)


@pytest.mark.parametrize("count", COUNTS[1:])
def test_s2_edges_do_not_depend_on_the_position(count: int) -> None:
    metric = Metric(1.0)
    turned = searched(Turned(subdivisions=2), "s2", metric, count)
    still = searched(Icosphere(subdivisions=2), "s2", metric, count)
    assert turned.keys() == still.keys()
    assert np.allclose([turned[e] for e in still], list(still.values()), rtol=1e-12)


@pytest.mark.parametrize("fields", [{"subdivisions": 2}, {"bandlimit": 5}, {"nside": 4}], ids=name)
def test_so3_edges_do_not_depend_on_the_position(fields: dict) -> None:
    """Every element multiplied from the left by one rotation."""
    still = cloud_of(GraphSpec("so3", **fields))
    w, x, y, z = still.elements
    elements = Rotation.from_quat(np.stack([x, y, z, w], axis=-1).reshape(-1, 4))
    x, y, z, w = (TURN * elements).as_quat().T.reshape(4, *w.shape)
    turned = replace(still, base=TURN.apply(still.base), elements=(w, x, y, z))
    expected_radii, expected = nearest(PrunedSearch(still, "cpu"), still.points, 16)
    radii, vertices = nearest(PrunedSearch(turned, "cpu"), still.points, 16)
    assert np.allclose(radii, expected_radii, rtol=1e-12)
    assert (vertices == expected).all()


CLUSTERS = np.repeat([0.02, 0.3, 0.9], [40, 20, 1])


@dataclass(frozen=True)
class ClusteredPlane(RandomPlane):
    """Dense here, one point alone there: no single guess of the candidates suits all."""

    @property
    def base_points(self) -> np.ndarray:
        spread = np.random.default_rng(self.seed).random((len(CLUSTERS), 2))
        return CLUSTERS[:, None] + 0.01 * spread


@dataclass(frozen=True)
class ClusteredSphere(RandomSphere):
    """The same on the sphere."""

    @property
    def base_points(self) -> np.ndarray:
        spread = 0.01 * np.random.default_rng(self.seed).normal(size=(len(CLUSTERS), 3))
        around = np.stack([np.cos(3 * CLUSTERS), np.sin(3 * CLUSTERS), CLUSTERS], axis=1)
        points = around + spread
        return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [4, 16])
@pytest.mark.parametrize("manifold", ["r2", "se2", "s2", "so3"])
def test_clustered_points(manifold: str, count: int) -> None:
    oriented = MANIFOLDS[manifold].oriented
    kind = ClusteredPlane if MANIFOLDS[manifold].base == "plane" else ClusteredSphere
    sampling = kind(
        points=len(CLUSTERS), orientations=4 if oriented else 1, oriented=oriented, seed=3
    )
    metric = Metric(0.2, 0.1) if oriented else Metric(1.0)
    measured = rows_of(manifold, sampling.coordinates(), metric.eps, metric.xi)
    expected = edges_of_rows(measured, count)
    check_rule(searched(sampling, manifold, metric, count), expected, count)


class Jittered(Icosphere):
    """Shells that are 1e-7 wide, relatively: within the tolerance, but far beyond rounding.

    The poles stay, for next to them gamma would be any angle.
    """

    @property
    def base_points(self) -> np.ndarray:
        jitter = 1e-8 * np.random.default_rng(0).normal(size=self.mesh.points.shape)
        jitter[np.hypot(*self.mesh.points[:, :2].T) < 1e-9] = 0
        points = self.mesh.points + jitter
        return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [5, 8, 16, 24])
@pytest.mark.parametrize("manifold", ["s2", "so3"])
def test_shells_of_nearly_equal_distances(
    manifold: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    oriented = MANIFOLDS[manifold].oriented
    points = [kind(6 if oriented else 1, oriented, 1) for kind in (Jittered, Icosphere)]
    metric = Metric(0.3162, 1.3) if oriented else Metric(1.0)
    measured = rows_of(manifold, points[0].coordinates(), metric.eps, metric.xi)
    expected = edges_of_rows(measured, count)
    exact = searched(points[1], manifold, metric, count)
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    check_rule(searched(points[0], manifold, metric, count), expected, count)
    assert exact.keys() == expected.keys()


@dataclass(frozen=True)
class Straddled(RandomPlane):
    """Of point 0 the nearest two are equally far, within tolerance; one is far off on the base."""

    @property
    def base_points(self) -> np.ndarray:
        return np.array([(0, 0), (-0.5 + 5e-9, 0), (1, 0), (0.8, 0.6), (0, 1 + 1e-8)])


def test_a_shell_is_not_cut_at_the_last_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The four candidates are those nearest on the base, and do not show where the shell ends."""
    metric, points = Metric(0.5, 1.0), Straddled(points=5, oriented=True)
    measured = list(rows_of("se2", points.coordinates(), metric.eps, metric.xi))
    assert abs(measured[0][0, [1, 4]] - 1).max() < 1e-7
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 4)
    for count in (1, 2):
        found = searched(points, "se2", metric, count)
        assert found.keys() == edges_of_rows(measured, count).keys()
        assert ((0, 1) in found) == (count == 2)


def blocks_called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of candidates that searches try from now on."""
    tried: list[int] = []
    block = PrunedSearch._block

    def counting(
        self: PrunedSearch, points: np.ndarray, own: slice, near: object, *rest: object
    ) -> tuple:
        tried.append(near.images.shape[1])
        return block(self, points, own, near, *rest)

    monkeypatch.setattr(PrunedSearch, "_block", counting)
    return tried


@pytest.mark.parametrize(("fields", "count"), SOME, ids=name)
def test_candidates_grow_from_a_poor_guess(
    fields: dict, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    monkeypatch.setattr(PrunedSearch, "_guess", lambda *_: 2)
    tried = blocks_called(monkeypatch)
    assert edges(spec) == expected
    assert {2, 4, 8} <= set(tried)


def halved(module: object, constant: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, constant, value)


@pytest.mark.parametrize(
    "change",
    [
        halved(pruned, "MOST_POINTS", 7),
        halved(search, "COMPARISONS_AT_ONCE", 5),
        halved(pruned, "PAIRS_AT_ONCE", {"cpu": 100, "cuda": 100}),
        halved(clouds, "PAIRS_AT_ONCE", 5),
        halved(clouds, "PAIRS_AT_ONCE", 2**30),
    ],
    ids=["points", "rows", "pairs", "edge by edge", "images together"],
)
@pytest.mark.parametrize(("fields", "count"), SOME[1::3], ids=name)
def test_edges_do_not_depend_on_block_sizes(
    fields: dict, count: int, change: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    expected = edges(spec)
    change(monkeypatch)
    assert edges(spec) == expected


@pytest.mark.parametrize("block", [1, 17, 100])
def test_edges_do_not_depend_on_rows_read(block: int) -> None:
    spec = GraphSpec("so3", subdivisions=1)
    edges = Level(spec, PRUNED).edges()
    engine, lengths = edges.engine, edges.weights.lengths
    whole = listed(engine, lengths, spec.num_vertices)
    assert listed(engine, lengths, spec.num_vertices, block) == whole


def test_lengths_of_a_vertex_from_itself_are_zero() -> None:
    vertices = np.arange(252)
    for boundary in ("open", "periodic"):
        spec = GraphSpec("se2", sampling="random", points=42, boundary=boundary)
        lengths = Level(spec, PRUNED).edges().weights.lengths
        assert (lengths.squared_distances(vertices, vertices) == 0).all()
