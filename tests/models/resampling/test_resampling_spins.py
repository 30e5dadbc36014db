"""Fields of spin between grids and points, and maps, against fields at both places."""

import copy
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import spin_truth as truth
import torch
from refusing import refused
from sphere_fields import EVERY_METHOD
from stores import store_of

from cheblienet_graphs import GraphSpec, MapSpec
from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, open_store

LAT, LON = np.arange(-87.5, 90, 5.0), np.arange(0, 360, 5.0)
PIXELS = np.stack(np.meshgrid(np.radians(90 - LAT), np.radians(LON), indexing="ij"), -1)
POLAR = np.abs(LAT) > 80

maps = store_of(
    {
        "encoder": MapSpec(
            GraphSpec("s2", subdivisions=3), GraphSpec("s2", bandlimit=8), neighbors=4
        ),
        "plane": MapSpec(GraphSpec("r2", 8), GraphSpec("r2", 5), neighbors=4),
        "turning": MapSpec(
            GraphSpec("se2", 5, orientations=3), GraphSpec("se2", 4, orientations=2), radius=0.5
        ),
    }
)


def on_grid(spin: int) -> torch.Tensor:
    """(1, 2, lat, lon) a field of the smoothest harmonics: for spin 1 also flow over poles."""
    return truth.drawn(spin, np.ones(spin + 1), PIXELS.reshape(-1, 2), 0).view(
        1, 2, len(LAT), len(LON)
    )


def on_points(pyramid: object, spin: int) -> torch.Tensor:
    at = pyramid.levels[0].coordinates[:, -2:].numpy()
    return truth.drawn(spin, np.ones(spin + 1), at, 0)


def error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found - wanted).norm() / wanted.norm())


@EVERY_METHOD
@pytest.mark.parametrize("spin", [1, 2])
def test_frames_turn_between_points_and_pixels(spin_graphs: Store, method: str, spin: int) -> None:
    pyramid = spin_graphs["icosphere"]
    beta = pyramid.levels[0].coordinates[:, 0]
    caps = (beta < 0.2) | (beta > math.pi - 0.2)
    limits = {"bilinear": 0.02, "conservative": 0.04, "nearest": 0.08}
    pairs = []
    for s in (spin, 0):
        there = LatLonToVertices(pyramid, LAT, LON, method, spin=s)
        back = VerticesToLatLon(pyramid, LAT, LON, method, spin=s)
        points, pixels = on_points(pyramid, spin), on_grid(spin)
        pairs.append(
            (
                error(there(pixels)[..., caps], points[..., caps]),
                error(back(points)[:, :, POLAR], pixels[:, :, POLAR]),
            )
        )
    assert max(pairs[0]) < limits[method]
    least = 0.25 if method != "nearest" else 0.02
    assert pairs[1][1] > least  # points to pixels, as scalars
    assert pairs[1][0] > least  # one point is a pole


def test_there_and_back(spin_graphs: Store) -> None:
    pyramid, x = spin_graphs["healpix"], on_grid(1)
    there = LatLonToVertices(pyramid, LAT, LON, spin=1)
    back = VerticesToLatLon(pyramid, LAT, LON, spin=1)
    assert error(back(there(x)), x) < 0.01
    alone = [kind(pyramid, LAT, LON) for kind in (LatLonToVertices, VerticesToLatLon)]
    assert error(alone[1](alone[0](x))[:, :, POLAR], x[:, :, POLAR]) > 0.05


@EVERY_METHOD
def test_matrices_are_what_is_applied(spin_graphs: Store, method: str, tmp_path: Path) -> None:
    pyramid = spin_graphs["coarse"]
    there = LatLonToVertices(pyramid, LAT, LON, method, spin=2)
    x = torch.randn(1, 2, len(LAT), len(LON), dtype=torch.float64)
    rows = x.flatten(2)[0].T.flatten()
    y = (there.matrix() @ rows[:, None]).view(-1, 2).T
    torch.testing.assert_close(there(x)[0], y)
    written = scipy.sparse.load_npz(there.save_npz(tmp_path / "m"))
    np.testing.assert_array_equal(written.toarray(), there.matrix().to_dense().numpy())
    again = LatLonToVertices.from_dataarray(pyramid, FakeArray(), method, spin=2)
    assert torch.equal(again(x), there(x))


class FakeArray:
    """The part of a DataArray that is asked for."""

    dims = ("lat", "lon")
    values = np.zeros((len(LAT), len(LON)))

    @property
    def coords(self) -> dict[str, object]:
        class Of:
            def __init__(self, values: np.ndarray) -> None:
                self.values, self.attrs = values, {}

        return {"lat": Of(LAT), "lon": Of(LON)}


