"""Builds in blocks, interrupted anywhere and resumed: the bytes are the same."""

from pathlib import Path

import pytest
from builds import SPECS, inodes, interrupted, manifest
from marks import slow_but

from cheblienet_graphs import build
from cheblienet_graphs.store.verify import leftovers

OTHER_WAYS = [
    {},
    {"block_rows": 97},
    {"block_rows": 100_000},
    {"workers": 2, "block_rows": 300},
]


DIRECTIONAL = [name for name in SPECS if "directional" in name]
"""Resumed anywhere in a test of their own."""


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize(
    "name",
    slow_but(["lattice", "torus", "selling"], [name for name in SPECS if name not in DIRECTIONAL]),
)
def test_interrupted_anywhere_and_resumed(
    tmp_path: Path, name: str, expected: dict[str, dict[str, object]]
) -> None:
    """Also twice, with blocks of other sizes and by other processes."""
    spec = SPECS[name]
    for way, after in enumerate(range(0, 400, 7)):
        store = tmp_path / str(after)
        stop = interrupted(spec, store, after, block_rows=211)
        if stop is None:
            break
        kept = inodes(store)
        if kept:
            assert f"{len(kept):,} finished block" in stop.__notes__[0]
            assert "`resume=True`" in stop.__notes__[0]
        else:
            assert leftovers(store) == []
        interrupted(spec, store, 3, block_rows=150, resume=True)
        assert inodes(store).items() >= kept.items()
        kept = inodes(store)
        result = build(
            spec, store, resume=True, **({"block_rows": 211} | OTHER_WAYS[way % len(OTHER_WAYS)])
        )
        assert result.resumed == bool(kept)
        assert manifest(store) == expected[name]
        assert leftovers(store) == []
    assert after >= 14
