"""Networks on spheres: shapes, and exact invariance under the sampling's own symmetries."""

from pathlib import Path

import numpy as np
import pytest
import torch

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Lift, Project, SpatialPool, SpatialUnpool, WideResNet
from cheblienet_models import open_store as open_graphs

SPECS = {
    "icosahedral": GraphSpec("so3", subdivisions=3, orientations=4, levels=3),
    "healpix": GraphSpec("so3", nside=4, orientations=3, levels=2),
    "equiangular": GraphSpec("so3", bandlimit=4, orientations=4, levels=2),
    "s2": GraphSpec("s2", subdivisions=2, levels=2),
    "random": GraphSpec("so3", points=150, orientations=3),
}


@pytest.fixture(scope="module")
def spheres(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spheres") / "graphs.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name)
    return path


@pytest.mark.parametrize("name", SPECS)
def test_layers_take_signals_on_the_base(spheres: Path, name: str) -> None:
    pyramid, spec = open_graphs(spheres)[name], SPECS[name]
    graph = pyramid.levels[0]
    assert graph.grid == spec.grid(0)
    assert np.isclose(graph.area.mean(), 1)
    x = torch.randn(2, 3, *graph.grid[1:])
    lifted = Lift(graph)(x)
    assert lifted.shape == (2, 3, spec.num_vertices)
    assert torch.equal(Project(graph)(lifted), x.flatten(2))
    if spec.levels > 1:
        pooled = SpatialPool(pyramid, 0, "mean")(torch.ones_like(lifted))
        assert pooled.shape[2] == pyramid.levels[1].num_vertices
        assert torch.allclose(pooled, torch.ones(()))
        assert torch.allclose(SpatialUnpool(pyramid, 0)(pooled), torch.ones(()))
    network = WideResNet(pyramid, 3, 5, depth=1, widen=1)
    assert network(x).shape == (2, 5)


@pytest.mark.parametrize("name", ["icosahedral", "healpix", "equiangular", "s2"])
def test_networks_are_invariant_under_the_samplings_symmetries(spheres: Path, name: str) -> None:
    pyramid, spec = open_graphs(spheres)[name], SPECS[name]
    torch.manual_seed(0)
    network = WideResNet(pyramid, 2, 4, depth=1, widen=1).eval()
    x = torch.randn(1, 2, pyramid.levels[0].num_vertices)
    expected = network(x)
    # One step of longitude is not the same turn on every level.
    shared = set.intersection(
        *({n for n, _ in spec.full_sampling(level).symmetries()} for level in range(spec.levels))
    ) - {"longitude_step"}
    tried = 0
    for symmetry, moved in spec.full_sampling(0).symmetries():
        if symmetry in shared and "approximate" not in symmetry:
            turned = torch.empty_like(x)
            turned[:, :, torch.from_numpy(moved)] = x
            assert not torch.equal(turned, x)
            assert torch.allclose(network(turned), expected, atol=1e-4)
            tried += 1
    assert tried >= 3
