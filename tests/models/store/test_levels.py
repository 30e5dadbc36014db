"""What a level says of itself: grids, points inside of a mask, which sizes and masses follow."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import edit

from cheblienet_models import StoreError
from cheblienet_models.store import verify
from cheblienet_models.store.files import opened
from cheblienet_models.store.levels import count_inside
from cheblienet_models.store.verify import verify_mask
from cheblienet_models.store.version import read_version

ATTRIBUTES = "torus/v001/zarr.json"


def test_grids_at_the_limits(copy: Path) -> None:
    """Four sides, and a side of one point."""
    grid = [4, 1, 16, 2, 8]
    edit(copy / ATTRIBUTES, lambda d: d["attributes"]["clg"]["levels"][0].update(grid=grid))
    with opened(str(copy)) as root:
        fine, _ = read_version(root / "torus" / "v001", "torus").levels
    assert fine.grid == tuple(grid)
    assert fine.num_vertices == 4 * 256


POINTS = 1000


def test_points_inside_are_those_of_the_mask() -> None:
    spec: dict[str, Any] = {"mask": {"inside": [196, 256, 1]}}
    assert [count_inside("here", spec, n, (4, 16, 16)) for n in range(3)] == [196, 256, 1]
    assert count_inside("here", {}, 0, (4, 16, 16)) == 256
    for number, grid in ((3, (4, 16, 16)), (1, (4, 255)), (0, (4, 195))):
        with pytest.raises(StoreError, match=r"here must have a mask with a number of points"):
            count_inside("here", spec, number, grid)
    assert count_inside("here", spec, 0, (8, 2**18, 2**18)) == 196
    with pytest.raises(StoreError, match=r"here must have a mask of at most 68719476736 points"):
        count_inside("here", spec, 0, (1, 2**18, 2**18 + 1))
    assert count_inside("here", {}, 0, (1, 2**40)) == 2**40  # without a mask nothing is hashed


@pytest.mark.parametrize("block", [1, 7, POINTS - 1, POINTS, 10 * POINTS])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_digests_do_not_depend_on_blocks(
    monkeypatch: pytest.MonkeyPatch, block: int, share: float
) -> None:
    monkeypatch.setattr(verify, "MASKED", block)
    mask = np.random.default_rng(0).random(POINTS) < share
    mask[POINTS // 2] = True
    spec = {"mask": {"sha256": hashlib.sha256(mask.astype(np.uint8).tobytes()).hexdigest()}}
    index = torch.from_numpy(np.flatnonzero(mask))
    verify_mask("there", spec, index, POINTS)
    verify_mask("there", spec, index.int(), POINTS)
    for other, points in ((index[:-1], POINTS), (index[1:], POINTS), (index, POINTS + 1)):
        with pytest.raises(StoreError, match="there has points inside that are not those of its"):
            verify_mask("there", spec, other, points)
