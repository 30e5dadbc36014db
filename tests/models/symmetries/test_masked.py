"""Symmetries of masked graphs: those of the sampling that map the mask to itself."""

from pathlib import Path

import numpy as np
import pytest
import torch
from masked import GRAPHS, build_masked, disc

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import open_store
from cheblienet_models.symmetries import symmetries

PLANE = {"rotation_90", "rotation_180", "flip"}
EXPECTED = {
    "ring": PLANE,
    "crescent": set(),
    "half": set(),
    "all": PLANE,
    "healpix": {"half_turn_z", "quarter_turn_z", "reflection"},
    "equiangular": {"half_turn_z", "reflection", "longitude_step"},
    "icosahedral": {"half_turn_z", "reflection"},
}


@pytest.mark.parametrize("name", GRAPHS)
def test_symmetries_are_those_that_the_mask_keeps(masked_graphs: Path, name: str) -> None:
    store = open_store(masked_graphs)
    for level in range(len(store[name].levels)):
        whole = symmetries(store[f"whole-{name}"], [level])
        by_name = symmetries(store[name], [level])
        assert set(by_name) <= set(whole)
        if name in EXPECTED and level == 0:
            assert EXPECTED[name] <= set(by_name)
            assert set(by_name) - EXPECTED[name] <= {"quarter_turn_z"}
        inside = store[name].levels[level].base_index.long()
        for symmetry, motions in by_name.items():
            # Where points of the full sampling go is where those inside go.
            full, own = whole[symmetry][level].base, motions[level].base
            assert torch.equal(full[inside], inside[own])
        if name == "ball":
            assert set(by_name) == set(whole)


def test_a_mask_that_breaks_all_but_the_half_turn(tmp_path: Path) -> None:
    def parallelogram(_: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        y, x = np.indices(shape)
        return abs(x - y) < 4

    build(GraphSpec("se2", 10, orientations=4, levels=1), tmp_path / "g.zarr", name="whole")
    build_masked(tmp_path / "g.zarr", "whole", "part", parallelogram)
    assert set(symmetries(open_store(tmp_path / "g.zarr")["part"], [0])) == {"rotation_180"}


def test_periodic_planes_with_a_hole_do_not_shift(tmp_path: Path) -> None:
    spec = GraphSpec("r2", 8, boundary="periodic", levels=1)
    build(spec, tmp_path / "g.zarr", name="whole")
    build_masked(tmp_path / "g.zarr", "whole", "part", disc)
    store = open_store(tmp_path / "g.zarr")
    assert {"translation_x", "translation_y"} <= set(symmetries(store["whole"], [0]))
    assert set(symmetries(store["part"], [0])) == PLANE
