"""A dry run refuses what the real run refuses, in the same words, and writes nothing."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from failures import failing

from cheblienet_cli.main import run

BUILD = ["build", "se2", "--size", "8", "--levels", "1"]
NONSENSE = [
    *(["--workers", value] for value in ("0", "-3", "1025", "many", "2.5", "")),
    *(["--memory-limit", value] for value in ("-2GB", "0", "banana", "5 cats", "1kB", "", "nan")),
    ["--workers", "8", "--memory-limit", "500MB"],
    *(["--name", value] for value in ("a/b", "", ".hidden", "v001", "x" * 65, "zarr.json")),
    *(["--store", value] for value in ("file", "file/below", "full", "~nobody-at-all/g.zarr")),
    ["--store", "n" * 300],
    ["--store", "n" * 250],
    ["--store", "dangling"],
    ["--name", "mine", "--store", "foreign"],
    *(["--dask", value] for value in ("nonsense", "tcp://", "http://a:1", "a:0", "a:99999")),
    *(["--dask", value] for value in ("none.json", "file", "", "tcp://a:port")),
    ["--dask", "tcp://a:1", "--workers", "2"],
    ["--dask", "local", "--workers", "-1"],
    *(["--engine", "none"], ["--device", "none"], ["--engine", "stencil", "--device", "cuda"]),
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda given: " ".join(given)[:40])
def test_what_the_real_run_refuses(
    here: Path, capsys: pytest.CaptureFixture[str], nonsense: list[str]
) -> None:
    if "--dask" in nonsense:
        pytest.importorskip("distributed")
    (here / "file").write_text("mine")
    (here / "dangling").symlink_to("nowhere")
    (here / "full").mkdir()
    (here / "full" / "other").touch()
    if "mine" in nonsense:
        assert run(["build", "r2", "--size", "4", "--quiet", "--store", "foreign"]) == 0
        (here / "foreign" / "mine").mkdir()
        (here / "foreign" / "mine" / "other").touch()
        capsys.readouterr()
    before = sorted(here.rglob("*"))
    refused = failing(capsys, *BUILD, *nonsense)
    assert failing(capsys, *BUILD, *nonsense, "--dry-run") == refused
    assert sorted(here.rglob("*")) == before


def test_a_place_that_can_not_be_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    refused = failing(capsys, *BUILD)
    assert "Permission denied" in refused[1]
    assert failing(capsys, *BUILD, "--dry-run") == refused


def test_a_full_disk(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=9))
    refused = failing(capsys, *BUILD)
    assert "bytes are needed, 9 are free" in refused[1]
    assert failing(capsys, *BUILD, "--dry-run") == refused


def test_what_the_real_run_takes(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster is asked; where nothing has to be built, the place need not be writable."""
    pytest.importorskip("distributed")
    for how in (["--dask", "tcp://nobody.invalid:8786"], ["--dask", "local", "--workers", "3"]):
        assert run([*BUILD, *how, "--dry-run"]) == 0
    assert list(here.iterdir()) == []
    assert run([*BUILD, "--quiet"]) == 0
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    assert run([*BUILD, "--quiet"]) == 0
    assert run([*BUILD, "--dry-run"]) == 0
