"""A stranger's graph with native code in its arrays, under the name of a library."""

import platform
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import printed_by
from sealing import reseal_file

from cheblienet_graphs import GraphSpec, StoreError, build, verify
from cheblienet_graphs.archives import zips
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder

EFFECT = "x"
"""The file that the library makes in the current folder as soon as it is loaded."""

CREATE = bytes.fromhex(
    "488d3d1900000090"  # lea rdi, [rip + 25]: EFFECT, behind the code
    "bea4010000909090"  # mov esi, 0o644
    "b8550000000f0590"  # mov eax, 85; syscall: creat(EFFECT, 0o644)
    "c300000000000000"  # ret
)


def library(values: np.ndarray) -> np.ndarray:
    """(the shape of values) the bytes of the library, then zeros; numbers of its type.

    ELF by hand: what linkers write has names, which as numbers are beyond what is accepted.
    """
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        pytest.skip("the library is one of Linux on x86-64")
    header, segment, entry = 64, 56, 16
    dynamic = header + 3 * segment
    symbols = dynamic + 6 * entry  # none, and so no strings
    code = symbols + 24
    end = code + len(CREATE) + 8
    tags = {5: symbols, 6: symbols, 10: 1, 11: 24, 12: code, 0: 0}  # DT_STRTAB ... DT_INIT
    contents = b"".join(
        (
            b"\x7fELF\2\1\1".ljust(16, b"\0"),
            struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, header, 0, 0, header, segment, 3, 64, 0, 0),
            struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, end, end, 4096),  # PT_LOAD
            struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, 96, 96, 8),  # PT_DYNAMIC
            struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16),  # PT_GNU_STACK
            b"".join(struct.pack("<QQ", *tag) for tag in tags.items()),
            bytes(24),
            CREATE,
            EFFECT.encode().ljust(8, b"\0"),
        )
    )
    padded = contents.ljust(values.nbytes, b"\0")
    return np.frombuffer(padded, values.dtype).reshape(values.shape)


NAME = "libopenblas.so"
COMMANDS = """
import os, sys
import cheblienet_graphs.page.page, matplotlib.figure, scipy.sparse.linalg
from cheblienet_cli.main import run
for command in (
    "inspect --eigenvalues 8 --html page.html",
    "export --to npz --output g",
):
    if not os.fork():
        sys.exit(run(command.split()))
    assert os.wait()[1] == 0, command
"""
"""Each by a process that has imported what it needs and done nothing else."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store whose coordinates are a library, its digests in order."""
    here = tmp_path_factory.mktemp("hostile")
    spec = GraphSpec("se2", 16, orientations=4, weights="matched", levels=1)
    build(spec, here / "graphs.zarr", name=NAME)
    version = here / "graphs.zarr" / NAME / "v001"
    coordinates = np.asarray(mapped_array(Folder(version / "levels/0/coordinates")))
    reseal_file(version, "levels/0/coordinates/c/0/0", library(coordinates).tobytes())
    return here


MAPPED = """
import numpy as np
from cheblienet_graphs.machine.threads import one_blas_thread
mapped = np.memmap({file!r}, mode="r")
with one_blas_thread():
    print(len(mapped))
"""


def test_the_library_runs_when_it_is_loaded_but_not_by_linear_algebra(
    hostile: Path, here: Path
) -> None:
    file = str(hostile / f"graphs.zarr/{NAME}/v001/levels/0/coordinates/c/0/0")
    printed_by("-c", MAPPED.format(file=file))
    assert not (here / EFFECT).exists()
    printed_by("-c", f"import ctypes; ctypes.CDLL({file!r})")
    assert (here / EFFECT).exists()


def test_verify_and_import_refuse_it(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [fault] = verify(hostile / "graphs.zarr")
    assert fault.where == f"{NAME}/v001/levels/0/coordinates"
    # An attacker's export does not verify.
    monkeypatch.setattr(zips, "_refuse_faults", lambda *_, **__: None)
    zips.export_zip(Folder(hostile / f"graphs.zarr/{NAME}/v001"), tmp_path / "g.zip")
    monkeypatch.undo()
    with pytest.raises(StoreError, match="coordinates are not those of the spec's sampling"):
        zips.import_zip(tmp_path / "g.zip", tmp_path / "other.zarr")
    assert not (tmp_path / "other.zarr" / NAME).exists()


@pytest.mark.slow
def test_code_in_arrays_is_never_run(hostile: Path) -> None:
    printed_by("-c", COMMANDS, cwd=hostile)
    assert not (hostile / EFFECT).exists()
