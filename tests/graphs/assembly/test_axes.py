"""Stored graphs of positions and axes: symmetries, areas, masks, spectra, bytes, large counts."""

from pathlib import Path

import numpy as np
import pytest
from masks import check_masked, points_mask
from moments import stored
from space_truth import voxels

from cheblienet_graphs import GraphSpec, inspect, verify
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.search import masked
from cheblienet_graphs.store import staged
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import mapped_array, mapped_csr

MASK = points_mask(6 * 4 * 6, 0.7).reshape(6, 4, 6)


def test_reports_know_axes(tmp_path: Path) -> None:
    stored(GraphSpec("r3s2", "4x4x5", axes=6, levels=1), tmp_path)
    report = inspect(tmp_path / "g.zarr", eigenvalues=0)
    (level,) = report.levels
    assert level.grid == (6, 5, 4, 4)
    assert len(level.effective_metric) == 6
    rotations = {f"rotation_180_{axis}" for axis in "xyz"} | {"rotation_90_z"}
    assert level.equivariance.keys() == rotations | {f"reflection_{axis}" for axis in "xyz"}
    assert max(level.equivariance.values()) <= 1e-6


@pytest.mark.parametrize(
    "fields",
    [
        {"axes": 7, "laplacian": "combinatorial", "levels": 2},
        {"axes": 6, "spacing": (1, 1, 2), "boundary": "periodic", "levels": 1},
        {"axes": 7, "weights": "selling", "levels": 1},
    ],
    ids=str,
)
def test_masks(fields: dict, tmp_path: Path) -> None:
    check_masked(tmp_path / "g", MASK, {"manifold": "r3s2", **fields})


@pytest.mark.parametrize("given", [{}, {"mask": MASK}], ids=["whole", "mask"])
def test_large_counts_have_long_columns(
    given: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where there are more than 2^31 entries, that limit made smaller."""
    size = {} if given else {"size": "6x4x6"}
    spec = GraphSpec("r3s2", axes=6, levels=1, **given, **size)
    short = mapped_csr(stored(spec, tmp_path / "short")[0] / "levels/0/laplacian")
    for module in (staged, masked):
        monkeypatch.setattr(module, "INT32_LIMIT", short.shape[0] - 1)
    version, _ = stored(spec, tmp_path / "long")
    long = mapped_csr(version / "levels/0/laplacian")
    assert (short.indices.dtype, long.indices.dtype) == (np.int32, np.int64)
    assert (long.indptr.dtype, abs(long - short).max()) == (np.int64, 0)
    verify(tmp_path / "long/g.zarr")


def test_facts_and_schema(tmp_path: Path) -> None:
    spec = GraphSpec("r3s2", "4x4x6", axes="ico6", spacing=(1, 1, 2), levels=2)
    version, _ = stored(spec, tmp_path)
    facts = read_facts(version)
    assert facts.spec == spec.recorded()
    assert spec.schema == "1.1"
    for number, level in enumerate(facts.levels):
        assert level.xi_squared == pytest.approx(6 * (2 ** (1 / 3) * 2**number / 4) ** 2)
    known = axis_set("ico6")
    assert mapped_array(version / "levels/0/area") == pytest.approx(known.areas.repeat(96))
    coordinates = mapped_array(version / "levels/0/coordinates").reshape(6, 96, 6)
    places = voxels((6, 4, 4)) * [1, 1, 2] / 4
    assert coordinates[..., :3] == pytest.approx(np.broadcast_to(places, (6, 96, 3)), abs=1e-15)
    assert (coordinates[..., 3:] == known.points[:, None]).all()
    down = mapped_csr(version / "pooling/0to1").toarray()
    fine, coarse = voxels((6, 4, 4)), voxels((3, 2, 2))
    inside = (fine // 2 == coarse[:, None]).all(axis=2)
    assert (down == np.kron(np.eye(6), inside / 8)).all()
