"""The doctor, and engines that are missing something."""

import json
import os
import subprocess
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import CheblienetError
from cheblienet_graphs.doctor import Outcome, examine
from cheblienet_graphs.search import keops


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tried = ["stencil cpu", "pruned cpu", "pruned cuda", "keops cpu", "keops cuda", "healpix cpu"]
    assert [" ".join(line.split()[:2]) for line in lines] == tried
    assert all(line.endswith("works") for line in lines[:2])


def test_doctor_fails_where_a_needed_engine_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Outcome("pruned", "cpu", works=False, needed=True, remedy="Buy another computer.")
    monkeypatch.setattr("cheblienet_graphs.doctor.examine", lambda: iter([broken]))
    assert run(["doctor", "--json"]) == 1
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (outcome["works"], outcome["remedy"]) == (False, "Buy another computer.")


@pytest.mark.parametrize(
    ("module", "broken"),
    [("torch", ["pruned cuda", "keops cuda"]), ("astropy_healpix", ["healpix cpu"])],
)
def test_the_doctor_examines_what_does_not_load(
    monkeypatch: pytest.MonkeyPatch, module: str, broken: list[str]
) -> None:
    class Broken(MetaPathFinder):
        def find_spec(self, name: str, *_: object) -> None:
            if name.partition(".")[0] == module:
                raise ImportError(f"lib{module}.so.1: cannot open shared object file")

    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    outcomes = {f"{of.subject} {of.device}": of for of in examine()}
    assert len(outcomes) == 6
    for each in broken:
        assert "cannot open shared object file" in outcomes[each].remedy


@pytest.mark.slow
def test_doctor_explains_a_missing_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a process of its own with an empty cache and no compiler on its path."""
    code = (
        "from cheblienet_graphs.search.choice import Choice;"
        "from cheblienet_graphs.assembly.level import Level;"
        "from cheblienet_graphs import GraphSpec, CheblienetError; import numpy as np\n"
        "try: Level(GraphSpec('r2', 8), Choice('keops', 'cpu')).neighbors.engine()\n"
        "except CheblienetError as error: print('REFUSED', error)\n"
    )
    environment = os.environ | {"KEOPS_CACHE_FOLDER": str(tmp_path / "cache"), "PATH": "/nowhere"}
    environment.pop("CXX", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [refusal] = [line for line in done.stdout.splitlines() if line.startswith("REFUSED")]
    assert "there is no C++ compiler g++" in refusal
    assert "apt install g++" in refusal


@pytest.mark.parametrize("cache", [False, True])
def test_keops_that_can_not_work_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: bool
) -> None:
    """It is not installed, with a folder for its cache or without; or that can't be written."""

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setenv("KEOPS_CACHE_FOLDER", "/proc/nowhere")
    assert "can't write to its cache in /proc/nowhere" in keops.remedy(OSError("no"))
    monkeypatch.setattr(keops, "version", absent)
    monkeypatch.delenv("KEOPS_CACHE_FOLDER")
    if cache:
        monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    message = "not installed: pip install pykeops, or use `engine"
    with pytest.raises(CheblienetError, match=message), keops.guarded():
        raise ModuleNotFoundError("No module named 'pykeops'", name="pykeops")
