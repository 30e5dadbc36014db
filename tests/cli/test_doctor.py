"""The doctor, and engines that are missing something."""

import json
import os
import sys
from functools import partial
from importlib.abc import MetaPathFinder

import pytest
from failures import Clg

from cheblienet_graphs.doctor import Outcome, examine, in_own_process


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
    assert "crashes the process" in in_own_process(partial(os._exit, 139))
    assert in_own_process(partial(str, "a remedy")) == "a remedy"
