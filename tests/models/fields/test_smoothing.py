"""Smoothing against Gaussian beams, dense kernels and fits of planes, whatever is missing."""

import copy
import math

import field_truth as truth
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused

from cheblienet_models import UNSEEN, Graph, Store, inpaint, smooth


def heat(graph: Graph, time: float) -> np.ndarray:
    """(V, V) the heat kernel of N^-1/2 (D - W) N^-1/2 times its scale, rows of averages."""
    w, root = truth.weights(graph), graph.mass.double().sqrt().numpy()
    operator = graph.eigenvalue_scale * (np.diag(w.sum(1)) - w) / np.outer(root, root)
    values, waves = np.linalg.eigh(operator)
    return waves @ np.diag(np.exp(-time * values)) @ waves.T * root[None, :] / root[:, None]


def plane_fits(
    kernel: np.ndarray, points: np.ndarray, known: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """(V,) at each known point the value there of the tangent plane that fits best, by lstsq."""
    fitted = np.full(len(x), np.nan)
    for p in np.flatnonzero(known):
        across = np.linalg.svd(points[p][None])[2][1:]
        design = np.column_stack([np.ones(known.sum()), points[known] @ across.T])
        root = np.sqrt(np.maximum(kernel[p, known], 0))
        solved = np.linalg.lstsq(design * root[:, None], root * x[known], rcond=None)
        fitted[p] = solved[0][0]
    return fitted


SEEDS, SHARES = st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.1, 0.5, 0.9])
WIDTHS = st.sampled_from([0.1, 0.5, 1.0, 1.5, 3.0, 10.0])
"""In spacings."""


def mask_of(seed: int, share: float, vertices: int) -> torch.Tensor:
    known = torch.rand(vertices, generator=torch.Generator().manual_seed(seed)) < share
    known[0] = True
    return known


@pytest.mark.parametrize("name", ["healpix", "icosphere"])
@pytest.mark.parametrize("width", [0.7, 1.5, 2.5, 4.0])
def test_harmonics_are_multiplied_as_by_a_beam(fields: Store, name: str, width: float) -> None:
    """Within 1 %, to one wave in about six spacings; by 4 spacings these are all but gone."""
    pyramid = fields[name]
    fwhm, area = width * truth.spacing(pyramid), pyramid.levels[0].area.double()
    for degree in (0, 1, 2, 5, 9, 13, 16):
        x = truth.signal(truth.harmonic(pyramid, degree))
        y, expected = smooth(pyramid, x, fwhm), truth.response(degree, fwhm)
        share = float((area * x * y).sum() / (area * x * x).sum())
        assert share == pytest.approx(expected, rel=0.01)
        assert (y - expected * x).norm() < 0.01 * x.norm()


@pytest.mark.parametrize("name", ["plane", "turning"])
def test_elsewhere_it_is_the_heat_kernel_over_its_share(fields: Store, name: str) -> None:
    pyramid = fields[name]
    graph, fwhm = pyramid.levels[0], 0.4
    x = np.random.default_rng(0).normal(size=graph.num_vertices)
    kernel = heat(graph, (truth.SIGMA * fwhm) ** 2 / 2)
    found = smooth(pyramid, truth.signal(x), fwhm, allow_inconsistent=True)[0, 0]
    np.testing.assert_allclose(found, kernel @ x, atol=1e-6)
    known = np.random.default_rng(1).random(len(x)) < 0.4
    expected = kernel @ np.where(known, x, 0) / (kernel @ known)
    holed = truth.signal(np.where(known, x, np.nan))
    found = smooth(pyramid, holed, fwhm, allow_inconsistent=True)[0, 0]
    np.testing.assert_allclose(found[known], expected[known], atol=1e-6)


@pytest.mark.parametrize(("share", "fwhm"), [(0.05, 1.0), (0.3, 0.5), (0.8, 0.5)])
def test_planes_are_fitted_to_what_is_known(fields: Store, share: float, fwhm: float) -> None:
    """As least squares with the heat kernel's weights do it, but for the ridge and short waves."""
    pyramid = fields["sphere"]
    graph, points = pyramid.levels[0], truth.vectors(pyramid)
    x = points @ [0.3, -0.8, 0.5] + points[:, 0] * points[:, 1]
    known = mask_of(3, share, graph.num_vertices).numpy()
    kernel = heat(graph, (truth.SIGMA * fwhm) ** 2 / 2)
    expected = plane_fits(kernel, points, known, x)[known]
    found = smooth(pyramid, truth.signal(np.where(known, x, np.nan)), fwhm)[0, 0].numpy()[known]
    assert abs(found - expected).max() < 0.025


