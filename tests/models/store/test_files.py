"""Numbers of facts, which may be any JSON values."""

import math
from functools import partial

from refusing import refused

from cheblienet_models import StoreError
from cheblienet_models.store import files


def test_other_facts_say_where_they_are() -> None:
    grids, count = ([4], [4] * 6, [0, 4], [4, 2**31]), partial(files.read_count, most=10)
    for read, what, values in (
        (files.read_number, r"number in \(0, 1e\+15\]", (0, -1, 10**400, math.nan, True, "1")),
        (count, r"count in \[1, 10\]", (0, 11, True, 1.0, "1")),
        (files.read_grid, "grid of orientations and 1 to 4 sides", grids),
    ):
        for value in values:
            message = rf"^here must have (a )?{what}\. Got "
            refused(message, read, "here", what.split()[0], value, error=StoreError)
    assert files.read_number("here", "number", 0, zero=True) == 0
