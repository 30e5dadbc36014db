"""Extreme but valid specifications end soon, in a result or in one line: work is counted."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st
from sphere_truth import edges_of_rows, rows_of
from truth import se2_squared_distance

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build, inspect
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.neighbours import cloud, search
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.cloud import PairLengths
from cheblienet_graphs.neighbours.ellipses import Ellipses
from cheblienet_graphs.neighbours.pruned import PrunedSearch
from cheblienet_graphs.neighbours.rule import too_few
from cheblienet_graphs.neighbours.offsets import OffsetDistances
from cheblienet_graphs.samplings.fibre import orientation_angles
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.spectrum import bound, exact, numeric

PRUNED = Choice("pruned", "cpu")

SMALL = {
    "se2": [
        *({"size": size} for size in ("2x2", "2x33", "5x3", "12x12")),
        *({"points": points} for points in (2, 5, 60)),
    ],
    "so3": [{"subdivisions": 0}, {"nside": 1}, {"bandlimit": 2}, {"points": 3}, {"points": 50}],
    "r2": [{"size": "2x2"}, {"size": "2x40"}, {"points": 2}, {"points": 60}],
    "s2": [{"subdivisions": 0}, {"nside": 1}, {"bandlimit": 1}, {"points": 2}, {"points": 50}],
}


@st.composite
def specs(draw: st.DrawFn) -> GraphSpec:
    """Of few vertices, with values at the ends of what is accepted."""
    manifold = draw(st.sampled_from(sorted(SMALL)))
    fields = dict(draw(st.sampled_from(SMALL[manifold])))
    if manifold in {"se2", "so3"}:
        fields |= {
            "orientations": draw(st.sampled_from([1, 2, 3, 7, 24, 180])),
            "eps": draw(st.sampled_from([0.001, 0.03, 1])),
            "xi": draw(st.sampled_from([1e-6, 0.01, 1, 10, 1e6, "alpha", "auto"])),
        }
    if manifold in {"se2", "r2"}:
        fields["boundary"] = draw(st.sampled_from(["open", "periodic"]))
    fields |= {
        "weights": draw(st.sampled_from(["kernel", "matched", "selling"])),
        "laplacian": draw(st.sampled_from(["normalized", "combinatorial"])),
        "levels": 1,
    }
    if fields["weights"] != "selling":
        fields["neighbors"] = draw(st.sampled_from([1, 2, 8, 31, 200, 1024]))
        fields["bandwidth"] = draw(st.sampled_from([0.01, 0.2, 100]))
    try:
        spec = GraphSpec(manifold, **fields)
    except SpecError:
        assume(False)
    assume(spec.num_vertices <= 1000)
    assume(spec.xi != "auto" or spec.num_vertices <= 300)  # several hundred graphs are tried
    return spec


class Work:
    """Counts what builds and reports do, and stops those that do too much of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limits: dict[str, float]) -> None:
        self.done, self.limits = dict.fromkeys(limits, 0.0), limits
        self._patch = monkeypatch
        self._count(search.NeighbourLists, "__init__", "searches", lambda *_: 1)
        self._count(
            PrunedSearch, "_squared_distances", "distances", lambda found, *_: found.numel()
        )
        self._count(
            PairLengths,
            "squared_distances",
            "distances",
            lambda found, lengths, *_: found.size * lengths._cloud.images / lengths._cloud.points,
        )
        self._count(Ellipses, "offsets", "offsets", lambda found, *_: len(found[0]))
        self._count(exact, "_squared_frequencies", "frequencies", lambda found, *_: len(found))
        for module in (numeric, bound):
            self._products(module)

    def add(self, what: str, amount: float) -> None:
        self.done[what] += amount
        assert self.done[what] <= self.limits[what], f"too many {what}"

    def _count(self, owner: object, name: str, what: str, amount: Callable[..., float]) -> None:
        original = getattr(owner, name)

        def counted(*arguments: object, **named: object) -> object:
            found = original(*arguments, **named)
            self.add(what, amount(found, *arguments))
            return found

        self._patch.setattr(owner, name, counted)

    def _products(self, module: object) -> None:
        name = "mapped_product" if module is numeric else "recursion"
        original = getattr(module, name)

        def counted(product: object, *arguments: object, **named: object) -> object:
            if module is numeric:
                made = original(product, *arguments, **named)
                return lambda x: self.add("products", 1) or made(x)
            return original(lambda x: self.add("products", 1) or product(x), *arguments, **named)

        self._patch.setattr(module, name, counted)


