"""Stores of maps that were written once: what is released stays readable, by all means."""

import json
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
from damage import writable_copy
from failures import failing
from sealing import reseal

from cheblienet_cli.main import run
from cheblienet_models import open_store

NAMES = [name for specs in golden.MAPS.values() for name in specs]
LATER = "this version reads 1.0 to 1.6. Install a newer cheblienet; it was written by"


def kept(schema: str) -> dict[str, Any]:
    """What was found in the store of a schema when it was written, by name of the map."""
    return json.loads((golden.KEPT / f"{schema}.json").read_text())


@pytest.fixture(params=golden.MAPS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the store of a schema, writable."""
    return writable_copy(golden.KEPT / request.param, tmp_path / f"{request.param}.zarr")


@pytest.mark.parametrize("verify", [False, True])
def test_training_opens_them(store: Path, verify: bool) -> None:
    opened, known = open_store(store, verify=verify), kept(store.stem)
    assert (list(opened), set(opened.maps)) == ([], known.keys())
    for name, vertex_map in opened.maps.items():
        expected = known[name]
        assert vertex_map.spec_sha256 == expected["spec_sha256"]
        back = vertex_map.T
        arrays = {
            "source/coordinates": vertex_map.source_coordinates,
            "target/coordinates": vertex_map.target_coordinates,
        }
        for side, of in (("map", vertex_map), ("transposed", back)):
            parts = zip(
                ("indptr", "indices", "data"), (of.row_pointers, of.columns, of.values), strict=True
            )
            arrays |= {f"{side}/{part}": tensor for part, tensor in parts}
        recorded = {key: golden.recorded(np.asarray(value)) for key, value in arrays.items()}
        published = {k: v for k, v in expected["arrays"].items() if "base_index" not in k}
        assert recorded == published
        facts = expected["map"]
        assert [*vertex_map.source_grid] == facts["source_grid"]
        assert [*vertex_map.target_grid] == facts["target_grid"]


def test_commands_report_them(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = kept(store.stem)
    for name, expected in known.items():
        assert run(["inspect", name, "--store", str(store), "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["spec_sha256"] == expected["spec_sha256"]
        assert (report["entries"], report["farthest"]) == (
            expected["map"]["nnz"],
            expected["map"]["farthest"],
        )
    assert run(["verify", "--store", str(store), "--json", "--quiet"]) == 0
    checked = json.loads(capsys.readouterr().out)
    versions = sorted(f"{name}/v001" for name in known)
    assert checked == {"versions": versions, "faults": [], "remarks": [], "leftovers": 0}


@pytest.mark.parametrize("name", NAMES)
def test_later_schemas_are_refused(
    store: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reseal(store / name / "v001", lambda clg: clg.update(schema="1.7"))
    code, message = failing(capsys, "inspect", name, "--store", str(store))
    assert (code, f"{name}/v001 has schema 1.7; {LATER}" in message) == (1, True)
    assert run(["verify", name, "--store", str(store)]) == 1
    assert "can't be checked: " in capsys.readouterr().out