@settings(max_examples=10)
@given(seed=SEEDS, share=SHARES, width=WIDTHS, value=st.sampled_from([1.0, -273.15, 1e6]))
@pytest.mark.parametrize("name", ["matched", "kernel", "plane"])
def test_constants_stay(
    fields: Store, name: str, seed: int, share: float, width: float, value: float
) -> None:
    pyramid = fields[name]
    vertices = pyramid.levels[0].num_vertices
    known = mask_of(seed, share, vertices)
    for dtype in (torch.float32, torch.float64):
        x = torch.where(known, value, torch.nan).to(dtype)[None, None]
        y = smooth(pyramid, x, width / math.sqrt(vertices), allow_inconsistent=True)
        torch.testing.assert_close(y, x, rtol=1e-12, atol=0, equal_nan=True)


def test_sides_of_a_region_are_no_edges(fields: Store) -> None:
    """Where heat would be held back, which is off by several times as much."""
    pyramid = fields["region"]
    x, fwhm = truth.signal(truth.vectors(pyramid) @ [0.3, -0.8, 0.5]), 0.12
    exact = truth.response(1, fwhm) * x
    assert (smooth(pyramid, x, fwhm) - exact).abs().max() < 0.004 * x.abs().max()
    held = pyramid.levels[0].diffuse(x, (truth.SIGMA * fwhm) ** 2 / 2, density=True)
    assert (held - exact).abs().max() > 0.015 * x.abs().max()


def test_missing_values_stay_as_they_are(fields: Store) -> None:
    """Each channel has its own; both marks come to the same."""
    pyramid = fields["healpix"]
    x = torch.randn(2, 3, pyramid.levels[0].num_vertices)
    known = torch.rand_like(x) < 0.6
    known[1, 2] = False
    nan, unseen = (
        smooth(pyramid, torch.where(known, x, mark), 0.2) for mark in (torch.nan, UNSEEN)
    )
    assert nan.dtype == torch.float32
    assert nan[~known].isnan().all()
    assert (unseen[~known] == torch.tensor(UNSEEN)).all()
    assert torch.equal(nan[known], unseen[known])
    alone = smooth(pyramid, torch.where(known, x, torch.nan)[1:, :1], 0.2)
    torch.testing.assert_close(alone, nan[1:, :1], equal_nan=True)


def test_other_levels(fields: Store) -> None:
    pyramid = fields["healpix"]
    coarse = truth.signal(truth.vectors(pyramid, 1) @ [1.0, 2.0, 3.0])
    y, expected = smooth(pyramid, coarse, 0.5, level=1), truth.response(1, 0.5) * coarse
    torch.testing.assert_close(y, expected, rtol=1e-3, atol=1e-3)


def test_gradients(fields: Store) -> None:
    pyramid = fields["sphere"]
    known = mask_of(0, 0.5, pyramid.levels[0].num_vertices)
    x = torch.randn(1, 1, len(known), dtype=torch.float64, requires_grad=True)
    way = torch.randn(len(known), dtype=torch.float64)

    def loss(x: torch.Tensor) -> torch.Tensor:
        y = smooth(pyramid, torch.where(known, x, torch.nan), 0.5)
        return (y[..., known] * way[known]).sum()

    (gradient,) = torch.autograd.grad(loss(x), x)
    step = torch.randn_like(x)
    # It is linear in x.
    torch.testing.assert_close((gradient * step).sum(), loss(x + step) - loss(x))
    assert (gradient[..., ~known] == 0).all()


def test_refusals(fields: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    sphere, plane, x = fields["sphere"], fields["plane"], torch.zeros(1, 1, 63)
    for fwhm in (0, -1.0, 5.0, math.nan, math.inf):
        refused("fwhm must be in .*, radians", smooth, sphere, torch.zeros(1, 1, 192), fwhm)
    refused(r"fwhm must be positive\. Got inf", smooth, plane, x, math.inf)
    holed = torch.where(torch.arange(63) == 3, torch.inf, x)
    refused("1 infinite ones among 63", smooth, plane, holed, 0.1)
    refused(r"plane@v001, level 0 takes \(B, C, 63\)", smooth, plane, x[..., 1:], 0.1)
    refused(r"level must be in \[0, 0\]", smooth, plane, x, 0.1, level=1)
    for call, more in ((smooth, (0.1,)), (inpaint, ())):
        there = copy.deepcopy(plane).to("meta")
        message = f"^{call.__name__} on plane@v001, level 0 takes a tensor with values. Got one on"
        refused(message, call, there, x.to("meta"), *more)
    monkeypatch.setattr(plane.levels[0], "eigenvalue_scale", None)
    refused("no eigenvalue_scale, so that a width has no meaning", smooth, plane, x, 0.5)
