"""What a level says of itself: the grid that it may have, and which sizes and masses follow."""

import itertools
import json
from pathlib import Path

import pytest
from damage import edit

from cheblienet_models import StoreError, open_store
from cheblienet_models.store.files import opened
from cheblienet_models.store.version import read_version

ATTRIBUTES = "torus/v001/zarr.json"


@pytest.mark.parametrize(
    "grid",
    [[4, 0, 16], [0, 16, 16], [4, 16, -16], [4, 2**31], [4], [4, 2, 2, 2, 8, 4], [4, 16.0, 16]],
)
def test_grids_that_no_level_has(copy: Path, grid: list[float]) -> None:
    edit(copy / ATTRIBUTES, lambda d: d["attributes"]["clg"]["levels"][0].update(grid=grid))
    with pytest.raises(StoreError, match=r"levels/0 must have a grid of orientations") as caught:
        open_store(copy)["torus"]
    assert f"Got {json.dumps(grid)}." in str(caught.value)


def test_grids_at_the_limits(copy: Path) -> None:
    """Four sides, and a side of one point."""

    def change(document: dict) -> None:
        document["attributes"]["clg"]["levels"][0]["grid"] = [4, 1, 16, 2, 8]

    edit(copy / ATTRIBUTES, change)
    with opened(str(copy)) as root:
        fine, coarse = read_version(root / "torus" / "v001", "torus").levels
    assert fine.grid == (4, 1, 16, 2, 8)
    assert fine.num_vertices == 4 * 256
    assert coarse.orientations == 4


def test_edges_are_counted_once(store: Path) -> None:
    with opened(str(store)) as root:
        for level in read_version(root / "torus" / "v001", "torus").levels:
            shape, matrix = level.laplacian.shape, level.laplacian
            rows = [set(matrix.indices[a:b]) for a, b in itertools.pairwise(matrix.indptr)]
            edges = {frozenset({v, int(w)}) for v, row in enumerate(rows) for w in row if w != v}
            assert level.num_edges == len(edges)
            assert shape == (level.num_vertices, level.num_vertices)
            assert level.mass is level.degree
