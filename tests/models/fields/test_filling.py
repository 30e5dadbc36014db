"""Filling against dense solutions and harmonic functions."""

import field_truth as truth
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import OFF_THEIR_METRIC
from refusing import refused

from cheblienet_models import UNSEEN, Store, inpaint
from cheblienet_models.fields import filling

pytestmark = OFF_THEIR_METRIC


@pytest.mark.parametrize("name", ["kernel", "plane", "turning"])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.01, 0.3, 0.9]))
def test_it_is_the_dense_solution(fields: Store, name: str, seed: int, share: float) -> None:
    pyramid, drawn = fields[name], np.random.default_rng(seed)
    w = truth.weights(pyramid.levels[0])
    x, known = drawn.normal(size=len(w)), drawn.random(len(w)) < share
    known[0] = True
    flow = np.diag(w.sum(1)) - w
    expected = x.copy()
    expected[~known] = np.linalg.solve(flow[~known][:, ~known], -flow[~known][:, known] @ x[known])
    filled = inpaint(pyramid, truth.signal(np.where(known, x, np.nan)))[0, 0].numpy()
    np.testing.assert_array_equal(filled[known], x[known])
    np.testing.assert_allclose(filled, expected, rtol=1e-5, atol=1e-5)
    span = abs(x[known]).max() * 1e-9
    assert x[known].min() - span <= filled.min() <= filled.max() <= x[known].max() + span


def test_constants_and_marks(fields: Store) -> None:
    """Each channel has its own; what has no known value stays as it is."""
    pyramid = fields["healpix"]
    known = torch.rand(2, 2, pyramid.levels[0].num_vertices) < 0.1
    known[1, 1] = False
    for mark in (torch.nan, UNSEEN):
        filled = inpaint(pyramid, torch.where(known, 5.0, mark))
        assert filled.dtype == torch.float32
        torch.testing.assert_close(filled[0], torch.full_like(filled[0], 5.0))
        missing = torch.full_like(filled[1, 1], mark)
        torch.testing.assert_close(filled[1, 1], missing, equal_nan=True)


def test_what_no_edge_leads_to_stays_missing(fields: Store) -> None:
    pyramid = fields["islands"]
    graph = pyramid.levels[0]
    reached = graph.coordinates[:, 0] < graph.coordinates[:, 0].mean()
    x = torch.full((1, 1, graph.num_vertices), torch.nan)
    x[0, 0, 0] = 2.0
    filled = inpaint(pyramid, x)[0, 0]
    near = filled.isfinite()
    assert 0 < int(near.sum()) < graph.num_vertices
    assert bool(near[reached].all())
    torch.testing.assert_close(filled[near], torch.full_like(filled[near], 2.0))


def test_autocast_changes_nothing(fields: Store) -> None:
    pyramid = fields["plane"]
    x = torch.where(torch.rand(1, 1, 63) < 0.3, torch.randn(1, 1, 63), torch.nan)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        filled = inpaint(pyramid, x)
    assert torch.equal(filled, inpaint(pyramid, x))
    assert torch.equal(filled, again := inpaint(pyramid, filled))  # nothing is missing
    assert again.data_ptr() != filled.data_ptr()


def test_gradients(fields: Store) -> None:
    pyramid = fields["plane"]
    known = torch.rand(63) < 0.3
    x = torch.randn(1, 1, 63, dtype=torch.float64, requires_grad=True)

    def filled(x: torch.Tensor) -> torch.Tensor:
        return inpaint(pyramid, torch.where(known, x, torch.nan))

    assert torch.autograd.gradcheck(filled, x)
    (gradient,) = torch.autograd.grad(filled(x).sum(), x)
    assert (gradient[..., ~known] == 0).all()


def test_it_says_where_it_has_not_converged(fields: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "MOST_STEPS", 2)
    x = torch.where(torch.arange(63) < 5, torch.arange(63.0), torch.nan)[None, None]
    refused("has not converged in 2 steps", inpaint, fields["plane"], x, error=RuntimeError)
