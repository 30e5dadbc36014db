"""Levels with a mask: cells end where the full sampling's do, nothing is drawn across the void."""

import functools
from pathlib import Path

import numpy as np
import pytest
import torch
from masked import Mask, with_mask
from sphere_fields import EVERY_METHOD, angles, on_grid
from stores import store_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.points import unit_vectors
from cheblienet_models import LatLonToVertices, VerticesToLatLon, open_store, regular_grid

GRID = regular_grid(60, 120, west=0)


def continents(coordinates: np.ndarray, _: tuple[int, ...]) -> np.ndarray:
    """Most of the sphere without a cap, and with a round hole."""
    beta, gamma = coordinates[:, -2:].T
    x, y, _ = unit_vectors(beta, gamma).T
    return (beta < 2.2) & (np.hypot(x - 0.8, y - 0.3) > 0.4)


def island(coordinates: np.ndarray, _: tuple[int, ...]) -> np.ndarray:
    """About a fortieth of the sphere: no hull of these points has the center within."""
    beta, gamma = coordinates[:, -2:].T
    return (abs(beta - 1.2) < 0.35) & (abs(np.angle(np.exp(1j * (gamma - 2)))) < 0.35)


def scattered(count: int) -> np.ndarray:
    """(count, 2) latitudes and longitudes of points uniform on the sphere, degrees."""
    z, turn = np.random.default_rng(4).random((2, count))
    return np.column_stack([np.degrees(np.arcsin(2 * z - 1)), 360 * turn])


SPECS = {
    "icosahedral": GraphSpec("s2", subdivisions=3, levels=2),
    "healpix": GraphSpec("so3", nside=8, orientations=2, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=12, levels=1),
    "octahedral": GraphSpec("so3", gaussian="O10", orientations=2, levels=2),
    "reduced": GraphSpec("s2", pl=[*range(20, 68, 4), *range(64, 16, -4)], levels=1),
    "random": GraphSpec("s2", points=700),
}
GIVEN = GraphSpec("s2", coordinates=scattered(700))
MASKS: dict[str, Mask] = {"continents": continents, "island": island}


ANGLES = np.radians(scattered(700)) * [-1, 1] + [np.pi / 2, 0]
store = store_of(
    SPECS
    | {"given": GIVEN}
    | {
        f"given-{kind}": GraphSpec("s2", coordinates=scattered(700), mask=mask(ANGLES, ()))
        for kind, mask in MASKS.items()
    }
    | {f"{n}-{kind}": with_mask(s, mask) for n, s in SPECS.items() for kind, mask in MASKS.items()}
)


@pytest.fixture(params=[*SPECS, "given"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=MASKS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@functools.cache
def nearest_of_all(store: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(pixels,) the nearest point of the full sampling, and by how much another one is farther."""
    places = unit_vectors(*(part.ravel() for part in on_grid(*GRID)))
    cosines = places @ unit_vectors(*angles(open_store(store)[name])).T
    second, first = np.partition(cosines, (-2, -1), axis=1)[:, -2:].T
    return cosines.argmax(1), first - second


def is_exact(name: str) -> bool:
    return name != "given"


@EVERY_METHOD
def test_images_show_the_cells_of_the_points_inside(
    store: Path, name: str, kind: str, method: str
) -> None:
    part = open_store(store)[f"{name}-{kind}"]
    down = VerticesToLatLon(part, *GRID, method)
    inside = part.levels[0].base_index.numpy()
    shown = ~down(torch.zeros(1, 1, len(inside)))[0, 0].flatten().isnan().numpy()
    nearest, lead = nearest_of_all(store, name)
    expected = np.isin(nearest, inside)
    if is_exact(name) and method != "conservative":
        assert (shown == expected)[lead > 1e-9].all()
    elif is_exact(name):
        assert shown[expected & (lead > 1e-9)].all()
        clear = ~expected & (lead > 0.02)
        assert not shown[clear].any()
    else:
        # Not the cells themselves, but no more than about another point's room beyond them.
        assert (shown & expected).sum() > 0.99 * expected.sum()
        own = unit_vectors(*angles(part))
        places = unit_vectors(*(part.ravel() for part in on_grid(*GRID)))
        distance = np.arccos((places @ own.T).max(1).clip(-1, 1))
        spacing = np.sqrt(4 * np.pi / 700)
        assert distance[shown].max() < 2.5 * spacing
        assert shown.sum() < expected.sum() * (1.3 if kind == "continents" else 2)


@pytest.mark.parametrize("name", [name for name in SPECS if is_exact(name)])
def test_interpolation_inside_is_that_of_the_full_sampling(
    store: Path, name: str, kind: str
) -> None:
    """Where all corners are inside; elsewhere only those that are."""
    opened = open_store(store)
    whole, part = opened[name], opened[f"{name}-{kind}"]
    inside = part.levels[0].base_index.long()
    full = VerticesToLatLon(whole, *GRID).matrix().to_dense().double()
    own = VerticesToLatLon(part, *GRID).matrix().to_dense().double()
    expected = full[:, inside]
    sums = expected.sum(1)
    within = (sums - 1).abs() < 1e-6
    assert within.sum() > 20
    assert (own - expected)[within].abs().max() < 1e-6
    nearest, lead = nearest_of_all(store, name)
    rim = (~within) & torch.from_numpy(np.isin(nearest, inside) & (lead > 1e-9)) & (sums > 1e-4)
    assert rim.sum() > 5
    assert (own - expected / sums[:, None])[rim].abs().max() < 1e-5


def test_conservative_cells_are_those_of_the_full_sampling(
    store: Path, name: str, kind: str
) -> None:
    opened = open_store(store)
    whole, part = opened[name], opened[f"{name}-{kind}"]
    inside = part.levels[0].base_index.long()
    full = LatLonToVertices(whole, *GRID, "conservative").matrix().to_dense()[inside]
    own = LatLonToVertices(part, *GRID, "conservative").matrix().to_dense()
    apart = (full - own).abs().sum(1)
    if is_exact(name):
        assert apart.max() < 1e-6
    else:
        assert apart.mean() < 0.5
        assert apart.max() < 1.5  # half of a boundary cell
