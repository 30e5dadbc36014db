"""What a machine refuses to read is said to be so, and never a fault of what was published."""

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from failures import failing

import cheblienet_models.errors as models
from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, build, verify
from cheblienet_graphs.errors import UnreadableError
from cheblienet_graphs.store.archive import export_zip, import_zip
from cheblienet_models import open_store

CODES = [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EACCES, errno.EPERM]
NAME = "r2-8x8"


SPEC = GraphSpec("r2", 8, levels=1)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return build(SPEC, tmp_path / "g.zarr").store


def refusing(code: int, real: Callable[..., Any], part: str) -> Callable[..., Any]:
    """A function that the system refuses for paths that end so."""

    def refuse(path: Any, *arguments: Any, **named: Any) -> Any:
        named_so = path if isinstance(path, str | Path) else path.name  # of an open file
        if str(named_so).endswith(part):
            raise OSError(code, os.strerror(code))
        return real(path, *arguments, **named)

    return refuse


PLACES = [
    (os, "open", "v001/zarr.json"),
    (os, "open", f"{NAME}/zarr.json"),
    (os, "open", "g.zarr/zarr.json"),
    (os, "open", "laplacian/data/zarr.json"),
    (hashlib, "file_digest", "/c/0"),
    (np, "memmap", "laplacian/data/c/0"),
]


@pytest.mark.parametrize("code", CODES, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize(("module", "name", "part"), PLACES)
def test_no_fault_of_a_store(
    store: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, part: str, code: int
) -> None:
    monkeypatch.setattr(module, name, refusing(code, getattr(module, name), part))
    with pytest.raises(UnreadableError, match=f"{os.strerror(code)}.* no fault of the store") as no:
        verify(store)
    assert not any(word in str(no.value) for word in ("damaged", "rebuild", "build it", "import"))


def test_others_that_read_a_version(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    export_zip(store / NAME / "v001", f"{store}.zip")
    monkeypatch.setattr(os, "open", refusing(errno.EMFILE, os.open, "v001/zarr.json"))
    for command in ("inspect", "export --to npz", "neighbors --vertex 0", "verify"):
        exit_code, message = failing(capsys, *command.split(), NAME, "--store", str(store))
        assert exit_code == 1
        assert f"{os.strerror(errno.EMFILE)}. That is no fault of the store" in message
    with pytest.raises(UnreadableError):  # else it would be built again
        build(SPEC, store)
    with pytest.raises(UnreadableError):
        import_zip(f"{store}.zip", store)
    assert run(["ls", "--store", str(store)]) == 0
    assert "unreadable" in capsys.readouterr().out
    assert [path.name for path in (store / NAME).iterdir() if path.is_dir()] == ["v001"]


@pytest.mark.parametrize("code", CODES, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize("part", ["zarr.json", NAME, "v001", "data", "0"])
def test_opening_for_training(
    store: Path, monkeypatch: pytest.MonkeyPatch, part: str, code: int
) -> None:
    monkeypatch.setattr(os, "open", refusing(code, os.open, part))
    with pytest.raises(models.UnreadableError, match=f"{os.strerror(code)}.*no fault of the store"):
        open_store(store)[NAME]
