"""Masked levels: read as they were written, their mask compared with its digest."""

from pathlib import Path

import numpy as np
import pytest
import torch
from damage import writable_copy
from masked import GRAPHS
from sealing import reseal, reseal_array

from cheblienet_graphs import open_group
from cheblienet_models import StoreError, open_store


@pytest.mark.parametrize("name", GRAPHS)
def test_masked_levels_are_read_as_they_were_written(masked_graphs: Path, name: str) -> None:
    pyramid = open_store(masked_graphs, verify=True)[name]
    for number, graph in enumerate(pyramid.levels):
        inside = open_group(masked_graphs, name)[f"levels/{number}/base_index"][:]
        assert torch.equal(graph.base_index, torch.from_numpy(inside))
        assert graph.num_points == len(inside) == pyramid.spec["mask"]["inside"][number]
        assert graph.num_vertices == graph.orientations * len(inside)
        whole = open_store(masked_graphs)[f"whole-{name}"].levels[number]
        assert whole.base_index is None
        assert (whole.grid, whole.sampling) == (graph.grid, graph.sampling)
        assert whole.num_points == np.prod(whole.grid[1:])
        kept = np.concatenate([inside + k * whole.num_points for k in range(graph.orientations)])
        assert torch.equal(graph.coordinates, whole.coordinates[kept])


@pytest.mark.parametrize("changed", ["0" * 64, 3, None])
def test_verification_compares_the_mask_with_its_digest(
    masked_graphs: Path, tmp_path: Path, changed: object
) -> None:
    version = writable_copy(masked_graphs, tmp_path / "g.zarr") / "ring/v001"
    if changed is None:
        reseal_array(version, "levels/0/base_index", lambda values: values.__setitem__(0, 0))
    else:
        reseal(version, lambda clg: clg["spec"]["mask"].update(sha256=changed))
    assert open_store(tmp_path / "g.zarr")["ring"]
    with pytest.raises(StoreError, match="not those of its spec's mask"):
        open_store(tmp_path / "g.zarr", verify=True)["ring"]
