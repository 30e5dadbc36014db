"""Fields with NaN: averages over what is valid, gradients without NaN, integrals."""

import math

import numpy as np
import pytest
import torch
from sphere_fields import EVERY_METHOD

from cheblienet_models import LatLonToVertices, Store, VerticesToLatLon, regular_grid

NAN = math.nan


def with_gaps(image: torch.Tensor, share: float = 0.3, seed: int = 0) -> torch.Tensor:
    """The image with NaN at random in this share of its places, other ones in each channel."""
    generator = torch.Generator().manual_seed(seed)
    return image.masked_fill(torch.rand(image.shape, generator=generator) < share, NAN)


def expected_averages(matrix: torch.Tensor, flat: torch.Tensor, fill: float) -> torch.Tensor:
    """(n, sources) -> (n, targets), averaged target by target, by hand."""
    dense = matrix.to_dense().double().numpy()
    resampled = np.full((len(flat), len(dense)), fill)
    for sample, values in enumerate(flat.double().numpy()):
        valid = ~np.isnan(values)
        for target, weights in enumerate(dense):
            total = weights[valid].sum()
            if total > 0:
                resampled[sample, target] = weights[valid] @ values[valid] / total
    return torch.from_numpy(resampled)


@EVERY_METHOD
@pytest.mark.parametrize("fill", [None, -5.0])
def test_averages_are_over_what_is_valid(spheres: Store, method: str, fill: float | None) -> None:
    pyramid, grid = spheres["so3"], regular_grid(18, 36, west=0)
    up = LatLonToVertices(pyramid, *grid, method, skipna=True, fill=fill)
    down = VerticesToLatLon(pyramid, *grid, method, skipna=True, fill=fill)
    image = with_gaps(torch.rand(2, 2, 18, 36), 0.7)
    image[1, 1] = NAN
    points = with_gaps(torch.rand(2, 2, 162), 0.7)
    for layer, x in ((up, image), (down, points)):
        averages = layer(x).flatten(2).flatten(0, 1)
        expected = expected_averages(layer.matrix(), x.flatten(2).flatten(0, 1), fill or NAN)
        assert torch.allclose(averages.double(), expected, atol=1e-6, equal_nan=True)
        lost = averages.isnan() if fill is None else averages == fill
        assert 0.01 < lost.double().mean() < 0.99


def test_a_missing_point_is_not_made_up_from_rounding(spheres: Store) -> None:
    """A pixel at a vertex of HEALPix takes all from there, and nothing from its facet's others."""
    down = VerticesToLatLon(spheres["healpix"], [-30.0, 0, 30], [135.0, 180, 225], skipna=True)
    weights = down.matrix().to_dense()
    assert (weights[weights > 0] > 1e-6).all()


@EVERY_METHOD
def test_gradients_are_finite_and_zero_where_there_is_nothing(spheres: Store, method: str) -> None:
    pyramid, grid = spheres["so3"], regular_grid(18, 36, west=0)
    for kind, shape in ((LatLonToVertices, (1, 2, 18, 36)), (VerticesToLatLon, (1, 2, 162))):
        layer = kind(pyramid, *grid, method, skipna=True).double()
        x = with_gaps(torch.rand(shape, dtype=torch.float64), 0.7).requires_grad_()
        y = layer(x)
        weights = torch.rand_like(y)
        (y.nan_to_num() * weights).sum().backward()
        assert x.grad.isfinite().all()
        assert not x.grad[x.isnan()].any()
        # Against the same averages by a dense matrix, NaN left out by hand.
        dense, flat = layer.matrix().to_dense(), x.detach().flatten(2)
        valid = (~flat.isnan()).double()
        total = valid @ dense.T
        share = torch.where(total > 0, weights.flatten(2) / total.clamp(min=1e-300), 0)
        assert torch.allclose(x.grad.flatten(2), (share @ dense) * valid, atol=1e-12)