LIMITS = {
    "searches": 5000,  # 480 values of xi at most, their rings doubled
    "distances": 2e8,
    "offsets": 3e8,
    "frequencies": 1e5,
    "products": 30_000,
}


def built_and_inspected(spec: GraphSpec, store: Path, **how: object) -> str:
    """What came of it, in one line where it is refused."""
    try:
        result = build(spec, store, name="g", device="cpu", **how)
        report = inspect(store, "g")
    except CheblienetError as refused:
        return str(refused)
    assert result.levels[0]["edges"] > 0
    assert all(math.isfinite(value) for value in report.levels[0].eigenvalues)
    return "built"


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,  # some take a second: the same ones for everybody
    phases=[Phase.explicit, Phase.generate],  # what fails is small already
    suppress_health_check=[HealthCheck.too_slow],
)
@given(spec=specs())
@example(spec=GraphSpec("se2", points=5, boundary="periodic", orientations=2, eps=0.001, xi=10))
@example(
    spec=GraphSpec(
        "se2", points=5, boundary="periodic", orientations=2, eps=0.001, xi=10, neighbors=1024
    )
)
@example(spec=GraphSpec("so3", subdivisions=1, orientations=180, xi="auto", neighbors=2, levels=1))
@example(
    spec=GraphSpec(
        "se2",
        "2x33",
        orientations=5,
        eps=0.001,
        bandwidth=0.01,
        neighbors=8,
        boundary="periodic",
    )
)
@example(
    spec=GraphSpec("se2", 12, orientations=180, neighbors=8, laplacian="combinatorial", levels=1)
)
def test_any_specification_ends_soon(
    spec: GraphSpec, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        Work(monkeypatch, LIMITS)
        said = built_and_inspected(spec, tmp_path_factory.mktemp("any") / "g.zarr")
    assert said
    assert "\n" not in said


@settings(max_examples=60, deadline=None)
@given(
    orientations=st.integers(1, 6),
    k=st.integers(0, 5),
    eps=st.sampled_from([0.05, 0.3, 1.0]),
    xi=st.sampled_from([0.1, 2.0, 30.0]),
    radius=st.floats(0.5, 12),
)
def test_offsets_within_a_radius_are_all_there(
    orientations: int, k: int, eps: float, xi: float, radius: float
) -> None:
    """Against every offset of a box that holds the disc."""
    k %= orientations
    lattice = PlaneLattice(8, 8, orientations, oriented=True)
    distances = OffsetDistances(lattice, MANIFOLDS["se2"], Metric(eps, xi))
    orientation, dy, dx, squared = distances.within(k, radius**2)
    found = list(zip(orientation.tolist(), dy.tolist(), dx.tolist(), strict=True))
    assert found == sorted(set(found))
    side = np.arange(-13, 14)
    theta = orientation_angles(orientations)
    lengths = dict(zip(found, squared.tolist(), strict=True))
    for j in range(orientations):
        truth = se2_squared_distance(side, side[:, None], theta[k], theta[j], eps, xi)
        for y, x in itertools.product(range(27), repeat=2):
            place = (j, int(side[y]), int(side[x]))
            if truth[y, x] <= radius**2:
                assert place in lengths
            if place in lengths:
                assert lengths[place] == pytest.approx(truth[y, x], rel=1e-9, abs=1e-9)
    assert (squared <= radius**2 * (1 + 1e-3) + 1e-3).mean() > 0.5 or len(squared) < 30


@pytest.mark.parametrize("manifold", ["se2", "so3"])
@pytest.mark.parametrize("xi", [0.1, 1.0, 5.0])
def test_no_vertex_is_nearer_than_its_turn(manifold: str, xi: float) -> None:
    """Whatever orientation is left out of a search lies beyond the bound."""
    orientations = 7
    spec = GraphSpec(manifold, points=40, orientations=orientations, eps=0.4, xi=xi)
    level = Level(spec, PRUNED)
    vertices = cloud.cloud(level.sampling, spec.geometry, level.metric)
    elements = [torch.from_numpy(element) for element in vertices.elements]
    turn = spec.geometry.turn(
        tuple(e[0][:, None] for e in elements), tuple(e[0][None] for e in elements)
    ).numpy()
    measured = np.concatenate(list(rows_of(manifold, level.sampling.coordinates(), 0.4, xi)))
    step, points = math.pi / orientations, spec.base_points(0)
    for k, j in itertools.product(range(orientations), repeat=2):
        angle = turn + (j - k) * step
        angle = abs(angle - math.pi * np.round(angle / math.pi))
        squared = measured[k * points :, j * points :][:points, :points]
        least = np.vectorize(lambda a: spec.geometry.squared_length_of_turn(a, level.metric))(angle)
        assert (least <= squared * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize(
    "fields",
    [
        {"manifold": "so3", "subdivisions": 1, "alpha": 3},
        {"manifold": "so3", "points": 60, "alpha": 3},
        {"manifold": "se2", "points": 60, "alpha": 10},
        {"manifold": "se2", "points": 20, "alpha": 10, "boundary": "periodic"},
    ],
)
def test_windows_of_orientations_miss_no_neighbour(
    fields: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = GraphSpec(**fields, orientations=40, neighbors=6)
    level, widths = Level(spec, PRUNED), set()
    squared_distances = PrunedSearch._squared_distances

    def seen(self: PrunedSearch, *arguments: object) -> object:
        widths.add(arguments[-1].shape[2])
        return squared_distances(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_squared_distances", seen)
    engine = level.edges().engine
    rows = np.repeat(np.arange(spec.num_vertices), engine.degrees(0, spec.num_vertices))
    found = set(zip(rows.tolist(), engine.columns(0, spec.num_vertices).tolist(), strict=True))
    rings = 2 if fields.get("boundary") else 0
    measured = rows_of(
        spec.manifold, level.sampling.coordinates(), spec.eps, level.metric.xi, rings
    )
    assert found == set(edges_of_rows(measured, 6))
    assert min(widths) < 20


def test_too_many_images_are_refused() -> None:
    spec = GraphSpec(
        "se2",
        points=2,
        orientations=180,
        eps=0.001,
        xi=1e6,
        neighbors=1024,
        boundary="periodic",
    )
    with pytest.raises(
        SpecError, match=r"eps must be larger here, where the 1024 nearest .*boundary='open'"
    ):
        Level(spec, PRUNED).edges()


def test_least_number_of_neighbours_is_found_by_bisection() -> None:
    """One of many candidates, and none up to the largest."""
    for least in (2, 3, 100, 1023, 1024):
        asked: list[int] = []

        def has_edges(count: int, least: int = least, asked: list[int] = asked) -> bool:
            asked.append(count)
            return count >= least

        assert f"at least {least} here" in str(too_few(1, has_edges))
        assert len(asked) <= 22
    assert "more than 1024 here" in str(too_few(5, lambda _: False))


def test_rings_of_images_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours more than a hundred periods away are found by a few searches."""
    work = Work(monkeypatch, LIMITS | {"searches": 10, "distances": 3e7})
    fields = {"points": 5, "orientations": 2, "eps": 0.001, "xi": 10, "neighbors": 1024}
    edges = Level(GraphSpec("se2", **fields, boundary="periodic"), PRUNED).edges()
    assert edges.engine.total_degree > 0
    assert work.done["searches"] > 5
