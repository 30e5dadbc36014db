"""The command on a page makes the specification that it tells of."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digests import SPECS as DIGESTED
from many_specs import MANY_SPECS, Given

import cheblienet_cli.build
from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec
from cheblienet_graphs.page.provenance import missing, typed_fields
from cheblienet_graphs.spec.command import command

BUILDERS = "mask", "coordinates", "domain"
"""What only whoever built the graph has."""


def typed(line: str, given: Given, folder: Path) -> list[str]:
    """The arguments of a command, with the builder's own files in a folder."""
    files: dict[str, list[str]] = {}
    for field, flag in (("mask", "--mask"), ("coordinates", "--points-file")):
        arrays = given.get(field, ())
        several = arrays if field == "coordinates" else [arrays] * (field in given)
        for number, array in enumerate(several):
            file = folder / f"{field}{number}.npy"
            np.save(file, array)
            files.setdefault(flag, []).append(str(file))
    clg, *arguments = shlex.split(line)
    assert clg == "clg"
    for place, argument in enumerate(arguments):
        if argument == "FILE":
            arguments[place] = files[arguments[place - 1]].pop(0)
        elif argument == "X0,Y0,X1,Y1":
            arguments[place] = ",".join(map(repr, given["domain"]))
    return arguments


def test_whatever_is_built_can_be_built_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[GraphSpec] = []
    monkeypatch.setattr(cheblienet_cli.build, "_run", lambda spec, **_: made.append(spec))
    unmasked = (spec for spec in DIGESTED.values() if spec.mask is None)
    digested: list[tuple[Given, GraphSpec]] = [({}, spec) for spec in unmasked]
    for given, known in (*digested, *MANY_SPECS):
        spec = known.recorded()
        fields, own = typed_fields(spec), {key: given[key] for key in BUILDERS if key in given}
        hints = " ".join(missing(spec, fields))
        if "coordinates" in own and spec.geometry.base.flat:
            assert "Leave `--domain X0,Y0,X1,Y1` out" in hints
            # Whoever gave none leaves it out, or gives their bounding box.
            every_point = np.concatenate([table[:, :2] for table in own["coordinates"]])
            box = [*every_point.min(axis=0).tolist(), *every_point.max(axis=0).tolist()]
            own.setdefault("domain", box)
        if {"coordinates", "mask"} <= own.keys() and spec.region is not None:
            # A store does not tell such masks from regions.
            assert "if there was one besides the region" in hints
            fields |= {"mask": spec.to_dict()["mask"]}
        assert run(typed(command(fields, "mine"), own, tmp_path)) == 0
        assert made.pop().sha256 == known.sha256, given
        assert ("`FILE` stands for" in hints) is bool({"mask", "coordinates"} & fields.keys())


@pytest.mark.parametrize("mask", [None, np.arange(162) % 2 == 0])
def test_a_region_is_looked_up_once(mask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GraphSpec("s2", subdivisions=2, region=(0, 0, 90, 80), mask=mask, levels=1).recorded()
    made, full = [], GraphSpec.full_sampling
    monkeypatch.setattr(GraphSpec, "full_sampling", lambda *given: made.append(1) or full(*given))
    assert ("mask" in typed_fields(spec)) is (mask is not None)
    assert len(made) == 1
