"""What a build says of the graphs that it made, against brute force and the full report."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from cheblienet_graphs import GraphSpec, SpecError, build, inspect
from cheblienet_graphs.assembly.checks import sentences, summary
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search import connected
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.search.connected import lattice_components
from cheblienet_graphs.search.stencil import StencilEngine


def engine_of(spec: GraphSpec) -> StencilEngine:
    return Level(spec, choose("lattice")).stencils


def drawn(count: int) -> Iterator[GraphSpec]:
    """Specifications of small lattices, half of which fall into pieces."""
    choice = random.Random(1).choice
    while count:
        fiber = {
            "orientations": choice([1, 2, 3, 6, 8]),
            "eps": choice([0.01, 0.05, 0.1, 0.3, 1]),
            **choice([{"alpha": choice([0.01, 1, 10, 1000])}, {"xi": choice([0.01, 0.3, 1])}]),
        }
        manifold = choice(["r2", "se2", "se2", "se2"])
        try:
            yield GraphSpec(
                manifold,
                (choice(range(2, 30)), choice(range(2, 30))),
                neighbors=choice([4, 6, 8, 16, 24]),
                boundary=choice(["open", "periodic"]),
                levels=1,
                **(fiber if manifold == "se2" else {}),
            )
        except SpecError:
            continue
        count -= 1


@pytest.mark.slow
def test_components_of_lattices(monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows so small that most lattices are not looked at as a whole."""
    monkeypatch.setattr(connected, "ENTRIES", 2_000)
    exact = open_and_many = 0
    for spec in drawn(400):
        try:
            engine = engine_of(spec)
        except SpecError:  # no whole shell within K
            continue
        vertices = engine.lattice.num_vertices
        degrees, columns = engine.neighbors(0, vertices)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        edges = scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), (vertices,) * 2)
        count = connected_components(edges, directed=False, return_labels=False)
        counted = lattice_components(engine)
        assert counted.exact in {None, count}, spec
        assert 1 <= counted.least <= count, spec
        exact += counted.exact is not None
        open_and_many += counted.exact is None and counted.least > 1
        assert counted.exact == count or not engine.lattice.periodic
    assert exact > 250
    assert open_and_many > 20


@pytest.mark.slow
def test_counting_does_not_visit_a_large_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    visited = []
    neighbors = StencilEngine.neighbors

    def counted(self: StencilEngine, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        degrees, columns = neighbors(self, start, stop)
        visited.append(len(columns))
        return degrees, columns

    monkeypatch.setattr(StencilEngine, "neighbors", counted)
    for broken in (False, True):
        given = {"xi": 0.05, "eps": 0.1, "orientations": 4} if broken else {}
        engine = engine_of(GraphSpec("se2", 4096, levels=1, **given))
        visited.clear()
        result = lattice_components(engine)
        assert sum(visited) <= engine.total_degree / 30
        assert result.exact == (None if broken else 1)
        assert (result.least > 1) == broken


SPECS = {
    "plane": GraphSpec("se2", 24),
    "selling": GraphSpec("se2", 24, weights="selling"),
    "torus": GraphSpec("se2", 24, boundary="periodic", weights="matched", levels=1),
    "sphere": GraphSpec("so3", subdivisions=2, levels=2),
    "matched": GraphSpec("s2", subdivisions=3, weights="matched", neighbors=24, levels=1),
    "broken": GraphSpec("se2", 24, orientations=8, xi=1.5, eps=0.1, levels=1),
    "polar": GraphSpec("s2", bandlimit=16, levels=1),
    "random": GraphSpec("r2", points=400, neighbors=3),
    "voronoi": GraphSpec("s2", points=300, weights="voronoi", levels=1),
    "kernel sphere": GraphSpec("s2", points=300, neighbors=24, levels=1),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_build_agrees_with_the_report(tmp_path: Path, name: str) -> None:
    built = build(spec := SPECS[name], tmp_path / "g.zarr", device="cpu")
    levels = inspect(tmp_path / "g.zarr").levels
    assert [check.level for check in built.checks] == [level.level for level in levels]
    told, every = summary(spec, built.checks), sentences(spec, built.checks)
    text = "\n".join(every)
    for check, level in zip(built.checks, levels, strict=True):
        assert check.components == level.components
        assert check.least_components == level.components
        assert check.isolated == level.isolated
        if check.moments_consistent is None:
            assert level.consistency == "too coarse"
        elif level.components == 1:
            assert check.moments_consistent == (level.consistency != "inconsistent")
        assert (f"{level.components:,} components" in text) == (level.components > 1)
    assert ("all levels: one component" in text) == (
        len(levels) > 1 and all(level.components == 1 for level in levels)
    )
    # By the words of both: eigenvalues of kernels on scattered points stay off.
    if spec.sampling != "lattice" and levels[0].components == 1:
        said = "not consistent" in " ".join(told)
        assert said == any("not consistent" in level.verdict for level in levels)
    if name == "plane":  # of the metric that the report measures
        along = [m.eps_squared for level in levels for m in level.effective_metric]
        expected = f"{min(along):.2g}-{max(along):.2g} where {spec.eps**2:.2g} was asked"
        assert f"kernel weights realize eps^2 = {expected}" in told[0]
    # What asks for nothing is left out of the summary, and nothing else.
    assert not any("one component" in line or "not counted" in line for line in told)
    spoiling = [line for line in every[1:] if "one component" not in line]
    assert told[-len(spoiling) :] == spoiling or not spoiling


def test_a_broken_lattice_is_not_built_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it is too large to be looked at as a whole."""
    monkeypatch.setattr(connected, "ENTRIES", 2_000)
    built = build(SPECS["broken"], tmp_path / "g")
    moments, components = sentences(SPECS["broken"], built.checks)
    assert "not consistent with the metric: orientations are not connected" in moments
    assert components == "level 0: has at least 54 components; `clg inspect` counts them"
