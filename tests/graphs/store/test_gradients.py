"""Gradients that are not those of their points, under digests that are in order.

`test_facts.py` has what is recorded of them.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from derivatives import built
from sealing import put, reseal, reseal_array

from cheblienet_graphs import GraphSpec, verify
from cheblienet_graphs.store.reader import LevelFolder

SPECS = [
    GraphSpec("se2", 8, orientations=4, levels=1, gradients=True),
    GraphSpec("so3", subdivisions=1, orientations=4, levels=1, gradients=True),
]


def largest(change: Callable[[float], float]) -> Callable[[np.ndarray], None]:
    """Change the largest value."""

    def changed(values: np.ndarray) -> None:
        place = abs(values).argmax()
        values[place] = change(values[place])

    return changed


@pytest.fixture(params=SPECS, ids=lambda spec: spec.manifold)
def arrays(request: pytest.FixtureRequest, tmp_path: Path) -> LevelFolder:
    return built(request.param, tmp_path)[0]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("fields/data", largest(lambda value: value * 1.001)),
        ("fields/data", largest(lambda value: -value)),
        ("fields/data", largest(lambda _: np.nan)),
        ("symmetric/data", largest(lambda value: value * 1.001)),
        ("fields/indices", put(0, 9999)),
        ("fields/indptr", put(1, 9999)),
        ("symmetric/indices", lambda columns: columns.sort()),
    ],
)
def test_changed_ones_are_noticed(arrays: LevelFolder, part: str, change: Callable) -> None:
    reseal_array(arrays.version, f"levels/0/gradients/{part}", change)
    (fault,) = verify(Path(arrays.version.parent.parent))
    assert "levels/0/gradients" in fault.where


@pytest.mark.parametrize("scale", [1.0, 1.001])
def test_all_in_proportion_is_noticed(arrays: LevelFolder, scale: float) -> None:
    """Both parts and the norms: only derivatives of linear functions tell."""
    for part in ("fields", "symmetric"):
        change = put(slice(None), lambda values: values * np.float32(scale))
        reseal_array(arrays.version, f"levels/0/gradients/{part}/data", change)

    def stated(facts: dict) -> None:
        known = facts["levels"][0]["gradients"]
        known["norms"] = [norm * scale for norm in known["norms"]]
        known["largest"] *= scale

    reseal(arrays.version, stated)
    assert len(verify(Path(arrays.version.parent.parent))) == (scale != 1)


@pytest.mark.parametrize("size", ["8x2", 2])
def test_derivatives_that_are_0_everywhere_can_be_read(tmp_path: Path, size: int | str) -> None:
    """Around a torus of two pixels both neighbors are the same one."""
    spec = GraphSpec("r2", size, boundary="periodic", levels=1, gradients=True)
    (arrays,) = built(spec, tmp_path)
    known = arrays.of_level.gradients
    assert known is not None
    assert known.norms[1] == 0
    assert (known.largest == 0) == (size == 2)
    assert not verify(Path(arrays.version.parent.parent))
