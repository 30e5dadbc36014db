"""What a build would write, and in how large blocks: known before it begins."""

from pathlib import Path

import numpy as np
import pytest
from builds import SPECS
from masks import fractions

from cheblienet_graphs import GraphSpec, SpecError, build, plan, verify
from cheblienet_graphs.assembly import plan as sizes
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.store.layout import check_version

PLANE = np.random.default_rng(4).random((150, 2)) * [5, 3]
PLANNED = [
    GraphSpec("se2", "16x24", orientations=5),
    SPECS["directional"],
    SPECS["mask"],
    *(
        GraphSpec("se2", mask=fractions(24), mask_edge="cut", orientations=4, **weights)
        for weights in ({"weights": "selling"}, {"weights": "matched", "boundary": "periodic"})
    ),
    *(
        GraphSpec("so3", **size, levels=2, orientations=3)
        for size in ({"subdivisions": 2}, {"nside": 4}, {"bandlimit": 4}, {"gaussian": "O4"})
    ),
    SPECS["given points"],
    GraphSpec("se2", coordinates=PLANE, domain=(0, 0, 5, 3), orientations=4, boundary="periodic"),
    GraphSpec("r2", points=300, levels=3),
]


@pytest.mark.parametrize("spec", PLANNED, ids=str)
def test_plan_is_what_a_build_writes_or_bounds_it(tmp_path: Path, spec: GraphSpec) -> None:
    built, planned, spare = build(spec, tmp_path / "g.zarr"), plan(spec), 0
    assert verify(tmp_path / "g.zarr") == []
    assert planned.exact == spec.sampling_kind.regular
    for level, facts in zip(planned.levels, built.levels, strict=True):
        assert level.vertices == facts.vertices
        assert level.nnz == 2 * level.edges + level.vertices
        spare += (level.nnz - facts.nnz) * 8
        assert planned.exact or level.edges == level.vertices * spec.neighbors // 2
    manifest = check_version(tmp_path / "g.zarr" / spec.default_name / "v001")["manifest"]
    written = sum(array["nbytes"] for key, array in manifest.items() if "zarr.json" not in key)
    assert (spare > 0) == (not planned.exact)
    bounded = spec.sampling in {"gaussian", "unstructured"} and spec.levels > 1  # entries of maps
    assert (planned.nbytes - spare > written) == bounded
    assert planned.nbytes - spare >= written


def test_gradients_inside_a_mask_are_bounded(tmp_path: Path) -> None:
    y, x = np.mgrid[:16, :16] - 7.5
    spec = GraphSpec("se2", mask=x**2 + y**2 < 49, gradients=True, period="2pi")
    built, planned = build(spec, tmp_path / "g.zarr"), plan(spec)
    assert not planned.exact
    assert [level.edges for level in planned.levels] == [level["edges"] for level in built.levels]
    assert planned.nbytes > built.nbytes


@pytest.mark.parametrize("spec", [SPECS["lattice"], SPECS["sphere"]])
def test_memory_limit_sets_the_block(spec: GraphSpec) -> None:
    level = Level(spec, choose(spec.sampling, device="cpu"))
    without = sizes.MOST_BLOCK_ROWS if level.copied else sizes.BLOCK_ROWS
    assert sizes.rows_within(level, None, 2) == without
    rows = [sizes.rows_within(level, limit, 2) for limit in ("900MB", "2GB", "1TB")]
    assert rows == sorted(rows)
    assert rows[0] >= sizes.LEAST_BLOCK_ROWS
    assert rows[-1] == sizes.MOST_BLOCK_ROWS
    with pytest.raises(SpecError, match=r"at least .*B here, with 4 workers.*fewer `workers`"):
        sizes.rows_within(level, "100MB", 4)
    with pytest.raises(SpecError, match="Got '1 B'"):
        sizes.rows_within(level, 1, 1)


@pytest.mark.parametrize(("field", "most"), [("block_rows", ""), ("workers", "1024")])
def test_numbers_out_of_range(tmp_path: Path, field: str, most: str) -> None:
    for number in (0, -1, 10**12, 1.5, "two", True):
        with pytest.raises(SpecError, match=rf"{field} must be an integer in \[1, {most}"):
            build(SPECS["torus"], tmp_path / "g", **{field: number})
    assert list(tmp_path.iterdir()) == []
