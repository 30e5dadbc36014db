"""Stored gradients that are left out; damaged and hostile ones are in `test_mutations.py`."""

from pathlib import Path

import torch

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Gradient, Store, open_store


def test_parts_that_are_left_out(gradient_graphs: Store, tmp_path: Path) -> None:
    """All of a torus' gradients are antisymmetric; between two pixels there are none at all."""
    verified = open_store(gradient_graphs.path, verify=True)
    assert [len(verified[name].levels[0].gradients.symmetric_values) > 0 for name in verified] == [
        name != "torus" for name in verified
    ]
    spec = GraphSpec("r2", 2, boundary="periodic", levels=1, gradients=True)
    build(spec, tmp_path / "g.zarr", name="two")
    graph = open_store(tmp_path / "g.zarr", verify=True)["two"].levels[0]
    assert not Gradient(graph)(torch.randn(1, 1, 4)).any()
