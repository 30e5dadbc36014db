"""Progress goes on with the work, in words; calls are counted, not timed."""

from itertools import pairwise
from pathlib import Path

import pytest
from marks import slow_but

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.search import pruned

Call = tuple[str, int, int]


def calls_of(spec: GraphSpec, store: Path, **how: object) -> list[Call]:
    calls: list[Call] = []
    build(spec, store, device="cpu", progress=lambda *call: calls.append(call), **how)
    return calls


def shares(calls: list[Call], what: str) -> list[float]:
    """How much of it was done, call by call."""
    return [done / total for name, done, total in calls if name == what]


@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize(
    "how", slow_but([{}], [{}, {"block_rows": 500}, {"workers": 2, "block_rows": 1000}])
)
def test_a_search_advances_in_small_steps(tmp_path: Path, how: dict[str, object]) -> None:
    spec = GraphSpec("so3", subdivisions=3, orientations=6, levels=1)
    found = shares(calls_of(spec, tmp_path / "g", **how), "level 0: finding neighbors")
    assert found == sorted(found)
    assert len(set(found)) >= 16
    assert max(b - a for a, b in pairwise(found)) < 0.15
    assert found[-1] == 1


@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("so3", subdivisions=2, orientations=6, levels=1, xi="auto"),
        pytest.param(
            GraphSpec("so3", subdivisions=1, orientations=6, levels=1, xi="auto"),
            marks=pytest.mark.slow,
        ),
        GraphSpec("se2", 12, orientations=6, levels=1, xi="auto"),
    ],
)
def test_solving_for_xi_advances(
    tmp_path: Path, spec: GraphSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruned, "MOST_POINTS", 10)
    calls = calls_of(spec, tmp_path / "g")
    trying = [call for call in calls if "xi" in call[0]]
    assert len(trying) >= 30
    assert len({(done, total) for _, done, total in trying}) >= 15
