"""Dense linear algebra by one thread: the same bits whatever the environment says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cheblienet_graphs.machine.blas import _function, _libraries, one_blas_thread

DIGESTS = """
import hashlib, sys
from pathlib import Path
from cheblienet_graphs import GraphSpec, build
store = Path(sys.argv[1])
for number, spec in enumerate((
    GraphSpec("se2", 48, eigenpairs=40, levels=1, weights="selling"),
    GraphSpec("se2", 12, orientations=2, eigenpairs=10, levels=1),
    GraphSpec("so3", subdivisions=2, orientations=4, neighbors=32, weights="matched", levels=1),
)):
    version = store / "g" / build(spec, store, name="g").version
    for file in sorted(path for path in version.rglob("c/*") if path.is_file()):
        print(number, file.relative_to(version), hashlib.sha256(file.read_bytes()).hexdigest())
"""


def threads() -> list[int]:
    return [_function(library, "get")() for library in _libraries()]


def test_libraries_of_numpy_and_scipy_have_one_thread_meanwhile() -> None:
    import scipy.linalg  # noqa: F401

    before = threads()
    if not before:
        pytest.skip("numpy has another library than OpenBLAS here")
    for library in _libraries():
        _function(library, "set")(2)
    try:
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {2}
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert set(threads()) == {2}
    finally:
        for library, count in zip(_libraries(), before, strict=True):
            _function(library, "set")(count)


@pytest.mark.slow
def test_bytes_do_not_depend_on_threads(tmp_path: Path) -> None:
    found = set()
    for count in ("1", "2"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count}
        command = [sys.executable, "-c", DIGESTS, str(tmp_path / count)]
        found.add(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    assert len(found) == 1
    assert len(found.pop().splitlines()) > 10
