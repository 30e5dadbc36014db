"""Gaussian grids: numbers of points as weather centres publish them, and exact quadrature."""

import math

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import lpmv

from cheblienet_graphs import GraphSpec, SpecError


def grid(size: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points = GraphSpec("s2", gaussian=size, levels=1).full_sampling(0)
    return *points.coordinates().T, points.areas()


@pytest.mark.parametrize(
    ("size", "points"),
    [("O32", 5_248), ("O320", 421_120), ("O1280", 6_599_680), ("F32", 8_192), ("F80", 51_200)],
)
def test_numbers_of_points(size: str, points: int) -> None:
    assert GraphSpec("s2", gaussian=size).num_vertices == points
    if size[0] == "O":
        number = int(size[1:])
        assert points == 4 * number * (number + 9)


@pytest.mark.parametrize("size", ["O2", "O6", "F2", "F5"])
def test_rows_go_north_to_south_and_eastwards_from_zero(size: str) -> None:
    beta, gamma, areas = grid(size)
    number = int(size[1:])
    half = [4 * j + 16 if size[0] == "O" else 4 * number for j in range(1, number + 1)]
    start = 0
    for node, weight, count in zip(
        leggauss(2 * number)[0][::-1], leggauss(2 * number)[1], half + half[::-1], strict=True
    ):
        row = slice(start, start + count)
        assert np.allclose(np.cos(beta[row]), node, rtol=0, atol=1e-15)
        assert np.allclose(gamma[row], np.arange(count) * 2 * math.pi / count, rtol=0, atol=1e-14)
        assert np.allclose(areas[row] * count / len(areas), weight / 2, rtol=1e-12)
        start += count
    assert start == len(beta)
    assert (gamma >= 0).all()
    assert (gamma < 2 * math.pi).all()


@pytest.mark.parametrize("size", ["O4", "O16", "F4", "F16"])
def test_integrals_of_spherical_harmonics_are_exact(size: str) -> None:
    """Of degree below 4N and order below the longitudes of the shortest row, where rows sum to 0.

    On octahedral grids rows near the poles are shorter, so orders stop at 20.
    """
    beta, gamma, areas = grid(size)
    number = int(size[1:])
    orders = min(4 * number, 20 if size[0] == "O" else 4 * number)
    for degree in range(4 * number):
        for order in range(min(degree + 1, orders)):
            legendre = lpmv(order, degree, np.cos(beta))
            scale = math.sqrt(math.factorial(degree - order) / math.factorial(degree + order))
            for wave in (np.cos, np.sin):
                mean = (areas * scale * legendre * wave(order * gamma)).mean()
                assert abs(mean - (degree == order == 0 and wave is np.cos)) < 1e-13


@pytest.mark.slow
def test_a_thousand_latitudes() -> None:
    """Integrals of z^k, and the rows' weights against another computation of them."""
    beta, _, areas = grid("F640")
    z = np.cos(beta)
    assert abs(areas.mean() - 1) < 1e-13
    for power in (2, 8, 64, 512, 1_000):
        assert abs((areas * z**power).mean() * (power + 1) - 1) < 1e-9
    nodes = z[:: 4 * 640]
    last, now = np.ones_like(nodes), nodes.copy()
    for n in range(1, 1280):
        last, now = now, ((2 * n + 1) * nodes * now - n * last) / (n + 1)
    slope = 1280 * (last - nodes * now) / (1 - nodes**2)
    assert np.abs(now / slope).max() < 1e-15
    weights = 2 / ((1 - nodes**2) * slope**2)
    assert np.allclose(areas[:: 4 * 640] * 2 / 1280, weights, rtol=1e-9)


@pytest.mark.parametrize("size", ["O8", "F8", "O6"])
def test_its_symmetries(size: str) -> None:
    points = GraphSpec("so3", gaussian=size, orientations=4, levels=1).full_sampling(0)
    names = {name for name, _ in points.symmetries()}
    step = "longitude_step" if size[0] == "F" else "quarter_turn_z"
    exact = {step, "half_turn_x", "half_turn_z", "reflection"}
    assert {name.removesuffix(" (approximate)") for name in names} == exact


def test_levels_halve_the_number_of_latitudes() -> None:
    spec = GraphSpec("s2", gaussian="o32")
    assert [spec.level_size(level) for level in range(spec.levels)] == [
        *("O32", "O16", "O8", "O4", "O2")
    ]
    regular = GraphSpec("s2", gaussian="F32")
    assert [regular.grid(level) for level in range(regular.levels)] == [
        *((1, 64, 128), (1, 32, 64), (1, 16, 32), (1, 8, 16))
    ]
    assert GraphSpec("s2", gaussian="O6").levels == 1 + 1
    assert GraphSpec("s2", gaussian="O5").levels == 1
    assert (spec.default_name, spec.schema) == ("s2-gaussian-O32", "1.1")
    assert GraphSpec.from_dict(spec.to_dict()) == spec
    assert spec.to_dict()["gaussian"] == "O32"


@pytest.mark.parametrize("size", ["O1", "N32", "O", "O8193", 32, "32", "O3.5", None.__class__])
def test_other_sizes_are_refused(size: object) -> None:
    with pytest.raises(SpecError, match=r"gaussian must be O or F with .* \[2, 8192\]") as caught:
        GraphSpec("s2", gaussian=size)
    assert caught.value.field == "gaussian"


def test_pooling_keeps_integrals() -> None:
    fine = GraphSpec("s2", gaussian="O8", levels=2).full_sampling(0)
    down, up = fine.pooling(), fine.unpooling()
    assert down.shape == (208, 544)
    assert (np.bincount(down.indices, minlength=544) == 1).all()
    assert (np.bincount(up.indices, minlength=208) >= 1).all()
