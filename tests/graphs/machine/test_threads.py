"""How many threads a search takes, and that nothing of it stays."""

import os
from pathlib import Path

import pytest
import torch

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.machine.threads import cores, threads_each, torch_threads
from cheblienet_graphs.neighbours.pruned import PrunedSearch
from cheblienet_graphs.spec import words


@pytest.fixture
def three_threads() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_a_search_has_one_thread_and_leaves_torch_as_it_was(
    tmp_path: Path, three_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    during, block = set(), PrunedSearch._block

    def seen(self: PrunedSearch, *arguments: object) -> object:
        during.add(torch.get_num_threads())
        return block(self, *arguments)

    monkeypatch.setattr(PrunedSearch, "_block", seen)
    result = build(GraphSpec("s2", subdivisions=1, levels=1), tmp_path / "g", device="cpu")
    assert during == {1}
    assert (result.processes, result.threads) == (1, 1)
    assert torch.get_num_threads() == 3

    def failing(*_: object) -> object:
        raise SpecError("eps", "so", 1)

    monkeypatch.setattr(PrunedSearch, "_block", failing)
    with pytest.raises(SpecError):
        build(GraphSpec("s2", subdivisions=1, levels=1), tmp_path / "h", device="cpu")
    assert torch.get_num_threads() == 3


def test_fewer_threads_are_never_made_more(three_threads: None) -> None:
    with torch_threads(8):
        assert torch.get_num_threads() == 3


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 6), ("250000 100000", 2), ("50000 100000", 1), ("900000 100000", 6), ("?", 6)],
)
def test_cores_of_a_container(
    tmp_path: Path, quota: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    (tmp_path / "cpu.max").write_text(quota)
    assert cores(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [("-1", 6), ("300000", 3)])
def test_cores_of_an_older_container(
    tmp_path: Path, quota: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000")
    assert cores(tmp_path) == expected
    assert cores(tmp_path / "none") == 6


@pytest.mark.parametrize("engine", ["stencil", "pruned", "keops"])
def test_threads_of_all_processes_fit_the_cores(engine: str) -> None:
    for processes in range(1, 2 * cores() + 1):
        threads = threads_each(engine, processes)
        assert threads == 1 or threads * processes <= cores()


def test_who_did_it_in_words() -> None:
    assert words.done_by(1, 1).startswith("Done by 1 process with 1 thread; ")
    assert words.done_by(2, 4).startswith("Done by 2 processes with 4 threads each; ")
