"""The radius of the last whole shell."""

import math

import numpy as np
import pytest

from cheblienet_graphs.search.rule import last_whole_shell


@pytest.mark.parametrize(
    ("squared", "count", "radius"),
    [
        ([1, 1, 2, 2, 3], 3, 1),
        ([1, 1, 2, 2, 3], 4, 2),
        ([1, 1, 2, 2, 3], 9, 3),
        ([1, 1 + 1e-9, 2], 1, 0),
        ([2, 1], 1, 1),
        ([], 5, 0),
    ],
)
def test_last_whole_shell(squared: list[float], count: int, radius: float) -> None:
    found = last_whole_shell(np.array(squared, float), count, 1e-7)
    assert math.isclose(found, radius, rel_tol=1e-6)
