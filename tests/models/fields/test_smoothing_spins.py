"""Smoothing of fields of spin against beams, dense kernels, missing values, frames."""

import math

import numpy as np
import pytest
import spin_truth as truth
import torch
from field_truth import SIGMA
from refusing import refused

from cheblienet_models import UNSEEN, Store, smooth

FWHM = 0.35
POWERS = np.array([1 / (l * (l + 1)) if l else 0.0 for l in range(9)])  # noqa: E741


def beam(spin: int, fwhm: float = FWHM) -> np.ndarray:
    """(9,) what degrees are multiplied by."""
    degrees = np.arange(9)
    return np.exp(-(degrees * (degrees + 1) - spin**2) * (SIGMA * fwhm) ** 2 / 2)


def error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("spin", [1, 2, 3])
@pytest.mark.parametrize("name", truth.SPHERES)
def test_harmonics_are_multiplied_as_by_a_beam(spin_graphs: Store, name: str, spin: int) -> None:
    pyramid = spin_graphs[name]
    at = pyramid.levels[0].coordinates.numpy()
    x, wanted = (truth.drawn(spin, POWERS, at, 0, factors=factors) for factors in (1.0, beam(spin)))
    limit = {"random": 0.03, "equiangular": 0.03}.get(name, 0.01)
    assert error(smooth(pyramid, x, FWHM, spin=spin), wanted) < limit
    # As plane-minded users do.
    assert error(smooth(pyramid, x, FWHM), wanted) > 2 * limit


def test_errors_fall_with_the_square_of_the_spacing(spin_graphs: Store) -> None:
    errors = []
    for level in (1, 0):
        at = spin_graphs["healpix"].levels[level].coordinates.numpy()
        x, wanted = (truth.drawn(2, POWERS, at, 1, factors=f) for f in (1.0, beam(2)))
        errors.append(error(smooth(spin_graphs["healpix"], x, FWHM, level=level, spin=2), wanted))
    assert 3 < errors[0] / errors[1] < 6


@pytest.mark.parametrize("spin", [1, 2])
def test_poles_have_the_gain_of_other_places(spin_graphs: Store, spin: int) -> None:
    """Of the smoothest field that is not 0 at the pole; scalars lose most of it."""
    pyramid = spin_graphs["healpix"]
    at = pyramid.levels[0].coordinates.numpy()
    x = truth.as_signal(truth.harmonics(spin, spin, at)[:1][None])  # m = -s, 0 at the other pole
    north, fwhm = torch.from_numpy(at[:, 0] < 0.3), math.radians(20)
    gains = [
        float((smooth(pyramid, x, fwhm, spin=s) * x)[..., north].sum() / (x * x)[..., north].sum())
        for s in (spin, 0)
    ]
    assert gains[0] == pytest.approx(math.exp(-spin * (SIGMA * fwhm) ** 2 / 2), rel=1e-3)
    assert gains[1] < 0.7


def test_pairs_a_quarter_turn_on_are_the_same_field(spin_graphs: Store) -> None:
    pyramid = spin_graphs["icosphere"]
    x = torch.randn(2, 4, pyramid.levels[0].num_vertices, dtype=torch.float64)
    holes = torch.rand(2, 2, pyramid.levels[0].num_vertices) < 0.2
    x[holes.repeat(1, 2, 1)] = math.nan
    for spin in (1, 2):
        first = smooth(pyramid, x, FWHM, spin=spin)
        second = smooth(pyramid, truth.quarter(x), FWHM, spin=spin)
        torch.testing.assert_close(truth.quarter(first), second, rtol=0, atol=1e-12, equal_nan=True)


def test_missing_values_are_left_out(spin_graphs: Store) -> None:
    """Next to what is missing a field that varies is off by less than means or zeros are."""
    pyramid = spin_graphs["healpix"]
    at = pyramid.levels[0].coordinates.numpy()
    x, wanted = (truth.drawn(2, POWERS[:5], at, 0, factors=f[:5]) for f in (np.ones(9), beam(2)))
    band = torch.from_numpy(np.abs(np.cos(at[:, 0])) < 0.25)
    cut = x.clone()
    cut[:, 0, band], cut[:, 1, band] = math.nan, UNSEEN
    found = smooth(pyramid, cut, FWHM, spin=2)
    assert torch.equal(found[..., band].nan_to_num(1), cut[..., band].nan_to_num(1))
    zeros = smooth(pyramid, torch.where(band, 0.0, x), FWHM, spin=2)
    assert error(found[..., ~band], wanted[..., ~band]) < 0.03
    assert error(zeros[..., ~band], wanted[..., ~band]) > 0.1


def test_a_point_is_known_where_both_components_are(spin_graphs: Store) -> None:
    pyramid = spin_graphs["icosphere"]
    x = torch.randn(1, 4, pyramid.levels[0].num_vertices)
    half, whole = x.clone(), x.clone()
    half[0, 0, 5] = half[0, 3, 7] = math.nan
    whole[0, [0, 2], 5] = whole[0, [1, 3], 7] = math.nan
    found = smooth(pyramid, half, FWHM, spin=1)
    torch.testing.assert_close(found, smooth(pyramid, whole, FWHM, spin=1), equal_nan=True)
    assert int(found.isnan().sum()) == 4
    unseen = x.clone()
    unseen[0, 0, 5] = UNSEEN
    assert smooth(pyramid, unseen, FWHM, spin=1)[0, [0, 2], 5].tolist() == pytest.approx(
        [UNSEEN] * 2
    )


def test_gradients_are_finite_and_right(spin_graphs: Store) -> None:
    pyramid = spin_graphs["coarse"]
    x = torch.randn(1, 2, pyramid.levels[0].num_vertices, dtype=torch.float64)
    x[..., :50] = math.nan
    x.requires_grad_()
    smooth(pyramid, x, FWHM, spin=1).nansum().backward()
    assert x.grad.isfinite().all()
    assert float(x.grad[..., :50].abs().max()) == 0
    y = x.detach().nan_to_num().requires_grad_()
    torch.autograd.gradcheck(lambda f: smooth(pyramid, f, FWHM, spin=1), y, fast_mode=True)


def test_on_the_plane_it_is_that_of_scalars(spin_graphs: Store) -> None:
    pyramid = spin_graphs["plane"]
    x = torch.randn(1, 2, 144, dtype=torch.float64)
    how = {"allow_inconsistent": True}
    torch.testing.assert_close(
        smooth(pyramid, x, 0.2, spin=2, **how), smooth(pyramid, x, 0.2, **how), atol=1e-6, rtol=0
    )


def test_refusals(spin_graphs: Store, fields: Store) -> None:
    pyramid = spin_graphs["icosphere"]
    x = torch.randn(1, 3, pyramid.levels[0].num_vertices)
    refused("smooth: spin=2 needs pairs of components", smooth, pyramid, x, FWHM, spin=2)
    refused("spin must be at least 0", smooth, pyramid, x, FWHM, spin=-1)
    refused("spin must be an integer", smooth, pyramid, x, FWHM, spin="1", error=TypeError)
    turning = fields["turning"]
    y = torch.randn(1, 2, turning.levels[0].num_vertices)
    refused(
        "smooth takes spin fields on s2 and r2, not on se2: Project",
        smooth, turning, y, 0.2, spin=1, allow_inconsistent=True,
    )  # fmt: skip