@EVERY_METHOD
def test_gradients(spin_graphs: Store, method: str) -> None:
    pyramid = spin_graphs["coarse"]
    there = LatLonToVertices(pyramid, LAT, LON, method, spin=1)
    x = torch.randn(1, 2, len(LAT), len(LON), dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(there, x, fast_mode=True)
    torch.autograd.gradgradcheck(there, x, fast_mode=True)


def test_averages_are_over_places_with_both_components(spin_graphs: Store) -> None:
    """Which leaves constants of flow over a pole as they are, whatever is missing."""
    pyramid, x = spin_graphs["healpix"], on_grid(1)
    points = on_points(pyramid, 1)
    holes = torch.rand(len(LAT), len(LON), generator=torch.Generator().manual_seed(0)) < 0.3
    half = x.clone()
    half[:, 0, holes] = math.nan
    there = LatLonToVertices(pyramid, LAT, LON, skipna=True, spin=1)
    found = there(half)
    known = ~found[0, 0].isnan()
    assert torch.equal(known, ~found[0, 1].isnan())
    assert 0.9 < float(known.double().mean()) < 1
    assert error(found[..., known], points[..., known]) < 0.05
    filled = LatLonToVertices(pyramid, LAT, LON, skipna=True, fill=-9.0, spin=1)(half)
    assert bool((filled[..., ~known] == -9).all())
    refused("fields without NaN", LatLonToVertices(pyramid, LAT, LON, spin=1), half)


def test_regions_have_no_source_beyond(spin_graphs: Store) -> None:
    pyramid = spin_graphs["healpix"]
    there = LatLonToVertices(pyramid, LAT[20:], LON[:30], skipna=True, spin=1)
    found = there(on_grid(1)[:, :, 20:, :30])
    known = ~found[0, 0].isnan()
    assert 0 < int(known.sum()) < len(known)
    assert error(found[..., known], on_points(pyramid, 1)[..., known]) < 0.1


def test_of_a_base_with_orientations(gradient_graphs: Store) -> None:
    pyramid = gradient_graphs["turned"]
    x = on_points(pyramid, 1)[..., : pyramid.levels[0].num_points]
    y = VerticesToLatLon(pyramid, LAT, LON, spin=1)(x)
    assert error(y, on_grid(1)) < 0.2


def test_refusals(spin_graphs: Store) -> None:
    there = LatLonToVertices(spin_graphs["coarse"], LAT, LON, "nearest", spin=2)
    refused("takes a tensor of both components. Got FakeArray", there, FakeArray())
    refused("spin=2 needs pairs of components", there, torch.ones(1, 3, len(LAT), len(LON)))
    refused("takes floating-point", there, torch.ones(1, 2, len(LAT), len(LON), dtype=torch.int64))
    assert "spin=2" in repr(there)


@pytest.fixture
def opened(maps: Path) -> Callable[[str], object]:
    return open_store(maps).maps.__getitem__


@pytest.mark.parametrize("spin", [1, 2])
def test_maps_between_points(opened: Callable[[str], object], spin: int) -> None:
    encoder = opened("encoder")
    ends = [at.numpy() for at in (encoder.source_coordinates, encoder.target_coordinates)]
    x, wanted = (truth.drawn(spin, np.ones(spin + 1), at, 0).float() for at in ends)
    beta = ends[1][:, 0]
    caps = torch.from_numpy((beta < 0.4) | (beta > math.pi - 0.4))
    errors = [error(encoder(x, spin=s)[..., caps], wanted[..., caps]) for s in (spin, 0)]
    assert errors[0] < 0.15 < 0.25 < errors[1]
    back = encoder.T(wanted, spin)
    left, right = (encoder(x, spin) * wanted).sum(), (x * back).sum()
    torch.testing.assert_close(left, right, rtol=1e-5, atol=0)
    moved = copy.deepcopy(encoder).double()
    torch.testing.assert_close(moved(x.double(), spin).float(), encoder(x, spin))


def test_maps_of_planes_and_of_orientations(opened: Callable[[str], object]) -> None:
    plane, turning = opened("plane"), opened("turning")
    x = torch.randn(1, 4, plane.num_sources)
    torch.testing.assert_close(plane(x, spin=2), plane(x))
    refused("takes spin fields on s2 and r2", turning, torch.randn(1, 2, turning.num_sources), 2)
    refused("needs pairs", plane, x[:, :3], 1)
