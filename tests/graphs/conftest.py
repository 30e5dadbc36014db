"""Graphs that tests in several files compare with, and worker processes that start quickly."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import examined
import pytest
from builds import Whole
from stores import store_of

from cheblienet_graphs import build, inspect
from cheblienet_graphs.machine import processes
from cheblienet_graphs.report.inspect import Report

PRELOADED = ["cheblienet_graphs.assembly.pipeline", "cheblienet_graphs.search.pruned"]


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """What is published of each of the specifications of `builds`, built at once."""
    return Whole(tmp_path_factory.mktemp("expected"))


versions = store_of(examined.SPECS, "session")


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes are forked from one that has imported torch and done nothing else.

    For tests that ask what processes do, not how they start: a spawned one imports for 2.5 s.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    monkeypatch.setattr(
        processes,
        "ProcessPoolExecutor",
        lambda workers, _, *start: ProcessPoolExecutor(workers, context, *start),
    )


@pytest.fixture
def report_on(tmp_path: Path) -> Callable[..., Report]:
    """Builds a graph and reports on it."""
    store = tmp_path / "g.zarr"
    return lambda spec, **options: inspect(store, build(spec, store, device="cpu").name, **options)
