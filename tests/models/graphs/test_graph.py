"""Graphs as modules: in memory once, following networks, never below float32; maps between them."""

import copy
import pickle
from functools import partial
from pathlib import Path

import torch
from masks import disc
from stores import pyramid_of
from torch import nn

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Pyramid

CONSTANTS = {
    "row_pointers": (torch.int32, torch.int32),
    "columns": (torch.int32, torch.int32),
    "values": (torch.float32, torch.float64),
    "degree": (torch.float32, torch.float64),
    "area": (torch.float32, torch.float64),
    "coordinates": (torch.float64, torch.float64),
    "eigenvalues": (torch.float64, torch.float64),
    "eigenvectors": (torch.float32, torch.float64),
    "base_index": (torch.int32, torch.int32),
    "rotation_values": (torch.float32, torch.float64),
    "rotation_columns": (torch.int32, torch.int32),
}


def test_constants_follow_a_layer(tmp_path: Path) -> None:
    """On a graph with every constant there is."""
    more = {"mask": disc(8), "eigenpairs": 3, "directional": 0.05}
    spectral = pyramid_of(tmp_path, GraphSpec("se2", orientations=2, levels=1, **more)).levels[0]
    conv = ChebConv(1, 2, 2, spectral)
    stored = {name: getattr(spectral, name) for name in CONSTANTS}

    def dtypes() -> list[torch.dtype]:
        return [getattr(spectral, name).dtype for name in CONSTANTS]

    empty = partial(conv.to_empty, device="cpu")
    single, double = map(list, zip(*CONSTANTS.values(), strict=True))
    for change in (conv.float, conv.half, conv.bfloat16, conv.cpu, empty):
        change()
        assert dtypes() == single
        for name, tensor in stored.items():
            assert getattr(spectral, name).data_ptr() == tensor.data_ptr(), name
    conv.double()
    assert dtypes() == double
    conv.half()  # back to what is stored, and no lower
    assert dtypes() == double
    conv.float()
    assert dtypes() == single
    for name, tensor in stored.items():
        assert torch.equal(getattr(spectral, name), tensor), name
    conv.to("meta")
    assert {getattr(spectral, name).device.type for name in CONSTANTS} == {"meta"}


def test_pickled_networks_share_and_keep_their_precision(pyramid: Pyramid) -> None:
    net = nn.ModuleList(
        [pyramid, ChebConv(1, 2, 2, pyramid.levels[0]), ChebConv(2, 1, 2, pyramid.levels[0])]
    ).double()
    for twin in (pickle.loads(pickle.dumps(net)), pickle.loads(pickle.dumps(copy.deepcopy(net)))):
        assert twin[1].graph is twin[2].graph is twin[0].levels[0]
        assert twin[1].graph.values.dtype == torch.float64
        x = torch.randn(1, 1, 1024, dtype=torch.float64)
        assert torch.equal(twin[1](x), net[1](x))
        assert twin.float()[2].graph.values.dtype == torch.float32
        assert net[1].graph.values.dtype == torch.float64
    for twin in (pickle.loads(pickle.dumps(pyramid)), copy.deepcopy(pyramid)):
        held = [twin.levels[0].values, twin.levels[1].values, twin.pooling(0).weights]
        assert {tensor.dtype for tensor in held} == {torch.float64}
    shared = copy.deepcopy(net)[1].graph.values.data_ptr()
    assert shared == net[2].graph.values.data_ptr()
    alone = pickle.loads(pickle.dumps(nn.ModuleList([net[1], net[2]])))
    assert alone[0].graph is alone[1].graph
