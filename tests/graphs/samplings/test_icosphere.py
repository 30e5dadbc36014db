"""Icospheres refined in a region: points, cells, levels, spectra."""

from pathlib import Path

import numpy as np
import pytest
from sphere_truth import arcs, within_region

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.samplings import icosphere
from cheblienet_graphs.samplings.icosphere import Icosphere, RefinedIcosphere

EUROPE = (-10.0, 35.0, 30.0, 60.0)
REGIONS = [
    EUROPE,
    (170.0, -40.0, -150.0, 10.0),
    (-180.0, 70.0, 180.0, 90.0),
    (100.0, -90.0, 350.0, -60.0),
    (3.0, 1.0, 3.5, 1.5),
]


def random_regions(count: int) -> list[tuple[float, ...]]:
    """Some with sides through points, at poles, or around all longitudes."""
    random = np.random.default_rng(3)
    south, north = np.sort(random.uniform(-90, 90, (2, count)), axis=0)
    west, east = random.uniform(-180, 180, (2, count))
    south[::5], north[::7] = -90, 90
    west[::8], east[::8] = -180, 180
    west[::3], south[::3] = np.round(west[::3], -1), np.floor(south[::3] / 30) * 30
    return [tuple(sides) for sides in np.stack([west, south, east, north], axis=1).tolist()]


def refined(outside: int, inside: int, region: tuple[float, ...]) -> RefinedIcosphere:
    return RefinedIcosphere(size=(outside, inside, *region))


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize(("outside", "inside"), [(0, 1), (2, 5)])
def test_points_are_those_of_both_icospheres(
    outside: int, inside: int, region: tuple[float, ...]
) -> None:
    """Bit for bit and in order, though most of the finer one is never made."""
    finest = Icosphere(size=inside).base_points
    first = np.arange(len(finest)) < 10 * 4**outside + 2
    expected = finest[first | within_region(finest, region)]
    assert (refined(outside, inside, region).base_points == expected).all()


@pytest.mark.parametrize("region", [*REGIONS, *random_regions(60)])
@pytest.mark.parametrize(("outside", "inside"), [(0, 3), (2, 4)])
def test_points_are_counted_without_being_made(
    outside: int, inside: int, region: tuple[float, ...]
) -> None:
    sampling = refined(outside, inside, region)
    assert sampling.num_points == len(sampling.base_points)


def test_of_many_points_few_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a sphere: no side crosses a triangle but at the poles."""
    made: list[int] = []
    normalized = icosphere._normalized

    def counted(vectors: np.ndarray) -> np.ndarray:
        made.append(len(vectors))
        return normalized(vectors)

    monkeypatch.setattr(icosphere, "_normalized", counted)
    whole = (0, 10, -180.0, -90.0, 180.0, 90.0)
    assert RefinedIcosphere.points(whole) == Icosphere.points(10)
    assert RefinedIcosphere.points((9, 12, *EUROPE)) > Icosphere.points(9)
    assert sum(made) < 500_000


@pytest.mark.parametrize("region", REGIONS)
def test_levels_share_points_and_average_them(region: tuple[float, ...]) -> None:
    """Against all pairs: who is nearest, and means by area of those."""
    fine, coarse = refined(2, 4, region), refined(1, 3, region)
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    assert (apart.min(axis=1) < 1e-15).all()
    near = apart <= apart.min(axis=0) + 1e-9
    up, down = fine.unpooling().scipy().toarray(), fine.pooling().scipy().toarray()
    assert np.allclose(up, (near / near.sum(axis=0)).T, rtol=0, atol=1e-15)
    weighed = near * fine.base_areas
    assert np.allclose(down, weighed / weighed.sum(axis=1, keepdims=True), rtol=0, atol=1e-14)


def test_a_pyramid_is_consistent(tmp_path: Path) -> None:
    spec = GraphSpec("s2", refined=f"2,4,{','.join(map(str, EUROPE))}", weights="voronoi")
    assert spec.default_name == "s2-refined-icosahedral-2x4x-10x35x30x60"
    assert (spec.schema, GraphSpec.from_dict(spec.to_dict())) == ("1.6", spec)
    build(spec, tmp_path / "g.zarr")
    for level, most in zip(inspect(tmp_path / "g.zarr").levels, (0.06, 0.25), strict=True):
        values = np.array(level.eigenvalues) * level.eigenvalue_scale
        assert abs(values[1:4] / 2 - 1).max() < most
