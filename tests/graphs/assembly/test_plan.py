"""What a build would write, and in how large blocks: known before it begins."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builds import SPECS

from cheblienet_graphs import GraphSpec, SpecError, build, plan
from cheblienet_graphs.assembly import plan as sizes
from cheblienet_graphs.assembly.level_plan import level_plans
from cheblienet_graphs.search.choice import choose

PLANNED = (
    "lattice",
    "selling",
    "mask",
    "cut",
    "sphere",
    "gaussian",
    "random torus",
    "given points",
)


@pytest.mark.parametrize("name", PLANNED)
def test_plan_is_what_a_build_writes_or_bounds_it(
    name: str, expected: dict[str, dict[str, Any]]
) -> None:
    spec, planned, spare = SPECS[name], plan(SPECS[name]), 0
    assert planned.exact == spec.sampling_kind.regular
    for level, facts in zip(planned.levels, expected[name]["levels"], strict=True):
        assert level.vertices == facts["vertices"]
        assert level.nnz == 2 * level.edges + level.vertices
        spare += (level.nnz - facts["nnz"]) * 8
        assert planned.exact or level.edges == level.vertices * spec.neighbors // 2
    files = expected[name]["manifest"].items()
    written = sum(array["nbytes"] for key, array in files if "zarr.json" not in key)
    assert (spare > 0) == (not planned.exact)
    bounded = spec.sampling in {"gaussian", "unstructured"} and spec.levels > 1  # entries of maps
    bounded |= bool(spec.gradients) and not planned.exact
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
    level = level_plans(spec, choose(spec.sampling, device="cpu"))[0]
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
