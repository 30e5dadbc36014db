"""The one who builds has no GPU, those who do the blocks have one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from builds import manifest
from marks import slow_but

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.assembly import pipeline
from cheblienet_graphs.machine import Pool
from cheblienet_graphs.machine.threads import own_device
from cheblienet_graphs.search.choice import Choice

SPECS = {
    "rings": GraphSpec("se2", points=30, orientations=3, neighbors=100, boundary="periodic"),
    "matched": GraphSpec("so3", subdivisions=1, levels=1, weights="matched", neighbors=32),
    "fraction": GraphSpec("so3", subdivisions=2, orientations=3, levels=1, xi="auto"),
}


class Elsewhere(Pool):
    """Workers that have a GPU; what they do is done here, without."""

    def first(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Choice:
        return Choice("pruned", "cuda")

    def each(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        for task in tasks:
            sweep, block = task
            assert sweep.level.plan.choice == Choice("pruned", "cuda")
            plan = sweep.level.plan.changed(choice=Choice("pruned", "cpu"))
            level = replace(sweep.level, plan=plan)
            yield task, function(replace(sweep, level=level), block)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    pool = Elsewhere()
    monkeypatch.setattr(pipeline, "opened_pool", lambda *_: nullcontext(pool))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    own_device.cache_clear()
    yield pool
    own_device.cache_clear()


@pytest.mark.parametrize("block_rows", [50, 10_000])
@pytest.mark.parametrize("name", slow_but(["rings", "matched"], SPECS))
def test_builder_without_the_gpu_of_its_workers(
    tmp_path: Path,
    name: str,
    block_rows: int,
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Levels of one block, and searches for xi, it does itself."""
    build(SPECS[name], tmp_path / "there", block_rows=block_rows)
    monkeypatch.undo()
    build(SPECS[name], tmp_path / "here", device="cpu", block_rows=block_rows)
    assert manifest(tmp_path / "there") == manifest(tmp_path / "here")


def test_refusal_by_a_builder_without_the_gpu_of_its_workers(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    with pytest.raises(SpecError, match="neighbors must be at least 2"):
        build(GraphSpec("se2", 24, neighbors=1, levels=1), tmp_path / "g", block_rows=300)
    assert list(tmp_path.iterdir()) == []
