"""Icospheres, HEALPix, equiangular and Gaussian grids: points, pooled blocks, quadrature."""

import math

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from sphere_truth import arcs

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.limits import CLASSICAL_GRIDS
from cheblienet_graphs.samplings.classical_grids import HALVES
from cheblienet_graphs.samplings.grids import Equiangular, Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere


@pytest.mark.parametrize("nside", [1, 2, 16])
def test_healpix_rings(nside: int) -> None:
    """Gorski et al. (2005), equations 2 to 8: heights of the rings, pixels in each."""
    points = Healpix(size=nside).base_points
    caps = [1 - i**2 / (3 * nside**2) for i in range(1, nside)]
    belt = [4 / 3 - 2 * i / (3 * nside) for i in range(nside, 2 * nside)]
    north = [*np.repeat(caps, 4 * np.arange(1, nside)), *np.repeat(belt, 4 * nside)]
    heights = np.concatenate([north, np.zeros(4 * nside), np.negative(north)])
    assert len(points) == 12 * nside**2
    assert np.allclose(np.sort(points[:, 2]), np.sort(heights), rtol=0, atol=1e-14)


@pytest.mark.parametrize("nside", [2, 16])
def test_healpix_children_are_nearest_to_their_parent(nside: int) -> None:
    fine, coarse = Healpix(size=nside), Healpix(size=nside // 2)
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    parents = np.arange(len(fine.base_points)) // 4
    assert (apart.argmin(axis=0) == parents).all()
    four = np.sort(np.argsort(apart, axis=1)[:, :4], axis=1)
    assert (four == np.arange(len(parents)).reshape(-1, 4)).all()
    assert (fine.pooling().indices.reshape(-1, 4) == four).all()


@pytest.mark.parametrize("bandlimit", [2, 6, 8])
def test_equiangular_blocks_center_on_the_coarser_points(bandlimit: int) -> None:
    fine, coarse = Equiangular(size=bandlimit), Equiangular(size=bandlimit // 2)
    steps = (np.arange(2 * bandlimit) + 0.5) * math.pi / bandlimit
    beta, gamma = np.meshgrid(steps / 2, steps, indexing="ij")
    assert np.allclose(fine.angles, [beta.ravel(), gamma.ravel()], rtol=1e-15)
    block = fine.pooling().indices.reshape(-1, 4)
    for angle, center in zip(fine.angles, coarse.angles, strict=True):
        assert np.allclose(angle[block].mean(axis=1), center, rtol=1e-14)


@pytest.mark.parametrize("size", ["O2", "O6", "F2", "F5"])
def test_rows_go_north_to_south_and_eastwards_from_zero(size: str) -> None:
    points = GraphSpec("s2", gaussian=size, levels=1).full_sampling(0)
    (beta, gamma), areas = points.coordinates().T, points.areas()
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


def test_gaussian_levels_halve_the_number_of_latitudes() -> None:
    spec, regular = GraphSpec("s2", gaussian="o32"), GraphSpec("s2", gaussian="F32")
    sizes = [spec.level_size(level) for level in range(spec.levels)]
    assert sizes == ["O32", "O16", "O8", "O4", "O2"]
    assert [regular.grid(level) for level in (0, 3)] == [(1, 64, 128), (1, 8, 16)]
    assert [GraphSpec("s2", gaussian=size).levels for size in ("F32", "O6", "O5")] == [4, 2, 1]
    assert GraphSpec("s2", gaussian="O1280").num_vertices == 6_599_680


N32 = [20, 27, 36, 40, 45, 50, 60, 64, 72, 75, 80, 90, 90, 96, 100, 108, 108, *[120] * 3]
N32 = [*N32, *[128] * 12]
"""Points of the rows of ECMWF's reduced Gaussian grid N32, which has 6114, from a pole."""


def test_rows_have_as_many_points_as_a_list_says() -> None:
    spec = GraphSpec("s2", pl=",".join(map(str, N32 + N32[::-1])))
    _, gamma = spec.full_sampling(0).coordinates().T
    rows = np.split(gamma, np.cumsum(N32 + N32[::-1])[:-1])
    for row, count in zip(rows, N32 + N32[::-1], strict=True):
        assert np.allclose(row, np.arange(count) * 2 * math.pi / count, rtol=0, atol=1e-14)
    assert spec.default_name == "s2-reduced-gaussian-N32"
    assert (spec.schema, spec.grid(0)) == ("1.6", (1, 6114))
    coarser = spec.level_size(1)
    assert (len(coarser), coarser[:3], coarser[15:17]) == (32, (12, 19, 24), (64, 64))
    assert [len(spec.level_size(level)) for level in range(spec.levels)] == [64, 32, 16, 8]


@pytest.mark.parametrize("subdivisions", range(5))
def test_icosphere_counts_and_nests(subdivisions: int) -> None:
    points = Icosphere(size=subdivisions).base_points
    assert points.shape == (10 * 4**subdivisions + 2, 3)
    finer = Icosphere(size=subdivisions + 1)
    assert (finer.base_points[: len(points)] == points).all()
    apart = np.sort(arcs(points[:12, None], points[:12]), axis=1)
    assert np.allclose(apart[:, 1:6], math.atan(2))
    for pole in (0, math.pi):
        (at_pole,) = np.flatnonzero(abs(finer.angles[0] - pole) < 1e-9)
        assert finer.angles[1][at_pole] == 0


@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_icosphere_pools_midpoints_around_and_unpools_from_two_parents(subdivisions: int) -> None:
    fine, coarse = Icosphere(size=subdivisions), Icosphere(size=subdivisions - 1).base_points
    pooled = fine.pooling().scipy()
    sizes = np.diff(pooled.indptr)
    assert (sizes[:12] == 6).all()
    assert (sizes[12:] == 7).all()
    apart = arcs(coarse[:, None], fine.base_points)
    for v, size in enumerate(sizes):
        row = pooled.indices[pooled.indptr[v] : pooled.indptr[v + 1]]
        assert row[0] == v
        assert set(row) == set(np.argsort(apart[v])[:size])
    spread = fine.unpooling().scipy().toarray()
    assert (spread[: len(coarse)] == np.eye(len(coarse))).all()
    new = spread[len(coarse) :]
    assert (np.sort(new, axis=1)[:, -3:] == [0, 0.5, 0.5]).all()
    middle = new @ coarse
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    assert np.abs(middle - fine.base_points[len(coarse) :]).max() < 1e-15


def test_classical_grids_have_the_points_that_are_known_of_them() -> None:
    """The numbers of points are published, and rows grow from a pole on, up to 4 N."""
    known = {32: 6114, 48: 13280, 80: 35718, 128: 88838, 160: 138346, 320: 542080, 640: 2140702}
    assert CLASSICAL_GRIDS == tuple(HALVES) == tuple(f"N{number}" for number in known)
    for number, points in known.items():
        spec = GraphSpec("s2", gaussian=f"N{number}")
        assert spec.num_vertices == points
        assert spec.pl is not None
        half = spec.pl[:number]
        assert (len(spec.pl), spec.pl[number:]) == (2 * number, half[::-1])
        assert list(half) == sorted(half)
        assert half[-1] == 4 * number
        assert all(map(_smooth, half))
        assert spec == GraphSpec("s2", pl=spec.pl) == eval(repr(spec))
        assert repr(spec) == f"GraphSpec('s2', gaussian='N{number}')"
        assert spec.default_name == f"s2-reduced-gaussian-N{number}"
    assert "gaussian='N32'" in str(GraphSpec("s2", gaussian="n32", levels=1))


def _smooth(number: int) -> bool:
    """True for products of 2, 3 and 5: fast Fourier transforms of rows want these."""
    for prime in (2, 3, 5):
        while number % prime == 0:
            number //= prime
    return number == 1
