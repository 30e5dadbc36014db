"""Progress goes on with the work, in words; calls are counted, not timed."""

from itertools import pairwise
from pathlib import Path

import pytest
from marks import slow_but

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.search import pruned


def calls_of(spec: GraphSpec, store: Path, **how: object) -> list[tuple[str, int, int]]:
    calls: list[tuple[str, int, int]] = []
    build(spec, store, device="cpu", progress=lambda *call: calls.append(call), **how)
    return calls


@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize("how", slow_but([{}], [{}, {"workers": 2, "block_rows": 1000}]))
def test_a_search_advances_in_small_steps(tmp_path: Path, how: dict[str, object]) -> None:
    spec = GraphSpec("so3", subdivisions=3, orientations=6, levels=1)
    calls = calls_of(spec, tmp_path / "g", **how)
    shares = [done / total for what, done, total in calls if what == "level 0: finding neighbors"]
    assert shares == sorted(shares)
    assert len(set(shares)) >= 16
    assert max(b - a for a, b in pairwise(shares)) < 0.15
    assert shares[-1] == 1


@pytest.mark.slow
def test_solving_for_xi_advances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruned, "MOST_POINTS", 10)
    spec = GraphSpec("so3", subdivisions=1, orientations=6, levels=1, xi="auto")
    calls = calls_of(spec, tmp_path / "g")
    trying = [call for call in calls if "xi" in call[0]]
    assert len(trying) >= 30
    assert len({(done, total) for _, done, total in trying}) >= 15
