"""The doctor, and engines that are missing something."""

import json
import os
import sys
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from failures import Clg

from cheblienet_graphs import CheblienetError
from cheblienet_graphs.doctor import Outcome, apart, examine
from cheblienet_graphs.search import keops


def test_doctor(clg: Clg) -> None:
    lines = clg("doctor").out.splitlines()
    tried = ["stencil cpu", "pruned cpu", "pruned cuda", "keops cpu", "keops cuda"]
    assert [" ".join(line.split()[:2]) for line in lines] == tried
    assert all(line.endswith("works") for line in lines[:2])


def test_doctor_fails_where_a_needed_engine_does(clg: Clg, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Outcome("pruned", "cpu", works=False, needed=True, remedy="Buy another computer.")
    monkeypatch.setattr("cheblienet_graphs.doctor.examine", lambda: iter([broken]))
    (outcome,) = json.loads(clg("doctor --json", 1).out)
    assert (outcome["works"], outcome["remedy"]) == (False, "Buy another computer.")


def test_the_doctor_examines_what_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(MetaPathFinder):
        def find_spec(self, name: str, *_: object) -> None:
            if name.partition(".")[0] == "torch":
                raise ImportError("libtorch.so.1: cannot open shared object file")

    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    outcomes = {f"{of.subject} {of.device}": of for of in examine()}
    assert len(outcomes) == 5
    for each in ("pruned cuda", "keops cuda"):
        assert "cannot open shared object file" in outcomes[each].remedy


def test_an_engine_that_crashes_its_process_is_an_outcome() -> None:
    assert "crashes the process" in apart(partial(os._exit, 139))
    assert apart(partial(str, "a remedy")) == "a remedy"


def test_keops_that_can_not_work_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not installed, its cache can't be written, or there is no compiler."""

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert "no C++ compiler g++. Install one (Debian: apt" in keops.remedy(OSError("no"))
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", "/proc/nowhere")
    assert "can't write to its cache in /proc/nowhere" in keops.remedy(OSError("no"))
    monkeypatch.setattr(keops, "version", absent)
    monkeypatch.delenv("KEOPS_CACHE_FOLDER")
    message = "not installed: pip install pykeops, or use `engine"
    with pytest.raises(CheblienetError, match=message), keops.guarded():
        raise ModuleNotFoundError("No module named 'pykeops'", name="pykeops")
