"""Extreme but valid specifications end soon, in a result or in one line: work is counted."""

import math

import pytest
from counted import LIMITS, Work
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build, inspect

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


FEW = {"manifold": "se2", "boundary": "periodic", "eps": 0.001, "levels": 1}


@pytest.mark.slow
@settings(max_examples=10, phases=[Phase.explicit, Phase.generate])  # what fails is small already
@given(spec=specs())
@example(spec=GraphSpec(**FEW, points=5, orientations=2, xi=10))
@example(spec=GraphSpec(**FEW, size="2x33", orientations=5, bandwidth=0.01, neighbors=8))
@example(spec=GraphSpec("so3", subdivisions=1, orientations=180, xi="auto", neighbors=2, levels=1))
@example(spec=GraphSpec("se2", 12, orientations=180, neighbors=8, levels=1))
def test_any_specification_ends_soon(
    spec: GraphSpec, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In a graph with finite eigenvalues, or refused in one line."""
    store = tmp_path_factory.mktemp("any") / "g.zarr"
    with pytest.MonkeyPatch.context() as monkeypatch:
        Work(monkeypatch, LIMITS)
        try:
            result = build(spec, store, name="g", device="cpu")
            report = inspect(store, "g")
        except CheblienetError as refused:
            lines = str(refused).splitlines()
        else:
            assert result.levels[0].edges > 0
            assert all(math.isfinite(value) for value in report.levels[0].eigenvalues)
            lines = ["built"]
    assert len(lines) == 1
