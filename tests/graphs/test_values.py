"""Numbers and sizes as they are given: what is taken, what is refused."""

import pytest

from cheblienet_graphs import SpecError
from cheblienet_graphs.values import byte_count


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("500 MB", 5e8), ("1.5GiB", 1.5 * 2**30), (10**9, 1e9), ("64k", 64e3)],
)
def test_sizes_in_bytes(text: object, expected: float) -> None:
    assert byte_count("memory_limit", text) == expected


@pytest.mark.parametrize("text", ["", "2 cats", "-1GB", "0", "1.2.3MB", "nan", "infGB"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(SpecError, match="memory_limit must be a size such as 500MB or 2GB"):
        byte_count("memory_limit", text)
