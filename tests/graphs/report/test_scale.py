"""The factor from a graph's eigenvalues to the operator's, as builds record it."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.report import moments
from cheblienet_graphs.store.facts import read_facts
from cheblienet_models import open_store

SPECS = {
    "plane": GraphSpec("se2", 12, orientations=4, boundary="periodic", levels=2),
    "normalized": GraphSpec("se2", 12, weights="selling", laplacian="normalized", levels=1),
    "space": GraphSpec("r3", 8, levels=1),
    "icosphere": GraphSpec("s2", subdivisions=3, levels=2),
    "matched": GraphSpec("s2", subdivisions=2, weights="matched", neighbors=24, levels=1),
    "masked": GraphSpec("se2", mask=np.indices((24, 24)).sum(0) < 30, levels=1),
    "own": GraphSpec(
        "s2",
        coordinates=np.random.default_rng(0).uniform((-80, -180), (80, 180), (200, 2)),
        levels=1,
    ),
}


def facts_without(version: Path, name: str) -> None:
    """Let a version be one of before a fact was recorded."""
    document = json.loads((version / "zarr.json").read_bytes())
    for level in document["attributes"]["clg"]["levels"]:
        del level[name]
    (version / "zarr.json").write_text(json.dumps(document))


@pytest.mark.parametrize("name", SPECS)
def test_builds_record_what_inspect_finds(name: str, tmp_path: Path) -> None:
    """And what it finds in versions of before; models read the one, or know that there is none."""
    store = tmp_path / "g.zarr"
    built = build(SPECS[name], store, name="g")
    recorded = [level.eigenvalue_scale for level in built.levels]
    assert all(value is not None and 0 < value < math.inf for value in recorded)
    shown = [level.eigenvalue_scale for level in inspect(store, eigenvalues=0).levels]
    assert shown == recorded
    assert [level.eigenvalue_scale for level in open_store(store)["g"].levels] == recorded
    facts_without(store / "g" / built.version, "eigenvalue_scale")
    assert {level.eigenvalue_scale for level in read_facts(store / "g/v001").levels} == {None}
    again = [level.eigenvalue_scale for level in inspect(store, eigenvalues=0).levels]
    assert again == pytest.approx(recorded, rel=1e-6)  # areas of given points are stored in float32
    assert {level.eigenvalue_scale for level in open_store(store)["g"].levels} == {None}


def test_some_points_tell_nearly_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GraphSpec("s2", subdivisions=4, levels=1)
    whole = build(spec, tmp_path / "g.zarr", name="g").levels[0]
    monkeypatch.setattr(moments, "EDGES", whole.nnz // 8)
    some = build(spec, tmp_path / "g.zarr", name="g", force=True).levels[0]
    assert some.eigenvalue_scale != whole.eigenvalue_scale
    assert some.eigenvalue_scale == pytest.approx(whole.eigenvalue_scale, rel=0.005)


def test_where_nothing_can_be_measured_there_is_none(tmp_path: Path) -> None:
    lines = np.arange(256).reshape(16, 16) // 16 % 5 == 0  # all pixels are at the edge
    build(GraphSpec("r2", mask=lines, levels=1), tmp_path / "g.zarr", name="g")
    report = inspect(tmp_path / "g.zarr")
    recorded, opened = read_facts(tmp_path / "g.zarr/g/v001"), open_store(tmp_path / "g.zarr")["g"]
    scales = {known.levels[0].eigenvalue_scale for known in (report, recorded, opened)}
    values = re.findall(r"^ +[0-9]+ x +\S+ +(\S+)$", report.full_text(), re.MULTILINE)
    assert (scales, set(values)) == ({None}, {"-"})
    assert "nan" not in report.full_text()
