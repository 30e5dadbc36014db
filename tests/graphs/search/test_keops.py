"""KeOps, and the pruned search on a GPU, find the edges that the pruned search finds."""

import fcntl
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import torch
from all_pairs import SOME, edges, name

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.search import keops
from cheblienet_graphs.search.choice import Choice

GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here"),
]
CHOICES = [
    Choice("keops", "cpu"),
    *(pytest.param(Choice(engine, "cuda"), marks=GPU) for engine in ("keops", "pruned")),
]
FEW = [({"manifold": "s2", "sampling": "random", "points": 10}, count) for count in (9, 30)]
"""As many neighbors as there are others, and more."""
ARROWS = [
    ({"manifold": "se2", "size": 8, "boundary": "periodic", "period": "2pi"}, 16),
    ({"manifold": "so3", "nside": 2, "period": "2pi"}, 16),
]
SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in [*SOME[8:], *ARROWS]]
"""KeOps compiles other formulas for these."""


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: f"{choice.engine}-{choice.device}")
@pytest.mark.parametrize(("fields", "count"), [*SOME[:8], *SLOW, *FEW], ids=name)
def test_edges_are_those_of_the_pruned_search(fields: dict, count: int, choice: Choice) -> None:
    spec = GraphSpec(**fields, neighbors=count)
    assert edges(spec, choice) == edges(spec)


def test_one_process_at_a_time_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock lies in the cache: on clusters each job may have a temporary folder of its own."""
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    with keops.guarded():
        lock = (keops.cache_folder() / keops.LOCK).open()
        with lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with (keops.cache_folder() / keops.LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_fails_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path / "file"))
    (tmp_path / "file").touch()  # so there can be no folder, and no lock
    words = re.escape("(ImportError: file too short). It needs a C++ compiler")
    with pytest.raises(CheblienetError, match=words), keops.guarded():
        raise ImportError("file too short")


def test_keops_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(keops, "version", absent)
    monkeypatch.delenv("KEOPS_CACHE_FOLDER", raising=False)
    message = "not installed: pip install pykeops, or use `engine"
    with pytest.raises(CheblienetError, match=message), keops.guarded():
        raise ModuleNotFoundError("No module named 'pykeops'", name="pykeops")
