"""The factor from a graph's eigenvalues to the operator's, as builds record it."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from damage import writable_copy
from examined import SPECS
from sealing import reseal

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.measure import moments
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_models import open_store


@pytest.mark.parametrize("name", SPECS)
def test_builds_record_what_inspect_finds(name: str, versions: Path, tmp_path: Path) -> None:
    """And what it finds in versions of before; models read the one, or know that there is none."""
    store = writable_copy(versions, tmp_path / "g.zarr")
    version = store / name / "v001"

    def shown() -> list[float | None]:
        return [level.eigenvalue_scale for level in inspect(store, name, eigenvalues=0).levels]

    recorded = [level.eigenvalue_scale for level in read_facts(Folder(version)).levels]
    assert all(value is not None and 0 < value < math.inf for value in recorded)
    assert shown() == recorded
    assert [level.eigenvalue_scale for level in open_store(store)[name].levels] == recorded
    reseal(version, lambda clg: [level.pop("eigenvalue_scale") for level in clg["levels"]])
    assert {level.eigenvalue_scale for level in read_facts(Folder(version)).levels} == {None}
    assert shown() == pytest.approx(recorded, rel=1e-6)
    assert {level.eigenvalue_scale for level in open_store(store)[name].levels} == {None}


def test_some_points_tell_nearly_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GraphSpec("s2", subdivisions=4, levels=1, weights="kernel")
    whole = build(spec, tmp_path / "g.zarr", name="g").levels[0]
    monkeypatch.setattr(moments, "EDGES", whole.nnz // 8)
    some = build(spec, tmp_path / "g.zarr", name="g", force=True).levels[0]
    assert some.eigenvalue_scale != whole.eigenvalue_scale
    assert some.eigenvalue_scale == pytest.approx(whole.eigenvalue_scale, rel=0.005)


def test_where_nothing_can_be_measured_there_is_none(tmp_path: Path) -> None:
    lines = np.arange(256).reshape(16, 16) // 16 % 5 == 0  # all pixels are at the edge
    build(GraphSpec("r2", mask=lines, levels=1), tmp_path / "g.zarr", name="g")
    report = inspect(tmp_path / "g.zarr")
    recorded, opened = (
        read_facts(Folder(tmp_path / "g.zarr/g/v001")),
        open_store(tmp_path / "g.zarr")["g"],
    )
    scales = {known.levels[0].eigenvalue_scale for known in (report, recorded, opened)}
    values = re.findall(r"^ +[0-9]+ x +\S+ +(\S+)$", report.full_text(), re.MULTILINE)
    assert (scales, set(values)) == ({None}, {"-"})
    assert "nan" not in report.full_text()
