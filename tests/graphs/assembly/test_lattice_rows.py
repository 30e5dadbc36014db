"""Rows of a large lattice, written from those of a small one."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.sparse import inverse_root, laplacian, rescaled, with_diagonal
from cheblienet_graphs.store.layout import check_version
from cheblienet_graphs.weights.edges import KernelWeights


@settings(max_examples=60)
@given(
    size=st.tuples(st.integers(9, 40), st.integers(9, 40)),
    orientations=st.integers(1, 5),
    boundary=st.sampled_from(["open", "periodic"]),
    neighbors=st.integers(8, 12),
    weights=st.sampled_from(["kernel", "selling", "matched"]),
    laplacian=st.sampled_from(["normalized", "combinatorial"]),
    block=st.integers(1, 50),
)
def test_rows_written_from_a_small_lattice_are_those_of_the_large_one(
    tmp_path_factory: pytest.TempPathFactory,
    orientations: int,
    block: int,
    **fields: Any,
) -> None:
    """Against the same formulas on all rows of the lattice at once."""
    oriented = {"manifold": "se2", "orientations": orientations, "eps": 0.5}
    fields |= oriented if orientations > 1 else {"manifold": "r2"}
    size, weights = fields["size"], fields["weights"]
    try:
        spec = GraphSpec(**fields, levels=1)
        level = Level(spec, Choice("stencil", "cpu"))
        engine = level.stencils
    except SpecError:
        return  # too small for the stencils, or no such weights
    vertices = spec.num_vertices
    rows = with_diagonal(0, engine.degrees(0, vertices), engine.columns(0, vertices))
    weighs = level.offset_weights
    if weights == "kernel":
        lengths = level.neighbors.rule
        squared = rows.sums(lengths.squared_distances(rows.rows, rows.columns))
        weighs = KernelWeights.of_mean(spec, math.fsum(squared) / engine.total_degree, lengths)
    values = weighs.weights(rows)
    degree = rows.sums(values)
    mass = degree if spec.laplacian == "normalized" else np.ones(vertices)
    delta = laplacian(rows, values, degree, inverse_root(mass)).astype(np.float32)
    store = tmp_path_factory.mktemp("rows") / "g.zarr"
    build(spec, store, name="g", block_rows=block * size[0])
    version = store / "g" / "v001"
    facts = check_version(version)["levels"][0]
    scaled = rescaled(delta, rows.rows == rows.columns, facts["lambda_max"])
    folder = version / "levels" / "0"
    for name, array in {
        "laplacian/indptr": rows.indptr.astype(np.int32),
        "laplacian/indices": rows.columns.astype(np.int32),
        "laplacian/data": scaled.astype(np.float32),
        "degree": degree.astype(np.float32),
        "area": np.ones(vertices, np.float32),
    }.items():
        assert (folder / name / "c" / "0").read_bytes() == array.tobytes(), name
    assert facts["isolated"] == int((np.diff(rows.indptr) == 1).sum())
    points = size[0] * size[1]
    in_plane = int((rows.rows // points == rows.columns // points).sum()) - vertices
    assert facts["in_plane_fraction"] == in_plane / (2 * facts["edges"])
