"""Edges against brute force over all pairs, and the properties the neighbour rule promises."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from truth import brute_force_edges

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.neighbours.stencil import StencilEngine, Stencils
from cheblienet_graphs.samplings.sampling import SampledManifold


def tables(spec: GraphSpec) -> Stencils:
    sampled = SampledManifold(spec.full_sampling(0), spec.geometry, spec.metric(0))
    return Stencils.of(sampled, spec.neighbors)


def engine(spec: GraphSpec) -> StencilEngine:
    found = tables(spec)
    return StencilEngine(found.lattice, found.stencils)


def edges(spec: GraphSpec, block: int | None = None) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    built, lengths, vertices = engine(spec), tables(spec), spec.num_vertices
    block = block or vertices
    for start in range(0, vertices, block):
        stop = min(start + block, vertices)
        degrees, columns = built.degrees(start, stop), built.columns(start, stop)
        rows = np.repeat(np.arange(start, stop), degrees)
        squared = lengths.squared_distances(rows, columns)
        found |= {
            (int(r), int(c)): float(s) for r, c, s in zip(rows, columns, squared, strict=True)
        }
    return found


GRIDS = [("12x12", 6), ("16x10", 5), ("9x9", 8)]


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("eps", [0.1, 0.3162, 1.0])
@pytest.mark.parametrize("count", [4, 8, 16, 32])
@pytest.mark.parametrize(("size", "orientations"), GRIDS)
def test_equal_brute_force(
    size: str, orientations: int, count: int, eps: float, boundary: str
) -> None:
    spec = GraphSpec(
        "se2", size, orientations=orientations, eps=eps, neighbors=count, boundary=boundary
    )
    expected = brute_force_edges(
        *spec.size, orientations, eps=eps, alpha=1, count=count, periodic=boundary == "periodic"
    )
    found = edges(spec)
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[e], expected[e], rel_tol=1e-9, abs_tol=1e-15) for e in found)


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("count", [4, 8, 24])
def test_equal_brute_force_on_the_plane(count: int, boundary: str) -> None:
    spec = GraphSpec("r2", "7x12", neighbors=count, boundary=boundary)
    expected = brute_force_edges(
        7, 12, None, eps=1, alpha=1, count=count, periodic=boundary == "periodic"
    )
    assert edges(spec).keys() == expected.keys()


@pytest.mark.parametrize("alpha", [0.92, 1.0, 1.14])
@pytest.mark.parametrize("size", [28, 32, 96])
def test_interior_degrees_of_the_paper(size: int, alpha: float) -> None:
    spec = GraphSpec("se2", size, orientations=6, eps_squared=0.1, alpha=alpha)
    stencils = engine(spec).stencils
    assert [len(s) for s in stencils] == [12, 14, 14, 12, 14, 14]
    in_plane = [int((s.orientation == k).sum()) for k, s in enumerate(stencils)]
    assert in_plane == [4, 6, 6, 4, 6, 6]


@pytest.mark.parametrize(
    ("alpha", "eps", "count", "degrees", "in_plane"),
    [
        (1.4, math.sqrt(0.1), 16, [10, 14, 14], [4, 8, 8]),
        (1.0, 0.1, 16, [14, 16, 16], [6, 2, 2]),
        (1.0, 0.1, 32, [29, 29, 29], [8, 6, 6]),
    ],
)
def test_other_verified_degrees(
    alpha: float, eps: float, count: int, degrees: list[int], in_plane: list[int]
) -> None:
    spec = GraphSpec("se2", 96, orientations=6, eps=eps, alpha=alpha, neighbors=count)
    stencils = engine(spec).stencils[:3]
    assert [len(s) for s in stencils] == degrees
    assert [int((s.orientation == k).sum()) for k, s in enumerate(stencils)] == in_plane


def gives_edges(spec: GraphSpec) -> bool:
    try:
        engine(spec)
    except SpecError:
        return False
    return True


specs = st.builds(
    GraphSpec,
    st.just("se2"),
    st.tuples(st.integers(2, 9), st.integers(2, 9)),
    orientations=st.integers(1, 7),
    eps=st.sampled_from([0.1, 0.3162, 0.7, 1.0]),
    alpha=st.sampled_from([0.3, 1.0, 3.41]),
    neighbors=st.integers(4, 20),
    boundary=st.sampled_from(["open", "periodic"]),
    levels=st.just(1),
)


@settings(max_examples=50)
@given(spec=specs, block=st.integers(1, 60))
def test_rule(spec: GraphSpec, block: int) -> None:
    assume(gives_edges(spec))
    found = edges(spec)
    assert found == edges(spec, block)
    assert all(found.get((b, a)) == squared for (a, b), squared in found.items())
    degrees = np.bincount([a for a, _ in found], minlength=spec.num_vertices)
    assert degrees.max() <= spec.neighbors
    assert all(a != b and squared > 0 for (a, b), squared in found.items())


@settings(max_examples=50)
@given(spec=specs)
def test_columns_ascend(spec: GraphSpec) -> None:
    assume(gives_edges(spec))
    built = engine(spec)
    degrees, columns = built.degrees(0, spec.num_vertices), built.columns(0, spec.num_vertices)
    assert len(columns) == degrees.sum()
    for row in np.split(columns, np.cumsum(degrees)[:-1]):
        assert (np.diff(row) > 0).all()


@pytest.mark.parametrize(("count", "least"), [(1, 4), (3, 4)])
def test_too_few_neighbours_names_the_least(count: int, least: int) -> None:
    with pytest.raises(SpecError, match=f"at least {least}.*Got {count}"):
        engine(GraphSpec("r2", 12, neighbors=count))
    assert edges(GraphSpec("r2", 12, neighbors=least))
