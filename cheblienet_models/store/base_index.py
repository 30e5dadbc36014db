"""Which points of the full sampling a level has, where its graph was built with a mask."""

import hashlib
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.documents import Document
from cheblienet_models.store.files import Folder

MAX_POINTS = 2**36
"""Of a base of which a mask is taken."""
BLOCK = 2**24
"""Points of a mask that are hashed at a time."""


def count_inside(folder: Folder, spec: Document, number: int, grid: tuple[int, ...]) -> int:
    """Points of a level's base: all of the full sampling, or those inside its mask.

    Args:
        folder: of the level, for messages.
        spec: of the version.
        number: of the level, 0 the finest.
        grid: (orientations, *base shape) of the full sampling.

    Raises:
        StoreError: the specification's mask does not say a number of points that there can be.
    """
    points = math.prod(grid[1:])
    if "mask" not in spec:
        return points
    if points > MAX_POINTS:
        raise StoreError(f"{folder} must have a mask of at most {MAX_POINTS} points. Got {points}.")
    mask = spec["mask"]
    inside = mask.get("inside") if isinstance(mask, dict) else None
    count: Any = inside[number] if isinstance(inside, list) and number < len(inside) else None
    if type(count) is not int or not 1 <= count <= points:
        raise StoreError(
            f"{folder} must have a mask with a number of points inside in [1, {points}]. "
            f"Got {quoted(count)}."
        )
    return count


def read_base_index(folder: Folder, count: int, points: int) -> Tensor:
    """Map the places of a masked level's points in the full sampling.

    Args:
        folder: of the level.
        count: n_inside, as the specification has it.
        points: of the full sampling's base.

    Returns:
        (n_inside,) int32 or int64, ascending, in [0, points).

    Raises:
        StoreError: it is missing, of another length or type, or holds something else.
    """
    index = (folder / "base_index").array(("int32", "int64"), 1)
    if len(index) != count:
        raise StoreError(f"{folder}/base_index must have {count} entries. Got {len(index)}.")
    if not (index[0] >= 0 and index[-1] < points and (index[1:] > index[:-1]).all()):
        raise StoreError(f"{folder}/base_index must ascend within [0, {points}).")
    return torch.from_numpy(index)


def verify_mask(version: Folder, spec: Document, base_index: Tensor, points: int) -> None:
    """Check that a version's finest level has the points of the mask that it was built with.

    Args:
        version: for messages.
        spec: of the version, with a mask.
        base_index: of the finest level.
        points: of the full sampling's base there.

    Raises:
        StoreError: the mask has another digest.
    """
    digest, index = hashlib.sha256(), base_index.numpy()
    for start in range(0, points, BLOCK):
        mask = np.zeros(min(BLOCK, points - start), dtype=np.uint8)
        low, high = np.searchsorted(index, [start, start + len(mask)])
        mask[index[low:high] - start] = 1
        digest.update(mask.tobytes())
    if digest.hexdigest() != spec["mask"].get("sha256"):
        raise StoreError(f"{version} has points inside that are not those of its spec's mask.")
