"""Numbers as people read them."""

import pytest

from cheblienet_graphs.spec.words import human_bytes


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (999_949, "999.9 kB"), (999_960, "1.0 MB"), (1e18, "1000.0 PB")],
)
def test_bytes(count: float, text: str) -> None:
    assert human_bytes(count) == text
