"""The gradients of a graph: as stored, in memory once, following networks, pickled as handles."""

import numpy as np
import pytest
import torch
from csr_truth import stored
from first_order import SPECS
from refusing import refused

from cheblienet_graphs import open_group
from cheblienet_models import Gradient, Store, StoreError


@pytest.mark.parametrize("name", SPECS)
def test_matrices_are_those_that_were_built(gradient_graphs: Store, name: str) -> None:
    pyramid = gradient_graphs[name]
    graph, group = pyramid.levels[-1], open_group(gradient_graphs.path, name)
    built = stored(group[f"levels/{len(pyramid.levels) - 1}/gradients/fields"]).toarray()
    gradients = graph.gradients
    for n, (field, norm) in enumerate(zip(gradients.names, gradients.norms, strict=True)):
        matrix = gradients.matrix(field).to_dense()
        assert np.array_equal(matrix, built[n * len(matrix) : (n + 1) * len(matrix)])
        assert norm >= torch.linalg.matrix_norm(matrix, 2) * 0.9999
        assert matrix.sum(1).abs().max() < 1e-4


def test_units_are_steps_of_pixels(gradient_graphs: Store) -> None:
    """Whatever the boundary and the mask: weights mean the same."""
    units = {n: gradient_graphs[n].levels[0].gradients.units for n in ("torus", "plane")}
    assert units == {"torus": pytest.approx((12, 12)), "plane": pytest.approx((16, 16))}
    units = [gradient_graphs[n].levels[0].gradients.units for n in ("arrows", "masked")]
    assert units == [pytest.approx((n, n, 2 / np.pi)) for n in (8, 12)]


@pytest.mark.parametrize("part", ["values", "symmetric_values"])
def test_values_that_are_not_finite_are_told(gradient_graphs: Store, part: str) -> None:
    graph = gradient_graphs["arrows"].levels[0]
    getattr(graph.gradients, part)[3] = torch.nan  # of this process alone, as it is mapped
    message, x = "1 of .* of its .*gradients are NaN or inf", torch.zeros(1, 1, graph.num_vertices)
    refused(message, Gradient(graph), x, error=StoreError)
