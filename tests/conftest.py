"""One thread, no deadlines, no waiting for disks; stores that several tests read, built once."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# The same examples for everybody, however busy the machine is. Others are tried by
# `--hypothesis-profile exploring`.
HASTE = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=HASTE
)
hypothesis.settings.register_profile("exploring", deadline=None, suppress_health_check=HASTE)
hypothesis.settings.load_profile("same")

# Before numpy and torch are imported, here and in the processes that tests start. What they compute
# is small: several threads spend most of the time waiting for each other, above all where other
# processes have the cores. Tests that are about threads set their numbers themselves.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_finish() -> None:
    """Let no collection of garbage look through what was there before the first test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_power_failures() -> Iterator[None]:
    """Let no test wait for the disk a hundred times a build: what is written is read as it is.

    Of a file that is not open it is an error as before. Processes that tests start wait.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # which asks for a file that must be open, too
        yield


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is current, where no store is the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLG_STORE", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three graphs: plane, open and periodic SE(2)."""
    from cheblienet_graphs import GraphSpec, build

    path = tmp_path_factory.mktemp("shared") / "graphs.zarr"
    build(GraphSpec("r2", "24x16"), path)
    build(GraphSpec("se2", 16, orientations=6, eps_squared=0.1), path)
    build(GraphSpec("se2", 16, orientations=4, boundary="periodic", levels=2), path, name="torus")
    return path
