"""Weights in space: Selling's formula, and second moments that are those of the metric."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.manifolds import MANIFOLDS, Metric
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights.lattice import lattice_weights
from cheblienet_graphs.weights.selling import Form, base_offsets

R3 = MANIFOLDS["r3"]


def form(turn: np.ndarray, diagonal: np.ndarray) -> tuple[Form, np.ndarray]:
    """The form with axes along the columns of an orthogonal matrix, and its matrix."""
    axes = tuple((float(d), tuple(axis.tolist())) for d, axis in zip(diagonal, turn.T, strict=True))
    return Form(axes), turn * diagonal @ turn.T


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.3, 0.1, 0.01]))
def test_selling_decomposes_any_matrix(seed: int, eps: float) -> None:
    """D = sum of weights w v v^T / 2 on at most six pairs of primitive offsets."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    found, matrix = form(turn, np.array([1.0, eps**2, random.uniform(eps**2, 1)]))
    offsets, weights = (np.array(part) for part in zip(*base_offsets(found), strict=True))
    assert (weights > 0).all()
    assert len(weights) <= 12
    assert (np.gcd.reduce(offsets, axis=1) == 1).all()
    assert abs(offsets.T * weights @ offsets - 2 * matrix).max() <= 1e-10
    both = {tuple(v) for v in offsets.tolist()}
    assert len(both) == len(weights)
    assert both == {tuple(-n for n in v) for v in both}


@given(st.integers(0, 2**32 - 1))
def test_selling_turns_with_the_cube(seed: int) -> None:
    """Offsets and weights of a matrix whose axes are permuted and reversed are those, moved."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    diagonal = np.array([1.0, 0.1, 0.05])
    motion = np.eye(3)[random.permutation(3)] * random.choice([-1, 1], 3)
    before = {tuple(v): w for v, w in base_offsets(form(turn, diagonal)[0])}
    after = {tuple(v): w for v, w in base_offsets(form(motion @ turn, diagonal)[0])}
    moved = {tuple((motion @ v).astype(int).tolist()): w for v, w in before.items()}
    assert moved.keys() == after.keys()
    assert all(moved[v] == pytest.approx(after[v], abs=1e-10) for v in moved)


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("spacings", [(), (2.0, 1.5, 1.0)])
def test_second_moments_are_those_of_the_metric(weights: str, spacings: tuple) -> None:
    """Sum of w d d^T over a vertex' edges is 2 I, lengths in widths of the domain."""
    options = {} if weights == "selling" else {"neighbors": 26}
    spec = GraphSpec("r3", 12, weights=weights, levels=1, **options)
    lattice = Lattice((12, 12, 12), spacings=spacings)
    found = lattice_weights(spec, SampledManifold(lattice, R3, Metric(1.0)))
    (stencil,), (values,) = found.stencils, found.values
    steps = stencil.offsets[:, ::-1] * lattice.relative[::-1] / lattice.width
    assert (values > 0).all()
    assert steps.T * values @ steps == pytest.approx(2 * np.eye(3), abs=1e-9)
    by_offset = dict(zip(map(tuple, stencil.offsets.tolist()), values.tolist(), strict=True))
    assert all(by_offset[tuple(-n for n in o)] == w for o, w in by_offset.items())
