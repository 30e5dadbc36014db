"""Matched stencils of lattices realise their metric, before anything is stored."""

import itertools
import math

import numpy as np
import pytest
from moments import (
    EPS,
    check_symmetric,
    deviation,
    inverse_metric,
    of_lattice,
    offsets,
    plane_logarithm,
    stencil_moments,
)
from scipy.linalg import logm
from truth import matrix

from cheblienet_graphs import GraphSpec


@pytest.mark.parametrize("turn", [0.0, 0.3, -1.2, math.pi / 2])
def test_the_logarithm_used_here_is_the_matrix_logarithm(turn: float) -> None:
    dx, dy, start = 0.3, -1.7, 0.4
    element = np.linalg.inv(matrix(0, 0, start)) @ matrix(dx, dy, start + turn)
    log = np.real(logm(element))
    expected = [log[0, 2], log[1, 2], log[1, 0]]
    assert np.allclose(plane_logarithm(*map(np.array, (dx, dy, start, turn))), expected)


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("orientations", [4, 5, 6, 8, 12])
def test_matched_stencils_realise_the_metric(orientations: int, eps: float) -> None:
    for alpha, neighbors in itertools.product([1, 3.41], [16, 32]):
        fields = {"orientations": orientations, "eps": eps, "alpha": alpha}
        spec = GraphSpec("se2", 64, weights="matched", neighbors=neighbors, **fields)
        found = of_lattice(spec)
        listed = offsets(found)
        check_symmetric(listed)
        drift, total = stencil_moments(listed, spec)
        inverse = inverse_metric(spec)
        assert deviation(total, inverse, np.full(orientations, 2.0)) <= 1e-8
        assert abs(drift).max() <= 1e-8 * np.sqrt(inverse[2, 2])
        fewest = offsets(of_lattice(GraphSpec("se2", 64, weights="selling", **fields)))
        assert found.dropped_edges or fewest.keys() <= listed.keys()


@pytest.mark.parametrize("size", ["48x64", "64x48"])
def test_lengths_are_in_widths_whatever_the_height(size: str) -> None:
    for weights in ("matched", "selling"):
        spec = GraphSpec("se2", size, weights=weights, xi=0.05)
        _, total = stencil_moments(offsets(of_lattice(spec)), spec)
        inverse = inverse_metric(spec)
        if weights == "selling":
            inverse[2, 2] *= ((math.pi / 6) / math.sin(math.pi / 6)) ** 2
        assert deviation(total, inverse, np.full(6, 2.0)) <= 1e-8


@pytest.mark.parametrize("kernel", ["laplace", "cauchy", "rectangular"])
def test_any_kernel_can_be_matched(kernel: str) -> None:
    for bandwidth in (0.02, 0.2, 5):
        spec = GraphSpec("se2", 64, weights="matched", kernel=kernel, bandwidth=bandwidth)
        listed = offsets(of_lattice(spec))
        check_symmetric(listed)
        _, total = stencil_moments(listed, spec)
        assert deviation(total, inverse_metric(spec), np.full(6, 2.0)) <= 1e-8


def test_the_isotropic_plane() -> None:
    for weights, most in (("selling", 4), ("matched", 8)):
        spec = GraphSpec("r2", 32, weights=weights)
        listed = offsets(of_lattice(spec))
        check_symmetric(listed)
        assert len(listed) <= most
        _, total = stencil_moments(listed, spec)
        assert np.allclose(total[0, :2, :2], 2 * np.eye(2), rtol=0, atol=1e-10)
    spec = GraphSpec("r2", 32, weights="selling")
    assert offsets(of_lattice(spec)) == pytest.approx(
        {(0, *step, 0): 32**2 for step in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    )
