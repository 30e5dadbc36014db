"""Edges of every engine, and their comparison with the brute force over all pairs."""

from functools import lru_cache

import numpy as np
import pytest
from sphere_truth import Edges, edges_of_rows, rows_of

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.engines import NeighborRule
from cheblienet_graphs.search.neighbor_lists import MutualNeighbors
from cheblienet_graphs.search.positions import Cloud, PlacedPoints
from cheblienet_graphs.search.rule import Lengths
from cheblienet_graphs.search.stencil import StencilEngine

Engine = StencilEngine | MutualNeighbors

PRUNED = Choice("pruned", "cpu")
RINGS = 2


def listed(engine: Engine, lengths: Lengths, vertices: int, block: int | None = None) -> Edges:
    """All edges with their squared lengths, read in blocks of rows."""
    by_pair: Edges = {}
    block = block or vertices
    for start in range(0, vertices, block):
        stop = min(start + block, vertices)
        degrees, columns = engine.neighbors(start, stop)
        rows = np.repeat(np.arange(start, stop), degrees)
        squared = lengths(rows, columns)
        by_pair |= dict(
            zip(zip(rows.tolist(), columns.tolist(), strict=True), squared.tolist(), strict=True)
        )
        assert len(columns) == degrees.sum()
        assert (np.diff(columns)[np.diff(rows) == 0] > 0).all()
    return by_pair


def pairs(engine: Engine, vertices: int) -> list[tuple[int, int]]:
    """All edges in the order of rows, as the engine has them."""
    degrees, columns = engine.neighbors(0, vertices)
    rows = np.repeat(np.arange(vertices), degrees)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def engine_and_lengths(spec: GraphSpec, choice: Choice = PRUNED) -> tuple[Engine, Lengths]:
    """The chosen engine, once it has found all neighbors, and what measures its edges."""
    return found_by(level_plans(spec, choice)[0].neighbors)


def found_by(neighbors: NeighborRule) -> tuple[Engine, Lengths]:
    rings = RINGS if neighbors.sampled.sampling.periodic else 0
    engine = neighbors.engine()
    if engine.total_degree == 0:
        raise neighbors.too_few()
    return engine, neighbors.lengths(neighbors.lists(rings))


def edges(spec: GraphSpec, choice: Choice = PRUNED) -> Edges:
    engine, lengths = engine_and_lengths(spec, choice)
    by_pair = listed(engine, lengths, spec.num_vertices)
    assert engine.total_degree == len(by_pair)
    points = spec.base_points(0)
    assert engine.in_plane_degree == sum(a // points == b // points for a, b in by_pair)
    return by_pair


def searched(
    sampling: Sampling, manifold: str, metric: Metric, count: int, choice: Choice = PRUNED
) -> Edges:
    sampled = SampledManifold(sampling, MANIFOLDS[manifold], metric)
    return listed(*found_by(NeighborRule(sampled, count, choice)), sampling.num_vertices)


@lru_cache(maxsize=4)
def rows(spec: GraphSpec) -> list[np.ndarray]:
    level, rings = level_plans(spec, PRUNED)[0], RINGS if spec.boundary == "periodic" else 0
    coordinates = level.domain.coordinates()
    period = 2 * np.pi if spec.period == "2pi" else np.pi
    return list(rows_of(spec.manifold, coordinates, spec.eps, level.metric.xi, rings, period))


def check_rule(by_pair: Edges, expected: Edges, count: int) -> None:
    assert by_pair.keys() == expected.keys()
    lengths, known, turned = np.array(
        [(squared, expected[a, b], by_pair[b, a]) for (a, b), squared in by_pair.items()]
    ).T
    assert (abs(lengths - known) <= 1e-12 * np.maximum(1, known)).all()
    assert (lengths == turned).all()
    rows, columns = np.array([*by_pair]).T
    assert (rows != columns).all()
    assert np.bincount(rows).max() <= count


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


def name(value: object) -> str:
    if isinstance(value, dict):
        return "-".join(f"{key}{number}" for key, number in value.items() if key != "sampling")
    return str(value)


SOME = [
    ({"manifold": "so3", "subdivisions": 1}, 16),
    ({"manifold": "so3", "nside": 2, "orientations": 5, "eps": 0.1}, 16),
    ({"manifold": "so3", "subdivisions": 2, "orientations": 1}, 16),
    ({"manifold": "s2", "subdivisions": 2}, 8),
    ({"manifold": "s2", "bandlimit": 5}, 8),
    ({"manifold": "se2", "size": "10x8", "boundary": "periodic"}, 8),
    ({"manifold": "se2", "sampling": "random", "points": 80, "boundary": "open"}, 8),
    ({"manifold": "se2", "sampling": "random", "points": 80, "boundary": "periodic"}, 8),
    ({"manifold": "r2", "sampling": "random", "points": 200, "boundary": "periodic"}, 8),
    ({"manifold": "r2", "size": 12}, 8),
]
"""Few combinations of manifold and K: KeOps compiles each; one is that of the doctor."""


def cloud_of(spec: GraphSpec) -> Cloud:
    return PlacedPoints.of(level_plans(spec, PRUNED)[0].sampled).cloud()
