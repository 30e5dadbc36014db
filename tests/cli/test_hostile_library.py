"""A stranger's graph with native code in its arrays, under the name of a library."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hostile_library import EFFECT, library
from sealing import reseal_file

from cheblienet_graphs import GraphSpec, StoreError, build, verify
from cheblienet_graphs.store import archive
from cheblienet_graphs.store.mapped import mapped_array

NAME = "libopenblas.so"
CLG = "import sys; from cheblienet_cli.main import run; sys.exit(run(sys.argv[1:]))"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store whose coordinates are a library, its digests in order."""
    here = tmp_path_factory.mktemp("hostile")
    spec = GraphSpec("se2", 16, orientations=4, weights="matched", levels=1)
    build(spec, here / "graphs.zarr", name=NAME)
    version = here / "graphs.zarr" / NAME / "v001"
    coordinates = np.asarray(mapped_array(version / "levels/0/coordinates"))
    reseal_file(version, "levels/0/coordinates/c/0/0", library(coordinates).tobytes())
    return here


def run(here: Path, *command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "CLG_STORE"}
    done = subprocess.run(
        [sys.executable, *command], cwd=here, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_runs_when_it_is_loaded(hostile: Path, tmp_path: Path) -> None:
    file = hostile / f"graphs.zarr/{NAME}/v001/levels/0/coordinates/c/0/0"
    run(tmp_path, "-c", f"import ctypes; ctypes.CDLL({str(file)!r})")
    assert (tmp_path / EFFECT).exists()


def test_a_mapped_library_is_not_run_by_linear_algebra(hostile: Path) -> None:
    file = hostile / f"graphs.zarr/{NAME}/v001/levels/0/coordinates/c/0/0"
    run(
        hostile,
        "-c",
        "import numpy as np; from cheblienet_graphs.machine.threads import one_blas_thread\n"
        f"mapped = np.memmap({str(file)!r}, mode='r')\n"
        "with one_blas_thread(): print(len(mapped))",
    )
    assert not (hostile / EFFECT).exists()


def test_verify_and_import_refuse_it(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [fault] = verify(hostile / "graphs.zarr")
    assert fault.where == f"{NAME}/v001/levels/0/coordinates"
    # An attacker's export does not verify.
    monkeypatch.setattr(archive, "_refuse_faults", lambda *_, **__: None)
    archive.export_zip(hostile / f"graphs.zarr/{NAME}/v001", tmp_path / "g.zip")
    monkeypatch.undo()
    with pytest.raises(StoreError, match="coordinates are not those of the spec's sampling"):
        archive.import_zip(tmp_path / "g.zip", tmp_path / "other.zarr")
    assert not (tmp_path / "other.zarr" / NAME).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "--eigenvalues", "8", "--html", "page.html"),
        ("plot", "eigenmaps", "-o", "eigenmaps.png"),
        ("plot", "heat", "-o", "heat.png"),
        ("export", "--to", "npz", "--output", "g"),
    ],
    ids=lambda command: command[0] + command[1],
)
def test_code_in_arrays_is_never_run(hostile: Path, command: tuple[str, ...]) -> None:
    run(hostile, "-c", CLG, *command)
    assert not (hostile / EFFECT).exists()
