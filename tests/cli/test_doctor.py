"""The doctor, and engines that are missing something."""

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from cheblienet_cli.main import run
from cheblienet_graphs import CheblienetError
from cheblienet_graphs.doctor import Outcome


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["stencil", "cpu"],
        ["pruned", "cpu"],
        ["pruned", "cuda"],
        ["keops", "cpu"],
        ["keops", "cuda"],
        ["healpix", "cpu"],
    ]
    assert lines[0].endswith("works")
    assert lines[1].endswith("works")


def test_doctor_fails_where_a_needed_engine_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Outcome("pruned", "cpu", works=False, needed=True, remedy="Buy another computer.")
    monkeypatch.setattr("cheblienet_graphs.doctor.examine", lambda: iter([broken]))
    assert run(["doctor", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["works"], found["remedy"]) == (False, "Buy another computer.")


@pytest.mark.slow
def test_doctor_explains_a_missing_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a process of its own with an empty cache and no compiler on its path."""
    import os
    import subprocess
    import sys

    code = (
        "from cheblienet_graphs.search.choice import Choice;"
        "from cheblienet_graphs.assembly.level import Level;"
        "from cheblienet_graphs import GraphSpec, CheblienetError; import numpy as np\n"
        "try: Level(GraphSpec('r2', 8), Choice('keops', 'cpu')).neighbors.engine()\n"
        "except CheblienetError as error: print('SAID', error)\n"
    )
    environment = os.environ | {"KEOPS_CACHE_FOLDER": str(tmp_path / "cache"), "PATH": "/nowhere"}
    environment.pop("CXX", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("SAID")]
    assert len(said) == 1
    assert "there is no C++ compiler g++" in said[0]
    assert "apt install g++" in said[0]


def test_keops_explains_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from cheblienet_graphs.search.keops import remedy

    monkeypatch.setenv("KEOPS_CACHE_FOLDER", "/proc/nowhere")
    assert "can't write to its cache in /proc/nowhere" in remedy(OSError("no"))


def test_keops_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cheblienet_graphs.search import keops

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.delenv("KEOPS_CACHE_FOLDER", raising=False)
    monkeypatch.setattr(keops, "version", absent)
    said = "not installed: pip install pykeops, or use `engine"
    with pytest.raises(CheblienetError, match=said), keops.guarded():
        pass
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    with pytest.raises(CheblienetError, match=said), keops.guarded():
        raise ModuleNotFoundError("No module named 'pykeops'", name="pykeops")
