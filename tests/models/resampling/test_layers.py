"""Resampling as layers: gradients, dtypes, checkpoints, refusals."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from sphere_fields import EVERY_METHOD, LAT, LON

from cheblienet_models import (
    LatLonToVertices,
    Lift,
    Pyramid,
    VerticesToLatLon,
    regular_grid,
)


@EVERY_METHOD
def test_gradients(spheres: dict[str, Pyramid], method: str) -> None:
    pyramid, grid = spheres["so3"], regular_grid(10, 20, west=0)
    up = LatLonToVertices(pyramid, *grid, method).double()
    image = torch.rand(1, 1, 10, 20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(up, image)
    down = VerticesToLatLon(pyramid, *grid, method).double()
    x = torch.rand(2, 1, 162, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(down, x)
    if method == "bilinear":
        assert torch.autograd.gradgradcheck(lambda x: down(x) ** 2, x)


def test_labels_keep_their_dtype(spheres: dict[str, Pyramid]) -> None:
    pyramid, grid = spheres["so3"], regular_grid(90, 180, west=0)
    up = LatLonToVertices(pyramid, *grid, "nearest")
    down = VerticesToLatLon(pyramid, *grid, "nearest")
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float16):
        labels = torch.randint(0, 2, (1, 1, 162)).to(dtype)
        assert down(labels).dtype == dtype
        assert torch.equal(up(down(labels)), labels)


def test_other_levels_and_orientations(spheres: dict[str, Pyramid]) -> None:
    grid = regular_grid(20, 40, west=0)
    coarse = LatLonToVertices(spheres["icosahedral"], *grid, level=1)
    assert coarse(torch.ones(1, 1, 20, 40)).shape == (1, 1, 642)
    graph = spheres["so3"].levels[0]
    lifted = Lift(graph)(LatLonToVertices(spheres["so3"], *grid)(torch.ones(1, 1, 20, 40)))
    assert lifted.shape == (1, 1, graph.num_vertices)


def test_matrices_are_shared_and_stay_out_of_checkpoints(spheres: dict[str, Pyramid]) -> None:
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


def test_refused_pyramids_and_methods(spheres: dict[str, Pyramid]) -> None:
    with pytest.raises(ValueError, match=r"must be on s2 or so3. Got plane@v001 on se2"):
        LatLonToVertices(spheres["plane"], LAT, LON)
    with pytest.raises(TypeError, match=r"pyramid must be a Pyramid, .* Got a Graph"):
        LatLonToVertices(spheres["so3"].levels[0], LAT, LON)
    with pytest.raises(ValueError, match=r"levels 0 to 0. Got 1"):
        VerticesToLatLon(spheres["so3"], LAT, LON, level=1)
    with pytest.raises(ValueError, match=r"method must be .* Got 'cubic'"):
        VerticesToLatLon(spheres["so3"], LAT, LON, "cubic")
    with pytest.raises(ValueError, match="these 3 leave about half of it empty"):
        VerticesToLatLon(spheres["few"], LAT, LON)
    assert VerticesToLatLon(spheres["few"], LAT, LON, "nearest").shape == (6, 12)


def test_refused_fields(spheres: dict[str, Pyramid]) -> None:
    up = LatLonToVertices(spheres["so3"], LAT, LON)
    down = VerticesToLatLon(spheres["so3"], LAT, LON)
    for shape in ((1, 1, 12, 6), (1, 6, 12), (1, 1, 72)):
        with pytest.raises(ValueError, match=r"takes \(B, C, 6, 12\)"):
            up(torch.ones(shape))
    for shape in ((1, 1, 486), (1, 162), (1, 1, 6, 12)):
        with pytest.raises(ValueError, match=r"takes \(B, C, 162\).* Got \("):
            down(torch.ones(shape))
    with pytest.raises(TypeError, match="Got a ndarray"):
        down(np.ones((1, 1, 162)))
    image = torch.ones(1, 1, 6, 12)
    image[0, 0, 0, :3] = math.nan
    with pytest.raises(ValueError, match=r"without NaN. Got 3 NaN among 72 values"):
        up(image)
    with pytest.raises(ValueError, match=r"floating-point fields. Got torch.int64: .*'nearest'"):
        down(torch.ones(1, 1, 162, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"takes a tensor of real numbers. Got torch.complex64"):
        down(torch.ones(1, 1, 162, dtype=torch.complex64))
