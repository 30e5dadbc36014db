"""Sums that do not depend on the order of their terms."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs.sparse.sums import exact_sum, rounded


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40),
    st.integers(0, 40),
)
def test_exact_sums(values: list[float], split: int) -> None:
    array = np.array(values, float)
    exact = sum((Fraction(value) for value in values), Fraction())
    assert Fraction(exact_sum(array), 2**1127) == exact
    assert exact_sum(array) == exact_sum(array[:split]) + exact_sum(array[split:])
    times = np.arange(len(array)) % 3
    assert exact_sum(array, times) == exact_sum(np.repeat(array, times))
    if sum(abs(Fraction(value)) for value in values) < 2**1000:  # else fsum itself may overflow
        assert rounded(exact_sum(array)) == math.fsum(values)
