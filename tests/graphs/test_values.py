"""Numbers and sizes as they are given: what is taken, what is refused."""

import pytest

from cheblienet_graphs import SpecError
from cheblienet_graphs.values import byte_count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2GB", 2000000000.0),
        ("500 MB", 500000000.0),
        ("1.5GiB", 1.5 * 2**30),
        (10**9, 1000000000.0),
        ("64k", 64000.0),
        ("500mb", 500000000.0),
        ("500 Mb", 500000000.0),
        ("0.5gb", 500000000.0),
        ("1.5gib", 1.5 * 2**30),
        ("7 b", 7),
    ],
)
def test_sizes_in_bytes(text: object, expected: float) -> None:
    assert byte_count("memory_limit", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 cats",
        "-1GB",
        "0",
        "1.2.3MB",
        "nan",
        "infGB",
        "9" * 5000,
        "9" * 5000 + "GB",
        "9" * 307 + "TB",
        True,
        None,
        [2],
        [10**6000],
        "1 mbb",
    ],
)
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(SpecError, match="memory_limit must be a size such as 500MB or 2GB"):
        byte_count("memory_limit", text)
