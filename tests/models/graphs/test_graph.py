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

STORED = {
    torch.int32: ("row_pointers", "columns", "base_index", "rotation_columns"),
    torch.float32: ("values", "degree", "area", "eigenvectors", "rotation_values"),
    torch.float64: ("coordinates", "eigenvalues"),
}
"""Names of constants by the dtype that they are stored in."""


def test_constants_follow_a_layer(tmp_path: Path) -> None:
    """On a graph with every constant there is."""
    more = {"mask": disc(8), "eigenpairs": 3, "directional": 0.05}
    spectral = pyramid_of(tmp_path, GraphSpec("se2", orientations=2, levels=1, **more)).levels[0]
    conv = ChebConv(1, 2, 2, spectral)
    single = {name: dtype for dtype, names in STORED.items() for name in names}
    double = single | dict.fromkeys(STORED[torch.float32], torch.float64)
    stored = {name: getattr(spectral, name) for name in single}

    def dtypes() -> dict[str, torch.dtype]:
        return {name: getattr(spectral, name).dtype for name in stored}

    empty = partial(conv.to_empty, device="cpu")
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
    assert {getattr(spectral, name).device.type for name in stored} == {"meta"}


def test_pickled_networks_share_and_keep_their_precision(pyramid: Pyramid) -> None:
    convs = (ChebConv(*sizes, 2, pyramid.levels[0]) for sizes in ((1, 2), (2, 1)))
    net = nn.ModuleList([pyramid, *convs]).double()
    for twin in (pickle.loads(pickle.dumps(net)), pickle.loads(pickle.dumps(copy.deepcopy(net)))):
        assert twin[1].graph is twin[2].graph is twin[0].levels[0]
        assert twin[1].graph.values.dtype == torch.float64
        x = torch.randn(1, 1, 1024, dtype=torch.float64)
        assert torch.equal(twin[1](x), net[1](x))
        assert twin.float()[2].graph.values.dtype == torch.float32
        assert net[1].graph.values.dtype == torch.float64
    shared = copy.deepcopy(net)[1].graph.values.data_ptr()
    assert shared == net[2].graph.values.data_ptr()
    alone = pickle.loads(pickle.dumps(nn.ModuleList([net[1], net[2]])))
    assert alone[0].graph is alone[1].graph
