"""Resampling as layers: gradients, dtypes, checkpoints, refusals."""

import copy
import math
import pickle
from collections.abc import Callable
from functools import partial

import pytest
import torch
from sphere_fields import EVERY_METHOD, LAT, LON

from cheblienet_models import LatLonToVertices, Lift, Store, VerticesToLatLon, regular_grid


@EVERY_METHOD
def test_gradients(spheres: Store, method: str) -> None:
    grid = regular_grid(6, 12, west=0)
    for kind, shape in ((LatLonToVertices, (2, 1, 6, 12)), (VerticesToLatLon, (1, 1, 162))):
        layer = kind(spheres["so3"], *grid, method).double()
        x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(layer, x)
    if method == "bilinear":
        assert torch.autograd.gradgradcheck(lambda x: layer(x) ** 2, x)


def test_labels_keep_their_dtype(spheres: Store) -> None:
    pyramid, grid = spheres["so3"], regular_grid(90, 180, west=0)
    up = LatLonToVertices(pyramid, *grid, "nearest")
    down = VerticesToLatLon(pyramid, *grid, "nearest")
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float16):
        labels = torch.randint(0, 2, (1, 1, 162)).to(dtype)
        assert down(labels).dtype == dtype
        assert torch.equal(up(down(labels)), labels)


def test_other_levels_and_orientations(spheres: Store) -> None:
    grid = regular_grid(20, 40, west=0)
    coarse = LatLonToVertices(spheres["icosahedral"], *grid, level=1)
    assert coarse(torch.ones(1, 1, 20, 40)).shape == (1, 1, 642)
    graph = spheres["so3"].levels[0]
    lifted = Lift(graph)(LatLonToVertices(spheres["so3"], *grid)(torch.ones(1, 1, 20, 40)))
    assert lifted.shape == (1, 1, graph.num_vertices)


def test_matrices_are_shared_and_stay_out_of_checkpoints(spheres: Store) -> None:
    grid = regular_grid(20, 40, west=0)
    first, second = (LatLonToVertices(spheres["so3"], *grid) for _ in range(2))
    assert first.values.data_ptr() == second.values.data_ptr()
    other = LatLonToVertices(spheres["so3"], *regular_grid(20, 40, west=-180))
    assert not torch.equal(other.columns, first.columns)
    assert first.state_dict() == {}
    assert first.half().values.dtype == torch.float32
    assert first(torch.ones(1, 1, 20, 40).half()).dtype == torch.float32
    assert first.double()(torch.ones(1, 1, 20, 40)).dtype == torch.float64
    assert second.values.dtype == torch.float32
    image = torch.rand(2, 2, 20, 40)
    for again in (copy.deepcopy(second), pickle.loads(pickle.dumps(second))):
        assert torch.equal(again(image), second(image))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(second(image), second(image.clone()))
    assert second(image[:0]).shape == (0, 2, 162)
    assert torch.equal(second.latitudes, grid[0])
    assert torch.equal(second.longitudes, grid[1])
    assert "20 x 40, method='bilinear'" in repr(second)


def test_refusals(spheres: Store) -> None:
    so3 = spheres["so3"]
    up, down = (kind(so3, LAT, LON) for kind in (LatLonToVertices, VerticesToLatLon))
    image = torch.ones(1, 1, 6, 12)
    image[0, 0, 0, :3] = math.nan
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: LatLonToVertices(spheres["plane"], LAT, LON), r"Got plane@v001 on se2"),
        (lambda: VerticesToLatLon(so3, LAT, LON, level=1), r"level must be in \[0, 0\]. Got 1"),
        (lambda: VerticesToLatLon(so3, LAT, LON, "cubic"), r"method must be .* Got 'cubic'"),
        (lambda: VerticesToLatLon(spheres["few"], LAT, LON), "these 3 leave about half of it "),
        (lambda: up(image), r"without NaN. Got 3 NaN among 72 values"),
        (lambda: down(torch.ones(1, 1, 162).long()), "floating-point fields. Got torch.int64: "),
    ]
    for layer, taken in ((up, "6, 12"), (down, "162")):
        call = partial(layer, torch.ones(1, 1, 12, 6))
        calls.append((call, rf"takes \(B, C, {taken}\).* Got \("))
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match=r"pyramid must be a Pyramid, .* Got Graph"):
        LatLonToVertices(so3.levels[0], LAT, LON)
    assert VerticesToLatLon(spheres["few"], LAT, LON, "nearest").shape == (6, 12)
