"""Numbers as people read them."""

import pytest

from cheblienet_graphs.spec.words import human_bytes


@pytest.mark.parametrize(
    ("count", "text"),
    [
        *((0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB")),
        *((999_960, "1.0 MB"), (1_234_567, "1.2 MB"), (999_960_000, "1.0 GB"), (1e18, "1000.0 PB")),
    ],
)
def test_bytes(count: float, text: str) -> None:
    assert human_bytes(count) == text
