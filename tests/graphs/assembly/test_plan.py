"""What a build would write, and in how large blocks: known before it begins."""

from pathlib import Path

import pytest
from builds import SPECS

from cheblienet_graphs import GraphSpec, SpecError, build, plan
from cheblienet_graphs.assembly import plan as sizes
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.search.choice import choose
from cheblienet_graphs.store.layout import check_version


def test_plan_is_what_a_build_writes(tmp_path: Path) -> None:
    specs = (GraphSpec("se2", "16x24", orientations=5), GraphSpec("r2", 32))
    specs += SPECS["directional"], SPECS["mask"]
    for spec in specs:
        build(spec, tmp_path / "g.zarr")
        attributes = check_version(tmp_path / "g.zarr" / spec.default_name / "v001")
        planned = plan(spec)
        assert planned.exact
        for level, facts in zip(planned.levels, attributes["levels"], strict=True):
            assert (level.vertices, level.edges, level.nnz) == (
                facts["vertices"],
                facts["edges"],
                facts["nnz"],
            )
        arrays = {k: v for k, v in attributes["manifest"].items() if not k.endswith("zarr.json")}
        assert planned.nbytes == sum(array["nbytes"] for array in arrays.values())


@pytest.mark.parametrize("size", [{"subdivisions": 2}, {"nside": 4}, {"bandlimit": 4}])
def test_plan_bounds_what_a_search_finds(tmp_path: Path, size: dict[str, int]) -> None:
    spec = GraphSpec("so3", **size, levels=2, orientations=3)
    build(spec, tmp_path / "g.zarr")
    attributes = check_version(tmp_path / "g.zarr" / spec.default_name / "v001")
    planned = plan(spec)
    assert not planned.exact
    spare = 0
    for level, facts in zip(planned.levels, attributes["levels"], strict=True):
        assert level.vertices == facts["vertices"]
        assert facts["edges"] <= level.edges == level.vertices * 16 // 2
        spare += (level.nnz - facts["nnz"]) * 8
    arrays = {k: v for k, v in attributes["manifest"].items() if not k.endswith("zarr.json")}
    assert planned.nbytes - spare == sum(array["nbytes"] for array in arrays.values())


@pytest.mark.parametrize("spec", [SPECS["lattice"], SPECS["sphere"]])
def test_memory_limit_sets_the_block(spec: GraphSpec) -> None:
    level = Level(spec, choose(spec.sampling, device="cpu"))
    assert sizes.rows_within(level, None, 2) == sizes.BLOCK_ROWS
    rows = [sizes.rows_within(level, limit, 2) for limit in ("900MB", "2GB", "1TB")]
    assert rows == sorted(rows)
    assert rows[0] >= sizes.LEAST_BLOCK_ROWS
    assert rows[-1] == sizes.MOST_BLOCK_ROWS
    with pytest.raises(SpecError, match=r"at least .*B here, with 4 workers.*fewer `workers`"):
        sizes.rows_within(level, "100MB", 4)
    with pytest.raises(SpecError, match="Got '1 B'"):
        sizes.rows_within(level, 1, 1)


def test_block_rows_out_of_range(tmp_path: Path) -> None:
    for rows in (0, -1, 1.5, "two", True):
        with pytest.raises(SpecError, match=r"block_rows must be an integer in \[1, "):
            build(SPECS["torus"], tmp_path / "g", block_rows=rows)
    assert list(tmp_path.iterdir()) == []
